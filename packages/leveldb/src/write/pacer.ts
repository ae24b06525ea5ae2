/** How long work may run before others get their turn, in milliseconds. */
const SLICE_MILLISECONDS = 8;

/** Cuts work into slices, so that the host's event loop stays free. */
export class Pacer {
  readonly #stepsPerLook: number;
  #steps = 0;
  #start = performance.now();

  /** @param stepsPerLook the clock is looked at once in so many steps: where a step takes less time than that. */
  constructor(stepsPerLook: number) {
    this.#stepsPerLook = stepsPerLook;
  }

  /** Counts a step. @returns whether to `pause` before the next. */
  isDue(): boolean {
    if (++this.#steps < this.#stepsPerLook) return false;
    this.#steps = 0;
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
