import { bytewiseComparator, type Comparator } from '../../format/comparator.js';
import type { LawRun } from '../law-run.js';

// Taken at load: test suites replace the host's functions with fake ones.
const now = /* @__PURE__ */ performance.now.bind(performance);

/** How many times as long as a bytewise comparison of the same keys one may take. */
export const MOST_TIMES = 1000;
/** Shorter times, in milliseconds, are not judged. */
const SHORT_MS = 20;
const ROUNDS = 5;
/** The least time that a bytewise comparison is taken to need, in milliseconds: the clock may be coarse. */
const LEAST_MS = 0.005;

export function takesLittleTime(run: LawRun): void {
  const { isKey = () => true } = run.options;
  for (const filler of [0x61, 0x31, 0, 0xff]) {
    for (let length = 1024; length <= 2 ** 16; length *= 4) {
      const [a, b] = [0, 1].map((last) => new Uint8Array(length).fill(filler).fill(filler ^ last, length - 1)) as [Uint8Array, Uint8Array];
      if (!isKey(a.slice()) || !isKey(b.slice())) continue;
      const bytewiseMs = Math.max(LEAST_MS, leastTime(bytewiseComparator, a, b));
      const ms = leastTime(run.comparator, a, b, MOST_TIMES * bytewiseMs);
      if (ms > SHORT_MS && ms > MOST_TIMES * bytewiseMs) {
        run.fail(`comparing two keys of ${length} bytes takes ${ms.toFixed(0)} ms, and ${bytewiseMs.toFixed(3)} ms in bytewise order`);
      }
    }
  }
}

/** The least time of several comparisons, in milliseconds: the machine may be busy. @param enoughMs a time after which no more are made. */
function leastTime(comparator: Comparator, a: Uint8Array, b: Uint8Array, enoughMs = 0): number {
  let least = Infinity;
  for (let round = 0; round < ROUNDS && !(least <= enoughMs); round++) {
    const start = now();
    try {
      comparator.compare(a, b);
    } catch {
      // Another law is about errors.
    }
    least = Math.min(least, now() - start);
  }
  return least;
}
