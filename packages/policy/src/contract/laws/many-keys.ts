import { numberOf, sameBytes } from '@bloom/bytes/internal';
import { type FilterPolicy, mayAskForMany } from '../../policy.js';
import { damaged } from '../damaged-filters.js';
import { shortKeys } from '../large-lists.js';
import type { LawRun } from '../law-run.js';
import { BufferLike, LentKeys, noise } from '../lending.js';
import { randomBytes } from '../sample.js';
import { show } from '../shown-bytes.js';
import { Fault, type Trial } from '../trial.js';

/** More keys than a kernel's memory may take at once, and a number that is no multiple of the lanes of a vector. */
const MANY = 70_003;
/** Three of four of them make a filter whose length does not fit into 16 bits, also at seven bits per key. */
const DRAWN = 120_000;
/** Lists of every number of keys below this are asked for, since vectors and loops take several keys at a time. */
const WIDTHS = 70;
/** Numbers of keys around those that a policy may take at a time, and some others, in lists whose keys are all in the filter. */
const PARTS = [
  ...[7, 8, 9, 10, 11, 12, 13, 14, 15].flatMap((log) => [2 ** log - 1, 2 ** log, 2 ** log + 1]),
  ...[200, 300, 700, 1500, 3000, 6000, 12_000, 24_000, 50_000],
];
/** Fewer keys than a policy may need to prepare a large filter for. */
const FEW = [1, 2, 3, 5, 7, 8, 9, 15, 17];
/** Enough keys for what a policy does in another way with larger batches. */
const BATCH = 150;
/** Lengths of keys in lists whose keys all have the same: vectors take such keys together. */
const SAME_LENGTHS = [1, 4, 7, 8, 16, 20];
/** Lengths that do not fit into 16 bits, among others. */
const LONG_LENGTHS = [9, 65_535, 65_536, 0, 70_001, 31];
/** Bytes before and after the answers that must stay as they are. */
const BESIDE = 21;
/** So many keys are more than a policy may have kept the answers of in a small array of its own. */
const KEPT = 3000;

/** Law 12: `keysMayMatch` gives each key the answer of `keyMayMatch`. */
export function manyKeysAsOne(makePolicy: () => FilterPolicy, lendBuffers: boolean) {
  return (run: LawRun): void => {
    if (makePolicy().keysMayMatch === undefined) return;
    run.step(() => (mayAskForMany(makePolicy()) ? undefined : 'keysMayMatch is inherited from a class that does not know keyMayMatch'));
    run.overSamples(({ keys, probes, garbage }) => {
      const trial = run.trial(makePolicy);
      const made = trial.filterOf(keys);
      const asked = [...probes.slice(0, 8), new Uint8Array(0), ...keys.slice(0, 8)];
      for (const bytes of damaged(made, garbage)) {
        const [, filter] = trial.place(noise(20, 4), bytes, noise(9, 5));
        const problem = differs(trial, asked, filter!);
        if (problem !== undefined) return problem;
      }
      const [filter] = trial.place(made);
      const lent = lendBuffers ? BufferLike.over(filter!) : filter!;
      return differs(trial, [...keys.slice(0, 150), ...probes], lent) ?? differs(trial, [], filter!) ?? takesTooShort(trial, asked, filter!);
    });
    const drawn = shortKeys(run.random, DRAWN);
    const many = drawn.slice(0, MANY);
    const most = drawn.filter((_, i) => i % 4 !== 1);
    const few = many.slice(0, 2 * BATCH);
    const fewFilter = (trial: Trial): Uint8Array => trial.filterOf(few.filter((_, i) => i % 2 === 0));
    run.step(() => {
      const trial = run.trial(makePolicy);
      return everyWidth(trial, few, trial.place(fewFilter(trial))[0]!) ?? remembers(trial, few.slice(0, BATCH));
    }, 3000);
    const sameLengths = SAME_LENGTHS.map((length) => Array.from({ length: 69 }, () => randomBytes(run.random, length)));
    const long = LONG_LENGTHS.map((length) => randomBytes(run.random, length));
    const alike = alikeKeys();
    run.step(() => {
      const trial = run.trial(makePolicy);
      for (const keys of [...sameLengths, long]) {
        const asked = [...keys, ...keys.map((key) => Uint8Array.from(key, (byte) => byte ^ 0x5a))];
        const wrong = differs(trial, asked, trial.place(trial.filterOf(keys))[0]!);
        if (wrong !== undefined) return wrong;
      }
      const ofAlike = differs(trial, alike, trial.place(trial.filterOf(alike.filter((_, i) => i % 2 === 0)))[0]!);
      if (ofAlike !== undefined) return ofAlike;
      const [large] = trial.place(trial.filterOf(most));
      const problem =
        differs(trial, many, large!) ??
        firstOf(PARTS, (count) => differs(trial, most.slice(0, count), large!, () => true)) ??
        firstOf(FEW, (count) => differs(trial, many.slice(0, count), large!)) ??
        takesTooShort(trial, many, large!);
      if (problem !== undefined) return problem;
      // The same instance, which may by now have compiled a kernel that small lists alone do not start.
      const filter = fewFilter(trial);
      for (const bytes of damaged(filter, noise(33, 6))) {
        const [, lent] = trial.place(noise(20, 4), bytes);
        const wrong = differs(trial, few.slice(0, BATCH - 7), lent!);
        if (wrong !== undefined) return wrong;
      }
      return everyWidth(trial, few, trial.place(filter)[0]!) ?? remembers(trial, few.slice(0, BATCH)) ?? remembers(trial, many.slice(0, KEPT));
    }, 8000);
  };
}

