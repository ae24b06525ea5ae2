import type { Signal } from '@bloom/bytes';
import type { SignalController } from '@bloom/bytes/internal';
import { isRequestBound, untilAborted } from '@bloom/sstable/internal';

/**
 * Work in progress that several calls can wait for, each with its own signal or none. Where reads are bound to a request, only calls of the
 * same turn share it.
 */
export class SharedWork<Key> {
  readonly #running = new Map<Key, { readonly result: Promise<unknown>; readonly controller: SignalController; waiting: number }>();

  /** The result of the work of `key` that is in progress, or else of `begin`. Work is aborted when the signals of all its calls are aborted. */
  run<T>(key: Key, begin: (signal: Signal) => Promise<T>, signal: Signal | undefined): Promise<T> {
    const running = this.#running.get(key) ?? this.#begin(key, begin);
    running.waiting++;
    const result = running.result as Promise<T>;
    if (signal === undefined) return result;
    return untilAborted(result, signal).catch((error: unknown) => {
      if (signal.aborted && --running.waiting === 0) this.#abort(key, signal.reason);
      throw error;
    });
  }

  /** Ends all work. Calls that wait for it are rejected at once. @param reason returns the error. */
  abort(reason: () => unknown): void {
    for (const key of [...this.#running.keys()]) this.#abort(key, reason());
  }

  #begin(key: Key, begin: (signal: Signal) => Promise<unknown>) {
    const controller: SignalController = new AbortController();
    const result = untilAborted(begin(controller.signal), controller.signal);
    const running = { result, controller, waiting: 0 };
    this.#running.set(key, running);
    const end = (): void => {
      if (this.#running.get(key) === running) this.#running.delete(key);
    };
    result.then(end, end);
    // A call of another request must neither wait for it nor end it.
    if (isRequestBound()) void Promise.resolve().then(end);
    return running;
  }

  #abort(key: Key, reason: unknown): void {
    const running = this.#running.get(key);
    this.#running.delete(key);
    running?.controller.abort(reason);
  }
}
