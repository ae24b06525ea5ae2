import { fromHex } from '@bloom/fixtures';
import { encodeInternalKey, MAX_SEQUENCE } from '@bloom/sstable/database';
import { expect, test } from 'vitest';
import { SequenceRange } from '../src/format/sequence-range.js';

function boundsOf(...keys: Uint8Array[]): unknown {
  const range = new SequenceRange();
  for (const key of keys) range.add(key, key.length);
  return range.bounds;
}

const keyOf = (sequence: bigint): Uint8Array => encodeInternalKey({ userKey: Uint8Array.of(0x6b), sequence, type: 1 });

test('the sequence of a key is the upper seven bytes of its last eight, little-endian', () => {
  // Each byte is another one, with its highest bit set in turns.
  expect(boundsOf(fromHex('6b 01 8293a4b5c6d7e8'))).toEqual({ oldest: 0xe8d7c6b5a49382n, newest: 0xe8d7c6b5a49382n });
  expect(boundsOf(fromHex('00 7f6e5d4c3b2a19'))).toEqual({ oldest: 0x192a3b4c5d6e7fn, newest: 0x192a3b4c5d6e7fn });
});

test('a key ends where it is said to end', () => {
  const range = new SequenceRange();
  range.add(fromHex('ffffff 6b 01 07000000000000 ffffffffffffffff'), 12);
  expect(range.bounds).toEqual({ oldest: 7n, newest: 7n });
});

test('of several keys the lowest and the highest sequence are kept, in whatever order they come', () => {
  const expected = { oldest: 3n, newest: 2n ** 40n };
  for (const order of [[3n, 9n, 2n ** 40n], [2n ** 40n, 9n, 3n], [9n, 2n ** 40n, 3n], [9n, 3n, 2n ** 40n, 9n]]) expect(boundsOf(...order.map(keyOf))).toEqual(expected);
});

test('the range has the ends of all sequences, 0 and 2^56 - 1', () => {
  expect(boundsOf(keyOf(0n))).toEqual({ oldest: 0n, newest: 0n });
  expect(boundsOf(keyOf(MAX_SEQUENCE))).toEqual({ oldest: 2n ** 56n - 1n, newest: 2n ** 56n - 1n });
  expect(boundsOf(keyOf(0n), keyOf(MAX_SEQUENCE))).toEqual({ oldest: 0n, newest: 2n ** 56n - 1n });
});
