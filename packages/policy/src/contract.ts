/**
 * The laws of `policy.ts`, as checks that any test runner can run.
 *
 * @example
 * ```ts
 * import { policyLaws } from '@bloom/policy/contract';
 * import { test } from 'vitest'; // or node:test, or jest's and mocha's own
 * for (const law of policyLaws(() => new MyPolicy())) test(law.name, law.run);
 * ```
 */
import { BloomFilterPolicy } from './bloom-filter-policy.js';
import { filterOf, GuardedSink, LentKeys } from './contract/lending.js';
import { seeded } from './random.js';
import { anyKey, littleEndian32, type Sample, samples, smallest } from './contract/sample.js';
import type { FilterPolicy } from './policy.js';

/** One law, ready to be a test. */
export interface PolicyLaw {
  /** Its number in `policy.ts`, and what it claims. */
  readonly name: string;
  /** @throws {@link PolicyLawError} when the policy breaks the law. Takes no argument and needs no `this`. */
  readonly run: () => void;
}

/** The part of a table's comparator that the laws need. */
export interface KeyOrder {
  readonly name: string;
  readonly keyEquivalence?: string | undefined;
  compare(a: Uint8Array, b: Uint8Array): number;
}

/** What beside the policy is to be checked. */
export interface PolicyLawsOptions {
  /** The order of the tables that the policy is for: checks that both treat the same keys as one. Default: bytewise. */
  readonly comparator?: KeyOrder | undefined;
  /**
   * Keys that are one with `key` to the comparator. Needed only for an equivalence that the laws do not find by
   * themselves: they try spaces, zeros and letters in the other case.
   */
  readonly equivalents?: ((key: Uint8Array) => Iterable<Uint8Array>) | undefined;
  /** The same policy tuned otherwise: each must have the same name, and read what the others made. */
  readonly tunedOtherwise?: readonly (() => FilterPolicy)[] | undefined;
  /** The greatest part of absent keys that may pass, 0 to 1. Left out, no rate is demanded. */
  readonly maxFalsePositiveRate?: number | undefined;
  /** Draws other keys. Default: 1. */
  readonly seed?: number | undefined;
}

/** A policy breaks a law. The message names the law, the smallest example that was found, and the seed. */
export class PolicyLawError extends Error {
  override readonly name = 'PolicyLawError';
  /** The name of the law. */
  readonly law: string;
  readonly seed: number;

  constructor(law: string, seed: number, problem: string, options?: ErrorOptions) {
    super(`${law}\n${problem}\nseed: ${seed}`, options);
    this.law = law;
    this.seed = seed;
  }
}

/** What is wrong with a policy on a sample, or undefined. */
type Check = (sample: Sample) => string | undefined;

/** Who may use a name that others know: those who read and write the same filters. */
const KNOWN_POLICIES = [BloomFilterPolicy];

/**
 * The laws of `policy.ts` for the policies that `makePolicy` makes.
 *
 * @param makePolicy makes a new instance at each call.
 * @throws RangeError when `maxFalsePositiveRate` is not between 0 and 1.
 */
export function policyLaws(makePolicy: () => FilterPolicy, options: PolicyLawsOptions = {}): PolicyLaw[] {
  const { comparator, tunedOtherwise = [], maxFalsePositiveRate, seed = 1 } = options;
  if (maxFalsePositiveRate !== undefined && !(maxFalsePositiveRate >= 0 && maxFalsePositiveRate <= 1)) {
    throw new RangeError(`maxFalsePositiveRate must be from 0 to 1, got ${maxFalsePositiveRate}`);
  }
  const law = (name: string, check: Check, also?: () => string | undefined): PolicyLaw => ({
    name,
    run: () => {
      const problem = also?.();
      if (problem !== undefined) throw new PolicyLawError(name, seed, problem);
      for (const sample of samples(seed)) tryOn(name, seed, check, sample);
    },
  });
  const laws = [
    law('1. no false negatives: a key that was added may match, however often it was added', noFalseNegatives(makePolicy)),
    law('2. keyMayMatch never throws, and returns true or false, whatever bytes the filter has', neverThrows(makePolicy)),
    law('3. same keys, same filter, from every instance and after any other calls', sameFilter(makePolicy)),
    law('4. same question, same answer, out of the key and the filter alone', sameAnswer(makePolicy)),
    law('5. it changes nothing that it was lent', changesNothing(makePolicy)),
    law('6. it keeps nothing that it was lent', keepsNothing(makePolicy)),
    law('7. it appends only, and at least one byte for at least one key', appendsOnly(makePolicy)),
    law(
      '8. one name for one format: never another for tuning, never that of another format',
      readsAllOfItsName(makePolicy, tunedOtherwise),
      () => oneName(makePolicy, tunedOtherwise),
    ),
    law(
      '9. keys that are one to the comparator are one to the filter',
      oneToTheFilter(makePolicy, options),
      () => sameEquivalence(makePolicy(), options, seed),
    ),
  ];
  if (comparator === undefined && makePolicy().keyEquivalence !== undefined && options.equivalents === undefined) {
    // Without the comparator nothing says which keys are one: the law would pass by having nothing to try.
    const nine = laws[8]!;
    laws[8] = {
      name: nine.name,
      run: () => {
        throw new PolicyLawError(nine.name, seed, 'the policy has a keyEquivalence: give its comparator to check it with');
      },
    };
  }
  if (maxFalsePositiveRate !== undefined) {
    const name = `of absent keys, at most ${maxFalsePositiveRate * 100}% may match`;
    laws.push({ name, run: () => rateIsAtMost(name, makePolicy(), maxFalsePositiveRate, seed) });
  }
  return laws;
}

