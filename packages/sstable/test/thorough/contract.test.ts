// The laws of comparators: right comparators keep all of them, and each broken one breaks the law that it is about and no other.
import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import { ComparatorLawError, comparatorLaws, type ComparatorLawsOptions } from '@bloom/sstable/contract';
import { internalKeyComparator } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const { compare } = bytewiseComparator;
type Compare = Comparator['compare'];

/** Bytewise order, without shortening and ranges. */
const right: Comparator = { name: 'test.Right', compare, findShortestSeparator: (start) => start, findShortSuccessor: (key) => key };
const lowerCase = (key: Uint8Array): Uint8Array => key.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte));
const byCase: Compare = (a, b) => compare(lowerCase(a), lowerCase(b));
const doubleOf = (key: Uint8Array): number => new DataView(key.buffer, key.byteOffset, 8).getFloat64(0, true);
const isDouble = (key: Uint8Array): boolean => key.length === 8 && !Number.isNaN(doubleOf(key));

describe.each<[string, Comparator, ComparatorLawsOptions]>([
  ['bytewise order', bytewiseComparator, { keys: [utf8('key 1'), utf8('key 2'), new Uint8Array(0)] }],
  ['the order of internal keys', internalKeyComparator(), {}],
  ['the order of internal keys over another order', internalKeyComparator({ ...right, compare: (a, b) => compare(b, a) }), {}],
  ['reverse bytewise order', { ...right, compare: (a, b) => compare(b, a) }, {}],
  ['an order with views of Buffers', { ...right, compare: (a, b) => Buffer.compare(a, b) }, {}],
  ['the longest key first', { ...right, compare: (a, b) => b.length - a.length || compare(a, b) }, {}],
  ['letters without case, with a keyEquivalence', { ...right, compare: byCase, keyEquivalence: 'case' }, {}],
  ['doubles, of which zeros are equal', { ...right, compare: (a, b) => doubleOf(a) - doubleOf(b) || 0, keyEquivalence: 'zero' }, { isKey: (key) => isDouble(key) && Number.isFinite(doubleOf(key)) }],
])('%s keeps every law', (_, comparator, options) => {
  for (const law of comparatorLaws(comparator, options)) test(law.name, law.run);
});

/** The numbers of the laws that a comparator breaks, and what the first of them says. */
function broken(comparator: Comparator, options?: ComparatorLawsOptions): { readonly laws: number[]; readonly says: string } {
  const laws: number[] = [];
  let says = '';
  for (const law of comparatorLaws(comparator, options)) {
    try {
      law.run();
    } catch (error) {
      expect(error).toBeInstanceOf(ComparatorLawError);
      expect((error as ComparatorLawError).law).toBe(law.name);
      laws.push(parseInt(law.name, 10));
      if (laws.length === 1) says = (error as ComparatorLawError).message;
    }
  }
  return { laws, says };
}

/** Breaks the rest of `order` where `isWrong`. */
const except = (isWrong: (a: Uint8Array, b: Uint8Array) => boolean, wrong: Compare): Compare => (a, b) => (isWrong(a, b) ? wrong(a, b) : compare(a, b));
const isText = (key: Uint8Array, text: string): boolean => Buffer.from(key).toString('latin1') === text;
const memory = (): Compare => {
  const known = new WeakMap<Uint8Array, Uint8Array>();
  const kept = (key: Uint8Array): Uint8Array => {
    const before = known.get(key) ?? key.slice();
    known.set(key, before);
    return before;
  };
  return (a, b) => compare(kept(a), kept(b));
};
let calls = 0;

interface Fault {
  readonly fault: string;
  readonly law: number;
  readonly says: RegExp;
  readonly change: Partial<Comparator>;
  readonly options?: ComparatorLawsOptions;
}

