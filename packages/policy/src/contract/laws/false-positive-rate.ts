import { numberOf } from '@bloom/bytes/internal';
import type { Random } from '@bloom/bytes/internal';
import type { FilterPolicy } from '../../policy.js';
import type { LawRun } from '../law-run.js';
import { littleEndian32, randomBytes } from '../sample.js';
import type { Trial } from '../trial.js';

/** How many keys the filters have, and how many filters there are: the rates of filters of few keys differ much from each other. */
interface Size {
  readonly count: number;
  readonly filters: number;
  /** Absent keys that are tried with all filters of the size and a kind of keys. */
  readonly asked: number;
}

const SIZES: readonly Size[] = [
  { count: 10, filters: 200, asked: 40_000 },
  { count: 100, filters: 100, asked: 40_000 },
  { count: 1000, filters: 20, asked: 40_000 },
  { count: 10_000, filters: 4, asked: 40_000 },
  { count: 3, filters: 500, asked: 20_000 },
  { count: 400, filters: 25, asked: 20_000 },
  { count: 100_000, filters: 1, asked: 20_000 },
];

/** The same for long keys, and for prefixes. */
const FEWER_SIZES: readonly Size[] = [
  { count: 100, filters: 100, asked: 20_000 },
  { count: 10_000, filters: 2, asked: 20_000 },
];

/** How likely it is at most that a policy with just the largest rate fails, of one size and kind of keys. */
const FALSE_ALARM = 1e-7;

/** A kind of keys: that of a number, and the absent key of a number that is tried with a filter of the keys `from`, `from + 1` and so on. */
interface Kind {
  readonly keyOf: (i: number) => Uint8Array;
  readonly absentOf: (i: number, from: number) => Uint8Array;
}

const ABSENT_FROM = 1_000_000_000;

const NUMBERS: Kind = { keyOf: littleEndian32, absentOf: (i) => littleEndian32(ABSENT_FROM + i) };

/** Where a long key has its number. */
const PLACES = [0, 50, 99];

/** All bytes but four are those of all keys. Some absent keys have the number of one that is there, in another place, or other last bytes. */
const LONG: Kind = {
  keyOf: (i) => longKey(i, i % PLACES.length),
  absentOf: (i, from) => {
    const present = from + (i >> 2);
    if (i % 4 === 1) return longKey(present, (present + 1) % PLACES.length);
    if (i % 4 === 2) return withOtherEnd(longKey(present, present % PLACES.length));
    return longKey(ABSENT_FROM + i, i % PLACES.length);
  },
};

function withOtherEnd(key: Uint8Array): Uint8Array {
  key[key.length - 1]! ^= 0x35;
  return key;
}

function longKey(number: number, place: number): Uint8Array {
  const key = new Uint8Array(103).fill(0x61);
  key.set(littleEndian32(scrambled(number)), PLACES[place]);
  return key;
}

/** A number that looks random in each of its bytes; different ones for different numbers. */
function scrambled(number: number): number {
  let x = Math.imul(number ^ (number >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return x ^ (x >>> 15);
}

/** The optional law that at most a share of absent keys matches. */
export function rateIsAtMost(makePolicy: () => FilterPolicy, maxRate: number) {
  return (run: LawRun): void => {
    const absentRandom = Array.from({ length: Math.max(...SIZES.map(({ asked }) => asked)) }, () => randomBytes(run.random, 16));
    const random: Kind = { keyOf: () => randomBytes(run.random, 16), absentOf: (i) => absentRandom[i]! };
    const tries = ({ count, filters, asked }: Size, kind: Kind, what: string): void => {
      const failsFrom = tooMany(maxRate, asked);
      const lists = Array.from({ length: filters }, (_list, list) => Array.from({ length: count }, (_key, i) => kind.keyOf(list * count + i)));
      run.step(() => {
        const passed = passedOf(run.trial(makePolicy), lists, asked, kind);
        return passed >= failsFrom ? `${(passed / asked) * 100}% of absent ${what} match filters of ${numberOf(count, 'key')}` : undefined;
      }, 2000);
    };
    for (const size of SIZES) {
      tries(size, NUMBERS, 'keys');
      tries(size, random, 'keys');
    }
    for (const size of FEWER_SIZES) tries(size, LONG, 'long keys');
    if (makePolicy().prefixes === undefined) return;
    for (const { count, filters, asked } of FEWER_SIZES) {
      run.step((draw) => {
        const found = passedPrefixes(run.trial(makePolicy), draw, count, filters, asked);
        if (found.asked === 0 || found.passed < tooMany(maxRate, found.asked)) return undefined;
        return `${(found.passed / found.asked) * 100}% of absent prefixes match filters of ${numberOf(count, 'key')}`;
      }, 2000);
    }
  };
}

/** How many absent keys match, of which each filter is asked for some. */
function passedOf(trial: Trial, lists: readonly (readonly Uint8Array[])[], asked: number, { absentOf }: Kind): number {
  const share = asked / lists.length;
  let passed = 0;
  for (const [list, keys] of lists.entries()) {
    const [filter] = trial.place(trial.filterOf(keys));
    for (let i = list * share; i < (list + 1) * share; i++) if (trial.asks(absentOf(i, list * keys.length), filter!)) passed++;
  }
  return passed;
}

/** What may end the prefix of a drawn key. */
const DELIMITERS = Array.from('/:.#|,;-_!@ \0', (char) => char.charCodeAt(0));

/** How many absent prefixes match, each of which a filter is asked for once. */
function passedPrefixes(trial: Trial, random: Random, count: number, filters: number, asked: number): { asked: number; passed: number } {
  const draw = (): Uint8Array => {
    const key = randomBytes(random, 12);
    key[5] = DELIMITERS[random.below(DELIMITERS.length)]!;
    return key;
  };
  const textOf = (prefix: Uint8Array): string => String.fromCharCode(...prefix);
  const found = { asked: 0, passed: 0 };
  for (let i = 0; i < filters; i++) {
    const keys = Array.from({ length: count }, draw);
    const [filter] = trial.place(trial.filterOf(keys));
    const known = new Set(keys.flatMap((key) => textOf(trial.prefixOf(key) ?? new Uint8Array(0))));
    for (let j = 0; j < asked / filters; j++) {
      const prefix = trial.prefixOf(draw());
      if (prefix === undefined || known.has(textOf(prefix))) continue;
      known.add(textOf(prefix));
      found.asked++;
      if (trial.asksPrefix(prefix, filter!)) found.passed++;
    }
  }
  return found;
}

/**
 * So many matches of `asked`, or more, have at most the probability {@link FALSE_ALARM}: by Chernoff's bound it is e^-nD, where D is
 * the relative entropy of the share that matches and `maxRate`.
 */
function tooMany(maxRate: number, asked: number): number {
  const entropy = (p: number, q: number): number => (p === 0 ? 0 : p * Math.log(p / q));
  let passed = Math.ceil(maxRate * asked);
  for (; passed <= asked; passed++) {
    const share = passed / asked;
    if (asked * (entropy(share, maxRate) + entropy(1 - share, 1 - maxRate)) > -Math.log(FALSE_ALARM)) break;
  }
  return passed;
}
