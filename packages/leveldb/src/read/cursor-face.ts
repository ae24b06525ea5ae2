import type { AsyncNextManyOptions, AsyncPrevManyOptions } from '@bloom/sstable';
import { ByteCopier, ManyEntries } from '@bloom/sstable/internal';
import type { OpenState } from './open-state.js';
import type { View } from './view.js';
import type { VisibleCursor } from '../cursor/visible-cursor.js';

/** The entry that a cursor is on, which holds until the next move. */
export type CursorEntry = Pick<DatabaseCursorFace, 'key' | 'value' | 'keyBytes' | 'keyLength' | 'valueBytes' | 'valueStart' | 'valueLength'>;

/** What `DatabaseCursor` and `SyncDatabaseCursor` say alike of the entry that they are on. */
export abstract class DatabaseCursorFace {
  readonly #view: View;
  readonly #cursor: VisibleCursor;
  readonly #state: OpenState;
  #closed = false;
  #copier: ByteCopier | undefined;
  #failure: { readonly error: unknown } | undefined;

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

  /** The key: a view that holds until the next move, and must not be written to. Made when asked for. */
  get key(): Uint8Array {
    return this.#cursor.keyBytes.subarray(0, this.keyLength);
  }

  /** The value: a view that holds until the next move, and must not be written to. Made when asked for. */
  get value(): Uint8Array {
    return this.valueBytes.subarray(this.valueStart, this.valueStart + this.valueLength);
  }

  /** The key is the first `keyLength` of these bytes until the next move: for those to whom a view costs too much. Not to be written to. */
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

  /** Where many entries are taken to. @throws TypeError or RangeError for an argument or an option that is wrong. */
  protected manyEntries(call: string, reverse: boolean, count: number, options: AsyncNextManyOptions & AsyncPrevManyOptions): ManyEntries {
    this.open();
    const many = new ManyEntries(call, reverse, count, options, this.#view.order.compareUserKeys, (this.#copier ??= new ByteCopier()));
    this.sound();
    return many;
  }

  /** Notes why the move behind the entries of a call failed. */
  protected fail(error: unknown): void {
    this.#failure = { error };
  }

  /** The cursor to move elsewhere, which what failed before does not concern. */
  protected anew(): VisibleCursor {
    const cursor = this.open();
    this.#failure = undefined;
    return cursor;
  }

  /** The cursor to move from where it is. @throws the error behind the entries of the last call. */
  protected sound(): VisibleCursor {
    const cursor = this.open();
    if (this.#failure !== undefined) {
      const { error } = this.#failure;
      this.#failure = undefined;
      throw error;
    }
    return cursor;
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
