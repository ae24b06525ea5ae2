import { trailingSpaceComparator } from '@bloom/example-trailing-space-policy';
import { seeded } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import { utf8 } from './catalogue.js';

const compare = (a: string, b: string): number => Math.sign(trailingSpaceComparator.compare(utf8(a), utf8(b)));

test('trailing spaces do not count', () => {
  for (const [a, b] of [['a', 'a '], ['a  ', 'a '], ['', '   '], ['a b', 'a b  ']] as const) {
    expect([compare(a, b), compare(b, a)], `"${a}" and "${b}"`).toEqual([0, 0]);
  }
});

test('all other bytes do, as unsigned ones, and a prefix comes first', () => {
  for (const [a, b] of [[' a', 'a'], ['a', 'a b'], ['a b', 'a!'], ['a\t ', 'a!'], ['a \u0001', 'a!'], ['z', 'é'], ['', 'a']]) {
    expect([compare(a!, b!), compare(b!, a!)], `"${a}" and "${b}"`).toEqual([-1, 1]);
  }
});

test('a tab, a zero byte and the spaces of Unicode are not spaces', () => {
  for (const other of ['a\t', 'a\u0000', 'a\u00a0', 'a\u3000']) expect(compare('a', other)).toBe(-1);
});

test('ranges are compared as the keys in them, whatever is around', () => {
  const random = seeded(9);
  const bytes = (): Uint8Array => Uint8Array.from({ length: random.below(6) }, () => random.pick([0x20, 0x20, 0x61, 0xff]));
  const wrong: string[] = [];
  for (let i = 0; i < 5000; i++) {
    const [a, b, before, after] = [bytes(), bytes(), bytes(), bytes()];
    const aAround = Uint8Array.of(...before, ...a, ...after);
    const bAround = Uint8Array.of(...after, ...b, ...before);
    const [aStart, bStart] = [before.length, after.length];
    const trimmed = [a, b].map((key) => Buffer.from(key).toString('latin1').replace(/ +$/, ''));
    const expected = trimmed[0]! < trimmed[1]! ? -1 : trimmed[0]! > trimmed[1]! ? 1 : 0;
    const inRange = trailingSpaceComparator.compareRange!(aAround, aStart, aStart + a.length, bAround, bStart, bStart + b.length);
    if (Math.sign(inRange) !== expected || Math.sign(trailingSpaceComparator.compare(a, b)) !== expected) {
      wrong.push(trimmed.join(' | '));
    }
  }
  expect(wrong).toEqual([]);
});

test('index keys are kept whole', () => {
  const [start, limit] = [utf8('ab '), utf8('b')];
  expect(trailingSpaceComparator.findShortestSeparator(start, limit)).toBe(start);
  expect(trailingSpaceComparator.findShortSuccessor(start)).toBe(start);
});
