import { numberOf } from '@bloom/bytes/internal';
import { processorMs } from '#contract-host';
import type { FilterPolicy } from '../../policy.js';
import { growingLists, type LargeList, largeLists, largestList } from '../large-lists.js';
import type { LawRun } from '../law-run.js';
import { GuardedSink, LentKeys, noise } from '../lending.js';
import { withOneChanged } from '../sample.js';
import { show } from '../shown-bytes.js';
import { patienceWith, type Trial } from '../trial.js';

/**
 * Milliseconds to spend on looking up the keys of one large list, and those of all such lists together. A policy as fast as LevelDB's
 * needs less, and is asked for every key of the longest one: its filter may have lost three.
 */
const ASKING_MS = 150;
const ASKING_ALL_MS = 800;
const ALL_ASKING_MS = 2500;

/** How many keys of a growing list are asked for where not all are. */
const SOME = 24;
/** Milliseconds that one group of growing lists may take. */
const GROUP_MS = 2000;
const GROUP_ASKING_MS = 60;

/** A policy that takes less than this, in milliseconds, for a filter of 4 MiB of keys is also tried with 17 MiB. */
const QUICK_MS = 500;

/** Law 1: every added key matches. */
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
    let leftMs = ALL_ASKING_MS;
    const missedBy = (reader: Trial, keys: readonly Uint8Array[], filter: Uint8Array, ms: number): number | undefined => {
      const start = processorMs();
      const missed = reader.firstMissed(keys, filter, Math.min(ms, leftMs));
      leftMs -= processorMs() - start;
      return missed;
    };
    /** Asks another instance than the one that made the filter for as many of the keys as time allows, and that one for a few. */
    const missedInLarge = (what: string, keys: readonly Uint8Array[], list: LentKeys, ms: number): string | undefined => {
      const [maker, reader] = [run.trial(makePolicy), run.trial(makePolicy)];
      const made = maker.makeFilter(list, new GuardedSink());
      const [, filter] = maker.place(noise(33, 3), made);
      const missed = maker.firstMissed(keys, filter!, 0) ?? missedBy(reader, keys, filter!, ms);
      return missed === undefined ? undefined : lost(what, keys, missed, made);
    };
    /** Asks for some keys of each list, and for all of the last one. */
    const missedInGroup = (group: readonly (readonly Uint8Array[])[]): string | undefined => {
      const [maker, reader] = [run.trial(makePolicy), run.trial(makePolicy)];
      for (const keys of group) {
        const made = maker.filterOf(keys);
        const [filter] = maker.place(made);
        const stride = Math.floor(keys.length / SOME);
        for (let i = 0; i < keys.length; i += stride) if (!reader.asks(keys[i]!, filter!)) return lost(numberOf(keys.length, 'key'), keys, i, made);
        const missed = keys === group.at(-1) ? missedBy(reader, keys, filter!, GROUP_ASKING_MS) : undefined;
        if (missed !== undefined) return lost(numberOf(keys.length, 'key'), keys, missed, made);
      }
      return undefined;
    };
    const makeLarge = ({ what, keys, asksAll = false }: LargeList): number => {
      const large = new LentKeys(keys, { lead: 7, first: 0, noiseSeed: 5 });
      const start = processorMs();
      const askingMs = asksAll ? ASKING_ALL_MS : ASKING_MS;
      run.step(() => missedInLarge(what, keys, large, askingMs), patienceWith(large) + 4 * askingMs);
      return processorMs() - start;
    };
    for (const group of growingLists(run.random)) {
      if (group.length === 1) makeLarge({ what: numberOf(group[0]!.length, 'key'), keys: group[0]! });
      else run.step(() => missedInGroup(group), GROUP_MS);
    }
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

function lost(what: string, keys: readonly Uint8Array[], i: number, filter: Uint8Array): string {
  return `of ${what}, key ${i + 1}, ${show(keys[i]!)}, was added and does not match the filter of ${numberOf(filter.length, 'byte')}`;
}
