import { sameBytes } from '@bloom/bytes/internal';
import type { FilterPolicy } from '../../policy.js';
import type { LawRun } from '../law-run.js';
import { GuardedSink, LentKeys, Memory } from '../lending.js';
import { withOneChanged } from '../sample.js';
import { show } from '../shown-bytes.js';
import type { Trial } from '../trial.js';

/** Law 6: a policy does not keep the bytes that it receives. */
export function keepsNothing(makePolicy: () => FilterPolicy) {
  return (run: LawRun): void => {
    run.overSamples(({ keys, probes }) => {
      const trial = run.trial(makePolicy);
      const fresh = run.trial(makePolicy);
      const list = new LentKeys(keys);
      const sink = new GuardedSink();
      const filter = trial.makeFilter(list, sink);
      const changed = withOneChanged(keys);
      const filters = [filter, fresh.filterOf(changed), fresh.filterOf(probes)];
      const asked = [...changed.filter((key, i) => key !== keys[i]), ...probes, ...keys.slice(0, keys.length > 300 ? 10 : 40)];
      const placed = fresh.place(...filters);
      const answers = asked.map((key) => placed.map((one) => fresh.asks(key, one)));
      list.takeAway();
      for (const [i, key] of asked.entries()) {
        if (trial.asks(key, placed[0]!) === answers[i]![0]) continue;
        return `the instance that made the filter answers differently about ${show(key)} once the key list is overwritten`;
      }
      // The list is reused with other keys, the sink for other filters.
      for (const [others, expected] of [[changed, filters[1]!], [probes, filters[2]!]] as const) {
        const again = trial.makeFilter(list.refill(others), sink);
        if (sink.late !== undefined) return sink.late;
        if (!sameBytes(again, expected)) return `from a list that held other keys before, createFilter makes ${show(again)}, not ${show(expected)}`;
      }
      trial.asks(new Uint8Array(3), placed[0]!);
      return sink.late ?? remembers(trial, asked, filters, answers);
    });
  };
}

/** Lends all keys and filters in the same arrays, which are overwritten between calls. */
function remembers(
  trial: Trial,
  asked: readonly Uint8Array[],
  filters: readonly Uint8Array[],
  answers: readonly (readonly boolean[])[],
): string | undefined {
  const longest = filters.reduce((length, filter) => Math.max(length, filter.length), 0);
  const [memory, keyMemory] = [new Memory(0).lend(new Uint8Array(longest)), new Memory(0).lend(new Uint8Array(8))];
  // One array for each length, all at the same place in memory.
  const arrays = new Map(filters.map(({ length }) => [length, memory.subarray(0, length)]));
  const keyArrays = Array.from({ length: keyMemory.length + 1 }, (_, length) => keyMemory.subarray(0, length));
  for (const [i, key] of asked.entries()) {
    const isShort = key.length <= keyMemory.length;
    const keyArray = keyArrays[key.length] ?? key;
    if (isShort) keyArray.set(key);
    for (const [at, filter] of filters.entries()) {
      const array = arrays.get(filter.length)!;
      array.set(filter);
      const answer = isShort ? trial.asksWith(keyArray, array) : trial.asks(key, array);
      array.fill(0xcc);
      if (answer === answers[i]![at]) continue;
      return `keyMayMatch(${show(key)}, ${show(filter)}), in arrays that held others before, answers as it did for those`;
    }
    keyMemory.fill(0xcc);
  }
  return undefined;
}
