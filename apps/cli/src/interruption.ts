import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The program received a signal to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor(readonly signal: NodeJS.Signals) {
    super(`ended by ${signal}`);
  }

  /**
   * Ends the program with the signal, as if it had not been caught. Shells report 128 plus the signal's number.
   *
   * `process.exit` alone would wait for a read in progress, and forever for a pipe without a writer.
   */
  endProgram(): never {
    process.kill(process.pid, this.signal);
    process.exit(128 + constants.signals[this.signal]);
  }
}

/**
 * Runs work that must clean up when a signal ends the program: `signal` is aborted with
 * {@link Interrupted}. A second signal ends the program at once.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = (name: NodeJS.Signals): void => {
    stopListening();
    controller.abort(new Interrupted(name));
  };
  const stopListening = (): void => {
    for (const name of SIGNALS) process.off(name, abort);
  };
  for (const name of SIGNALS) process.on(name, abort);
  try {
    return await work(controller.signal);
  } catch (error) {
    // Work that the signal interrupted may fail with some other error.
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    stopListening();
  }
}

/** Delivers the signals that arrived during synchronous calls: Node delivers them only when the event loop polls. */
export async function deliverSignals(): Promise<void> {
  // The first immediate may run before the next poll. The second runs after it.
  await new Promise(setImmediate);
  await new Promise(setImmediate);
}

/** The result of `promise`. @throws the reason of the signal as soon as it is aborted. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let abort!: () => void;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      reject(signal.reason as Error);
    };
  });
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