function tryOn(law: string, seed: number, check: Check, sample: Sample): void {
  const checked: Check = (candidate) => {
    try {
      return check(candidate);
    } catch (error) {
      return `it throws ${String(error)}`;
    }
  };
  let problem = checked(sample);
  if (problem === undefined) return;
  // A policy that fails now and then may not fail again on the sample that was found: keep what it said of it.
  const { keys } = smallest(sample, (candidate) => {
    const found = checked(candidate);
    problem = found ?? problem;
    return found !== undefined;
  });
  throw new PolicyLawError(law, seed, `${problem}\nkeys: ${showAll(keys)}`);
}

function noFalseNegatives(makePolicy: () => FilterPolicy): Check {
  return ({ keys }) => {
    const policy = makePolicy();
    const filter = filterOf(policy, keys);
    const missed = keys.find((key) => !policy.keyMayMatch(key, filter));
    return missed && `${show(missed)} was added and does not match ${show(filter)}`;
  };
}

function neverThrows(makePolicy: () => FilterPolicy): Check {
  return ({ keys, probes, garbage }) => {
    const policy = makePolicy();
    const filter = filterOf(policy, keys);
    const flipped = filter.slice();
    for (const byte of garbage) if (flipped.length > 0) flipped[byte % flipped.length]! ^= byte;
    // Whole and damaged: cut short at either end, overwritten, and bytes of any kind.
    const filters = [new Uint8Array(0), garbage, flipped, filter.subarray(1), filter.subarray(0, -1)];
    for (let length = 0; length < Math.min(filter.length, 8); length++) filters.push(filter.subarray(0, length));
    for (const key of [new Uint8Array(0), ...probes.slice(0, 6), ...keys.slice(0, 6)]) {
      for (const bytes of filters) {
        let answer: unknown;
        try {
          answer = policy.keyMayMatch(key, bytes);
        } catch (error) {
          return `asked for ${show(key)} in ${show(bytes)}, it throws ${String(error)}`;
        }
        if (typeof answer !== 'boolean') return `asked for ${show(key)} in ${show(bytes)}, it returns ${String(answer)}`;
      }
    }
    return undefined;
  };
}

function sameFilter(makePolicy: () => FilterPolicy): Check {
  // Used throughout: whatever it remembers of earlier samples must not show.
  const used = makePolicy();
  return ({ keys, probes }) => {
    const filter = filterOf(makePolicy(), keys);
    filterOf(used, probes);
    const again = filterOf(used, keys);
    if (!equal(filter, again)) return `a new instance makes ${show(filter)}, one that was used before ${show(again)}`;
    const sink = new GuardedSink();
    makePolicy().createFilter(new LentKeys(keys, 0xe7), sink);
    const withOtherSlack = sink.bytes();
    if (!equal(filter, withOtherSlack)) return 'the filter depends on what lies past the keys in their buffer';
    return undefined;
  };
}

function sameAnswer(makePolicy: () => FilterPolicy): Check {
  const used = makePolicy();
  return ({ keys, probes }) => {
    const filter = filterOf(used, keys);
    for (const key of [...probes, ...keys.slice(0, 40)]) {
      const answer = used.keyMayMatch(key, filter);
      for (let again = 0; again < 3; again++) {
        if (used.keyMayMatch(key, filter.slice()) !== answer) {
          return `asked again for ${show(key)} in ${show(filter)}, it answers otherwise`;
        }
      }
      if (makePolicy().keyMayMatch(key, filter) !== answer) {
        return `asked for ${show(key)} in ${show(filter)}, a new instance answers otherwise than the one that made it`;
      }
    }
    return undefined;
  };
}

