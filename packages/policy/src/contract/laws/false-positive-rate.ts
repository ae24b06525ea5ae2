import type { FilterPolicy } from '../../policy.js';
import type { LawRun } from '../law-run.js';
import { littleEndian32, randomBytes } from '../sample.js';

/** Absent keys that each filter is tried with. */
const ASKED = 10_000;

export function rateIsAtMost(makePolicy: () => FilterPolicy, maxRate: number) {
  return (run: LawRun): void => {
    for (const count of [10, 100, 1000, 10_000]) {
      run.step(() => {
        const numbers = Array.from({ length: count }, (_, i) => littleEndian32(i));
        const random = Array.from({ length: count }, () => randomBytes(run.random, 16));
        return (
          rateProblem(run, makePolicy, numbers, (i) => littleEndian32(1_000_000_000 + i), maxRate) ??
          rateProblem(run, makePolicy, random, () => randomBytes(run.random, 16), maxRate)
        );
      }, 2000);
    }
  };
}

function rateProblem(
  run: LawRun,
  makePolicy: () => FilterPolicy,
  keys: readonly Uint8Array[],
  absent: (i: number) => Uint8Array,
  maxRate: number,
): string | undefined {
  const trial = run.trial(makePolicy);
  const [filter] = trial.place(trial.filterOf(keys));
  let passed = 0;
  for (let i = 0; i < ASKED; i++) if (trial.asks(absent(i), filter!)) passed++;
  // Three standard deviations are allowed, since 10,000 keys are only a sample.
  const allowed = maxRate * ASKED + 3 * Math.sqrt(maxRate * (1 - maxRate) * ASKED);
  return passed > allowed ? `${(passed / ASKED) * 100}% of absent keys match a filter of ${keys.length} keys` : undefined;
}
