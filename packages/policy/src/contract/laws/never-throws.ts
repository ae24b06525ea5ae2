import type { FilterPolicy } from '../../policy.js';
import { damaged, damagedBytes, damagedEnds, patterns } from '../damaged-filters.js';
import { shortKeys } from '../large-lists.js';
import type { LawRun } from '../law-run.js';
import { noise } from '../lending.js';
import { randomBytes } from '../sample.js';
import { show } from '../shown-bytes.js';
import { Fault, type Trial } from '../trial.js';

/** Length of a key that has too many bytes to be the arguments of one call, as in `f(...key)`. */
const LONG_KEY = 140_000;

/** Law 2: `keyMayMatch` never throws, and returns a boolean. */
export function neverThrows(makePolicy: () => FilterPolicy) {
  return (run: LawRun): void => {
    run.overSamples(({ keys, probes, garbage }) => {
      const trial = run.trial(makePolicy);
      const asked = [new Uint8Array(0), ...probes.slice(0, 6), ...keys.slice(0, 6)];
      return wrongAnswer(trial, asked, damaged(trial.filterOf(keys), garbage));
    });
    for (const count of [1, 2, 5, 40]) {
      run.step((random) => {
        const trial = run.trial(makePolicy);
        const keys = shortKeys(random, count);
        return wrongAnswer(trial, [keys[0]!, randomBytes(random, 9)], damagedBytes(trial.filterOf(keys)));
      });
    }
    for (const count of [3, 60, 1300]) {
      run.step((random) => {
        const trial = run.trial(makePolicy);
        const keys = shortKeys(random, count);
        return wrongAnswer(trial, [keys[0]!], damagedEnds(trial.filterOf(keys)));
      }, 1500);
    }
    // Shorter ones first, so that a slow policy is noticed before it takes too long.
    for (const length of [3, 12, 30, 64, 300, 1500, 8000, 70_000, 300_000]) {
      run.step((random) => wrongAnswer(run.trial(makePolicy), [new Uint8Array(0), randomBytes(random, 8)], patterns(length)), 1500);
    }
    for (const length of [0, 12, 64]) {
      run.step(() => wrongAnswer(run.trial(makePolicy), [noise(LONG_KEY, length)], patterns(length)), 1500);
    }
  };
}

function wrongAnswer(trial: Trial, asked: readonly Uint8Array[], filters: Iterable<Uint8Array>): string | undefined {
  const other = noise(20, 4);
  for (const bytes of filters) {
    const [, filter] = trial.place(other, bytes);
    for (const key of asked) {
      let answer: unknown;
      try {
        answer = trial.asks(key, filter!);
      } catch (error) {
        if (error instanceof Fault) throw error;
        return `keyMayMatch(${show(key)}, ${show(bytes)}) throws ${String(error)}`;
      }
      if (typeof answer !== 'boolean') return `keyMayMatch(${show(key)}, ${show(bytes)}) returns ${String(answer)}`;
    }
  }
  return undefined;
}
