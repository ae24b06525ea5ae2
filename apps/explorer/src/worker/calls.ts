/** Calls from the page to a worker: methods by name, with progress, cancellation, and errors with their place in the file. */
import type { FailureFacts } from './failure.js';

export type Request =
  | { readonly kind: 'call'; readonly id: number; readonly method: string; readonly args: readonly unknown[] }
  | { readonly kind: 'cancel'; readonly id: number };

export type Reply =
  | { readonly kind: 'progress'; readonly id: number; readonly done: number; readonly total: number }
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly failure: FailureFacts };

/** Passed to a method before its arguments. */
export interface Work {
  readonly signal: AbortSignal;
  progress(done: number, total: number): void;
}