function changesNothing(makePolicy: () => FilterPolicy): Check {
  return ({ keys, probes }) => {
    const policy = makePolicy();
    const lent = new LentKeys(keys);
    const bytes = lent.bytes.slice();
    const offsets = lent.offsets.slice();
    const sink = new GuardedSink();
    policy.createFilter(lent, sink);
    if (!equal(lent.bytes, bytes)) return "createFilter changed the keys' bytes";
    if (!lent.offsets.every((offset, i) => offset === offsets[i])) return "createFilter changed the keys' offsets";
    const filter = sink.bytes();
    const before = filter.slice();
    for (const key of [...probes, ...keys.slice(0, 40)]) {
      const keyBefore = key.slice();
      policy.keyMayMatch(key, filter);
      if (!equal(key, keyBefore)) return `keyMayMatch changed the key ${show(keyBefore)} to ${show(key)}`;
      if (!equal(filter, before)) return `keyMayMatch changed the filter ${show(before)} to ${show(filter)}`;
    }
    return undefined;
  };
}

function keepsNothing(makePolicy: () => FilterPolicy): Check {
  return ({ keys, probes }) => {
    const policy = makePolicy();
    const lent = new LentKeys(keys);
    const sink = new GuardedSink();
    policy.createFilter(lent, sink);
    const filter = sink.bytes();
    const asked = [...probes, ...keys.slice(0, 40)];
    const fresh = makePolicy();
    const answers = asked.map((key) => fresh.keyMayMatch(key, filter));
    lent.takeAway();
    sink.takeAway();
    const taken = sink.bytes();
    for (const [i, key] of asked.entries()) {
      if (policy.keyMayMatch(key, filter) !== answers[i]) {
        return `asked for ${show(key)}, the instance that made the filter answers otherwise once its keys are gone`;
      }
    }
    filterOf(policy, probes);
    if (!equal(sink.bytes(), taken)) return 'it writes to a part that was lent to an earlier call';
    return undefined;
  };
}

function appendsOnly(makePolicy: () => FilterPolicy): Check {
  return ({ keys, probes }) => {
    const policy = makePolicy();
    const sink = new GuardedSink();
    policy.createFilter(new LentKeys(keys), sink);
    const first = sink.bytes();
    if (keys.length > 0 && first.length === 0) return `it appends no byte for ${keys.length} keys`;
    policy.createFilter(new LentKeys(probes), sink);
    if (!sink.intact) return 'it writes outside the part that it was lent';
    if (!equal(sink.bytes().subarray(0, first.length), first)) return 'it changes what was appended before';
    if (!equal(sink.bytes().subarray(first.length), filterOf(makePolicy(), probes))) {
      return 'what it appends depends on what was appended before';
    }
    return undefined;
  };
}

function oneName(makePolicy: () => FilterPolicy, tunedOtherwise: readonly (() => FilterPolicy)[]): string | undefined {
  const policy = makePolicy();
  const { name } = policy;
  if (typeof name !== 'string' || name.length === 0) return 'it has no name';
  if (new TextDecoder().decode(new TextEncoder().encode(name)) !== name) return 'its name cannot be written as UTF-8';
  filterOf(policy, [littleEndian32(1), littleEndian32(2)]);
  if (policy.name !== name) return `its name was ${name}, and is ${policy.name} once it made a filter`;
  for (const make of [makePolicy, ...tunedOtherwise]) {
    const other = make().name;
    if (other !== name) return `one instance is named ${name}, another ${other}`;
  }
  return undefined;
}

function readsAllOfItsName(makePolicy: () => FilterPolicy, tunedOtherwise: readonly (() => FilterPolicy)[]): Check {
  return ({ keys, probes }) => {
    const { name } = makePolicy();
    const known = KNOWN_POLICIES.map((Known) => () => new Known()).filter((make) => make().name === name);
    const makers = [makePolicy, ...tunedOtherwise, ...known];
    for (const makeWriter of makers) {
      const filter = filterOf(makeWriter(), keys);
      for (const key of [...keys.slice(0, 60), ...probes]) {
        const answers = makers.map((makeReader) => makeReader().keyMayMatch(key, filter));
        if (answers.every((answer) => answer === answers[0])) continue;
        const whose = known.length > 0 ? `, whose filters are known,` : '';
        return `policies named ${name}${whose} differ about ${show(key)} in ${show(filter)}`;
      }
    }
    return undefined;
  };
}

/** Ways to write what may well be the same key. */
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