/** Keys that differ only in their last byte, or their first, or their length. */
function alikeKeys(): Uint8Array[] {
  const ends = Array.from({ length: 120 }, (_, i) => new Uint8Array(41).fill(0x61).fill(i, i < 60 ? 40 : 0, i < 60 ? 41 : 1));
  const lengths = Array.from({ length: 40 }, (_, i) => new Uint8Array(20 + i).fill(0x62));
  return [...ends, ...lengths];
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
  const answers = new Map([empty, ...keys.slice(0, WIDTHS + 1)].map((key) => [key, trial.asks(key, filter)]));
  const answerTo = (key: Uint8Array): boolean => answers.get(key)!;
  for (let width = 0; width <= WIDTHS; width++) {
    const some = keys.slice(0, width);
    // The other list of the same length ends with a key of the other kind.
    const others = keys.slice(1, width + 1);
    const lists = [some, others, [empty, ...some], [...some, empty], Array.from({ length: width }, () => empty)];
    for (const list of lists) {
      const problem = differs(trial, list, filter, answerTo);
      if (problem !== undefined) return problem;
    }
    const problem = width === 0 ? undefined : takesTooShort(trial, some, filter);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Whether a call repeats what an earlier one found in the same memory. */
function remembers(trial: Trial, some: readonly Uint8Array[]): string | undefined {
  const filters = [some.filter((_, i) => i % 2 === 0), some.filter((_, i) => i % 2 === 1)].map((own) => trial.filterOf(own));
  const [lent] = trial.place(new Uint8Array(Math.min(...filters.map(({ length }) => length))));
  const list = new LentKeys(some);
  const answers = new Uint8Array(some.length);
  for (const filter of filters) {
    lent!.set(filter.subarray(filter.length - lent!.length));
    for (const keyOrder of [some, [...some].reverse()]) {
      list.refill(keyOrder);
      trial.asksMany(list, lent!, answers);
      const wrong = keyOrder.findIndex((key, i) => answers[i] !== (trial.asks(key, lent!) ? 1 : 0));
      if (wrong >= 0) return `keysMayMatch, called again with other bytes in the same filter and list, says ${answers[wrong]} of ${show(keyOrder[wrong]!)}, key ${wrong}, and keyMayMatch does not`;
    }
  }
  list.refill(some);
  const first = trial.asksMany(list, lent!) as Uint8Array;
  const before = first.slice();
  list.refill([...some].reverse());
  const second = trial.asksMany(list, lent!);
  if (first === second || !sameBytes(first, before)) return 'keysMayMatch without answers returns an array that a later call changes';
  return undefined;
}

function listOf(asked: readonly Uint8Array[]): LentKeys {
  return new LentKeys(asked, { lead: 3, first: asked.length % 2, noiseSeed: asked.length + 1 });
}

/**
 * Room for answers, at any offset of a larger buffer, and sometimes longer than need be.
 *
 * @returns the array to lend, and a function that names what has changed outside the answers, if anything.
 */
function roomFor(count: number, extra: number): { readonly answers: Uint8Array; readonly changed: (written: number) => string | undefined } {
  const start = BESIDE + (count % 4);
  const all = noise(start + count + extra + BESIDE, 9);
  const before = all.slice();
  return {
    answers: all.subarray(start, start + count + extra),
    changed: (written) =>
      sameBytes(all.subarray(0, start), before.subarray(0, start)) && sameBytes(all.subarray(start + written), before.subarray(start + written))
        ? undefined
        : 'changes bytes before or after the answers',
  };
}

/**
 * Whether the policy says something else of many keys, in lists that lie in memory in various ways, than of each.
 *
 * @param answerTo what it says of each, where that is known.
 */
function differs(trial: Trial, asked: readonly Uint8Array[], filter: Uint8Array, answerTo = (key: Uint8Array): boolean => trial.asks(key, filter)): string | undefined {
  const around = new Uint8Array(filter.buffer);
  const before = around.slice();
  const list = listOf(asked);
  const changedList = list.watch();
  const changes = (): string | undefined => (sameBytes(around, before) ? changedList() : 'the filter, or bytes around it');
  const call = `keysMayMatch of ${numberOf(asked.length, 'key')} and ${show(filter.slice())}`;
  const { answers, changed } = roomFor(asked.length, asked.length % 3 === 0 ? 0 : 13);
  const returned = trial.asksMany(list, filter, answers);
  if (returned !== answers) return `${call} does not return the answers that it was given`;
  for (const [i, key] of asked.entries()) {
    const expected = answerTo(key);
    if (answers[i] !== (expected ? 1 : 0)) return `${call} says ${answers[i]} of ${show(key)}, key ${i}, and keyMayMatch ${expected}`;
  }
  const outside = changed(asked.length);
  if (outside !== undefined) return `${call} ${outside}`;
  const what = changes();
  if (what !== undefined) return `${call} changes ${what}`;
  const own = trial.asksMany(list, filter);
  if (!(own instanceof Uint8Array) || own.length !== asked.length || !sameBytes(own, answers.subarray(0, asked.length))) return `${call} without answers returns others`;
  const later = changes();
  return later === undefined ? undefined : `${call} without answers changes ${later}`;
}

/** Whether the policy takes an array with less than a byte for each key, or writes to it before it refuses it. */
function takesTooShort(trial: Trial, asked: readonly Uint8Array[], filter: Uint8Array): string | undefined {
  for (const count of new Set([asked.length - 1, asked.length >> 1, 0])) {
    const { answers, changed } = roomFor(count, 0);
    const call = `keysMayMatch of ${numberOf(asked.length, 'key')} and ${numberOf(count, 'byte')} for answers`;
    let error: unknown;
    try {
      trial.asksMany(listOf(asked), filter, answers);
      return `${call} does not throw a RangeError`;
    } catch (thrown) {
      if (thrown instanceof Fault) throw thrown;
      error = thrown;
    }
    // By its name: a test runner may give each file globals of its own.
    if ((error as Partial<Error> | null | undefined)?.name !== 'RangeError') return `${call} throws ${String(error)}, which is not a RangeError`;
    if (changed(0) !== undefined) return `${call} writes before it throws`;
  }
  return undefined;
}
