/** Destinations for the bytes of a table. LevelDB's counterpart is `WritableFile` in include/leveldb/env.h. */
import type { Bytes } from '@bloom/bytes';
import { joinedBytes } from '@bloom/bytes/internal';

/** Where the bytes of a table go. */
export interface TableSink {
  /** Takes the next bytes of the file, many blocks at a time. The sink may keep the array. */
  append(bytes: Uint8Array): void;
}

/** A sink that keeps the file in memory. */
export class MemorySink implements TableSink {
  #parts: Uint8Array[] = [];

  append(bytes: Uint8Array): void {
    this.#parts.push(bytes);
  }

  /** The file so far, in one piece. */
  toBytes(): Bytes {
    const file = joinedBytes(this.#parts);
    this.#parts = [file];
    return file;
  }
}
