import { type FailureFacts, failureFacts } from '../worker/failure.js';
import { WorkerCalls } from '../worker/worker-calls.js';
import { type FitPoint, measuringOrder } from './fit-curve.js';
import type { KeyPattern } from './fit-patterns.js';

/** What was measured of a pattern, by the number of keys. */
export type FitPoints = ReadonlyMap<number, FitPoint>;

/** Points of a call. The curve is drawn after each. */
const PORTION = 8;

/** Measures the filters of all numbers of keys in a worker, a few at a time. What was measured is kept. */
export class FitClient {
  readonly #calls = new WorkerCalls(new Worker(new URL('./fit-worker.ts', import.meta.url), { type: 'module' }));
  readonly #points = new Map<KeyPattern, FitPoints>();

  points(pattern: KeyPattern): FitPoints {
    return this.#points.get(pattern) ?? new Map();
  }

  /** Measures what is missing of a pattern, until `signal` says that it is no longer wanted. @returns why it failed, if so. */
  async measure(pattern: KeyPattern, first: number, onPoints: () => void, signal: AbortSignal): Promise<FailureFacts | undefined> {
    const missing = measuringOrder(first).filter((keys) => !this.points(pattern).has(keys));
    try {
      // The point that the reader looks at comes alone, as soon as may be.
      for (let start = 0, end = 1; start < missing.length; start = end, end += PORTION) {
        const points = await this.#calls.call<readonly FitPoint[]>('points', [pattern, missing.slice(start, end)]);
        this.#points.set(pattern, new Map([...this.points(pattern), ...points.map((point) => [point.keys, point] as const)]));
        if (signal.aborted) return undefined;
        onPoints();
      }
    } catch (error) {
      return signal.aborted ? undefined : failureFacts(error);
    }
    return undefined;
  }

  close(): void {
    this.#calls.close();
  }
}
