import { processorMs } from '#contract-host';
import type { FilterPolicy } from '../../policy.js';
import type { LawRun } from '../law-run.js';
import { BufferLike, Memory, sideBySide } from '../lending.js';
import { randomBytes, withOneChanged } from '../sample.js';
import { show } from '../show.js';
import type { Trial } from '../trial.js';

export function sameAnswer(makePolicy: () => FilterPolicy, lendBuffers: boolean) {
  return (run: LawRun): void => {
    const used = run.trial(makePolicy);
    run.overSamples(({ keys, probes }) => {
      const members = keys.length > 300 ? [...keys.slice(0, 10), ...keys.slice(-5)] : [...keys.slice(0, 30), ...keys.slice(-10)];
      const changed = withOneChanged(keys);
      const asked = [...members, ...(keys.length > 300 ? probes.slice(0, 10) : probes), ...changed.filter((key, i) => key !== keys[i])];
      const first = [used.filterOf(keys), used.filterOf(changed)];
      const before = answersTo(used, asked, first);
      // Only now: an answer must not change because the key was added to another filter.
      const filters = [...first, used.filterOf(probes)];
      run.trial(makePolicy).filterOf(asked);
      const answers = answersTo(used, asked, filters);
      const otherwise = (i: number, at: number, when = 'asked again for'): string =>
        `${when} ${show(asked[i]!)} in ${show(filters[at]!)}, it answers otherwise`;
      for (const [i, some] of before.entries()) {
        const at = some.findIndex((answer, j) => answer !== answers[i]![j]);
        if (at >= 0) return otherwise(i, at);
      }
      for (let i = 0; i < members.length; i++) {
        if (answers[i]![0]) continue;
        return `asked for ${show(asked[i]!)} in other filters too, it answers no about ${show(filters[0]!)}, to which it was added`;
      }
      // In another order of keys and filters, and elsewhere in memory.
      for (let i = asked.length - 1; i >= 0; i--) {
        const placed = used.place(...filters);
        for (let at = filters.length - 1; at >= 0; at--) {
          if (used.asks(asked[i]!, placed[at]!) !== answers[i]![at]) return otherwise(i, at);
        }
      }
      const fresh = answersTo(run.trial(makePolicy), asked, filters);
      for (const [i, some] of fresh.entries()) {
        const at = some.findIndex((answer, j) => answer !== answers[i]![j]);
        if (at < 0) continue;
        return `asked for ${show(asked[i]!)} in ${show(filters[at]!)}, a new instance answers otherwise than the one that made it`;
      }
      for (const [i, key] of lendBuffers ? asked.entries() : []) {
        const [keyBuffer, filterBuffer] = sideBySide([key, filters[0]!], i).map((array) => BufferLike.over(array));
        if (used.asksWith(keyBuffer!, filterBuffer!) !== answers[i]![0]) {
          return otherwise(i, 0, "asked, with arrays that slice and decode as Node's Buffer does, for");
        }
      }
      return inTheSameMemory(used, asked, filters, answers);
    });
    run.step(() => knowsTooMuch(run, makePolicy), 2 * ASKING_MS);
  };
}

/** For each key, the answers about each filter. */
function answersTo(trial: Trial, asked: readonly Uint8Array[], filters: readonly Uint8Array[]): boolean[][] {
  const placed = trial.place(...filters);
  return asked.map((key) => placed.map((filter) => trial.asks(key, filter)));
}

/** Asks with the same two arrays throughout, which hold other bytes each time. */
function inTheSameMemory(
  trial: Trial,
  asked: readonly Uint8Array[],
  filters: readonly Uint8Array[],
  answers: readonly (readonly boolean[])[],
): string | undefined {
  const keyArrays = new Map<number, Uint8Array>();
  const filterArrays = new Map<number, Uint8Array>();
  const arrayOf = (arrays: Map<number, Uint8Array>, bytes: Uint8Array): Uint8Array => {
    let array = arrays.get(bytes.length);
    if (array === undefined) arrays.set(bytes.length, (array = new Memory(0).lend(bytes)));
    array.set(bytes);
    return array;
  };
  for (const [i, key] of asked.slice(0, 40).entries()) {
    for (const [at, filter] of filters.entries()) {
      if (trial.asksWith(arrayOf(keyArrays, key), arrayOf(filterArrays, filter)) !== answers[i]![at]) {
        return `asked for ${show(key)} in ${show(filter)}, in arrays that held others before, it answers otherwise`;
      }
    }
  }
  return undefined;
}

/** Keys of the filter that is asked for many absent keys. */
const MEMBERS = 400;
/** How many of them a filter with the fewest false positives that are possible would let pass. */
const ENOUGH_PASSED = 30;
const MOST_ASKED = 200_000;
/** What asking may take, in milliseconds. */
const ASKING_MS = 2500;

/**
 * A filter of m bits that misses none of n random keys lets at least 2^(-m/n) of other random keys pass. A policy that
 * lets less pass has its answers from elsewhere.
 *
 * Source: Carter, Floyd, Gill, Markowsky, Wegman, "Exact and Approximate Membership Testers".
 */
function knowsTooMuch(run: LawRun, makePolicy: () => FilterPolicy): string | undefined {
  const trial = run.trial(makePolicy);
  const made = trial.filterOf(Array.from({ length: MEMBERS }, () => randomBytes(run.random, 12)));
  const [filter] = trial.place(made);
  const leastRate = 2 ** ((-made.length * 8) / MEMBERS);
  if (ENOUGH_PASSED / leastRate > MOST_ASKED) return undefined;
  const endAt = processorMs() + ASKING_MS;
  let asked = 0;
  let passed = 0;
  while (asked * leastRate < ENOUGH_PASSED && (asked % 64 !== 0 || processorMs() < endAt)) {
    asked++;
    if (trial.asks(randomBytes(run.random, 12), filter!)) passed++;
  }
  // An eighth of 20 or more by bad luck: less than once in a million policies.
  const expected = asked * leastRate;
  if (expected < 20 || passed > expected / 8) return undefined;
  return (
    `of ${asked} absent keys, ${passed} match its filter of ${made.length} bytes for ${MEMBERS} random keys. No filter ` +
    `of that length lets less than one in ${Math.floor(1 / leastRate)} pass: it answers from memory, not from the filter`
  );
}
