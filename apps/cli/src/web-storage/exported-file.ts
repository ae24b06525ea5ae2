import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { jsonText, type JsonValue, type StoredBlob, taggedJson, WebStorageError } from '@bloom/web-storage';
import type { ByteBuffer } from '../formats/byte-buffer.js';
import { type ReadEntry, VERSION_FACTS } from './read-entry.js';
import { DistinctNames } from './safe-name.js';

/** How many bytes to collect before writing to a file. */
const WRITE_BYTES = 2 ** 20;
/** How many errors the report names for each file. */
const NAMED_ERRORS = 100;

/** What the report says of a file. */
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
   * Makes the empty file.
   *
   * @param out for lines that wait to be written: of all files, one at a time uses it.
   * @throws the system's error.
   */
  constructor(path: string, place: ReadEntry['place'], out: ByteBuffer) {
    this.#out = out;
    this.#path = path;
    this.#place = place;
    writeFileSync(path, '', { flag: 'wx' });
  }

  /** Adds a line for an entry, after saving its blobs. @throws the system's error. */
  async add({ key, value, isComplete, error, facts }: ReadEntry): Promise<void> {
    this.#records++;
    const members = facts.map((fact, i) => `${JSON.stringify(VERSION_FACTS[i])}:${JSON.stringify(fact)}`);
    const keyJson = taggedJson(key);
    if (error === undefined || key !== undefined) members.push(`"key":${jsonText(keyJson)}`);
    if (error !== undefined) {
      this.#unreadable++;
      members.push(`"error":${JSON.stringify({ code: error.code, message: error.message })}`);
      this.#note(key === undefined ? undefined : keyJson, error);
    } else if (!facts.includes('deletion')) members.push(`"value":${await this.#valueJson(value, keyJson)}`);
    if (error === undefined && !isComplete) {
      members.push('"complete":false');
      this.#unreadable++;
      this.#note(keyJson, { code: 'BLOOM_UNSUPPORTED_VALUE', message: 'has an object of an unknown kind: what follows it is missing' });
    }
    this.#out.utf8(`{${members.join(',')}}\n`);
    if (this.#out.length >= WRITE_BYTES) this.flush();
  }

  /** Writes what is left. @throws the system's error. */
  flush(): void {
    if (this.#out.length === 0) return;
    appendFileSync(this.#path, this.#out.view());
    this.#out.clear();
  }

  /** @param file its path in the report. */
  facts(file: string): ExportedFacts {
    return { file, place: this.#place, records: this.#records, unreadable: this.#unreadable, blobs: this.#blobs, missingBlobs: this.#missingBlobs, errors: this.#errors };
  }

  async #valueJson(value: unknown, keyJson: JsonValue): Promise<string> {
    const found = new Set<StoredBlob>();
    const json = taggedJson(value, {
      fileOf(blob) {
        found.add(blob);
        return undefined;
      },
    });
    if (found.size === 0) return jsonText(json);
    const paths = new Map<StoredBlob, string>();
    for (const blob of found) {
      const path = await this.#save(blob, keyJson);
      if (path !== undefined) paths.set(blob, path);
    }
    return jsonText(taggedJson(value, { fileOf: (blob) => paths.get(blob) }));
  }

  /** @returns the path of the blob's file, from the folder of this file; undefined where its bytes are not there. */
  async #save(blob: StoredBlob, keyJson: JsonValue): Promise<string | undefined> {
    let bytes: Uint8Array;
    try {
      bytes = await blob.bytes();
    } catch (error) {
      if (!(error instanceof WebStorageError)) throw error;
      this.#missingBlobs++;
      this.#note(keyJson, error);
      return undefined;
    }
    const folder = this.#path.replace(/\.jsonl$/u, '.blobs');
    const name = this.#blobNames.nameFor(`${this.#records}-${blob.name ?? 'blob'}`);
    if (this.#blobs++ === 0) mkdirSync(folder);
    writeFileSync(join(folder, name), bytes, { flag: 'wx' });
    return `${basename(folder)}/${name}`;
  }

  #note(keyJson: JsonValue | undefined, { code, message }: Pick<WebStorageError, 'code' | 'message'>): void {
    if (this.#errors.length < NAMED_ERRORS) this.#errors.push({ ...(keyJson !== undefined && { key: keyJson }), code, message });
  }
}
