import { RangeCopier } from '@bloom/bytes/internal';
import { encodeInternalKey, internalKeyComparator } from '@bloom/sstable/database';
import { type Comparator, bytewiseComparator, MemorySink, MemorySource, SyncTable, TableBuilder } from '@bloom/sstable';
import { expect, test } from 'vitest';
import { utf8 } from '../entries.js';

// Only the pages that are written take memory.
const FROM = 2 ** 31 - 1000;
const large = new Uint8Array(2 ** 31 + 2 ** 16);

test.each([
  ['bytewise', bytewiseComparator, (i: number): Uint8Array => utf8(`key${String(i).padStart(13, '0')}`)],
  ['internal', internalKeyComparator(), (i: number): Uint8Array => encodeInternalKey({ userKey: utf8('one key'), sequence: BigInt(1000 - i), type: 1 })],
] as const)('a table of %s keys is built from ranges on both sides of 2 GiB', (_, comparator: Comparator, keyOf) => {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { comparator, filterPolicy: null });
  for (let i = 0; i < 300; i++) {
    const keyStart = FROM + i * 64;
    const key = keyOf(i);
    large.set(key, keyStart);
    large.fill(i, keyStart + 32, keyStart + 52);
    builder.addRange(large, keyStart, keyStart + key.length, large, keyStart + 32, keyStart + 52);
  }
  builder.finish();
  const found = [...SyncTable.open(new MemorySource(sink.toBytes()), { comparator }).entries()];
  expect(found).toEqual(Array.from({ length: 300 }, (__, i) => [keyOf(i), new Uint8Array(20).fill(i)]));
});

test('keys past 2 GiB are compared byte by byte', () => {
  const [a, b] = [2 ** 31 + 100, 2 ** 31 + 200];
  large.set(utf8('same'), a);
  large.set(utf8('same'), b);
  const order = (aEnd: number, bEnd: number): number => Math.sign(bytewiseComparator.compareRange!(large, a, aEnd, large, b, bEnd));
  expect([order(a + 4, b + 4), order(a + 3, b + 4), order(a + 4, b + 3)]).toEqual([0, -1, 1]);
  large[b + 1]!++;
  expect([order(a + 4, b + 4), order(a + 1, b + 1)]).toEqual([-1, 0]);
  const small = utf8('same');
  expect(Math.sign(bytewiseComparator.compareRange!(small, 0, 4, large, b, b + 4))).toBe(-1);
});

test('a copier copies to and from places past 2 GiB', () => {
  const copier = new RangeCopier();
  const text = utf8('0123456789abcdefghijklmnopqrstuvwxyz');
  for (let i = 0; i < 6; i++) {
    copier.copy(text, 0, 36, large, 2 ** 31 + 1000 + i * 40);
  }
  const small = new Uint8Array(6 * 40);
  for (let i = 0; i < 6; i++) copier.copy(large, 2 ** 31 + 1000 + i * 40, 2 ** 31 + 1036 + i * 40, small, i * 40);
  for (let i = 0; i < 6; i++) expect(small.slice(i * 40, i * 40 + 36)).toEqual(text);
});
