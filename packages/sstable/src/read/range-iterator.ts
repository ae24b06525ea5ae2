import type { Signal } from '@bloom/bytes';
import { throwIfAborted } from '@bloom/bytes/internal';
import type { DataBlocks } from './data-blocks.js';
import type { Walk } from './range-walk.js';
import type { ReadAhead } from './read-ahead.js';
import { SETTLED } from './table-cursor.js';

/** Iterates over a range. An async generator would take several times as long per entry. */
export class RangeIterator<T> implements AsyncIterableIterator<T> {
  readonly #walk: Walk;
  readonly #blocks: DataBlocks;
  readonly #ahead: ReadAhead;
  readonly #pick: () => T;
  readonly #signal: Signal | undefined;
  #isReturned = false;
  /** The last call of `next` that has not ended: the following calls wait for it, so that they end in order. */
  #pending: Promise<unknown> | undefined;

  constructor(
    walk: Walk,
    blocks: DataBlocks,
    ahead: ReadAhead,
    pick: () => T,
    signal: Signal | undefined,
  ) {
    this.#walk = walk;
    this.#blocks = blocks;
    this.#ahead = ahead;
    this.#pick = pick;
    this.#signal = signal;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#pending !== undefined) return this.#track(this.#after(this.#pending));
    try {
      const waiting = this.#proceed(this.#move());
      return waiting === undefined ? Promise.resolve(this.#result()) : this.#track(this.#settle(waiting));
    } catch (error) {
      this.#end();
      return Promise.reject(error);
    }
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#isReturned = true;
    this.#end();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #after(pending: Promise<unknown>): Promise<IteratorResult<T, undefined>> {
    await pending.catch(() => undefined);
    try {
      const waiting = this.#proceed(this.#move());
      return waiting === undefined ? this.#result() : await this.#settle(waiting);
    } catch (error) {
      this.#end();
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

  /** Moves on, unless the walk has ended. */
  #move(): number {
    if (this.#walk.isOver) return SETTLED;
    this.#blocks.mustBeOpen();
    throwIfAborted(this.#signal);
    return this.#walk.next();
  }

  /** Supplies the walk with blocks that are at hand. @returns the block that it must wait for; undefined if there is none. */
  #proceed(wanted: number): Promise<Uint8Array> | undefined {
    while (wanted !== SETTLED) {
      const contents = this.#ahead.block(wanted);
      if (contents instanceof Promise) return contents;
      wanted = this.#walk.supply(contents);
    }
    return undefined;
  }

  async #settle(waiting: Promise<Uint8Array> | undefined): Promise<IteratorResult<T, undefined>> {
    try {
      while (waiting !== undefined) {
        const contents = await waiting;
        throwIfAborted(this.#signal);
        if (this.#isReturned) break;
        this.#blocks.mustBeOpen();
        waiting = this.#proceed(this.#walk.supply(contents));
      }
      return this.#result();
    } catch (error) {
      this.#end();
      // The read failed because `return` ended it.
      if (this.#isReturned) return { value: undefined, done: true };
      throw error;
    }
  }

  #result(): IteratorResult<T, undefined> {
    if (this.#walk.accept()) return { value: this.#pick(), done: false };
    this.#ahead.end();
    return { value: undefined, done: true };
  }

  #end(): void {
    this.#walk.end();
    this.#ahead.end();
  }
}
