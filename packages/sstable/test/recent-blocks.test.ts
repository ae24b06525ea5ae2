import { seeded } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import { RecentBlocks } from '../src/read/recent-blocks.js';

interface Value {
  readonly n: number;
}

test('values are found by their ids, and removed in the order of their last use, as a Map would do it', () => {
  const random = seeded(81);
  const blocks = new RecentBlocks<Value>();
  // A Map keeps the order in which ids were added, so a used one is added anew.
  const model = new Map<number, Value>();
  // Ids with the same low bits share a bucket, also those from 2^32 on.
  const ids = [0, 1, 2, 3, 8, 16, 1024, 4096, 2 ** 20, 2 ** 32, 2 ** 32 + 8, 2 ** 40, ...Array.from({ length: 60 }, (_, i) => 5000 + i)];
  for (let n = 0; n < 20_000; n++) {
    const id = random.pick(ids);
    const known = model.get(id);
    const action = random.below(10);
    if (action < 4) {
      expect(blocks.use(id)).toBe(known);
      if (known !== undefined) {
        model.delete(id);
        model.set(id, known);
      }
    } else if (action < 7) {
      if (known !== undefined) continue;
      const value = { n };
      blocks.add(id, value);
      model.set(id, value);
    } else if (action < 9) {
      expect(blocks.remove(id)).toBe(known);
      model.delete(id);
    } else {
      const [oldest] = model.keys();
      expect(blocks.removeOldest()).toBe(oldest === undefined ? undefined : model.get(oldest));
      if (oldest !== undefined) model.delete(oldest);
    }
    if (blocks.size !== model.size || n % 50 === 0) expect([blocks.size, ...blocks.ids()]).toEqual([model.size, ...model.keys()]);
  }
});

test('an empty list has nothing to remove', () => {
  const blocks = new RecentBlocks<Value>();
  expect([blocks.removeOldest(), blocks.remove(0), blocks.use(0), blocks.ids()]).toEqual([undefined, undefined, undefined, []]);
});

test('adding and removing makes no further slots, however often', () => {
  const blocks = new RecentBlocks<Value>();
  const lengths: number[] = [];
  const original = Int32Array.prototype.set;
  Int32Array.prototype.set = function (from: ArrayLike<number>, offset?: number) {
    lengths.push(this.length);
    original.call(this, from, offset);
  };
  try {
    for (let id = 0; id < 10_000; id++) {
      blocks.add(id, { n: id });
      if (id >= 100) blocks.removeOldest();
    }
  } finally {
    Int32Array.prototype.set = original;
  }
  expect(Math.max(...lengths)).toBe(128);
});
