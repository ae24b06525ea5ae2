import type { TableCursor } from './table-cursor.js';

/** The accessors that `Cursor` and `SyncCursor` share, for the entry that the cursor is on. */
export abstract class BaseCursor {
  readonly #cursor: TableCursor;
  /** Why the move behind the entries of the last `nextMany` or `prevMany` failed. @internal */
  protected failure: { readonly error: unknown } | undefined;

  /** @internal */
  constructor(cursor: TableCursor) {
    this.#cursor = cursor;
  }

  /** @throws the error behind the entries of the last call, once. @internal */
  protected mustNotHaveFailed(): void {
    if (this.failure === undefined) return;
    const { error } = this.failure;
    this.failure = undefined;
    throw error;
  }

  /** Whether the cursor is on an entry. */
  get valid(): boolean {
    return this.#cursor.valid;
  }

  /** The key: a view that is valid until the next move, and must not be written to. Each access makes a new one. */
  get key(): Uint8Array {
    return this.#cursor.block.key;
  }

  /** The value: a view that is valid until the next move, and must not be written to. Each access makes a new one. */
  get value(): Uint8Array {
    return this.#cursor.block.value;
  }

  /** Until the next move, the key is the first `keyLength` of these bytes: for callers that cannot afford a view. They must not be written to. */
  get keyBytes(): Uint8Array {
    return this.#cursor.block.keyBytes;
  }

  /** Bytes of the key, without making a view of it. */
  get keyLength(): number {
    return this.#cursor.block.keyLength;
  }

  /** Until the next move, the value is `valueLength` of these bytes, from `valueStart`. They must not be written to. */
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
