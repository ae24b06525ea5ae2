import { processorMs } from '#contract-host';
import type { FilterPolicy } from '../../policy.js';
import { type LargeList, largeLists, largestList } from '../large-lists.js';
import type { LawRun } from '../law-run.js';
import { GuardedSink, LentKeys, noise } from '../lending.js';
import { withOneChanged } from '../sample.js';
import { show } from '../show.js';
import { patienceWith, type Trial } from '../trial.js';

/** What asking for the keys of one large list may take, in milliseconds. */
const ASKING_MS = 250;

/** A policy that has made a filter of 4 MiB of keys, and was asked for them, in so many milliseconds is tried with more. */
const QUICK_MS = 500;

export function noFalseNegatives(makePolicy: () => FilterPolicy) {
  return (run: LawRun): void => {
    // The same list and sink throughout, as a filter block has: only the keys in them change.
    const list = new LentKeys([]);
    const sink = new GuardedSink();
    run.overSamples(({ keys, probes: others }) => {
      // So that the smallest example has its keys where they are looked for.
      const probes = keys.length === 0 ? [] : others;
      const trial = run.trial(makePolicy);
      const reader = run.trial(makePolicy);
      const changed = withOneChanged(keys);
      const filter = trial.makeFilter(list.refill(keys), sink);
      const ofProbes = trial.filterOf(probes);
      const ofChanged = trial.makeFilter(list.refill(changed), sink);
      // The first, one like it, another; and all that after the others were made.
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
    // By the last of them, of 4 MiB: the largest takes four times as long.
    if (ms < QUICK_MS) makeLarge(largestList(run.random));
  };
}

function missedIn(trial: Trial, keys: readonly Uint8Array[], filter: Uint8Array): string | undefined {
  const missed = trial.firstMissed(keys, filter);
  return missed === undefined ? undefined : `${show(keys[missed]!)} was added and does not match ${show(filter)}`;
}

function missedInLarge(trial: Trial, what: string, keys: readonly Uint8Array[], list: LentKeys): string | undefined {
  const made = trial.makeFilter(list, new GuardedSink());
  const [, filter] = trial.place(noise(33, 3), made);
  const missed = trial.firstMissed(keys, filter!, ASKING_MS);
  if (missed === undefined) return undefined;
  return `of ${what}, key ${missed + 1}, ${show(keys[missed]!)}, was added and does not match the filter of ${made.length} bytes`;
}
