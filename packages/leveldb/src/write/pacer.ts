/** How long background work may run before others get their turn, in milliseconds. */
const SLICE_MILLISECONDS = 8;
/** The clock is looked at once in so many steps. */
const STEPS_PER_LOOK = 32;

/** Cuts background work into slices, so that the host's event loop stays free. */
export class Pacer {
  #steps = 0;
  #start = performance.now();

  /** Counts a step. @returns whether to `pause` before the next. */
  isDue(): boolean {
    if (++this.#steps % STEPS_PER_LOOK !== 0) return false;
    return performance.now() - this.#start >= SLICE_MILLISECONDS;
  }

  /** Lets timers and I/O of the host go first. */
  async pause(): Promise<void> {
    await delay(0);
    this.#start = performance.now();
  }
}

/** Waits. */
export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds));
}
