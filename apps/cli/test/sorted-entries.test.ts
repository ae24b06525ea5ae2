import { seeded } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import { SortedEntries } from '../src/inputs/sorted-entries.js';
import { add, sortedOf } from './sorted.js';

// A comparison by numbers could go wrong for prefixes of each other, for zeros, for bytes above 0x7f, and for keys with a common prefix.
test.each(['', 'u', 'user:', 'a prefix of more than six bytes/'])('keys that all begin with %j are sorted, and the last entry of each key is kept', (front) => {
  const random = seeded(front.length);
  const parts = ['', '\0', '\0\0', 'a', 'aaaaaa', 'aaaaaab', '\xff'];
  for (let round = 0; round < 200; round++) {
    const sorted = new SortedEntries();
    const expected = new Map<string, string>();
    // Every tenth time there are many keys whose first bytes, which are sorted as numbers, are equal.
    const isLarge = round % 10 === 0;
    const count = random.below(isLarge ? 800 : 60);
    for (let i = 0; i < count; i++) {
      const key = front + (isLarge ? random.pick(['12345678', '1234567\xff']) : '') + Array.from({ length: random.below(4) }, () => random.pick(parts)).join('');
      add(sorted, Buffer.from(key, 'latin1'), Buffer.from(String(i)));
      expected.set(key, String(i));
    }
    expect(sorted.sort()).toBe(count - expected.size);
    const found = sortedOf(sorted).map(([key, value]) => [Buffer.from(key).toString('latin1'), Buffer.from(value).toString()]);
    expect(found).toEqual([...expected].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
});
