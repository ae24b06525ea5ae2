/** Destinations for the bytes of a table. LevelDB's counterpart is `WritableFile` in include/leveldb/env.h. */
import type { Bytes } from '@bloom/bytes';
/** Where the bytes of a table go. */
export interface TableSink {
  /** Takes the next bytes of the file, many blocks at a time. The sink may keep the array. */
  append(bytes: Uint8Array): void;
}

/** A sink that keeps the file in memory. */
export class MemorySink implements TableSink {
  #parts: Uint8Array[] = [];
  #byteLength = 0;

  append(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#byteLength += bytes.length;
  }

  /** The file so far, in one piece. */
  toBytes(): Bytes {
    const file = new Uint8Array(this.#byteLength);
    let position = 0;
    for (const part of this.#parts) {
      file.set(part, position);
      position += part.length;
    }
    this.#parts = [file];
    return file;
  }
}
