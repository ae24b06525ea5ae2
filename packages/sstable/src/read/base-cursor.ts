import type { TableCursor } from './table-cursor.js';

/** What `Cursor` and `SyncCursor` say alike of the entry that they are on. */
export abstract class BaseCursor {
  readonly #cursor: TableCursor;

  constructor(cursor: TableCursor) {
    this.#cursor = cursor;
  }

  /** Whether the cursor is on an entry. */
  get valid(): boolean {
    return this.#cursor.valid;
  }

  /** The key: a view that holds until the next move. Made when asked for. */
  get key(): Uint8Array {
    return this.#cursor.block.key;
  }

  /** The value: a view that holds until the next move, and must not be written to. Made when asked for. */
  get value(): Uint8Array {
    return this.#cursor.block.value;
  }

  /** The key is the first `keyLength` of these bytes until the next move: for those to whom a view costs too much. */
  get keyBytes(): Uint8Array {
    return this.#cursor.block.keyBytes;
  }

  /** Bytes of the key, without making a view of it. */
  get keyLength(): number {
    return this.#cursor.block.keyLength;
  }

  /** The value is `valueLength` of these bytes, from `valueStart` on, until the next move; not to be written to. */
  get valueBytes(): Uint8Array {
    return this.#cursor.block.bytes;
  }

  /** Where in `valueBytes` the value starts. */
  get valueStart(): number {
    return this.#cursor.block.valueStart;
  }

  /** Bytes of the value, without making a view of it. */
  get valueLength(): number {
    return this.#cursor.block.valueEnd - this.#cursor.block.valueStart;
  }
}
