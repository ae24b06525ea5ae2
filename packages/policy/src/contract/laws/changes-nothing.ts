import { sameBytes } from '@bloom/bytes/internal';
import type { FilterPolicy } from '../../policy.js';
import { ascendingKeys, shortKeys } from '../large-lists.js';
import type { LawRun } from '../law-run.js';
import { BufferLike, GuardedSink, LentKeys, sideBySide } from '../lending.js';
import { randomBytes } from '../sample.js';
import { show } from '../shown-bytes.js';
import { patienceWith, type Trial } from '../trial.js';

/** Arrays of fewer bytes are searched for properties in each turn, longer ones, which takes longer, in every eighth. */
const SHORT_BYTES = 24;
const TURNS_PER_LONG_LIST = 8;

/** Takes the memory away from its arrays, whose length is 0 then. Hosts of tests such as jsdom may not be able to. */
function detach(memory: ArrayBuffer): void {
  if (typeof structuredClone === 'function') structuredClone(memory, { transfer: [memory] });
}

/** Law 5: a policy does not change the bytes that it receives. */
export function changesNothing(makePolicy: () => FilterPolicy, lendBuffers: boolean) {
  return (run: LawRun): void => {
    run.overSamples(({ keys, probes }) => asks(run.trial(makePolicy), keys, [...probes, ...keys.slice(0, 40)], lendBuffers));
    const large = [ascendingKeys(40_000), shortKeys(run.random, 40_000), [randomBytes(run.random, 200_000), randomBytes(run.random, 5)]];
    for (const keys of large) {
      const list = new LentKeys(keys);
      run.step(() => asks(run.trial(makePolicy), keys, keys.slice(0, 2), lendBuffers), patienceWith(list));
    }
  };
}

function asks(trial: Trial, keys: readonly Uint8Array[], asked: readonly Uint8Array[], lendBuffers: boolean): string | undefined {
  const list = new LentKeys(keys, { lead: 9, first: 2, noiseSeed: 6 });
  const changed = list.watch();
  const made = trial.makeFilter(list, new GuardedSink());
  const what = changed();
  if (what !== undefined) return `createFilter changed ${what}`;
  for (const [turn, key] of asked.entries()) {
    for (const isBuffer of lendBuffers ? [false, true] : [false]) {
      const [lentKey, filter] = sideBySide([key, made, key], turn).map((array) => (isBuffer ? BufferLike.over(array) : array));
      const around = new Uint8Array(lentKey!.buffer);
      const before = around.slice();
      trial.asksWith(lentKey!, filter!);
      const how = isBuffer ? ", when lent in an array whose slices share its memory, as Node's Buffer" : '';
      if (!sameBytes(lentKey!, key)) return `keyMayMatch changed the key ${show(key)} to ${show(lentKey!)}${how}`;
      if (!sameBytes(filter!, made)) return `keyMayMatch changed the filter ${show(made)} to ${show(filter!)}${how}`;
      if (!sameBytes(around, before)) return `keyMayMatch changed bytes around the key ${show(key)} or the filter ${show(made)}`;
      const areLongOnesSearched = turn % TURNS_PER_LONG_LIST === 0;
      // Object.keys lists each byte too, which takes 0.1 s for a megabyte.
      if (areLongOnesSearched) detach(around.buffer);
      for (const [name, array] of [['key', lentKey!], ['filter', filter!]] as const) {
        const isSearched = array.length < SHORT_BYTES || areLongOnesSearched;
        if (isSearched && Object.keys(array).length > array.length) return `keyMayMatch added a property to the ${name}'s array, which may hold another ${name} in the next call`;
      }
    }
  }
  return undefined;
}
