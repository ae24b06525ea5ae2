import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A signal asked the program to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor(readonly signal: NodeJS.Signals) {
    super(`ended by ${signal}`);
  }

  /**
   * Ends the program by the signal, as if it had not been caught. Shells give 128 and the signal's number as exit code.
   *
   * `process.exit` alone would wait for a read that is under way, for ever if it is from a pipe that nobody writes to.
   */
  endProgram(): never {
    process.kill(process.pid, this.signal);
    process.exit(128 + constants.signals[this.signal]);
  }
}

/**
 * Runs work that has something to clean up when a signal ends the program: `signal` is aborted with
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
    // What the signal cut short fails in ways of its own.
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    stopListening();
  }
}
