import type { OpenState } from './open-state.js';
import type { View } from './view.js';
import type { VisibleCursor } from '../cursor/visible-cursor.js';

/** What `DatabaseCursor` and `SyncDatabaseCursor` say alike of the entry that they are on. */
export abstract class DatabaseCursorFace {
  readonly #view: View;
  readonly #cursor: VisibleCursor;
  readonly #state: OpenState;
  #closed = false;

  constructor(view: View, cursor: VisibleCursor, state: OpenState) {
    this.#view = view;
    this.#cursor = cursor;
    this.#state = state;
    view.pin();
  }

  /** Whether the cursor is on an entry. */
  get valid(): boolean {
    return this.#cursor.valid;
  }

  /** The key: a view that holds until the next move. Made when asked for. */
  get key(): Uint8Array {
    return this.#cursor.keyBytes.subarray(0, this.keyLength);
  }

  /** The value: a view that holds until the next move, and must not be written to. Made when asked for. */
  get value(): Uint8Array {
    return this.valueBytes.subarray(this.valueStart, this.valueStart + this.valueLength);
  }

  /** The key is the first `keyLength` of these bytes until the next move: for those to whom a view costs too much. */
  get keyBytes(): Uint8Array {
    return this.#cursor.keyBytes;
  }

  /** Bytes of the key, without making a view of it. */
  get keyLength(): number {
    return this.#cursor.valid ? this.#cursor.keyLength : 0;
  }

  /** The value is `valueLength` of these bytes, from `valueStart` on, until the next move; not to be written to. */
  get valueBytes(): Uint8Array {
    return this.#cursor.valueBytes;
  }

  /** Where in `valueBytes` the value starts. */
  get valueStart(): number {
    return this.#cursor.valueStart;
  }

  /** Bytes of the value, without making a view of it. */
  get valueLength(): number {
    return this.#cursor.valid ? this.#cursor.valueEnd - this.#cursor.valueStart : 0;
  }

  /** Lets go of the files that it keeps open. Closing twice does nothing. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cursor.close();
    this.#view.unpin();
  }

  /** Closes the cursor, at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** Whether the cursor was closed, perhaps while it moved. */
  protected get isClosed(): boolean {
    return this.#closed;
  }

  /** The cursor to move. @throws TypeError when it, or the reader, is closed. */
  protected open(): VisibleCursor {
    if (this.#closed) throw new TypeError('the cursor is closed');
    this.#state.mustBeOpen();
    return this.#cursor;
  }
}
