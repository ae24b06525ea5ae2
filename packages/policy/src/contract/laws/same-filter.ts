import { numberOf, sameBytes } from '@bloom/bytes/internal';
import { processorMs } from '#contract-host';
import type { FilterPolicy } from '../../policy.js';
import { shortKeys } from '../large-lists.js';
import type { LawRun } from '../law-run.js';
import { GuardedSink, LentKeys } from '../lending.js';
import { littleEndian32 } from '../sample.js';
import { show } from '../shown-bytes.js';
import { patienceWith, type Trial } from '../trial.js';

/** Filters that are made between two filters of the same keys: more than a 16-bit counter can count. */
const MANY_FILTERS = 70_000;
/** Milliseconds to spend on making them. */
const MANY_FILTERS_MS = 1000;
/** Numbers of keys of filters that are made again after one of other keys. */
const LARGE = [3000, 9000, 70_000];

/** Law 3: the same keys give the same filter. */
export function sameFilter(makePolicy: () => FilterPolicy) {
  return (run: LawRun): void => {
    // Used for all samples: whatever this instance remembers of earlier ones must have no effect.
    const used = run.trial(makePolicy);
    const list = new LentKeys([], { lead: 11, first: 0, noiseSeed: 8 });
    const sink = new GuardedSink();
    const made: { readonly keys: readonly Uint8Array[]; readonly filter: Uint8Array }[] = [];
    run.overSamples(({ keys, probes }) => {
      const fresh = run.trial(makePolicy);
      const filter = fresh.makeFilter(new LentKeys(keys), new GuardedSink());
      const another = run.trial(makePolicy).makeFilter(new LentKeys(keys), new GuardedSink());
      if (!sameBytes(filter, another)) return `a new instance makes ${show(filter)}, and another new one makes ${show(another)}`;
      const ofProbes = run.trial(makePolicy).makeFilter(new LentKeys(probes), new GuardedSink());
      const otherSlack = fresh.makeFilter(new LentKeys(keys, { lead: 13, first: 0, noiseSeed: 99 }), new GuardedSink());
      if (!sameBytes(filter, otherSlack)) return 'the filter depends on the bytes past the keys in their buffer';
      const elsewhere = fresh.makeFilter(new LentKeys(keys, { lead: 18, first: 5, noiseSeed: 4 }), new GuardedSink());
      if (!sameBytes(filter, elsewhere)) return 'the filter depends on where the keys lie in their buffer';
      // The same list, sink and memory for all four filters.
      for (const [others, expected] of [[probes, ofProbes], [keys, filter], [probes, ofProbes], [keys, filter]] as const) {
        const again = used.makeFilter(list.refill(others), sink);
        if (!sameBytes(expected, again)) return `a new instance makes ${show(expected)}, and one that was used before makes ${show(again)}`;
        if (probes.length > 0) used.asks(probes[0]!, used.place(again)[0]!);
      }
      if (made.length < 400) made.push({ keys, filter });
      return undefined;
    });
    run.step(() => afterMany(run, makePolicy), 2 * MANY_FILTERS_MS);
    for (const count of LARGE) {
      const [keys, others] = [shortKeys(run.random, count), shortKeys(run.random, count)];
      run.step(() => madeOtherwise(run.trial(makePolicy), used, keys, others), 3 * patienceWith(new LentKeys(keys)));
    }
    run.step(() => {
      for (const { keys, filter } of [...made].reverse()) {
        const again = used.filterOf(keys);
        if (sameBytes(filter, again)) continue;
        return `from the same ${numberOf(keys.length, 'key')}, createFilter made ${show(filter)} at first, and ${show(again)} after other calls`;
      }
      return undefined;
    }, 2000);
  };
}

/** Whether an instance that has made other filters makes one of many keys otherwise than a new one does. */
function madeOtherwise(fresh: Trial, used: Trial, keys: readonly Uint8Array[], others: readonly Uint8Array[]): string | undefined {
  const filter = fresh.filterOf(keys);
  used.filterOf(others);
  if (sameBytes(filter, used.filterOf(keys))) return undefined;
  return `from the same ${numberOf(keys.length, 'key')}, a new instance makes another filter than one that was used before`;
}

/** Whether the first filter is made again after very many others. */
function afterMany(run: LawRun, makePolicy: () => FilterPolicy): string | undefined {
  const trial = run.trial(makePolicy);
  const list = new LentKeys([littleEndian32(0)]);
  const sink = new GuardedSink();
  const filter = trial.makeFilter(list, sink);
  const endAt = processorMs() + MANY_FILTERS_MS;
  let i = 1;
  for (; i < MANY_FILTERS && (i % 64 !== 0 || processorMs() < endAt); i++) {
    trial.makeFilter(list.refill([littleEndian32(i)]), sink);
  }
  const again = trial.makeFilter(list.refill([littleEndian32(0)]), sink);
  return sameBytes(filter, again) ? undefined : `after ${i} other filters, createFilter makes ${show(again)} from a key from which it made ${show(filter)} before`;
}
