import { type Remote, WorkerCalls } from '../worker/worker-calls.js';
import type { RateMethods } from './rate-worker.js';

/** Measures the rates of LevelDB's filters in a worker. A new measurement cancels the previous one. */
export class RateClient {
  readonly #answers = new Map<string, number | undefined>();
  #calls: WorkerCalls | undefined;
  #isBusy = false;

  /** The share of absent keys that pass a filter of `keys` keys, measured with real filters. */
  rate(bitsPerKey: number, keys: number): Promise<number> {
    return this.#ask(`rate ${bitsPerKey} ${keys}`, (worker) => worker.rate(bitsPerKey, keys));
  }

  /** The fewest bits per key that reach `rate`; undefined if none do. */
  bitsPerKey(rate: number, keys: number): Promise<number | undefined> {
    return this.#ask(`bitsPerKey ${rate} ${keys}`, (worker) => worker.bitsPerKey(rate, keys));
  }

  /** Cancels the measurement in progress. */
  cancel(): void {
    if (!this.#isBusy) return;
    this.#calls?.close();
    this.#calls = undefined;
    this.#isBusy = false;
  }

  async #ask<T extends number | undefined>(question: string, ask: (worker: Remote<RateMethods>) => Promise<T>): Promise<T> {
    if (this.#answers.has(question)) return this.#answers.get(question) as T;
    this.cancel();
    const calls = (this.#calls ??= new WorkerCalls(new Worker(new URL('./rate-worker.ts', import.meta.url), { type: 'module' })));
    this.#isBusy = true;
    const answer = await ask(calls.remote());
    this.#isBusy = false;
    this.#answers.set(question, answer);
    return answer;
  }
}
