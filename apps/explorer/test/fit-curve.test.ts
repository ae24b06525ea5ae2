import { filterByteLength } from '@bloom/policy';
import { expect, test } from 'vitest';
import { FitMeasurement, measuringOrder, numberedKey } from '../src/filter/fit-curve.js';
import { FEWEST_KEYS, KEY_PATTERNS, MOST_KEYS } from '../src/filter/fit-patterns.js';

const all = Array.from({ length: MOST_KEYS - FEWEST_KEYS + 1 }, (_, i) => FEWEST_KEYS + i);
const some = all.filter((keys) => keys % 8 === 0 || keys === 19);

test('the keys are 16 decimal digits, or a big-endian number of 64 bits', () => {
  expect(Buffer.from(numberedKey('digits', 42)).toString()).toBe('0000000000000042');
  expect(Buffer.from(numberedKey('bytes', 0x2a01)).toString('hex')).toBe('0000000000002a01');
});

test('every number of keys is measured once, and the one that is looked at comes first', () => {
  const order = measuringOrder(19);
  expect(order[0]).toBe(19);
  expect([...order].sort((a, b) => a - b)).toEqual(all);
});

test.each(KEY_PATTERNS)('LevelDB’s filters of %s keys have its length and six probes, and fitted ones take little more on average', (pattern) => {
  const measurement = new FitMeasurement();
  let plainBytes = 0;
  let fittedBytes = 0;
  for (const keys of some) {
    const { leveldb, fitted } = measurement.point(pattern, keys);
    const bytes = filterByteLength(keys, 10);
    expect(leveldb.bytes).toEqual({ least: bytes, most: bytes, mean: bytes });
    expect(leveldb.probes).toEqual({ least: 6, most: 6, mean: 6 });
    expect(fitted.bytes.most).toBeLessThanOrEqual(bytes * 1.1);
    plainBytes += bytes;
    fittedBytes += fitted.bytes.mean;
  }
  expect(fittedBytes / plainBytes).toBeLessThan(1.05);
});

test('of 19 numbers, LevelDB’s filters let most absent neighbours pass, those of 18 far fewer, and fitted ones few of either', () => {
  const measurement = new FitMeasurement();
  const [eighteen, nineteen] = [measurement.point('digits', 18), measurement.point('digits', 19)];
  expect(nineteen.leveldb.rate).toBeGreaterThan(0.4);
  expect(eighteen.leveldb.rate).toBeLessThan(0.1);
  for (const { fitted } of [eighteen, nineteen]) expect(fitted.rate).toBeLessThan(0.01);
  // They differ from each other in both numbers.
  expect(nineteen.fitted.bytes.least).toBeLessThan(nineteen.fitted.bytes.most);
  expect(nineteen.fitted.probes.least).toBeLessThan(nineteen.fitted.probes.most);
  const bytes = measurement.point('bytes', 19);
  expect(bytes.leveldb.rate).toBeGreaterThan(0.8);
  expect(bytes.fitted.rate).toBeLessThan(0.1);
});

test('of random keys, both let about one absent key in a hundred pass', () => {
  const measurement = new FitMeasurement();
  for (const keys of [19, 38, 64, 128]) {
    const { leveldb, fitted } = measurement.point('random', keys);
    for (const { rate } of [leveldb, fitted]) {
      expect(rate).toBeGreaterThan(0.003);
      expect(rate).toBeLessThan(0.025);
    }
  }
});

test('the same pattern and number of keys give the same figures, whatever was measured before', () => {
  const warm = new FitMeasurement();
  for (const keys of some) warm.point('digits', keys);
  for (const pattern of KEY_PATTERNS) expect(warm.point(pattern, 33)).toEqual(new FitMeasurement().point(pattern, 33));
});
