import { type FilterPolicy, mayAskForMany } from '../../policy.js';
import { damaged } from '../garbage.js';
import { shortKeys } from '../large-lists.js';
import type { LawRun } from '../law-run.js';
import { equal, LentKeys, noise } from '../lending.js';
import { randomBytes } from '../sample.js';
import { show } from '../show.js';
import type { Trial } from '../trial.js';

/** More keys than a kernel's memory may take at once, and a number that is no multiple of the lanes of a vector. */
const MANY = 70_003;
/** Lists of every number of keys below this are asked for, since vectors and loops take several keys at a time. */
const WIDTHS = 70;
/** Numbers of keys around those that a policy may take at a time, in lists whose keys are all in the filter. */
const PARTS = [1023, 1024, 1025, 2048, 2049, 4096, 4097, 8193, 16_385];
/** Enough keys for what a policy does in another way with larger batches. */
const BATCH = 150;
/** Lengths of keys in lists whose keys all have the same: vectors take such keys together. */
const SAME_LENGTHS = [1, 4, 7, 8, 16, 20];
/** Lengths that do not fit into 16 bits, among others. */
const LONG_LENGTHS = [9, 65_535, 65_536, 0, 70_001, 31];
/** What stands behind the answers, and must stay. */
const BEHIND = 0x5a;

export function manyKeysAsOne(makePolicy: () => FilterPolicy) {
  return (run: LawRun): void => {
    if (makePolicy().keysMayMatch === undefined) return;
    run.step(() => (mayAskForMany(makePolicy()) ? undefined : 'keysMayMatch is inherited from a class that does not know keyMayMatch'));
    run.overSamples(({ keys, probes, garbage }) => {
      const trial = run.trial(makePolicy);
      const asked = [...probes.slice(0, 8), new Uint8Array(0), ...keys.slice(0, 8)];
      for (const bytes of damaged(trial.filterOf(keys), garbage)) {
        const [, filter] = trial.place(noise(20, 4), bytes);
        const problem = differs(trial, asked, filter!);
        if (problem !== undefined) return problem;
      }
      const own = differs(trial, [...keys.slice(0, 150), ...probes], trial.place(trial.filterOf(keys))[0]!);
      if (own !== undefined) return own;
      return differs(trial, [], trial.place(trial.filterOf(keys))[0]!);
    });
    const many = shortKeys(run.random, MANY);
    const half = many.filter((_, i) => i % 2 === 0);
    const few = many.slice(0, 2 * BATCH);
    const fewFilter = (trial: Trial): Uint8Array => trial.filterOf(few.filter((_, i) => i % 2 === 0));
    run.step(() => {
      const trial = run.trial(makePolicy);
      return everyWidth(trial, few, trial.place(fewFilter(trial))[0]!) ?? remembers(trial, few);
    }, 3000);
    const sameLengths = SAME_LENGTHS.map((length) => Array.from({ length: 69 }, () => randomBytes(run.random, length)));
    const long = LONG_LENGTHS.map((length) => randomBytes(run.random, length));
    run.step(() => {
      const trial = run.trial(makePolicy);
      for (const keys of [...sameLengths, long]) {
        const asked = [...keys, ...keys.map((key) => Uint8Array.from(key, (byte) => byte ^ 0x5a))];
        const wrong = differs(trial, asked, trial.place(trial.filterOf(keys))[0]!);
        if (wrong !== undefined) return wrong;
      }
      const ofHalf = trial.place(trial.filterOf(half))[0]!;
      const problem = differs(trial, many, ofHalf) ?? firstOf(PARTS, (count) => differs(trial, half.slice(0, count), ofHalf));
      if (problem !== undefined) return problem;
      // The same instance, which may by now have compiled a kernel that small lists alone do not start.
      const filter = fewFilter(trial);
      for (const bytes of damaged(filter, noise(33, 6))) {
        const [, lent] = trial.place(noise(20, 4), bytes);
        const wrong = differs(trial, few.slice(0, BATCH - 7), lent!);
        if (wrong !== undefined) return wrong;
      }
      return everyWidth(trial, few, trial.place(filter)[0]!) ?? remembers(trial, few);
    }, 6000);
  };
}

