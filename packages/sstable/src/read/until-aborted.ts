/**
 * What `work` settles with, or the reason of `signal` as soon as that is aborted.
 *
 * An abort does not end the work itself: its outcome is dropped. No listener stays on the signal.
 */
export function untilAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
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
