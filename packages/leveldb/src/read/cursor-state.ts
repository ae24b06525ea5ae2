import type { AsyncNextManyOptions, AsyncPrevManyOptions } from '@bloom/sstable';
import { ByteCopier, ManyEntries } from '@bloom/sstable/internal';
import type { OpenState } from './open-state.js';
import type { View } from './view.js';
import type { VisibleCursor } from '../cursor/visible-cursor.js';

/** Whether a `DatabaseCursor` or `SyncDatabaseCursor` may move, and the view whose files it keeps open. */
export class CursorState {
  cursor: VisibleCursor;
  #view: View;
  readonly #state: OpenState;
  #closed = false;
  #copier: ByteCopier | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(view: View, cursor: VisibleCursor, state: OpenState) {
    this.#view = view;
    this.cursor = cursor;
    this.#state = state;
    view.pin();
  }

  /** Shows another state from now on. @param view pinned. */
  lookAt(view: View, cursor: VisibleCursor): void {
    this.cursor.close();
    this.#view.unpin();
    this.#view = view;
    this.cursor = cursor;
  }

  /** Releases the files that it keeps open. Closing twice does nothing. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.cursor.close();
    this.#view.unpin();
  }

  /** Collects the entries of a call. @throws TypeError or RangeError for an argument or an option that is wrong. */
  manyEntries(call: string, reverse: boolean, count: number, options: AsyncNextManyOptions & AsyncPrevManyOptions): ManyEntries {
    this.open();
    const many = new ManyEntries(call, reverse, count, options, this.#view.order.compareUserKeys, (this.#copier ??= new ByteCopier()));
    this.sound();
    return many;
  }

  /** Keeps the error of the move after the entries of a call, for the next call to throw. */
  fail(error: unknown): void {
    this.#failure = { error };
  }

  /** The cursor, for a move to another place: drops the error of an earlier move. */
  anew(): VisibleCursor {
    const cursor = this.open();
    this.#failure = undefined;
    return cursor;
  }

  /** The cursor, for a move from its place. @throws the error after the entries of the last call. */
  sound(): VisibleCursor {
    const cursor = this.open();
    if (this.#failure !== undefined) {
      const { error } = this.#failure;
      this.#failure = undefined;
      throw error;
    }
    return cursor;
  }

  /** Whether the cursor was closed, possibly while it moved. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** The cursor to move. @throws TypeError when it, or the reader, is closed. */
  open(): VisibleCursor {
    if (this.#closed) throw new TypeError('the cursor is closed');
    this.#state.mustBeOpen();
    return this.cursor;
  }
}
