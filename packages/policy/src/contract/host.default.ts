/** In any host: time is that of the clock, and what does not end by itself is not ended. */

/** Milliseconds by the clock. */
export function processorMs(): number {
  return performance.now();
}

/** @returns runs a step, and says that it came to its end. */
export function interrupter(): (limitMs: number, step: () => void) => boolean {
  return (_, step) => {
    step();
    return true;
  };
}
