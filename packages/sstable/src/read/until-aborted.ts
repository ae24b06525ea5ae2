import type { Signal } from '@bloom/bytes';

/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it is aborted.
 *
 * An abort does not stop the work itself, but its result is ignored. No listener stays on the signal.
 */
export function untilAborted<T>(work: PromiseLike<T>, signal: Signal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    const end = (): void => signal.removeEventListener('abort', abort);
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
