import type { Signal } from '@bloom/bytes';
import { onAbort } from './on-abort.js';

/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it is aborted.
 *
 * An abort does not stop the work itself, but its result is ignored. No listener stays on the signal.
 */
export function untilAborted<T>(work: PromiseLike<T>, signal: Signal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const end = onAbort(signal, () => reject(signal.reason));
    work.then(
      (value) => {
        end();
        resolve(value);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  });
}
