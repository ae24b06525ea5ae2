import type { FilterPolicy } from '../../policy.js';
import type { LawRun } from '../law-run.js';
import { littleEndian32, randomBytes } from '../sample.js';
import type { Trial } from '../trial.js';

/** Absent keys that are tried with all filters of a size and kind. */
const ASKED = 40_000;

/** How many keys the filters have, and how many filters there are: the rates of filters of few keys differ much from each other. */
const SIZES = [
  { count: 10, filters: 200 },
  { count: 100, filters: 100 },
  { count: 1000, filters: 20 },
  { count: 10_000, filters: 4 },
];

/** How likely it is at most that a policy with just the largest rate fails, of one size and kind of keys. */
const FALSE_ALARM = 1e-7;

export function rateIsAtMost(makePolicy: () => FilterPolicy, maxRate: number) {
  return (run: LawRun): void => {
    const failsFrom = tooMany(maxRate);
    const absentNumbers = Array.from({ length: ASKED }, (_, i) => littleEndian32(1_000_000_000 + i));
    const absentRandom = Array.from({ length: ASKED }, () => randomBytes(run.random, 16));
    for (const { count, filters } of SIZES) {
      const tries = (absent: readonly Uint8Array[], keyOf: (i: number) => Uint8Array): void => {
        const lists = Array.from({ length: filters }, (_list, list) => Array.from({ length: count }, (_key, i) => keyOf(list * count + i)));
        run.step(() => {
          const passed = passedOf(run.trial(makePolicy), lists, absent);
          return passed >= failsFrom ? `${(passed / ASKED) * 100}% of absent keys match filters of ${count} keys` : undefined;
        }, 2000);
      };
      tries(absentNumbers, littleEndian32);
      tries(absentRandom, () => randomBytes(run.random, 16));
    }
  };
}

/** How many absent keys match, of which each filter is asked for some. */
function passedOf(trial: Trial, lists: readonly (readonly Uint8Array[])[], absent: readonly Uint8Array[]): number {
  const share = absent.length / lists.length;
  let passed = 0;
  for (const [i, keys] of lists.entries()) {
    const [filter] = trial.place(trial.filterOf(keys));
    for (const key of absent.slice(i * share, (i + 1) * share)) if (trial.asks(key, filter!)) passed++;
  }
  return passed;
}

/**
 * So many matches, or more, have at most the probability {@link FALSE_ALARM}: by Chernoff's bound it is e^-nD, where D is the
 * relative entropy of the share that matches and `maxRate`.
 */
function tooMany(maxRate: number): number {
  const entropy = (p: number, q: number): number => (p === 0 ? 0 : p * Math.log(p / q));
  let passed = Math.ceil(maxRate * ASKED);
  for (; passed <= ASKED; passed++) {
    const share = passed / ASKED;
    if (ASKED * (entropy(share, maxRate) + entropy(1 - share, 1 - maxRate)) > -Math.log(FALSE_ALARM)) break;
  }
  return passed;
}