/** Other bytes that are the same key as `key` to the comparator, or, without one, by the option. */
function equivalentsOf(key: Uint8Array, { comparator, equivalents }: PolicyLawsOptions): Uint8Array[] {
  const found = [...(equivalents?.(key) ?? [])];
  if (comparator !== undefined) {
    found.push(...Object.values(LOOKALIKES)
        .map((alter) => alter(key))
        .filter((other) => comparator.compare(key, other) === 0));
  }
  return found.filter((other) => !equal(key, other));
}

function sameEquivalence(policy: FilterPolicy, options: PolicyLawsOptions, seed: number): string | undefined {
  const { comparator } = options;
  if (comparator !== undefined && comparator.keyEquivalence !== policy.keyEquivalence) {
    const say = (equivalence: string | undefined): string => (equivalence === undefined ? 'none' : `"${equivalence}"`);
    return `the policy's keyEquivalence is ${say(policy.keyEquivalence)}, that of ${comparator.name} is ${say(comparator.keyEquivalence)}`;
  }
  const random = seeded(seed);
  const keys = Array.from({ length: 200 }, (_, i) => anyKey(random, i));
  const pair = keys.map((key) => [key, equivalentsOf(key, options)[0]] as const).find(([, other]) => other !== undefined);
  if (policy.keyEquivalence === undefined && pair !== undefined) {
    return `the comparator calls ${show(pair[0])} and ${show(pair[1]!)} equal and has no keyEquivalence`;
  }
  if (policy.keyEquivalence === undefined) return undeclaredEquivalence(policy, keys);
  if (pair === undefined) {
    return `no two keys were found that are one by "${policy.keyEquivalence}": give equivalents to draw them with`;
  }
  return undefined;
}

/** A policy that never tells keys and their lookalikes apart, though it tells others apart, has an equivalence. */
function undeclaredEquivalence(policy: FilterPolicy, keys: readonly Uint8Array[]): string | undefined {
  const filters = keys.map((key) => filterOf(policy, [key]));
  if (filters.every((filter) => equal(filter, filters[0]!))) return undefined;
  for (const [how, alter] of Object.entries(LOOKALIKES)) {
    const altered = keys.map((key) => alter(key));
    const changed = keys.flatMap((key, i) => (equal(key, altered[i]!) ? [] : [i]));
    if (changed.length > 0 && changed.every((i) => equal(filterOf(policy, [altered[i]!]), filters[i]!))) {
      return `it treats every key as one with that key ${how}, and has no keyEquivalence`;
    }
  }
  return undefined;
}

function oneToTheFilter(makePolicy: () => FilterPolicy, options: PolicyLawsOptions): Check {
  return ({ keys }) => {
    const policy = makePolicy();
    if (policy.keyEquivalence === undefined) return undefined;
    const filter = filterOf(policy, keys);
    for (const key of keys.slice(0, 60)) {
      for (const other of equivalentsOf(key, options)) {
        if (!policy.keyMayMatch(other, filter)) {
          return `${show(key)} was added, and ${show(other)}, the same key to the comparator, does not match`;
        }
        if (!equal(filterOf(policy, [key]), filterOf(policy, [other]))) {
          return `${show(key)} and ${show(other)}, the same key to the comparator, make different filters`;
        }
      }
    }
    return undefined;
  };
}

/** Absent keys that are asked for, for each filter. */
const RATE_PROBES = 10_000;

function rateIsAtMost(law: string, policy: FilterPolicy, maxRate: number, seed: number): void {
  for (const count of [10, 100, 1000, 10_000]) {
    const filter = filterOf(policy, Array.from({ length: count }, (_, i) => littleEndian32(i)));
    let passed = 0;
    for (let i = 0; i < RATE_PROBES; i++) if (policy.keyMayMatch(littleEndian32(1_000_000_000 + i), filter)) passed++;
    // Three standard deviations of luck are allowed: 10,000 probes are a sample.
    const allowed = maxRate * RATE_PROBES + 3 * Math.sqrt(maxRate * (1 - maxRate) * RATE_PROBES);
    if (passed > allowed) {
      throw new PolicyLawError(law, seed, `of ${count} keys: ${(passed / RATE_PROBES) * 100}% of absent keys match`);
    }
  }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function show(bytes: Uint8Array): string {
  const shown = Array.from(bytes.subarray(0, 40), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `<${shown}${bytes.length > 40 ? `… ${bytes.length} bytes` : ''}>`;
}

function showAll(keys: readonly Uint8Array[]): string {
  return `[${keys.slice(0, 12).map(show).join(' ')}${keys.length > 12 ? ` … ${keys.length} keys` : ''}]`;
}
