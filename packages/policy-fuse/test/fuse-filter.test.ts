import { seeded } from '@bloom/fixtures';
import { FuseFilterPolicy } from '@bloom/policy-fuse';
import { describe, expect, test } from 'vitest';
import { fuseByteLength, fuseShapeFor, fuseShapeOf } from '../src/fuse-filter.js';
import { modelMayMatch } from './fuse-model.js';

const policy = new FuseFilterPolicy();
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** A filter with random fingerprints, of which one key in 256 or 65,536 matches if it is well-formed. */
function randomFilter(fingerprintBits: number, segmentLog: number, arrayBytes: number, seed: number): Uint8Array {
  const filter = new Uint8Array(arrayBytes + 3);
  const random = seeded(seed);
  for (let i = 0; i < arrayBytes; i += 65_536) filter.set(random.bytes(Math.min(65_536, arrayBytes - i)), i);
  filter.set([seed & 0xff, segmentLog, fingerprintBits], arrayBytes);
  return filter;
}

/** The keys for which the answers about a filter, alone and between other bytes, differ from the model's. */
function wrongAnswers(filter: Uint8Array, seed: number): string[] {
  const random = seeded(seed);
  const [before, after] = [1 + random.below(300), 3 + random.below(300)];
  const all = new Uint8Array(before + filter.length + after).fill(8);
  all.set(filter, before);
  return Array.from({ length: 40 }, () => random.bytes(random.below(12))).flatMap((key) => {
    const expected = modelMayMatch(key, filter);
    const keyBytes = Uint8Array.of(1, ...key, 2);
    const answers = [policy.keyMayMatch(key, filter), policy.keyMayMatchRange(keyBytes, 1, 1 + key.length, all, before, before + filter.length)];
    return answers.every((answer) => answer === expected) ? [] : [`${hex(key)}: ${answers.join()} instead of ${expected}`];
  });
}

describe('the answers of a filter with random fingerprints are those of whole numbers of 64 bits', () => {
  const logs = Array.from({ length: 21 }, (_, log) => log);
  test.each(logs)('with segments of 2^%i fingerprints, of which 2 to 18 are a filter, from three segments on', (log) => {
    for (const bits of [8, 16]) {
      const segmentBytes = (2 ** log * bits) / 8;
      for (const segments of [1, 2, 3, 4, 7]) expect(wrongAnswers(randomFilter(bits, log, segments * segmentBytes, log + segments), log)).toEqual([]);
      // A byte more or less than whole segments.
      for (const extra of [-1, 1]) expect(wrongAnswers(randomFilter(bits, log, 3 * segmentBytes + extra, log), log)).toEqual([]);
    }
  });

  test('past the length up to which products of positions are exact', () => {
    for (const segments of [9, 10, 11, 12, 13]) expect(wrongAnswers(randomFilter(8, 18, segments * 2 ** 18, segments), segments)).toEqual([]);
  });

  test('with fewer bytes than the end of a filter has', () => {
    const random = seeded(3);
    for (let i = 0; i < 2000; i++) {
      const filter = random.bytes(random.below(8));
      if (filter.length > 0) filter[filter.length - 1] = random.pick([0, 1, 8, 16, 255]);
      if (filter.length > 1) filter[filter.length - 2] = random.below(4);
      expect(wrongAnswers(filter, i)).toEqual([]);
    }
  });
});

describe('the shape of a filter', () => {
  test('for few keys is three segments', () => {
    expect([0, 1, 2, 3, 4].map((count) => fuseShapeFor(count, 8).length)).toEqual([12, 12, 12, 24, 24]);
  });

  test.each([8, 16] as const)('of %i bits is read from its end', (fingerprintBits) => {
    for (const segmentLog of [2, 3, 17, 18]) {
      const shape = { fingerprintBits, segmentLog, length: 3 * 2 ** segmentLog };
      const filter = randomFilter(fingerprintBits, segmentLog, fuseByteLength(shape) - 3, 1);
      const all = new Uint8Array(filter.length + 10);
      all.set(filter, 7);
      expect(fuseShapeOf(all, 7, 7 + filter.length)).toEqual(shape);
      expect(fuseShapeOf(all, 8, 7 + filter.length)).toBeUndefined();
    }
    for (const segmentLog of [0, 1, 19, 20]) expect(fuseShapeOf(randomFilter(fingerprintBits, segmentLog, 2 ** 21, 1), 0, 2 ** 21 + 3)).toBeUndefined();
  });
});

describe('wrong arguments are refused by name', () => {
  const key = Uint8Array.of(1);
  const filter = randomFilter(8, 2, 12, 1);
  const detached = new Uint8Array(4);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });
  const wrong = [undefined, null, 'text', [1, 2], new Uint16Array(2), new ArrayBuffer(8), detached] as Uint8Array[];
  test.each(wrong.map((value, i) => [i, value] as const))('%#', (_, value) => {
    expect(() => policy.keyMayMatch(value, filter)).toThrow(/^key (must|is)/);
    expect(() => policy.keyMayMatch(key, value)).toThrow(/^filter (must|is)/);
    expect(() => policy.keyMayMatchRange(value, 0, 1, filter, 0, filter.length)).toThrow(/^keyBytes (must|is)/);
    expect(() => policy.keyMayMatchRange(key, 0, 1, value, 0, 1)).toThrow(/^filterBytes (must|is)/);
  });

  test('an empty key and an empty filter are not', () => {
    const empty = new Uint8Array(0);
    expect(policy.keyMayMatch(empty, filter)).toBe(modelMayMatch(empty, filter));
    expect(policy.keyMayMatch(key, empty)).toBe(false);
    expect(policy.keyMayMatchRange(empty, 0, 0, filter, 0, filter.length)).toBe(modelMayMatch(empty, filter));
    expect(policy.keyMayMatchRange(key, 0, 1, empty, 0, 0)).toBe(false);
  });
});
