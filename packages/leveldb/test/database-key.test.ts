import { bytewiseComparator } from '@bloom/sstable';
import { encodeInternalKey, MAX_SEQUENCE } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { afterVersions, beforeVersions, databaseKeyOf, keyOrderOf, seekKey, SequenceBound, typeOf } from '../src/format/database-key.js';
import { caught } from '@bloom/fixtures/caught';
import { reverseComparator } from './reverse-comparator.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const keyOf = (userKey: string, sequence: bigint, type = 1): Uint8Array => encodeInternalKey({ userKey: utf8(userKey), sequence, type });

/** Where bytes and halves of the trailer change. */
const sequences = [0n, 1n, 255n, 256n, 2n ** 16n, 2n ** 23n, 2n ** 24n - 1n, 2n ** 24n, 2n ** 31n, 2n ** 32n, 2n ** 40n, 2n ** 48n, 2n ** 55n, MAX_SEQUENCE];

describe.each([
  ['bytewise', bytewiseComparator],
  ['reverse', reverseComparator],
])('in %s order', (_, comparator) => {
  const { compareInternalKeys, compareUserKeys } = keyOrderOf(comparator);
  const compare = (a: Uint8Array, b: Uint8Array): number => Math.sign(compareInternalKeys(a, 0, a.length, b, 0, b.length));

  test('user keys have the order of the comparator, and versions of one key are sorted from the newest to the oldest', () => {
    expect(Math.sign(compareUserKeys(utf8('xa'), 1, 2, utf8('b'), 0, 1))).toBe(comparator === bytewiseComparator ? -1 : 1);
    expect(compare(keyOf('a', 5n), keyOf('b', 9n))).toBe(comparator === bytewiseComparator ? -1 : 1);
    expect(compare(keyOf('a', 9n), keyOf('a', 5n))).toBe(-1);
    expect(compare(keyOf('a', 9n), keyOf('a', 9n))).toBe(0);
  });

  test('all versions of a key lie between beforeVersions and afterVersions, and those of other keys do not', () => {
    for (const sequence of sequences) {
      for (const type of [0, 1]) {
        const key = keyOf('key', sequence, type);
        expect([compare(beforeVersions(utf8('key')), key), compare(key, afterVersions(utf8('key'))) <= 0]).toEqual([-1, true]);
        for (const other of ['kex', 'kez', 'ke', 'key\0']) {
          const otherKey = keyOf(other, sequence, type);
          expect(compare(beforeVersions(utf8('key')), otherKey)).toBe(compare(afterVersions(utf8('key')), otherKey));
        }
      }
    }
  });

  test('a search finds the versions of its sequence and below, whatever their type, and no others', () => {
    for (const sequence of sequences) {
      const target = seekKey(utf8('key'), sequence);
      for (const stored of sequences) {
        for (const type of [0, 1]) expect(compare(target, keyOf('key', stored, type)) < 0).toBe(stored <= sequence);
      }
    }
  });
});

test('a sequence above the greatest one means all versions', () => {
  expect(seekKey(utf8('key'), 2n ** 56n)).toEqual(beforeVersions(utf8('key')));
  expect(seekKey(utf8('key'), 2n ** 64n)).toEqual(seekKey(utf8('key'), MAX_SEQUENCE));
  expect(new SequenceBound(2n ** 56n).admits(keyOf('key', MAX_SEQUENCE), 11)).toBe(true);
});

test('a bound admits the internal keys of its sequence and below, wherever they end', () => {
  for (const sequence of sequences) {
    const bound = new SequenceBound(sequence);
    for (const stored of sequences) {
      for (const type of [0, 1, 0xff]) {
        const key = keyOf('some key', stored, type);
        expect(bound.admits(key, key.length)).toBe(stored <= sequence);
        expect(bound.admits(Uint8Array.of(...key, 0xff, 0), key.length)).toBe(stored <= sequence);
      }
    }
  }
});

describe('the type of an internal key', () => {
  test('is 1 for a value and 0 for a deletion, also of an empty user key', () => {
    const bytes = Uint8Array.of(0xff, 0xff, ...keyOf('', 7n, 1), ...keyOf('b', 7n, 0), 0xff);
    expect([typeOf(bytes, 2, 10, undefined), typeOf(bytes, 10, 19, undefined)]).toEqual([1, 0]);
  });

  test.each([
    [2, 9, 'a key of 7 bytes is too short for an internal key'],
    [2, 2, 'a key of 0 bytes is too short for an internal key'],
    [2, 10, 'a key has the unknown type 2'],
  ])('of bytes %i to %i is damage that names the file: %s', (start, end, problem) => {
    const bytes = Uint8Array.of(1, 1, ...keyOf('', 7n, 2), 1);
    expect(caught(() => typeOf(bytes, start, end, '000005.ldb'))).toMatchObject({
      code: 'BLOOM_BAD_INTERNAL_KEY',
      structure: 'file',
      offset: 0,
      file: '000005.ldb',
      problem,
    });
  });
});

describe('a stored key is a key of a database', () => {
  test.each([
    ['a value', keyOf('key', 7n, 1), { userKey: utf8('key'), sequence: 7n, type: 1 }],
    ['a deletion', keyOf('key', 7n, 0), { userKey: utf8('key'), sequence: 7n, type: 0 }],
    ['a value of the empty user key', keyOf('', 0n, 1), { userKey: utf8(''), sequence: 0n, type: 1 }],
    ['one with the highest sequence but one', keyOf('key', 2n ** 56n - 2n, 1), { userKey: utf8('key'), sequence: 2n ** 56n - 2n, type: 1 }],
  ])('if it is %s', (_, stored, key) => {
    expect(databaseKeyOf(stored)).toEqual(key);
  });

  test.each([
    ['has less than eight bytes', new Uint8Array(7)],
    ['has no bytes', new Uint8Array(0)],
    ['has type 2', keyOf('key', 7n, 2)],
    ['has type 255', keyOf('key', 7n, 0xff)],
    ['leaves no sequence for the next write', keyOf('key', 2n ** 56n - 1n, 1)],
    ['is a deletion that leaves none', keyOf('key', 2n ** 56n - 1n, 0)],
  ])('but not if it %s', (_, stored) => {
    expect(databaseKeyOf(stored)).toBeUndefined();
  });
});
