import { mustBeBytes } from '@bloom/bytes/internal';
import { type FileIdentity, MemorySource } from '@bloom/sstable';
import type { SyncFolder, SyncFolderFile } from './folder.js';

/**
 * A folder in memory: one that was unpacked from an archive, for example.
 *
 * @example
 * ```ts
 * const folder = new MemoryFolder({ CURRENT: current, 'MANIFEST-000002': manifest, '000003.log': log });
 * const database = SyncDatabaseReader.open(folder);
 * ```
 */
export class MemoryFolder implements SyncFolder {
  readonly name: string | undefined;
  readonly #files: ReadonlyMap<string, Uint8Array>;

  /** @param files the contents of each file by its name; they must not change. If it is a map, files may be added later. */
  constructor(files: Readonly<Record<string, Uint8Array>> | ReadonlyMap<string, Uint8Array>, name?: string) {
    this.#files = files instanceof Map ? files : new Map(Object.entries(files));
    for (const [file, bytes] of this.#files) mustBeBytes(file, bytes);
    this.name = name;
  }

  list(): string[] {
    return [...this.#files.keys()];
  }

  identityOf(name: string): FileIdentity | undefined {
    return this.open(name)?.identity;
  }

  open(name: string): SyncFolderFile | undefined {
    const bytes = this.#files.get(name);
    return bytes && new MemorySource(bytes, name);
  }
}
