import { trailingSpaceComparator } from '@bloom/example-trailing-space-policy';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { utf8 } from './catalogue.js';

const compare = (a: string, b: string): number => Math.sign(trailingSpaceComparator.compare(utf8(a), utf8(b)));

test('keys that differ only in trailing spaces are equal', () => {
  for (const [a, b] of [['a', 'a '], ['a  ', 'a '], ['', '   '], ['a b', 'a b  ']] as const) {
    expect([compare(a, b), compare(b, a)], `"${a}" and "${b}"`).toEqual([0, 0]);
  }
});

test('all other bytes are compared as unsigned numbers, and a prefix comes first', () => {
  for (const [a, b] of [[' a', 'a'], ['a', 'a b'], ['a b', 'a!'], ['a\t ', 'a!'], ['a \u0001', 'a!'], ['z', 'é'], ['', 'a']]) {
    expect([compare(a!, b!), compare(b!, a!)], `"${a}" and "${b}"`).toEqual([-1, 1]);
  }
});

test('a tab, a zero byte and other Unicode spaces do not count as spaces', () => {
  for (const other of ['a\t', 'a\u0000', 'a\u00a0', 'a\u3000']) expect(compare('a', other)).toBe(-1);
});

test('compareRange compares keys within larger arrays as compare does, whatever surrounds them', () => {
  // Only a few different bytes, so that many keys differ only in their spaces.
  const bytes = fc.array(fc.constantFrom(0x20, 0x20, 0x61, 0xff), { maxLength: 6 }).map((list) => Uint8Array.from(list));
  const trimmed = (key: Uint8Array): string => String.fromCharCode(...key).replace(/ +$/, '');
  const property = fc.property(bytes, bytes, bytes, bytes, (a, b, before, after) => {
    const aAround = Uint8Array.of(...before, ...a, ...after);
    const bAround = Uint8Array.of(...after, ...b, ...before);
    const [aStart, bStart] = [before.length, after.length];
    const expected = trimmed(a) < trimmed(b) ? -1 : trimmed(a) > trimmed(b) ? 1 : 0;
    const inRange = trailingSpaceComparator.compareRange!(aAround, aStart, aStart + a.length, bAround, bStart, bStart + b.length);
    expect([Math.sign(inRange), Math.sign(trailingSpaceComparator.compare(a, b))]).toEqual([expected, expected]);
  });
  fc.assert(property, { numRuns: 5000 });
});

test('index keys are not shortened', () => {
  const [start, limit] = [utf8('ab '), utf8('b')];
  expect(trailingSpaceComparator.findShortestSeparator(start, limit)).toBe(start);
  expect(trailingSpaceComparator.findShortSuccessor(start)).toBe(start);
});
