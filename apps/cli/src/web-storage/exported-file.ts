import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { entryJson, type JsonEntry, jsonText, type JsonValue, type StoredBlob, taggedJson, WebStorageError } from '@bloom/web-storage';
import type { ByteBuffer } from '../formats/byte-buffer.js';
import { type ReadEntry, versionOf } from './read-entry.js';
import { DistinctNames } from './safe-name.js';

/** The number of bytes to collect before writing to a file. */
const WRITE_BYTES = 2 ** 20;
/** The longest key in the report, as JSON: a page can nest 2,000 arrays, each of which the report would put on lines of their own. */
const REPORTED_KEY_LENGTH = 200;
/** The most errors that the report names for each file. */
const NAMED_ERRORS = 100;

/** The entry of a file in the report. */
export interface ExportedFacts {
  readonly file: string;
  readonly place: ReadEntry['place'];
  readonly records: number;
  /** Records whose key or value could not be read. */
  readonly unreadable: number;
  readonly blobs: number;
  readonly missingBlobs: number;
  readonly errors: readonly { readonly key?: unknown; readonly code: string; readonly message: string }[];
}

/** A JSON Lines file with the records of a store, an origin or a map, and next to it a folder with their blobs. */
export class ExportedFile {
  readonly #path: string;
  readonly #place: ReadEntry['place'];
  readonly #out: ByteBuffer;
  readonly #blobNames = new DistinctNames();
  #records = 0;
  #unreadable = 0;
  #blobs = 0;
  #missingBlobs = 0;
  readonly #errors: { key?: unknown; code: string; message: string }[] = [];

  /**
   * Creates the empty file.
   *
   * @param out collects lines before they are written. All files share it, and one file uses it at a time.
   * @throws the system's error.
   */
  constructor(path: string, place: ReadEntry['place'], out: ByteBuffer) {
    this.#out = out;
    this.#path = path;
    this.#place = place;
    writeFileSync(path, '', { flag: 'wx' });
  }

  /** Adds a line for an entry, after saving its blobs. @throws the system's error. */
  async add(entry: ReadEntry): Promise<void> {
    this.#records++;
    const line = await this.#line(entry);
    // The JSON of a value can be longer than the longest string.
    const error = entry.error ?? (line instanceof WebStorageError ? line : undefined);
    const notice = error ?? (entry.isComplete ? undefined : INCOMPLETE);
    if (notice !== undefined) {
      this.#unreadable++;
      this.#note(entry.key, notice);
    }
    this.#out.utf8(`${line instanceof WebStorageError ? entryJson({ ...shownOf(entry), error: line }) : line}\n`);
    if (this.#out.length >= WRITE_BYTES) this.flush();
  }

  /** @returns the error of a value that cannot be written as JSON. */
  async #line(entry: ReadEntry): Promise<string | WebStorageError> {
    try {
      return await this.#lineWithBlobs(entry);
    } catch (error) {
      if (error instanceof WebStorageError) return error;
      throw error;
    }
  }

  async #lineWithBlobs(entry: ReadEntry): Promise<string> {
    const shown = shownOf(entry);
    const blobs = new Set<StoredBlob>();
    const line = entryJson(shown, {
      fileOf(blob) {
        blobs.add(blob);
        return undefined;
      },
    });
    if (blobs.size === 0) return line;
    const paths = new Map<StoredBlob, string>();
    for (const blob of blobs) {
      const path = await this.#save(blob, entry.key);
      if (path !== undefined) paths.set(blob, path);
    }
    return entryJson(shown, { fileOf: (blob) => paths.get(blob) });
  }

  /** Writes the remaining lines. @throws the system's error. */
  flush(): void {
    if (this.#out.length === 0) return;
    appendFileSync(this.#path, this.#out.view());
    this.#out.clear();
  }

  /** @param file its path in the report. */
  facts(file: string): ExportedFacts {
    return { file, place: this.#place, records: this.#records, unreadable: this.#unreadable, blobs: this.#blobs, missingBlobs: this.#missingBlobs, errors: this.#errors };
  }

  /** @returns the path of the blob's file, from the folder of this file; undefined if its bytes are missing. */
  async #save(blob: StoredBlob, key: unknown): Promise<string | undefined> {
    let bytes: Uint8Array;
    try {
      bytes = await blob.bytes();
    } catch (error) {
      if (!(error instanceof WebStorageError)) throw error;
      this.#missingBlobs++;
      this.#note(key, error);
      return undefined;
    }
    const folder = this.#path.replace(/\.jsonl$/u, '.blobs');
    const name = this.#blobNames.nameFor(`${this.#records}-${blob.name ?? 'blob'}`);
    if (this.#blobs++ === 0) mkdirSync(folder);
    writeFileSync(join(folder, name), bytes, { flag: 'wx' });
    return `${basename(folder)}/${name}`;
  }

  #note(key: unknown, { code, message }: Pick<WebStorageError, 'code' | 'message'>): void {
    if (this.#errors.length < NAMED_ERRORS) this.#errors.push({ ...reportedKey(key), code, message });
  }
}

/** The error of a value that contains an object of an unknown kind. */
const INCOMPLETE = { code: 'BLOOM_UNSUPPORTED_VALUE', message: 'has an object of an unknown kind: what follows it is missing' } as const;

/** An entry without its place, which the report has once for the whole file. */
function shownOf(entry: ReadEntry): JsonEntry {
  return { ...entry, place: undefined, version: versionOf(entry) };
}

/** The member `key` of an error in the report. A key that is too long is only in the file. */
function reportedKey(key: unknown): { readonly key?: JsonValue } {
  if (key === undefined) return {};
  const json = taggedJson(key);
  return jsonText(json).length <= REPORTED_KEY_LENGTH ? { key: json } : {};
}
