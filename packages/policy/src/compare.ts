/** Compares the filters of several policies for the same keys. */
import { mustBeArray, mustBeBytes, mustBeIterable, mustBeOptions, type Random, seeded, shownValue } from '@bloom/bytes/internal';
import { FilterBuffer } from './filter-buffer.js';
import { KeyBuffer } from './key-buffer.js';
import { type FilterPolicy, mayAskForMany, mustBeFilterPolicy } from './policy.js';

// Taken at load: test suites replace the host's functions with fake ones.
const now = /* @__PURE__ */ performance.now.bind(performance);

export { commonTail, neighboursOf } from './key-neighbour.js';

/** One policy's filter of the keys. */
export interface PolicyFigures {
  readonly policy: FilterPolicy;
  /** Bytes of the filter. */
  readonly byteLength: number;
  /** Bits of the filter for each distinct key. */
  readonly bitsPerKey: number;
  /** The share of the absent keys, 0 to 1, that match. */
  readonly falsePositiveRate: number;
  /** The fewest bits per key with which any filter has that rate, log2(1/rate); undefined where no absent key matched. */
  readonly floorBits: number | undefined;
  /** Nanoseconds that making the filter takes for each key. */
  readonly buildNanoseconds: number;
  /** Nanoseconds that `keyMayMatch` takes for an absent key. */
  readonly probeNanoseconds: number;
  /** Nanoseconds that `keysMayMatch` takes for each absent key; undefined for a policy without it. */
  readonly batchNanoseconds: number | undefined;
}

/** The keys to compare policies with. */
export interface ComparisonKeys {
  /** The keys of the filter, or how many random ones of 16 bytes to take. */
  readonly keys: number | Iterable<Uint8Array>;
  /** Keys that are not among them. Default: random ones; for given keys, half of them are like these, with a byte or two changed. */
  readonly absent?: Iterable<Uint8Array> | undefined;
}

const COMPARISON_KEYS: Record<keyof ComparisonKeys, true> = { keys: true, absent: true };

const KEY_LENGTH = 16;
/** Fewer than this show no rate of 0.01%. */
const ABSENT_KEYS = 200_000;
const MAX_KEYS = 10_000_000;
/** A time is the shortest of this many rounds. */
const ROUNDS = 5;

/**
 * Makes a filter of the same keys with each policy, and measures size, rate and times. It takes seconds for a million keys.
 *
 * Times are those of this machine, now: compare them with each other.
 *
 * @throws TypeError when a policy is not a policy, or a key is not a `Uint8Array`.
 * @throws RangeError for a number of keys that is not whole, from 1 to 10,000,000.
 * @example
 * ```ts
 * for (const { policy, bitsPerKey, falsePositiveRate } of comparePolicies([new BloomFilterPolicy(10), new MyPolicy()], { keys: 17_000 })) {
 *   console.log(policy.name, bitsPerKey, falsePositiveRate);
 * }
 * ```
 */
export function comparePolicies(policies: readonly FilterPolicy[], given: ComparisonKeys): PolicyFigures[] {
  mustBeArray('policies', policies, 'FilterPolicies');
  for (const [i, policy] of policies.entries()) mustBeFilterPolicy(`policies[${i}]`, policy);
  mustBeOptions('comparePolicies', given, COMPARISON_KEYS);
  const random = seeded(1);
  const { keys, stored } = keysOf(given.keys, random);
  const absent = KeyBuffer.from(given.absent ?? absentFrom(keys, stored, typeof given.keys === 'number', random));
  if (absent.length === 0) throw new RangeError('absent must have at least one key');
  const list = KeyBuffer.from(keys);
  return policies.map((policy) => figuresOf(policy, list, stored.size, absent));
}

function keysOf(given: number | Iterable<Uint8Array>, random: Random): { readonly keys: Uint8Array[]; readonly stored: ReadonlySet<string> } {
  if (typeof given !== 'number') mustBeIterable('keys', given, 'Uint8Arrays');
  else if (!(Number.isInteger(given) && given >= 1 && given <= MAX_KEYS)) throw new RangeError(`keys must be a whole number from 1 to ${MAX_KEYS}, got ${shownValue(given)}`);
  const keys = typeof given === 'number' ? Array.from({ length: given }, () => random.bytes(KEY_LENGTH)) : Array.from(given, copyOf);
  if (keys.length === 0) throw new RangeError('keys must have at least one key');
  // Random keys of 16 bytes are distinct, and a set of millions takes longer than the filters.
  const stored = typeof given === 'number' ? { size: given, has: () => false } : new Set(keys.map(textOf));
  return { keys, stored: stored as ReadonlySet<string> };
}

/** A copy, because an iterable may yield one array again and again. */
function copyOf(key: Uint8Array): Uint8Array {
  mustBeBytes('key', key);
  return new Uint8Array(key);
}

function textOf(key: Uint8Array): string {
  let text = '';
  for (const byte of key) text += String.fromCharCode(byte);
  return text;
}

/** Keys that are not stored; where keys were given, half of them are like these, which some hashes cannot tell apart. */
function absentFrom(keys: readonly Uint8Array[], stored: ReadonlySet<string>, areRandom: boolean, random: Random): Uint8Array[] {
  const absent: Uint8Array[] = [];
  for (let i = 0; i < ABSENT_KEYS; i++) {
    const key = random.pick(keys);
    if (areRandom || i % 2 === 0 || key.length === 0) {
      absent.push(random.bytes(KEY_LENGTH));
      continue;
    }
    const altered = new Uint8Array(key);
    // Between numbers that are stored, there are often others.
    if (i % 4 === 1) altered[key.length - 1]! ^= 1;
    else for (let changes = 1 + random.below(2); changes > 0; changes--) {
      const at = key.length - 1 - random.below(Math.min(6, key.length));
      altered[at] = random.pick(keys)[at] ?? random.below(256);
    }
    if (!stored.has(textOf(altered))) absent.push(altered);
  }
  return absent;
}

function figuresOf(policy: FilterPolicy, keys: KeyBuffer, distinct: number, absent: KeyBuffer): PolicyFigures {
  let filter: Uint8Array = new Uint8Array(0);
  const buildNanoseconds = nanosecondsOf(keys.length, () => {
    const sink = new FilterBuffer();
    policy.createFilter(keys, sink);
    filter = sink.toBytes();
  });
  let matches = 0;
  const asked = Array.from({ length: absent.length }, (_, i) => absent.at(i));
  const probeNanoseconds = nanosecondsOf(asked.length, () => {
    matches = 0;
    for (const key of asked) if (policy.keyMayMatch(key, filter)) matches++;
  });
  const answers = new Uint8Array(absent.length);
  const batchNanoseconds = mayAskForMany(policy) ? nanosecondsOf(absent.length, () => void policy.keysMayMatch!(absent, filter, answers)) : undefined;
  const falsePositiveRate = matches / absent.length;
  return {
    policy,
    byteLength: filter.length,
    bitsPerKey: (filter.length * 8) / distinct,
    falsePositiveRate,
    floorBits: falsePositiveRate === 0 ? undefined : Math.log2(1 / falsePositiveRate),
    buildNanoseconds,
    probeNanoseconds,
    batchNanoseconds,
  };
}

/** The shortest time of some rounds, for each of `count` keys. A round repeats a short run, because clocks are coarse. */
function nanosecondsOf(count: number, run: () => void): number {
  const repeats = Math.max(1, Math.ceil(20_000 / count));
  let least = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const start = now();
    for (let i = 0; i < repeats; i++) run();
    least = Math.min(least, now() - start);
  }
  return (least * 1e6) / (count * repeats);
}
