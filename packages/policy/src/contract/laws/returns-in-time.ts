import { processorMs } from '#contract-host';
import type { FilterPolicy } from '../../policy.js';
import { patterns } from '../damaged-filters.js';
import { ascendingKeys, shortKeys } from '../large-lists.js';
import type { LawRun } from '../law-run.js';
import { LentKeys, noise } from '../lending.js';
import { randomBytes } from '../sample.js';
import { patienceWith } from '../trial.js';

/** How much longer a key may take in a long list than in a short one: caches and a logarithm explain this factor. */
const MOST_GROWTH = 12;

/** Shorter times, in milliseconds, are not judged. */
const SHORT_MS = 150;

/** Law 10: every call returns in time about proportional to its input. */
export function returnsInTime(makePolicy: () => FilterPolicy) {
  return (run: LawRun): void => {
    run.step(() => {
      const trial = run.trial(makePolicy);
      trial.asks(new Uint8Array(0), trial.place(trial.filterOf([]))[0]!);
      return undefined;
    });
    const counts = [250, 1000, 4000, 16_000, 64_000];
    growsWith(run, makePolicy, 'keys', counts, (count) => shortKeys(run.random, count));
    growsWith(run, makePolicy, 'keys in order', counts, (count) => ascendingKeys(count));
    growsWith(run, makePolicy, 'keys that are all the same', counts, (count) => {
      const key = randomBytes(run.random, 8);
      return Array.from({ length: count }, () => key);
    });
    growsWith(run, makePolicy, 'bytes of one key', [1000, 4000, 16_000, 64_000, 256_000], (length) => [randomBytes(run.random, length)]);
    // Damage last, shorter filters first: not every host can interrupt a call that never returns.
    for (let length = 0; length <= 2 ** 19; length = length < 12 ? length + 1 : length * 2) {
      run.step((random) => {
        const trial = run.trial(makePolicy);
        for (const bytes of patterns(length)) {
          const [, filter] = trial.place(noise(9, 9), bytes);
          for (const key of [new Uint8Array(0), randomBytes(random, 9)]) trial.asks(key, filter!);
        }
        return undefined;
      }, 300 + length / 50);
    }
  };
}

/** Makes filters of ever larger lists, looks up keys in them, and compares the times. */
function growsWith(
  run: LawRun,
  makePolicy: () => FilterPolicy,
  what: string,
  sizes: readonly number[],
  keysOf: (size: number) => readonly Uint8Array[],
): void {
  let least: { readonly size: number; readonly ms: number } | undefined;
  for (const size of sizes) {
    const keys = keysOf(size);
    const list = new LentKeys(keys);
    run.step((random) => {
      const trial = run.trial(makePolicy);
      let ms = Infinity;
      const isTooMuch = (): boolean => least !== undefined && ms > SHORT_MS && ms / size > (MOST_GROWTH * least.ms) / least.size;
      // The best of several rounds: the first are slow until the engine has compiled the policy, and the machine may be busy.
      const endAt = processorMs() + 25;
      for (let round = 0; round === 0 || (round < 2 && isTooMuch()) || (round < 8 && processorMs() < endAt); round++) {
        const made = trial.timedFilterOf(list);
        ms = Math.min(ms, made.ms);
        const [filter] = trial.place(made.filter);
        for (const key of [keys[0]!, keys.at(-1)!, new Uint8Array(0), randomBytes(random, 9)]) trial.asks(key, filter!);
      }
      if (least === undefined) {
        least = { size, ms };
        return undefined;
      }
      if (!isTooMuch()) return undefined;
      return `createFilter with ${least.size} ${what} takes ${least.ms.toFixed(1)} ms, and with ${size} it takes ${ms.toFixed(0)} ms`;
    }, 2 * patienceWith(list));
  }
}
