/**
 * How long work may run before others get their turn, in milliseconds. Writing and the background have a slice each in one
 * turn of the event loop, and the caller's own work comes on top.
 */
const SLICE_MILLISECONDS = 4;

/** How many moves of a cursor are made before the clock is looked at: most take less than a microsecond. */
export const MOVES_PER_LOOK = 16;

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
    await turn();
    this.restart();
  }

  /** Begins a time slice: others had their turn. */
  restart(): void {
    this.#start = performance.now();
  }
}

/** Waits. */
export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds));
}

/** Waits for the next turn of the event loop. */
export function turn(): Promise<void> {
  // Node runs timers that are due one after another: with slices longer than a timer's millisecond, two tasks that take
  // turns by setTimeout keep it from ever reading what arrived. Pauses of 160 ms were measured.
  const { setImmediate } = globalThis as { readonly setImmediate?: (callback: () => void) => unknown };
  return new Promise((resolve) => {
    if (setImmediate === undefined) setTimeout(resolve, 0);
    else setImmediate(resolve);
  });
}
