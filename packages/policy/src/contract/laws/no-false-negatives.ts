import { processorMs } from '#contract-host';
import type { FilterPolicy } from '../../policy.js';
import { type LargeList, largeLists, largestList } from '../large-lists.js';
import type { LawRun } from '../law-run.js';
import { GuardedSink, LentKeys, noise } from '../lending.js';
import { withOneChanged } from '../sample.js';
import { show } from '../show.js';
import { patienceWith, type Trial } from '../trial.js';

/** Milliseconds to spend on looking up the keys of one large list. */
const ASKING_MS = 250;

/** A policy that takes less than this, in milliseconds, for a filter of 4 MiB of keys is also tried with 17 MiB. */
const QUICK_MS = 500;

export function noFalseNegatives(makePolicy: () => FilterPolicy) {
  return (run: LawRun): void => {
    // The same list and sink throughout, as in a filter block.
    const list = new LentKeys([]);
    const sink = new GuardedSink();
    run.overSamples(({ keys, probes: others }) => {
      // Without keys there are no probes either, so that the search for a smaller example does not leave only probes.
      const probes = keys.length === 0 ? [] : others;
      const trial = run.trial(makePolicy);
      const reader = run.trial(makePolicy);
      const changed = withOneChanged(keys);
      const filter = trial.makeFilter(list.refill(keys), sink);
      const ofProbes = trial.filterOf(probes);
      const ofChanged = trial.makeFilter(list.refill(changed), sink);
      // Lookups come after all three filters were made.
      const [placedProbes, placed, placedChanged] = trial.place(ofProbes, filter, ofChanged);
      return (
        missedIn(trial, keys, placed!) ??
        missedIn(trial, changed, placedChanged!) ??
        missedIn(trial, probes, placedProbes!) ??
        missedIn(reader, keys, placed!)
      );
    });
    const makeLarge = ({ what, keys }: LargeList): number => {
      const large = new LentKeys(keys, { lead: 7, first: 0, noiseSeed: 5 });
      const start = processorMs();
      run.step(() => missedInLarge(run.trial(makePolicy), what, keys, large), patienceWith(large) + 4 * ASKING_MS);
      return processorMs() - start;
    };
    let ms = 0;
    for (const list of largeLists(run.random)) ms = makeLarge(list);
    // `ms` is the time for the last list, of 4 MiB: the largest takes four times as long.
    if (ms < QUICK_MS) makeLarge(largestList(run.random));
  };
}

function missedIn(trial: Trial, keys: readonly Uint8Array[], filter: Uint8Array): string | undefined {
  const missed = trial.firstMissed(keys, filter);
  return missed === undefined ? undefined : `${show(keys[missed]!)} was added and does not match the filter ${show(filter)}`;
}

function missedInLarge(trial: Trial, what: string, keys: readonly Uint8Array[], list: LentKeys): string | undefined {
  const made = trial.makeFilter(list, new GuardedSink());
  const [, filter] = trial.place(noise(33, 3), made);
  const missed = trial.firstMissed(keys, filter!, ASKING_MS);
  if (missed === undefined) return undefined;
  return `of ${what}, key ${missed + 1}, ${show(keys[missed]!)}, was added and does not match the filter of ${made.length} bytes`;
}
