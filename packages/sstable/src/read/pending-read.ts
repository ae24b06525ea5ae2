import type { Signal } from '@bloom/bytes';
import type { SignalController } from '@bloom/bytes/internal';
import { untilAborted } from './until-aborted.js';

/**
 * A read that is under way. Any number of calls can wait for it, each with a signal of its own or none. When the signals
 * of all of them have been aborted, the read is aborted too.
 */
export class PendingRead {
  /** Whether the read has settled or was aborted. */
  isOver = false;
  readonly #answer: Promise<Uint8Array>;
  readonly #controller: SignalController;
  #waiting = 0;
  #fail!: (reason: unknown) => void;

  /**
   * @param read resolves to the bytes.
   * @param controller aborts the read at the source. Reads may share one if only `abort` ends them, not a signal.
   * @param onOver called once, as soon as the read has ended.
   */
  constructor(read: Promise<Uint8Array>, controller: SignalController, onOver: () => void) {
    this.#controller = controller;
    this.#answer = new Promise((resolve, reject) => {
      const end = (): boolean => {
        if (this.isOver) return false;
        this.isOver = true;
        onOver();
        return true;
      };
      const fail = (reason: unknown): void => {
        if (end()) reject(reason);
      };
      this.#fail = fail;
      read.then((bytes) => {
        if (end()) resolve(bytes);
      }, fail);
    });
    // Without this, a failure that no call waits for would be an unhandled rejection.
    this.#answer.catch(() => undefined);
  }

  /** The bytes, unless `signal` is aborted first. */
  wait(signal?: Signal): Promise<Uint8Array> {
    this.#waiting++;
    if (signal === undefined || this.isOver) return this.#answer;
    return untilAborted(this.#answer, signal).catch((error: unknown) => {
      if (--this.#waiting === 0) this.abort(error);
      throw error;
    });
  }

  /** Ends the read. All waiting calls are rejected with `reason` at once. */
  abort(reason: unknown): void {
    if (this.isOver) return;
    this.#fail(reason);
    this.#controller.abort(reason);
  }
}
