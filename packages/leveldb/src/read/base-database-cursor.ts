import { copyBytes } from '@bloom/bytes/internal';
import type { CursorState } from './cursor-state.js';
import type { VisibleCursor } from '../cursor/visible-cursor.js';
import { RangeViews } from './range-views.js';

/** The entry that a cursor is on, which is valid until the next move. */
export type CursorEntry = Pick<BaseDatabaseCursor, 'key' | 'value' | 'keyBytes' | 'keyLength' | 'valueBytes' | 'valueStart' | 'valueLength'>;

/** The members that `DatabaseCursor` and `SyncDatabaseCursor` share: the entry that the cursor is on, and closing. */
export abstract class BaseDatabaseCursor {
  readonly #state: CursorState;
  #cursor: VisibleCursor;
  /** A key that is not at the start of the cursor's bytes. */
  #keyBytes = new Uint8Array(128);
  readonly #keys = new RangeViews();
  readonly #values = new RangeViews();

  /** @internal */
  constructor(state: CursorState) {
    this.#state = state;
    this.#cursor = state.cursor;
  }

  /** @internal Uses the cursor that its state has now. */
  protected lookAnew(): void {
    this.#cursor = this.#state.cursor;
  }

  /** Whether the cursor is on an entry. */
  get valid(): boolean {
    return this.#cursor.valid;
  }

  /** The key: a view that is valid until the next move, and must not be written to. Each access makes a new one. */
  get key(): Uint8Array {
    const { valid, keyBytes, keyStart, keyLength } = this.#cursor;
    return valid ? this.#keys.view(keyBytes, keyStart, keyLength) : new Uint8Array(0);
  }

  /** The value: a view that is valid until the next move, and must not be written to. Each access makes a new one. */
  get value(): Uint8Array {
    const { valid, valueBytes, valueStart, valueEnd } = this.#cursor;
    return valid ? this.#values.view(valueBytes, valueStart, valueEnd - valueStart) : new Uint8Array(0);
  }

  /** The key is the first `keyLength` of these bytes until the next move: for callers that cannot afford a view. They must not be written to. */
  get keyBytes(): Uint8Array {
    const { keyBytes, keyStart, keyLength } = this.#cursor;
    if (keyStart === 0) return keyBytes;
    if (keyLength > this.#keyBytes.length) this.#keyBytes = new Uint8Array(keyLength * 2);
    copyBytes(keyBytes, keyStart, keyStart + keyLength, this.#keyBytes, 0);
    return this.#keyBytes;
  }

  /** The length of the key, without making a view of it. */
  get keyLength(): number {
    return this.#cursor.valid ? this.#cursor.keyLength : 0;
  }

  /** The value is `valueLength` of these bytes, from `valueStart` on, until the next move; not to be written to. */
  get valueBytes(): Uint8Array {
    return this.#cursor.valueBytes;
  }

  /** The start of the value in `valueBytes`. */
  get valueStart(): number {
    return this.#cursor.valueStart;
  }

  /** The length of the value, without making a view of it. */
  get valueLength(): number {
    return this.#cursor.valid ? this.#cursor.valueEnd - this.#cursor.valueStart : 0;
  }

  /** Releases the files that it keeps open. Closing twice does nothing. */
  close(): void {
    this.#state.close();
  }

  /** Closes the cursor, at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}
