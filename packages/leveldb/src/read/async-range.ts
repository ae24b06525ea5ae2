import type { Signal } from '@bloom/bytes';
import { throwIfAborted } from '@bloom/bytes/internal';
import type { DatabaseRange } from './database-range.js';
import type { FolderReading } from '../folder/folder-reading.js';
import type { Pacer } from '../folder/pacer.js';
import type { OpenState } from './open-state.js';
import type { View } from './view.js';
import type { VisibleCursor } from '../cursor/visible-cursor.js';

/** Iterates over a range. An async generator would take several times as long for each entry. */
export class AsyncRangeIterator<T> implements AsyncIterableIterator<T> {
  readonly #range: DatabaseRange;
  readonly #view: View;
  readonly #pick: (cursor: VisibleCursor) => T;
  readonly #state: OpenState;
  readonly #run: (reading: FolderReading<void>) => void | Promise<void>;
  readonly #signal: Signal | undefined;
  readonly #pacer: Pacer;
  #over = false;
  /** The last pending call of `next`, so that calls end in the order in which they were made. */
  #pending: Promise<unknown> | undefined;

  constructor(
    range: DatabaseRange,
    view: View,
    pick: (cursor: VisibleCursor) => T,
    state: OpenState,
    run: (reading: FolderReading<void>) => void | Promise<void>,
    signal: Signal | undefined,
    pacer: Pacer,
  ) {
    this.#range = range;
    this.#view = view;
    this.#pick = pick;
    this.#state = state;
    this.#run = run;
    this.#signal = signal;
    this.#pacer = pacer;
    view.pin();
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#pending !== undefined) return this.#track(this.#queued(this.#pending));
    if (this.#over) return Promise.resolve({ value: undefined, done: true });
    try {
      const settling = this.#step();
      return settling === undefined ? Promise.resolve(this.#result()) : this.#track(this.#settled(settling));
    } catch (error) {
      this.#end();
      return Promise.reject(error);
    }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#range.end();
    // This also ends the read that a pending call waits for.
    this.#range.cursor.close();
    await this.#pending?.catch(() => undefined);
    this.#end();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Moves on. @returns undefined if the move has ended. */
  #step(): void | Promise<void> {
    this.#state.mustBeOpen();
    throwIfAborted(this.#signal);
    const settling = this.#range.next() ? undefined : this.#run(this.#range.cursor.settle());
    return this.#pacer.isDue() ? this.#pause(settling) : settling;
  }

  /** Completes a move, and lets other work run. */
  async #pause(settling: void | Promise<void>): Promise<void> {
    await settling;
    await this.#pacer.pause();
    this.#state.mustBeOpen();
    throwIfAborted(this.#signal);
  }

  async #queued(pending: Promise<unknown>): Promise<IteratorResult<T, undefined>> {
    await pending.catch(() => undefined);
    if (this.#over) return { value: undefined, done: true };
    let settling: void | Promise<void>;
    try {
      settling = this.#step();
      if (settling === undefined) return this.#result();
    } catch (error) {
      this.#end();
      throw error;
    }
    return this.#settled(settling);
  }

  async #settled(settling: Promise<void>): Promise<IteratorResult<T, undefined>> {
    try {
      await settling;
      return this.#result();
    } catch (error) {
      const isReturned = this.#range.isOver;
      this.#end();
      // The read failed because `return` ended it.
      if (isReturned) return { value: undefined, done: true };
      throw error;
    }
  }

  #track<R>(call: Promise<R>): Promise<R> {
    this.#pending = call;
    const done = (): void => {
      if (this.#pending === call) this.#pending = undefined;
    };
    call.then(done, done);
    return call;
  }

  #result(): IteratorResult<T, undefined> {
    if (this.#range.accept()) return { value: this.#pick(this.#range.cursor), done: false };
    this.#end();
    return { value: undefined, done: true };
  }

  #end(): void {
    this.#range.end();
    if (this.#over) return;
    this.#over = true;
    this.#range.cursor.close();
    this.#view.unpin();
  }
}

/** An iterator over a state that does not exist yet. */
export class LaterIterator<T> implements AsyncIterableIterator<T> {
  readonly #iterator: Promise<AsyncIterableIterator<T>>;
  /** Whether a call has reported that waiting for the state failed, or ended the iteration. */
  #over = false;

  constructor(iterator: Promise<AsyncIterableIterator<T>>) {
    this.#iterator = iterator;
    // A failure is thrown by the calls that need the state.
    iterator.catch(() => undefined);
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    let iterator: AsyncIterableIterator<T>;
    try {
      iterator = await this.#iterator;
    } catch (error) {
      if (this.#over) return { value: undefined, done: true };
      this.#over = true;
      throw error;
    }
    return iterator.next();
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#over = true;
    // If waiting for the state failed, there is no iterator to end.
    const iterator = await this.#iterator.catch(() => undefined);
    return iterator === undefined ? { value: undefined, done: true } : iterator.return!();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
