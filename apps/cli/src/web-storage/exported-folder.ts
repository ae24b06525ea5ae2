import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { allCodecs } from '@bloom/codecs';
import type { Dropped } from '@bloom/leveldb';
import { NodeFolder } from '@bloom/leveldb/node';
import { type DatabaseInformation, IndexedDbReader, type StorageKind } from '@bloom/web-storage';
import { ByteBuffer } from '../formats/byte-buffer.js';
import { droppedJson } from '../inputs/opened-folder.js';
import { withDecodedEntries } from './decoded-entries.js';
import { type ExportedFacts, ExportedFile } from './exported-file.js';
import type { ReadEntry } from './read-entry.js';
import { DistinctNames } from './safe-name.js';

/** The facts about a folder in the report. */
export interface ExportedFolderFacts {
  /** Databases of IndexedDB, with their object stores and indexes. */
  readonly databases?: readonly (Omit<DatabaseInformation, 'errors'> & { readonly errors: readonly { readonly code: string; readonly message: string }[] })[];
  /** With the records that were read before an `error`. */
  readonly files: readonly ExportedFacts[];
  /** The damaged parts of files that were left out. */
  readonly dropped: readonly object[];
  /** Why the rest of the folder was not exported. */
  readonly error?: unknown;
}

/** How to export. */
export interface ExportOptions {
  readonly damage?: 'strict' | 'skip' | undefined;
  readonly allVersions?: true | undefined;
  readonly signal: AbortSignal;
}

/**
 * Writes a JSON Lines file for each object store, origin or map of a folder.
 *
 * @param target the folder for them.
 * @param name the name of `target` in the report.
 * @throws the error of a folder whose databases cannot be listed; the system's error when a file cannot be made.
 */
export async function exportFolder(path: string, storage: StorageKind, target: string, name: string, options: ExportOptions): Promise<ExportedFolderFacts> {
  const files = new ExportedFiles(target, name);
  const databases = storage === 'indexeddb' && !options.allVersions ? await databasesIn(path, options) : undefined;
  // Stores without records get files too.
  for (const database of databases ?? []) for (const store of database.stores) files.fileFor({ database: database.name ?? database.id, store: store.name ?? store.id });
  const dropped: object[] = [];
  const onDropped = (drop: Dropped): void => void dropped.push(droppedJson(drop));
  const error = await withDecodedEntries(path, { ...options, onDropped }, async (_, entries) => {
    for await (const entry of entries) {
      options.signal.throwIfAborted();
      await files.add(entry);
    }
  }).catch((reason: unknown) => reason);
  return {
    ...(databases !== undefined && { databases: databases.map((database) => ({ ...database, errors: database.errors.map(({ code, message }) => ({ code, message })) })) }),
    files: files.finish(),
    dropped,
    ...(error !== undefined && { error }),
  };
}

/** The databases in a folder of IndexedDB. */
export async function databasesIn(path: string, { damage }: Pick<ExportOptions, 'damage'>): Promise<DatabaseInformation[]> {
  const reader = await IndexedDbReader.open(new NodeFolder(path), { codecs: allCodecs, damage });
  try {
    return await reader.databases();
  } finally {
    await reader.close();
  }
}

/** The origin of the databases in a folder; undefined if none can be read. */
export function originOf(databases: readonly Pick<DatabaseInformation, 'origin'>[]): string | undefined {
  return databases.find(({ origin }) => origin !== undefined)?.origin;
}

/** The output files of a folder, by their contents. */
class ExportedFiles {
  readonly #target: string;
  readonly #name: string;
  readonly #names = new DistinctNames();
  /** The names of the files in the folder of each database. */
  readonly #databases = new Map<string | number, { readonly folder: string; readonly names: DistinctNames }>();
  readonly #files = new Map<string, { readonly name: string; readonly file: ExportedFile }>();
  /** One buffer for all files: a profile may have thousands. */
  readonly #out = new ByteBuffer();
  #current: ExportedFile | undefined;

  constructor(target: string, name: string) {
    this.#target = target;
    this.#name = name;
    mkdirSync(target, { recursive: true });
  }

  async add(entry: ReadEntry): Promise<void> {
    const file = this.fileFor(entry.place);
    if (file !== this.#current) this.#current?.flush();
    this.#current = file;
    await file.add(entry);
  }

  fileFor(place: ReadEntry['place']): ExportedFile {
    const id = JSON.stringify(place);
    const known = this.#files.get(id);
    if (known !== undefined) return known.file;
    const name = this.#nameFor(place);
    const file = new ExportedFile(join(this.#target, name), place, this.#out);
    this.#files.set(id, { name, file });
    return file;
  }

  /** Writes the remaining lines. */
  finish(): ExportedFacts[] {
    this.#current?.flush();
    return [...this.#files.values()].map(({ name, file }) => file.facts(`${this.#name}/${name}`));
  }

  #nameFor({ database, store, origin, map }: ReadEntry['place']): string {
    if (database === undefined) {
      const parts = [map, origin].filter((part) => part !== undefined);
      return this.#names.nameFor(parts.length === 0 ? 'unknown place' : parts.join(' '), '.jsonl');
    }
    let found = this.#databases.get(database);
    if (found === undefined) {
      found = { folder: this.#names.nameFor(String(database)), names: new DistinctNames() };
      this.#databases.set(database, found);
      mkdirSync(join(this.#target, found.folder));
    }
    return `${found.folder}/${found.names.nameFor(String(store), '.jsonl')}`;
  }
}
