/**
 * A `for await` loop over an iterator. It returns items that were read ahead itself, at the cost of one promise per item. Everything else, such
 * as reading, failing and ending, is left to abstract-level's generator, in which each item passes through two async functions.
 */
export class ReadAheadLoop<T> implements AsyncGenerator<T, void, unknown> {
  readonly #takeAhead: () => T | undefined;
  readonly #generator: AsyncGenerator<T, void, unknown>;
  readonly #close: () => Promise<void>;
  /** Pending calls of the generator. Later calls wait for them. */
  #asked = 0;
  #hasBegun = false;
  #isOver = false;

  /** @param takeAhead takes the next item that was read ahead and can be returned as it is; undefined when there is none. */
  constructor(takeAhead: () => T | undefined, generator: AsyncGenerator<T, void, unknown>, close: () => Promise<void>) {
    this.#takeAhead = takeAhead;
    this.#generator = generator;
    this.#close = close;
  }

  next(): Promise<IteratorResult<T, void>> {
    this.#hasBegun ||= !this.#isOver;
    const item = this.#asked === 0 && !this.#isOver ? this.#takeAhead() : undefined;
    return item === undefined ? this.#nextRead() : Promise.resolve({ done: false, value: item });
  }

  async #nextRead(): Promise<IteratorResult<T, void>> {
    this.#asked++;
    try {
      return await this.#generator.next();
    } finally {
      this.#asked--;
    }
  }

  async return(): Promise<IteratorResult<T, void>> {
    this.#isOver = true;
    try {
      return await this.#generator.return();
    } finally {
      await this.#closeIfBegun();
    }
  }

  async throw(error: unknown): Promise<IteratorResult<T, void>> {
    this.#isOver = true;
    try {
      return await this.#generator.throw(error);
    } finally {
      await this.#closeIfBegun();
    }
  }

  /** The generator closes the iterator only if it has been called. */
  async #closeIfBegun(): Promise<void> {
    if (this.#hasBegun) await this.#close();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