const faults: Fault[] = [
  { fault: 'throws for an empty key', law: 1, says: /compare\("", ".*"\) throws Error: empty|compare\("", ""\) throws Error: empty/, change: { compare: (a, b) => { if (a.length === 0 || b.length === 0) throw new Error('empty'); return compare(a, b); } } },
  { fault: 'returns NaN for two keys', law: 1, says: /returns NaN/, change: { compare: except((a, b) => isText(a, 'a') && isText(b, 'A'), () => NaN) } },
  { fault: 'returns bigints', law: 1, says: /value of type bigint/, change: { compare: ((a: Uint8Array, b: Uint8Array) => BigInt(compare(a, b))) as unknown as Compare } },
  { fault: 'returns nothing for equal keys', law: 1, says: /value of type undefined/, change: { compare: ((a: Uint8Array, b: Uint8Array) => compare(a, b) || undefined) as unknown as Compare } },
  { fault: 'subtracts doubles, some of which are infinite', law: 1, says: /returns NaN/, change: { keyEquivalence: 'zero', compare: (a, b) => doubleOf(a) - doubleOf(b) }, options: { isKey: isDouble } },
  { fault: 'compares bytes as if they had a sign one way', law: 2, says: /before/, change: { compare: except((a, b) => isText(a, '\xff') && isText(b, 'a'), () => -1) } },
  { fault: 'says 1 for equal keys', law: 2, says: /is after/, change: { compare: (a, b) => compare(a, b) || 1 } },
  { fault: 'never says that a key is after another', law: 2, says: /before|equal/, change: { keyEquivalence: 'x', compare: (a, b) => Math.min(0, compare(a, b)) } },
  { fault: 'orders three keys in a circle', law: 3, says: /is before.*is before.*is after/, change: { compare: (a, b) => (isText(a, 'a') && isText(b, 'abc') ? 1 : isText(a, 'abc') && isText(b, 'a') ? -1 : compare(a, b)) } },
  { fault: 'compares numbers as numbers and all else as text', law: 3, says: /is before/, change: { compare: (a, b) => numeric(a, b) } },
  { fault: 'overflows in differences of integers', law: 3, says: /is before/, change: { compare: (a, b) => int(a) - int(b) | 0 }, options: { isKey: () => false, keys: [0, 2 ** 30, 2 ** 31 - 1, -(2 ** 31) + 1, -(2 ** 30) - 5].map((value) => { const bytes = Buffer.alloc(4); bytes.writeInt32LE(value); return bytes; }) } },
  { fault: 'ignores the case of letters', law: 4, says: /calls "a" and "A" equal, and there is no keyEquivalence/, change: { compare: byCase } },
  { fault: 'ignores trailing spaces', law: 4, says: /equal/, change: { compare: (a, b) => compare(utf8(Buffer.from(a).toString('latin1').replace(/ +$/, '')), utf8(Buffer.from(b).toString('latin1').replace(/ +$/, ''))) } },
  { fault: 'decodes keys as UTF-8', law: 4, says: /equal/, change: { compare: (a, b) => compare(utf8(Buffer.from(a).toString()), utf8(Buffer.from(b).toString())) } },
  { fault: 'is exact in only 53 bits of integers', law: 4, says: /equal/, change: { compare: (a, b) => Number(word(a)) - Number(word(b)) }, options: { isKey: (key) => key.length === 8 } },
  { fault: 'compares only the first 100 bytes', law: 4, says: /equal/, change: { compare: (a, b) => compare(a.subarray(0, 100), b.subarray(0, 100)) } },
  { fault: 'has an empty keyEquivalence', law: 4, says: /must be a string/, change: { compare: byCase, keyEquivalence: '' } },
  { fault: 'has a keyEquivalence by which no keys are equal', law: 4, says: /no two keys that were compared are equal/, change: { keyEquivalence: 'x' } },
  { fault: 'separates by a key before start', law: 5, says: /findShortestSeparator\(.*\) returns/, change: { findShortestSeparator: (start) => start.subarray(0, start.length >> 1) } },
  { fault: 'separates by limit', law: 5, says: /equal to/, change: { findShortestSeparator: (_, limit) => limit } },
  { fault: 'separates by text', law: 5, says: /value of type string/, change: { findShortestSeparator: (() => 'a') as unknown as Comparator['findShortestSeparator'] } },
  { fault: 'shortens as bytewise order does, in reverse order', law: 5, says: /returns/, change: { compare: (a, b) => compare(b, a), findShortestSeparator: (start, limit) => bytewiseComparator.findShortestSeparator(limit, start) } },
  { fault: 'increments a last byte of 0xff in separators', law: 5, says: /returns/, change: { findShortestSeparator: (start) => start.map((byte, i) => (i === start.length - 1 ? byte + 1 : byte)) } },
  { fault: 'succeeds by a prefix', law: 6, says: /findShortSuccessor\(.*\) returns/, change: { findShortSuccessor: (key) => key.subarray(0, key.length >> 1) } },
  { fault: 'throws for keys of 0xff', law: 6, says: /throws RangeError/, change: { findShortSuccessor: (key) => { if (key[0] === 0xff) throw new RangeError('none'); return key; } } },
  { fault: 'reads the buffer from its start', law: 7, says: /as views of larger buffers/, change: { compare: (a, b) => compare(new Uint8Array(a.buffer, 0, a.length), new Uint8Array(b.buffer, 0, b.length)) } },
  { fault: 'reads up to the end of the buffer', law: 7, says: /as views of larger buffers/, change: { compare: (a, b) => compare(new Uint8Array(a.buffer, a.byteOffset), new Uint8Array(b.buffer, b.byteOffset)) } },
  { fault: 'compares ranges from the start of the arrays', law: 8, says: /to compareRange/, change: { compareRange: (a, _, aEnd, b, __, bEnd) => compare(a.subarray(0, aEnd), b.subarray(0, bEnd)) } },
  { fault: 'compares ranges in another order', law: 8, says: /to compareRange/, change: { compare: (a, b) => compare(b, a), compareRange: bytewiseComparator.compareRange!.bind(bytewiseComparator) } },
  { fault: 'answers by the number of calls', law: 9, says: /and later/, change: { compare: (a, b) => (isText(a, 'a') && isText(b, 'b') && ++calls % 3 === 0 ? 1 : compare(a, b)) } },
  { fault: 'lowers letters in the keys that it was lent', law: 10, says: /compare changes "A", which it was lent, to "a"/, change: { keyEquivalence: 'case', compare: (a, b) => compare(lower(a), lower(b)) } },
  { fault: 'increments a key in place for a successor', law: 10, says: /findShortSuccessor changes/, change: { findShortSuccessor: (key) => { if (key.length > 0 && key[0]! < 0xff) key[0]!++; return key; } } },
  { fault: 'writes a separator into start', law: 10, says: /findShortestSeparator changes/, change: { findShortestSeparator: (start, limit) => { const whole = start.slice(); if (start.length > 1 && start[0]! + 1 < limit[0]!) { start[0]!++; return start; } return whole; } } },
  { fault: 'keeps decoded keys by their arrays', law: 11, says: /in an array that held/, change: { compare: memory() } },
  { fault: 'has an empty name', law: 12, says: /must be a string/, change: { name: '' } },
  { fault: 'has half a character in its name', law: 12, says: /half of a character/, change: { name: 'test.\ud800' } },
  { fault: 'takes quadratic time', law: 13, says: /takes \d+ ms/, change: { compare: (a, b) => { for (let i = 0; i < a.length; i++) if (slowlyDiffers(a, b, i)) return compare(a, b); return a.length - b.length; } } },
];

