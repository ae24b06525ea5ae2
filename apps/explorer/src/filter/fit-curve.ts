/** Measures LevelDB's filters and fitted ones for different numbers of keys. */
import { type Random, seeded } from '@bloom/bytes/internal';
import { BloomFilterPolicy, buildFilter, type FilterPolicy, FittedBloomFilterPolicy } from '@bloom/policy';
import { FEWEST_KEYS, type KeyPattern, MOST_KEYS } from './fit-patterns.js';

export const FIT_BITS_PER_KEY = 10;
/** The distance of stored numbers: the number between two of them is an absent neighbour of both. */
const GAP = 2;
/** The first number is below this one. */
const NUMBERS = 1_000_000;
/** The length of a random key in bytes: enough to make all keys distinct. */
const RANDOM_BYTES = 16;
/** The least number of stored keys per point, in filters of different keys. */
const KEYS_PER_POINT = 2000;
const SEED = 0x66697474;

/** The filters of one policy, for different keys. */
export interface FitFigures {
  /** The share of absent keys, from 0 to 1, for which the filters answer “maybe”. */
  readonly rate: number;
  /** Lengths in bytes, including the byte for the number of probes. */
  readonly bytes: FitRange;
  readonly probes: FitRange;
}

export interface FitRange {
  readonly least: number;
  readonly most: number;
  readonly mean: number;
}

/** The measurement for one number of keys. */
export interface FitPoint {
  readonly keys: number;
  readonly filters: number;
  readonly leveldb: FitFigures;
  readonly fitted: FitFigures;
}

/** Measures filters of both policies with the same keys. The same pattern and number of keys always give the same figures. */
export class FitMeasurement {
  readonly #leveldb = new BloomFilterPolicy(FIT_BITS_PER_KEY);
  readonly #fitted = new FittedBloomFilterPolicy(FIT_BITS_PER_KEY);

  point(pattern: KeyPattern, keys: number): FitPoint {
    const filters = Math.ceil(KEYS_PER_POINT / keys);
    const random = seeded(SEED + keys);
    const leveldb = new Tally(this.#leveldb);
    const fitted = new Tally(this.#fitted);
    for (let i = 0; i < filters; i++) {
      const { stored, absent } = pattern === 'random' ? randomKeys(keys, random) : numberedKeys(pattern, keys, random.below(NUMBERS));
      leveldb.add(stored, absent);
      fitted.add(stored, absent);
    }
    return { keys, filters, leveldb: leveldb.figures, fitted: fitted.figures };
  }
}

/** All numbers of keys: `first`, then from coarse to fine, so that the curve has its shape early. */
export function measuringOrder(first: number): number[] {
  const order = new Set([first]);
  for (const step of [8, 4, 2, 1]) for (let keys = FEWEST_KEYS; keys <= MOST_KEYS; keys += step) order.add(keys);
  return [...order];
}

interface Keys {
  readonly stored: readonly Uint8Array[];
  readonly absent: readonly Uint8Array[];
}

function numberedKeys(pattern: 'digits' | 'bytes', keys: number, first: number): Keys {
  const numbers = Array.from({ length: keys * GAP - 1 }, (_, i) => numberedKey(pattern, first + i));
  return { stored: numbers.filter((_, i) => i % GAP === 0), absent: numbers.filter((_, i) => i % GAP !== 0) };
}

/** The key for a number. */
export function numberedKey(pattern: 'digits' | 'bytes', number: number): Uint8Array {
  if (pattern === 'digits') return new TextEncoder().encode(String(number).padStart(16, '0'));
  const key = new Uint8Array(8);
  new DataView(key.buffer).setBigUint64(0, BigInt(number));
  return key;
}

/** Random stored keys and random absent keys, because random keys have no meaningful neighbours. */
function randomKeys(keys: number, random: Random): Keys {
  const some = (): Uint8Array[] => Array.from({ length: keys }, () => random.bytes(RANDOM_BYTES));
  return { stored: some(), absent: some() };
}

/** The figures of a policy's filters. */
class Tally {
  readonly #policy: FilterPolicy;
  readonly #bytes: number[] = [];
  readonly #probes: number[] = [];
  #asked = 0;
  #passed = 0;

  constructor(policy: FilterPolicy) {
    this.#policy = policy;
  }

  add(stored: readonly Uint8Array[], absent: readonly Uint8Array[]): void {
    const filter = buildFilter(this.#policy, stored);
    this.#bytes.push(filter.length);
    this.#probes.push(filter.at(-1)!);
    for (const key of absent) if (this.#policy.keyMayMatch(key, filter)) this.#passed++;
    this.#asked += absent.length;
  }

  get figures(): FitFigures {
    return { rate: this.#passed / this.#asked, bytes: rangeOf(this.#bytes), probes: rangeOf(this.#probes) };
  }
}

function rangeOf(numbers: readonly number[]): FitRange {
  return { least: Math.min(...numbers), most: Math.max(...numbers), mean: numbers.reduce((sum, number) => sum + number, 0) / numbers.length };
}
