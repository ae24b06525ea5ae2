import type { RangeWalk } from './range-walk.js';
import { SETTLED, type TableCursor } from './table-cursor.js';

/** Goes through a range: an async generator would take several times as long for each entry. */
export class RangeIterator<T> implements AsyncIterableIterator<T> {
  readonly #walk: RangeWalk;
  readonly #block: (i: number) => Promise<Uint8Array>;
  readonly #pick: (cursor: TableCursor) => T;
  readonly #signal: AbortSignal | undefined;
  /** The last of the calls of `next` that are not over, so that they end in the order in which they were made. */
  #pending: Promise<unknown> | undefined;

  constructor(
    walk: RangeWalk,
    block: (i: number) => Promise<Uint8Array>,
    pick: (cursor: TableCursor) => T,
    signal: AbortSignal | undefined,
  ) {
    this.#walk = walk;
    this.#block = block;
    this.#pick = pick;
    this.#signal = signal;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#pending !== undefined) return this.#queue(this.#pending);
    if (this.#walk.isOver) return Promise.resolve(this.#result());
    try {
      this.#signal?.throwIfAborted();
      const wanted = this.#walk.next();
      return wanted === SETTLED ? Promise.resolve(this.#result()) : this.#track(this.#settle(wanted));
    } catch (error) {
      this.#walk.end();
      return Promise.reject(error);
    }
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#walk.end();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #queue(pending: Promise<unknown>): Promise<IteratorResult<T, undefined>> {
    return this.#track(
      (async () => {
        await pending.catch(() => undefined);
        if (!this.#walk.isOver && this.#signal?.aborted === true) {
          this.#walk.end();
          throw this.#signal.reason;
        }
        const wanted = this.#walk.next();
        return wanted === SETTLED ? this.#result() : this.#settle(wanted);
      })(),
    );
  }

  #track<R>(call: Promise<R>): Promise<R> {
    this.#pending = call;
    const done = (): void => {
      if (this.#pending === call) this.#pending = undefined;
    };
    call.then(done, done);
    return call;
  }

  async #settle(wanted: number): Promise<IteratorResult<T, undefined>> {
    try {
      while (wanted !== SETTLED) {
        const contents = await this.#block(wanted);
        this.#signal?.throwIfAborted();
        wanted = this.#walk.supply(contents);
      }
      return this.#result();
    } catch (error) {
      this.#walk.end();
      throw error;
    }
  }

  #result(): IteratorResult<T, undefined> {
    return this.#walk.accept() ? { value: this.#pick(this.#walk.cursor), done: false } : { value: undefined, done: true };
  }
}
