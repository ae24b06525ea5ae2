import { type Random, sameBytes } from '@bloom/bytes/internal';
import type { FilterPolicy } from '../../policy.js';
import type { LawRun } from '../law-run.js';
import type { PolicyLawsOptions } from '../options.js';
import { anyKey } from '../sample.js';
import { show } from '../shown-bytes.js';
import type { Trial } from '../trial.js';

/** Law 9: keys that are equal for the comparator are equal for the filter. */
export function oneToTheFilter(makePolicy: () => FilterPolicy, options: PolicyLawsOptions) {
  return (run: LawRun): void => {
    run.step((random) => equivalenceProblem(run, random, makePolicy, options));
    run.overSamples(({ keys }) => {
      const trial = run.trial(makePolicy);
      if (trial.policy.keyEquivalence === undefined) return undefined;
      const [filter] = trial.place(trial.filterOf(keys));
      for (const key of keys.slice(0, 60)) {
        for (const other of equivalentsOf(key, options)) {
          if (!trial.asks(other, filter!)) {
            return `${show(key)} was added, and ${show(other)}, the same key to the comparator, does not match`;
          }
          if (!sameBytes(trial.filterOf([key]), trial.filterOf([other]))) {
            return `${show(key)} and ${show(other)}, the same key to the comparator, make different filters`;
          }
        }
      }
      return undefined;
    });
  };
}

/** Changes to a key that a comparator may ignore. */
const LOOKALIKES: Readonly<Record<string, (key: Uint8Array) => Uint8Array>> = {
  'with a space at the end': (key) => Uint8Array.of(...key, 0x20),
  'without spaces at the end': (key) => withoutEnd(key, 0x20),
  'with a space at the start': (key) => Uint8Array.of(0x20, ...key),
  'with a zero byte at the end': (key) => Uint8Array.of(...key, 0),
  'without zero bytes at the end': (key) => withoutEnd(key, 0),
  'with a zero byte at the start': (key) => Uint8Array.of(0, ...key),
  'in lower case': (key) => key.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte)),
  'in upper case': (key) => key.map((byte) => (byte >= 0x61 && byte <= 0x7a ? byte - 0x20 : byte)),
};

function withoutEnd(key: Uint8Array, byte: number): Uint8Array {
  let end = key.length;
  while (end > 0 && key[end - 1] === byte) end--;
  return key.slice(0, end);
}

/** Other keys that are equal to `key`, by the option `equivalents` or by the comparator. */
function equivalentsOf(key: Uint8Array, { comparator, equivalents }: PolicyLawsOptions): Uint8Array[] {
  const found = [...(equivalents?.(key) ?? [])];
  if (comparator !== undefined && key.length < 1000) {
    const lookalikes = Object.values(LOOKALIKES).map((alter) => alter(key));
    found.push(...lookalikes.filter((other) => comparator.compare(key, other) === 0));
  }
  return found.filter((other) => !sameBytes(key, other));
}

function equivalenceProblem(run: LawRun, random: Random, makePolicy: () => FilterPolicy, options: PolicyLawsOptions): string | undefined {
  const { comparator, equivalents } = options;
  const trial = run.trial(makePolicy);
  const { keyEquivalence } = trial.policy;
  const say = (equivalence: string | undefined): string => (equivalence === undefined ? 'none' : `"${equivalence}"`);
  if (keyEquivalence !== undefined && typeof keyEquivalence !== 'string') return `keyEquivalence must be a string, got a ${typeof keyEquivalence}`;
  if (makePolicy().keyEquivalence !== keyEquivalence) return 'keyEquivalence differs between instances';
  if (comparator === undefined && keyEquivalence !== undefined && equivalents === undefined) {
    // It is unknown which keys are equal, so the law would pass without testing anything.
    return 'the policy has a keyEquivalence: pass the option comparator to check it with';
  }
  if (comparator !== undefined && comparator.keyEquivalence !== keyEquivalence) {
    return `the policy's keyEquivalence is ${say(keyEquivalence)}, that of ${comparator.name} is ${say(comparator.keyEquivalence)}`;
  }
  const keys = Array.from({ length: 200 }, (_, i) => anyKey(random, i));
  const pair = keys.map((key) => [key, equivalentsOf(key, options)[0]] as const).find(([, other]) => other !== undefined);
  if (keyEquivalence === undefined && pair !== undefined) {
    return `the comparator calls ${show(pair[0])} and ${show(pair[1]!)} equal, but has no keyEquivalence`;
  }
  if (keyEquivalence === undefined) return undeclaredEquivalence(trial, keys);
  if (pair === undefined) return `found no two keys that "${keyEquivalence}" makes equal: pass the option equivalents, which returns such keys`;
  return undefined;
}

/** A policy that tells keys apart, but never a key and its lookalike, has an equivalence. */
function undeclaredEquivalence(trial: Trial, keys: readonly Uint8Array[]): string | undefined {
  const filters = keys.map((key) => trial.filterOf([key]));
  if (filters.every((filter) => sameBytes(filter, filters[0]!))) return undefined;
  for (const [how, alter] of Object.entries(LOOKALIKES)) {
    const altered = keys.map((key) => alter(key));
    const changed = keys.flatMap((key, i) => (sameBytes(key, altered[i]!) ? [] : [i]));
    if (changed.length > 0 && changed.every((i) => sameBytes(trial.filterOf([altered[i]!]), filters[i]!))) {
      return `the policy treats every key as equal to that key ${how}, but has no keyEquivalence`;
    }
  }
  return undefined;
}
