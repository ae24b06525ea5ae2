import type { Signal } from '@bloom/bytes';

/** Bounds the reads that several queues start, all together. */
export class ReadGate {
  readonly #most: number;
  #inside = 0;
  /** What to call when there is room again, the first that has waited longest. */
  readonly #waiting = new Set<() => void>();

  /** @param most the most simultaneous reads. */
  constructor(most = 16) {
    this.#most = most;
  }

  /** @param retry called once when there is room, if there is none now. @returns whether there is. */
  enter(retry: () => void): boolean {
    if (this.#inside >= this.#most) {
      this.#waiting.add(retry);
      return false;
    }
    this.#inside++;
    return true;
  }

  /** Resolves once there is room, which the caller then has; never after `signal` has been aborted. */
  entered(signal: Signal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const retry = (): void => {
        if (signal?.aborted !== true && this.enter(retry)) resolve();
      };
      retry();
    });
  }

  /** Makes room for one that waits. */
  leave(): void {
    this.#inside--;
    for (const retry of [...this.#waiting]) {
      if (this.#inside >= this.#most) return;
      this.#waiting.delete(retry);
      // It may have nothing to read any more.
      retry();
    }
  }
}
