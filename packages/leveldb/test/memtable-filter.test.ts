import { describe, expect, test } from 'vitest';
import { MemtableFilter } from '../src/memtable/memtable-filter.js';

const keyOf = (n: number): Uint8Array => new TextEncoder().encode(`the key with the number ${n}`);

describe('the filter of a memtable', () => {
  test.each([0, 1, 31, 32, 33, 100, 1000, 1024, 5000])('made for %i keys finds each key, wherever it lies, and says when it is full', (count) => {
    const filter = new MemtableFilter(count);
    let added = 0;
    for (; !filter.isFull; added++) {
      const key = keyOf(added);
      filter.add(Uint8Array.of(9, ...key, 9), 1, 1 + key.length);
    }
    for (let n = 0; n < added; n++) expect(filter.mayHold(Uint8Array.of(...keyOf(n), 1), 0, keyOf(n).length)).toBe(true);
    // Room for twice the keys that it was made for, or for the 64 of the smallest one, and for less than four times as many.
    expect(added).toBeGreaterThanOrEqual(Math.max(64, 2 * count));
    expect(added).toBeLessThanOrEqual(Math.max(64, 4 * count));
  });

  test.each([100, 1024, 5000])('made for %i keys lets one absent key in 32 pass with that many keys, and one in 16 when it is full', (count) => {
    const filter = new MemtableFilter(count);
    const passing = (): number => Array.from({ length: 20_000 }, (_, i) => keyOf(1_000_000 + i)).filter((key) => filter.mayHold(key, 0, key.length)).length / 20_000;
    expect(passing()).toBe(0);
    let added = 0;
    for (; added < count; added++) filter.add(keyOf(added), 0, keyOf(added).length);
    expect(passing()).toBeLessThan(1.3 / 32);
    for (; !filter.isFull; added++) filter.add(keyOf(added), 0, keyOf(added).length);
    expect(passing()).toBeLessThan(1.3 / 16);
    expect(passing()).toBeGreaterThan(0.7 / 16);
  });
});
