import { type Bytes, type Signal } from '@bloom/bytes';
import type { Folder, FolderFile } from '@bloom/leveldb';
import { MemorySource } from '@bloom/sstable';
import { mustNameOne, type NewObject, type ReadObject, type Replacement, type Store, type StoredObject } from './store.js';

interface Kept {
  readonly bytes: Bytes;
  readonly sha256: string;
  readonly etag: string;
  readonly modifiedMs: number;
}

interface OwnedObject extends NewObject {
  readonly bytes: Bytes;
}

/** A store in memory, for tests and small databases. */
export class MemoryStore implements Store {
  readonly name: string;
  readonly #objects = new Map<string, Kept>();
  readonly #now: () => number;
  #writes = 0;

  /** @param now the clock, in milliseconds since 1970. */
  constructor(name = 'memory', now: () => number = Date.now) {
    this.name = name;
    this.#now = now;
  }

  async get(name: string, signal?: Signal): Promise<ReadObject | undefined> {
    await turn(signal);
    const kept = this.#objects.get(name);
    return kept && { bytes: kept.bytes.slice(), etag: kept.etag };
  }

  async head(name: string, signal?: Signal): Promise<StoredObject | undefined> {
    await turn(signal);
    const kept = this.#objects.get(name);
    return kept && this.#described(name, kept);
  }

  async create(object: NewObject, signal?: Signal): Promise<boolean> {
    const own = owned(object);
    await turn(signal);
    if (this.#objects.has(own.name)) return false;
    this.#write(own);
    return true;
  }

  async put(object: NewObject, signal?: Signal): Promise<void> {
    const own = owned(object);
    await turn(signal);
    this.#write(own);
  }

  async replace(object: NewObject, etag: string | undefined, signal?: Signal): Promise<Replacement> {
    const own = owned(object);
    await turn(signal);
    if (this.#objects.get(own.name)?.etag !== etag) return 'refused';
    this.#write(own);
    return 'replaced';
  }

  async *list(signal?: Signal): AsyncGenerator<StoredObject, void, undefined> {
    await turn(signal);
    for (const [name, kept] of [...this.#objects]) yield this.#described(name, kept);
  }

  async delete(name: string, seen?: StoredObject, signal?: Signal): Promise<boolean> {
    mustNameOne('MemoryStore.delete', name, arguments.length);
    await turn(signal);
    const kept = this.#objects.get(name);
    if (seen !== undefined && kept !== undefined && kept.etag !== seen.etag) return false;
    this.#objects.delete(name);
    return true;
  }

  folder(): Folder {
    return { name: this.name, isPublished: true, open: (name) => openIn(this.#objects, name) };
  }

  /** The current bytes of each object by its name. */
  files(): Map<string, Uint8Array> {
    return new Map([...this.#objects].map(([name, { bytes }]) => [name, bytes]));
  }

  #write({ name, bytes, sha256 }: OwnedObject): void {
    this.#objects.set(name, { bytes, sha256, etag: `"${++this.#writes}"`, modifiedMs: this.#now() });
  }

  #described(name: string, { bytes, sha256, etag, modifiedMs }: Kept): StoredObject {
    return { name, byteLength: bytes.length, sha256, etag, modifiedMs, nowMs: this.#now() };
  }
}

/** A copy, because the caller may use its bytes again while the call waits. */
function owned({ name, bytes, sha256 }: NewObject): OwnedObject {
  return { name, bytes: new Uint8Array(bytes), sha256 };
}

function openIn(objects: ReadonlyMap<string, Kept>, name: string): FolderFile | undefined {
  const kept = objects.get(name);
  return kept && new MemorySource(kept.bytes, name);
}

/** Lets other calls run in between, as in any other store. */
async function turn(signal: Signal | undefined): Promise<void> {
  await Promise.resolve();
  signal?.throwIfAborted();
}
