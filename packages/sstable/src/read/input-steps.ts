import type { Signal } from '@bloom/bytes';
import { isPromise, mustHaveMethods, throwIfAborted } from '@bloom/bytes/internal';
import { onAbort } from './on-abort.js';
import { untilAborted } from './until-aborted.js';

/** An item, or the end. */
export type Step<T> = IteratorResult<T, unknown>;

/** The iterator of items that come at once, with promises, or both. */
export interface StepIterator<T> {
  /** The next item, or the end. */
  next(): Step<T> | PromiseLike<Step<T>>;
  /** It is called without a value, whatever type a generator has for one. */
  return?(value?: unknown): unknown;
}

/** What a caller gives to be written: items that come at once, with promises, or both. */
export type Steppable<T> = Iterable<T> | { [Symbol.asyncIterator](): StepIterator<T> };

/** @throws TypeError, which names the argument, unless `value` is an iterable or an asynchronous one. */
export function mustBeSteppable(name: string, value: unknown): void {
  if (typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value)) return;
  throw new TypeError(`${name} must be an iterable, got ${value === null ? 'null' : typeof value}`);
}

/**
 * The items of an iterable from a caller, until a signal is aborted: an item that never comes does not block the abort.
 *
 * A plain iterable is not awaited: awaiting each entry would take longer than building a table of them.
 */
export class InputSteps<T> {
  readonly #name: string;
  readonly #iterator: StepIterator<T>;
  readonly #signal: Signal | undefined;
  readonly #endListening: (() => void) | undefined;
  #endWait: ((reason: unknown) => void) | undefined;
  /** After its last result, or an error, an iterator's return() is not called. */
  #isOver = false;

  /** @param name of the argument, for errors. */
  constructor(name: string, items: Steppable<T>, signal: Signal | undefined) {
    const iterator: unknown = Symbol.iterator in items ? items[Symbol.iterator]() : items[Symbol.asyncIterator]();
    mustHaveMethods(`the iterator of ${name}`, iterator, 'an iterator', ['next']);
    this.#name = name;
    this.#iterator = iterator as StepIterator<T>;
    this.#signal = signal;
    this.#endListening = signal && onAbort(signal, () => this.#endWait?.(signal.reason));
  }

  /** The next result: a promise only if the iterator returns one. */
  next(): Step<T> | Promise<Step<T>> {
    let step: Step<T> | PromiseLike<Step<T>>;
    try {
      step = this.#iterator.next();
    } catch (error) {
      this.#isOver = true;
      throw error;
    }
    return isPromise(step) ? this.#wait(step) : this.#took(step);
  }

  /** Lets the iterator clean up, unless the signal is aborted. As in `for await`, its errors do not replace the first one. */
  async leave(): Promise<void> {
    this.#endListening?.();
    if (this.#isOver) return;
    try {
      const left = Promise.resolve(this.#iterator.return?.());
      await (this.#signal === undefined ? left : untilAborted(left, this.#signal));
    } catch {
      // The caller is about to report why the writing ends.
    }
  }

  async #wait(step: PromiseLike<Step<T>>): Promise<Step<T>> {
    const signal = this.#signal;
    if (signal === undefined) return this.#took(await this.#unlessFailed(step));
    // Not Promise.race: each race would add a reaction to the one promise that lives as long as the walk.
    const waiting = new Promise<Step<T>>((resolve, reject) => {
      this.#endWait = reject;
      this.#unlessFailed(step).then(resolve, reject);
      if (signal.aborted) this.#endWait(signal.reason);
    });
    const next = this.#took(await waiting);
    throwIfAborted(signal);
    return next;
  }

  async #unlessFailed(step: PromiseLike<Step<T>>): Promise<Step<T>> {
    try {
      return await step;
    } catch (error) {
      this.#isOver = true;
      throw error;
    }
  }

  #took(step: Step<T>): Step<T> {
    if (!isObject(step)) {
      // As in `for await`, an iterator that gives no results is not asked to clean up.
      this.#isOver = true;
      throw new TypeError(`next() of the iterator of ${this.#name} must give an iterator result, got ${String(step)}`);
    }
    this.#isOver = step.done === true;
    return step;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
