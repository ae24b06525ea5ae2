// Taken at load: test suites replace the host's functions with fake ones.
const now = /* @__PURE__ */ performance.now.bind(performance);

/** For any host: time is wall-clock time, and a call that does not return cannot be interrupted. */

/** Wall-clock milliseconds. */
export function processorMs(): number {
  return now();
}

/** @returns a function that runs a step, and returns true: the step always runs to its end. */
export function interrupter(): (limitMs: number, step: () => void) => boolean {
  return (_, step) => {
    step();
    return true;
  };
}
