import { type FailureFacts, failureFacts } from '../worker/failure.js';
import { WorkerCalls } from '../worker/worker-calls.js';
import { type FitPoint, measuringOrder } from './fit-curve.js';
import type { KeyPattern } from './fit-patterns.js';
import type { FitMethods } from './fit-worker.js';

/** The measurements of a pattern, by number of keys. */
export type FitPoints = ReadonlyMap<number, FitPoint>;

/** The number of points per call. The curve is drawn after each call. */
const PORTION = 8;

/** Measures the filters of all numbers of keys in a worker, a few at a time. It keeps all measurements. */
export class FitClient {
  readonly #calls = new WorkerCalls(new Worker(new URL('./fit-worker.ts', import.meta.url), { type: 'module' }));
  readonly #points = new Map<KeyPattern, FitPoints>();

  points(pattern: KeyPattern): FitPoints {
    return this.#points.get(pattern) ?? new Map();
  }

  /** Measures the missing points of a pattern, until `signal` is aborted. @returns the reason if it failed. */
  async measure(pattern: KeyPattern, first: number, onPoints: () => void, signal: AbortSignal): Promise<FailureFacts | undefined> {
    const missing = measuringOrder(first).filter((keys) => !this.points(pattern).has(keys));
    try {
      // The chosen point is measured alone and first.
      for (let start = 0, end = 1; start < missing.length; start = end, end += PORTION) {
        const points = await this.#calls.remote<FitMethods>().points(pattern, missing.slice(start, end));
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
