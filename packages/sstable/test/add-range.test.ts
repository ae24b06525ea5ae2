import { seeded } from '@bloom/fixtures';
import { BloomFilterPolicy } from '@bloom/policy';
import { expect, test } from 'vitest';
import { encodeInternalKey, internalKeyComparator, internalKeyPolicy } from '../src/database.js';
import { bytewiseComparator, type Comparator, MemorySink, TableBuilder, type TableBuilderOptions } from '../src/index.js';
import { caught } from '@bloom/fixtures/caught';

const reverse: Comparator = {
  name: 'test.Reverse',
  compare: (a, b) => bytewiseComparator.compare(b, a),
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};

const random = seeded(1);
const plainKey = (): Uint8Array => Uint8Array.from({ length: random.below(6) }, () => [0, 1, 0x7f, 0xff][random.below(4)]!);
const internalKey = (): Uint8Array => encodeInternalKey({ userKey: plainKey(), sequence: BigInt(random.below(600)), type: random.below(2) });

const orders: [string, TableBuilderOptions, Comparator, () => Uint8Array][] = [
  ['bytewise order', {}, bytewiseComparator, plainKey],
  ['the order of internal keys', { comparator: internalKeyComparator(), filterPolicy: internalKeyPolicy(new BloomFilterPolicy(10)) }, internalKeyComparator(), internalKey],
  ['the order of internal keys, with keys too short to be internal keys', { comparator: internalKeyComparator(), filterPolicy: internalKeyPolicy(new BloomFilterPolicy(10)) }, internalKeyComparator(), () => (random.below(3) === 0 ? plainKey() : internalKey())],
  ['an order of the caller’s', { comparator: reverse }, reverse, plainKey],
];

test.each(orders)('addRange accepts and refuses the same entries as add, and makes the same table, in %s', (_, options, { compare }, makeKey) => {
  const sinks = [new MemorySink(), new MemorySink()];
  const [one, other] = sinks.map((sink) => new TableBuilder(sink, { ...options, blockSize: 256 })) as [TableBuilder, TableBuilder];
  let keys = Array.from({ length: 2000 }, makeKey).sort(compare);
  // Some keys are out of order, and some differ from the previous key only in their last bytes, or not at all.
  keys = keys.map((key, i) => {
    if (i % 9 === 8) return makeKey();
    if (i % 9 !== 4) return key;
    const other = keys[i - 1]!.slice();
    for (let j = Math.max(0, other.length - 8); j < other.length; j++) other[j] = random.below(2);
    return other;
  });
  let refused = 0;
  for (const key of keys) {
    const value = random.bytes(random.below(80));
    const bytes = Uint8Array.of(5, ...key, 6, ...value, 7);
    const valueStart = key.length + 2;
    const isAfterLast = one.entries === 0 || compare(one.lastKey, key) < 0;
    const problem = caught(() => one.add(key, value));
    expect(problem === undefined).toBe(isAfterLast);
    const otherProblem = caught(() => other.addRange(bytes, 1, 1 + key.length, bytes, valueStart, valueStart + value.length));
    expect(otherProblem).toEqual(problem);
    if (problem !== undefined) {
      expect((problem as Error).message).toMatch(/is (before|equal to)/);
      refused++;
    } else {
      expect(one.lastKey).toEqual(key);
    }
    expect(other.lastKey).toEqual(one.lastKey);
  }
  expect(refused).toBeGreaterThan(100);
  expect(one.entries).toBe(keys.length - refused);
  expect(other.finish()).toEqual(one.finish());
  expect(sinks[1]!.toBytes()).toEqual(sinks[0]!.toBytes());
  expect(other.lastKey).toEqual(one.lastKey);
});

test('addRange refuses invalid ranges with an error that names the argument, and the builder remains usable', () => {
  const builder = new TableBuilder(new MemorySink());
  const bytes = new Uint8Array(4);
  for (const [start, end] of [[-1, 2], [3, 2], [0, 5], [0.5, 1], [0, NaN]] as const) {
    const where = `must be a range of the 4 bytes, got ${start} and ${end}`;
    expect(() => builder.addRange(bytes, start, end, bytes, 0, 1)).toThrow(new RangeError(`key ${where}`));
    expect(() => builder.addRange(bytes, 0, 1, bytes, start, end)).toThrow(new RangeError(`value ${where}`));
  }
  expect(() => builder.addRange([1] as never, 0, 1, bytes, 0, 1)).toThrow(new TypeError('keyBytes must be a Uint8Array, got an Array'));
  expect(() => builder.addRange(bytes, 0, 1, 'a' as never, 0, 1)).toThrow(/valueBytes must be a Uint8Array/);
  expect(builder.entries).toBe(0);
  builder.addRange(bytes, 0, 1, bytes, 0, 4);
  expect(builder.finish().entries).toBe(1);
  expect(() => builder.addRange(bytes, 0, 1, bytes, 0, 4)).toThrow(new TypeError('the table is finished'));
});
