import type { Signal } from '@bloom/bytes';
import type { DatabaseRange } from './database-range.js';
import type { FolderReading } from './folder-reading.js';
import type { ReaderFace } from './reader-face.js';
import type { View } from './view.js';
import type { VisibleCursor } from './visible-cursor.js';

/** Iterates over a range. An async generator would take several times as long for each entry. */
export class AsyncRangeIterator<T> implements AsyncIterableIterator<T> {
  readonly #range: DatabaseRange;
  readonly #view: View;
  readonly #pick: (cursor: VisibleCursor) => T;
  readonly #face: ReaderFace;
  readonly #run: (reading: FolderReading<void>) => Promise<void>;
  readonly #signal: Signal | undefined;
  #over = false;
  /** The last of the calls of `next` that are not over, so that they end in the order in which they were made. */
  #pending: Promise<unknown> | undefined;

  constructor(
    range: DatabaseRange,
    view: View,
    pick: (cursor: VisibleCursor) => T,
    face: ReaderFace,
    run: (reading: FolderReading<void>) => Promise<void>,
    signal: Signal | undefined,
  ) {
    this.#range = range;
    this.#view = view;
    this.#pick = pick;
    this.#face = face;
    this.#run = run;
    this.#signal = signal;
    view.pin();
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#pending !== undefined) return this.#track(this.#queued(this.#pending));
    if (this.#over) return Promise.resolve({ value: undefined, done: true });
    try {
      return this.#step() ? Promise.resolve(this.#result()) : this.#track(this.#settled());
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

  #step(): boolean {
    this.#face.mustBeOpen();
    this.#signal?.throwIfAborted();
    return this.#range.next();
  }

  async #queued(pending: Promise<unknown>): Promise<IteratorResult<T, undefined>> {
    await pending.catch(() => undefined);
    if (this.#over) return { value: undefined, done: true };
    try {
      if (this.#step()) return this.#result();
    } catch (error) {
      this.#end();
      throw error;
    }
    return this.#settled();
  }

  async #settled(): Promise<IteratorResult<T, undefined>> {
    try {
      await this.#run(this.#range.cursor.settle());
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
