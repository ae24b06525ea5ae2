import { expect, test } from 'vitest';
import { quotedName } from '@bloom/bytes/internal';

test('a name in a message is in quotes, on one line, and cut after 100 characters', () => {
  expect(quotedName('leveldb.BytewiseComparator')).toBe('"leveldb.BytewiseComparator"');
  expect(quotedName('a\nb"')).toBe('"a\\nb\\""');
  expect(quotedName('x'.repeat(100))).toBe(`"${'x'.repeat(100)}"`);
  expect(quotedName('x'.repeat(20_000_000))).toBe(`"${'x'.repeat(100)}"… (20000000 characters)`);
});

test('a name is not cut in the middle of a character', () => {
  expect(quotedName(`${'x'.repeat(99)}\u{1f600}yz`)).toBe(`"${'x'.repeat(99)}"… (103 characters)`);
});