function firstOf(counts: readonly number[], problemOf: (count: number) => string | undefined): string | undefined {
  for (const count of counts) {
    const problem = problemOf(count);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Lists of every small number of keys, of which every second is in the filter; with empty keys at either end, and with those alone. */
function everyWidth(trial: Trial, keys: readonly Uint8Array[], filter: Uint8Array): string | undefined {
  const empty = new Uint8Array(0);
  for (let width = 0; width <= WIDTHS; width++) {
    const some = keys.slice(0, width);
    // The other list of the same length ends with a key of the other kind.
    const others = keys.slice(1, width + 1);
    const lists = [some, others, [empty, ...some], [...some, empty], Array.from({ length: width }, () => empty)];
    for (const list of lists) {
      const problem = differs(trial, list, filter);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

/** Whether a call repeats what an earlier one found in the same memory. */
function remembers(trial: Trial, keys: readonly Uint8Array[]): string | undefined {
  const some = keys.slice(0, BATCH);
  const filters = [some.filter((_, i) => i % 2 === 0), some.filter((_, i) => i % 2 === 1)].map((own) => trial.filterOf(own));
  const [lent] = trial.place(new Uint8Array(Math.min(...filters.map(({ length }) => length))));
  const list = new LentKeys(some);
  const answers = new Uint8Array(some.length);
  for (const filter of filters) {
    lent!.set(filter.subarray(filter.length - lent!.length));
    for (const keyOrder of [some, [...some].reverse()]) {
      list.refill(keyOrder);
      trial.policy.keysMayMatch!(list, lent!, answers);
      const wrong = keyOrder.findIndex((key, i) => answers[i] !== (trial.asks(key, lent!) ? 1 : 0));
      if (wrong >= 0) return `keysMayMatch, called again with other bytes in the same filter and list, says ${answers[wrong]} of ${show(keyOrder[wrong]!)}, key ${wrong}, and keyMayMatch does not`;
    }
  }
  list.refill(some);
  const first = trial.policy.keysMayMatch!(list, lent!);
  const before = first.slice();
  list.refill([...some].reverse());
  const second = trial.policy.keysMayMatch!(list, lent!);
  if (first === second || !equal(first, before)) return 'keysMayMatch without answers returns an array that a later call changes';
  return undefined;
}

/** Whether the policy says something else of many keys, in lists that lie in memory in various ways, than of each. */
function differs(trial: Trial, asked: readonly Uint8Array[], filter: Uint8Array): string | undefined {
  const { policy } = trial;
  const before = filter.slice();
  const list = new LentKeys(asked, { lead: 3, first: asked.length % 2, noiseSeed: asked.length + 1 });
  const lent = list.bytes.slice();
  const call = `keysMayMatch of ${asked.length} keys and ${show(before)}`;
  const answers = noise(asked.length + 3, 9).fill(BEHIND, asked.length);
  const returned: unknown = policy.keysMayMatch!(list, filter, answers);
  if (returned !== answers) return `${call} does not return the answers that it was given`;
  for (const [i, key] of asked.entries()) {
    const expected = trial.asks(key, filter) ? 1 : 0;
    if (answers[i] !== expected) return `${call} says ${answers[i]} of ${show(key)}, key ${i}, and keyMayMatch ${expected === 1}`;
  }
  if (answers.subarray(asked.length).some((byte) => byte !== BEHIND)) return `${call} changes what is behind the answers`;
  if (filter.some((byte, i) => byte !== before[i]) || list.bytes.some((byte, i) => byte !== lent[i])) return `${call} changes what it was lent`;
  const own: unknown = policy.keysMayMatch!(list, filter);
  if (!(own instanceof Uint8Array) || own.length !== asked.length || own.some((answer, i) => answer !== answers[i])) return `${call} without answers returns others`;
  return undefined;
}