/** Numbers before one another by value; anything with text by its bytes: "10" is after "9", and "9a" between them. */
function numeric(a: Uint8Array, b: Uint8Array): number {
  const [x, y] = [a, b].map((key) => Buffer.from(key).toString('latin1')) as [string, string];
  if (/^[1-9]\d{0,9}$/.test(x) && /^[1-9]\d{0,9}$/.test(y)) return Number(x) - Number(y);
  return compare(a, b);
}
function int(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset, 4).getInt32(0, true);
}
function word(key: Uint8Array): bigint {
  return new DataView(key.buffer, key.byteOffset, 8).getBigUint64(0, true);
}
function lower(key: Uint8Array): Uint8Array {
  key.set(lowerCase(key));
  return key;
}
/** Whether the first `end` bytes and the next differ, all of them looked at again. */
function slowlyDiffers(a: Uint8Array, b: Uint8Array, end: number): boolean {
  for (let i = 0; i <= end; i++) if (a[i] !== b[i]) return true;
  return false;
}

/** The first of each law and every fourth of the others, and all in tooling/long-tests: each is tried with all laws. */
const tried = process.env.BLOOM_BROKEN_VARIANTS === 'all' ? faults : faults.filter((fault, i) => i % 4 === 0 || faults.findIndex(({ law }) => law === fault.law) === i);

describe('a comparator that', () => {
  test.each(tried)('$fault breaks law $law and no other', ({ law, says, change, options }) => {
    const found = broken({ ...right, ...change }, options);
    expect(found.laws).toEqual([law]);
    expect(found.says).toMatch(says);
  });

  test('is broken in each way that a law forbids, so that no law is without a test', () => {
    expect(new Set(tried.map(({ law }) => law)).size).toBe(comparatorLaws(right).length);
  });
});

test('keys of the caller and their neighbours are compared, also those at the end of a long list', () => {
  const canonical = (key: Uint8Array): Uint8Array => (isText(key, 'key 4321,') ? utf8('key 4321+') : key);
  const change: Compare = (a, b) => compare(canonical(a), canonical(b));
  expect(broken({ ...right, compare: change }).laws).toEqual([]);
  expect(broken({ ...right, compare: change }, { keys: [utf8('key 4321+')] }).laws).toEqual([4]);
  const many = Array.from({ length: 30_000 }, (_, i) => utf8(`${i}`));
  expect(broken(right, { keys: many }).laws).toEqual([]);
});

test('a finding names the seed, and the keys that are drawn depend on it', () => {
  const error = (seed: number): string => broken({ ...right, compare: (a, b) => (a.length > 8 && a[8]! > 0x80 ? NaN : compare(a, b)) }, { seed }).says;
  expect(error(3)).toContain('seed: 3');
  expect(error(3)).toBe(error(3));
});

test.each<[unknown, unknown, RegExp]>([
  [undefined, {}, /^comparator must be a comparator/],
  [{ ...right, compare: undefined }, {}, /^comparator must be a comparator, got object without compare\(\)/],
  [right, { key: [] }, /comparatorLaws has no option "key": did you mean keys\?/],
  [right, { keys: ['a'] }, /^keys\[0\] must be a Uint8Array/],
  [right, { isKey: true }, /^isKey must be a function/],
  [right, { seed: -1 }, /^seed must be a whole number/],
])('refuses arguments that are wrong (%#)', (comparator, options, message) => {
  expect(() => comparatorLaws(comparator as Comparator, options as ComparatorLawsOptions)).toThrow(message);
});
