import type { Signal } from '@bloom/bytes';

/** The calls that wait for an abort of a signal, and the one listener on the signal that ends them. */
interface Waiting {
  readonly calls: Set<() => void>;
  readonly end: () => void;
}

const waiting = new WeakMap<Signal, Waiting>();

/**
 * Calls `call` when `signal` is aborted; never, if it is aborted already.
 *
 * A signal gets one listener, no matter how many calls wait for it, because Node warns of a memory leak at the eleventh.
 *
 * @param call a function of its own for each wait. It must not throw.
 * @returns ends the wait. Without waits, no listener stays on the signal.
 */
export function onAbort(signal: Signal, call: () => void): () => void {
  if (signal.aborted) return () => undefined;
  const { calls, end } = waiting.get(signal) ?? listen(signal);
  calls.add(call);
  return () => {
    if (!calls.delete(call) || calls.size > 0) return;
    signal.removeEventListener('abort', end);
    waiting.delete(signal);
  };
}

function listen(signal: Signal): Waiting {
  const calls = new Set<() => void>();
  const end = (): void => {
    waiting.delete(signal);
    for (const call of calls) call();
    calls.clear();
  };
  signal.addEventListener('abort', end, { once: true });
  const entry = { calls, end };
  waiting.set(signal, entry);
  return entry;
}
