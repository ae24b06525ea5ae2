import { numberOf } from '@bloom/bytes/internal';
import type { Random } from '@bloom/bytes/internal';
import { processorMs } from '#contract-host';
import type { FilterPolicy } from '../../policy.js';
import { damaged } from '../damaged-filters.js';
import type { LawRun } from '../law-run.js';
import { BufferLike, Memory, sideBySide } from '../lending.js';
import { randomBytes, withOneChanged } from '../sample.js';
import { show } from '../shown-bytes.js';
import type { Trial } from '../trial.js';

/** Law 4: the answer depends only on the key and the filter. */
export function sameAnswer(makePolicy: () => FilterPolicy, lendBuffers: boolean) {
  return (run: LawRun): void => {
    const used = run.trial(makePolicy);
    run.overSamples(({ keys, probes, garbage }) => {
      const members = keys.length > 300 ? [...keys.slice(0, 10), ...keys.slice(-5)] : [...keys.slice(0, 30), ...keys.slice(-10)];
      const changed = withOneChanged(keys);
      const asked = [...members, ...(keys.length > 300 ? probes.slice(0, 10) : probes), ...changed.filter((key, i) => key !== keys[i])];
      const first = [used.filterOf(keys), used.filterOf(changed)];
      const before = answersTo(used, asked, first);
      // This filter is made only now: an answer must not change because the key was added to another filter.
      const filters = [...first, used.filterOf(probes)];
      run.trial(makePolicy).filterOf(asked);
      const answers = answersTo(used, asked, filters);
      const otherwise = (i: number, at: number, how = 'called again'): string =>
        `keyMayMatch(${show(asked[i]!)}, ${show(filters[at]!)}), ${how}, answers differently`;
      for (const [i, some] of before.entries()) {
        const at = some.findIndex((answer, j) => answer !== answers[i]![j]);
        if (at >= 0) return otherwise(i, at);
      }
      for (let i = 0; i < members.length; i++) {
        if (answers[i]![0]) continue;
        return `keyMayMatch(${show(asked[i]!)}, ${show(filters[0]!)}) is false after calls with other filters, though the key was added`;
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
        return `keyMayMatch(${show(asked[i]!)}, ${show(filters[at]!)}) of a new instance answers differently from the one that made the filter`;
      }
      for (const [i, key] of lendBuffers ? asked.entries() : []) {
        const [keyBuffer, filterBuffer] = sideBySide([key, filters[0]!], i).map((array) => BufferLike.over(array));
        if (used.asksWith(keyBuffer!, filterBuffer!) !== answers[i]![0]) {
          return otherwise(i, 0, "with arrays that slice and decode as Node's Buffer does");
        }
      }
      const elsewhere = keys.length <= FEW_KEYS ? besideOthers(used, [...members.slice(0, 2), probes[0] ?? new Uint8Array(1)], damaged(filters[0]!, garbage)) : undefined;
      return elsewhere ?? inTheSameMemory(used, asked, filters, answers);
    });
    run.step((random) => knowsTooMuch(run.trial(makePolicy), random), 2 * ASKING_MS);
  };
}

/** For each key, the answer for each filter. */
function answersTo(trial: Trial, asked: readonly Uint8Array[], filters: readonly Uint8Array[]): boolean[][] {
  const placed = trial.place(...filters);
  return asked.map((key) => placed.map((filter) => trial.asks(key, filter)));
}

/** Damaged filters of up to this many keys are lent twice, with other bytes around them. */
const FEW_KEYS = 40;
/** Room for other bytes on either side. */
const BESIDE = new Uint8Array(24);

/** Whether an answer depends on the bytes before or behind a damaged filter. */
function besideOthers(trial: Trial, asked: readonly Uint8Array[], filters: readonly Uint8Array[]): string | undefined {
  for (const bytes of filters) {
    const [amongZeros, amongOnes] = [0, 0xff].map((byte) => {
      const [, filter] = trial.place(BESIDE, bytes, BESIDE);
      fillAround(filter!, byte);
      return filter!;
    });
    for (const key of asked) {
      if (trial.asks(key, amongZeros!) === trial.asks(key, amongOnes!)) continue;
      return `keyMayMatch(${show(key)}, ${show(bytes)}) answers differently where other bytes lie around the filter`;
    }
  }
  return undefined;
}

function fillAround({ buffer, byteOffset, length }: Uint8Array, byte: number): void {
  const all = new Uint8Array(buffer);
  all.fill(byte, 0, byteOffset).fill(byte, byteOffset + length);
}

/** Reuses one array for each length of key and filter, with other bytes each time. */
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
        return `keyMayMatch(${show(key)}, ${show(filter)}), in arrays that held other bytes before, answers differently`;
      }
    }
  }
  return undefined;
}

/** Keys of the filter that is tried with many absent keys. */
const MEMBERS = 400;
/** How many absent keys would match a filter with the lowest possible rate of false positives. */
const ENOUGH_PASSED = 30;
const MOST_ASKED = 200_000;
/** Milliseconds to spend on the absent keys. */
const ASKING_MS = 2500;

/**
 * A filter of m bits that matches all of n random keys also matches at least 2^(-m/n) of other random keys. A policy
 * with a lower rate takes its answers from somewhere else.
 *
 * Source: Carter, Floyd, Gill, Markowsky, Wegman, "Exact and Approximate Membership Testers".
 */
function knowsTooMuch(trial: Trial, random: Random): string | undefined {
  const made = trial.filterOf(Array.from({ length: MEMBERS }, () => randomBytes(random, 12)));
  const [filter] = trial.place(made);
  const leastRate = 2 ** ((-made.length * 8) / MEMBERS);
  if (ENOUGH_PASSED / leastRate > MOST_ASKED) return undefined;
  const endAt = processorMs() + ASKING_MS;
  let asked = 0;
  let passed = 0;
  while (asked * leastRate < ENOUGH_PASSED && (asked % 64 !== 0 || processorMs() < endAt)) {
    asked++;
    if (trial.asks(randomBytes(random, 12), filter!)) passed++;
  }
  // A correct policy gets an eighth or less of 20 expected matches less than once in a million runs.
  const expected = asked * leastRate;
  if (expected < 20 || passed > expected / 8) return undefined;
  return (
    `of ${asked} absent keys, ${passed} match the filter of ${numberOf(made.length, 'byte')} for ${MEMBERS} random keys. Any filter of ` +
    `that length matches at least one in ${Math.floor(1 / leastRate)}: the policy answers from memory, not from the filter`
  );
}
