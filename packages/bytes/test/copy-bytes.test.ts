import { expect, test } from 'vitest';
import { copyBytes, RangeCopier, seeded } from '../src/internal.js';

const FROM = Uint8Array.from({ length: 1000 }, (_, i) => (i * 7 + 1) % 256);
const RANGES = [[0, 0], [0, 1], [7, 38], [7, 39], [7, 40], [0, 32], [0, 33], [0, 99], [1, 100], [3, 403], [3, 404], [0, 1000], [1000, 1000]] as const;

/** What `copy` makes of an array of zeros, and what it should make. */
function copied(copy: typeof copyBytes, from: Uint8Array, start: number, end: number, position: number): { readonly actual: string; readonly expected: string } {
  const to = new Uint8Array(1100);
  copy(from, start, end, to, position);
  const expected = new Uint8Array(1100);
  expected.set(from.slice(start, end), position);
  return { actual: Buffer.from(to).toString('hex'), expected: Buffer.from(expected).toString('hex') };
}

test('a range of bytes is copied to its place without changing other bytes', () => {
  for (const [start, end] of RANGES) {
    for (const position of [0, 1, 50]) {
      const { actual, expected } = copied(copyBytes, FROM, start, end, position);
      expect(actual, `${start} to ${end} at ${position}`).toBe(expected);
    }
  }
});

test('a copier does the same, whichever arrays it copied from and to before', () => {
  const random = seeded(7);
  const arrays = [FROM, FROM.subarray(3, 700), Buffer.from(FROM), FROM.map((byte) => 255 - byte)];
  const copier = new RangeCopier();
  const targets = [new Uint8Array(1500), new Uint8Array(1500).subarray(5)];
  let [from] = arrays as [Uint8Array];
  let [to] = targets as [Uint8Array];
  for (let i = 0; i < 20_000; i++) {
    if (random.below(4) === 0) from = random.pick(arrays);
    if (random.below(20) === 0) to = random.pick(targets);
    const start = random.below(from.length);
    const end = Math.min(from.length, start + random.below(i % 10 === 0 ? 600 : 60));
    const position = random.below(900);
    const expected = to.slice();
    expected.set(from.subarray(start, end), position);
    copier.copy(from, start, end, to, position);
    if (Buffer.compare(to, expected) !== 0) expect(Buffer.from(to).toString('hex'), `copy ${i}: ${start} to ${end} at ${position}`).toBe(Buffer.from(expected).toString('hex'));
  }
});

test('a copier sees what its array has become since', () => {
  const copier = new RangeCopier();
  const from = new Uint8Array(40).fill(1);
  const to = new Uint8Array(40);
  copier.copy(from, 0, 40, to, 0);
  copier.copy(from, 0, 40, to, 0);
  from.fill(2);
  copier.copy(from, 0, 40, to, 0);
  expect(to).toEqual(new Uint8Array(40).fill(2));
});
