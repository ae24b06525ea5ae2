// Searches for internal keys have a fast path for user keys in bytewise order. It must find what comparing whole keys finds.
import { seeded, type Random } from '@bloom/bytes/internal';
import { describe, expect, test } from 'vitest';
import { BlockBuilder } from '../src/format/block-builder.js';
import { BlockSearch } from '../src/format/block-search.js';
import { compareInternalBytes, type CompareRange } from '../src/format/bytewise-order.js';
import { IndexBlock, IndexBlockBuilder } from '../src/format/index-block.js';
import { encodeInternalKey } from '../src/format/internal-key.js';

/** The same order under another identity, which no fast path recognises. */
const wholeKeys: CompareRange = (...ranges) => compareInternalBytes(...ranges);

const place = { structure: 'index block', offset: 0 } as const;

/** User keys of a few different bytes, so that many are prefixes of others, equal, or the same in their last six bytes. */
function userKey(random: Random): Uint8Array {
  const start = random.below(4) === 0 ? 'common prefix of many keys ' : '';
  const tail = random.bytes(random.below(9)).map((byte) => byte & 3);
  return Uint8Array.of(...Buffer.from(start), ...tail);
}

function internalKey(random: Random): Uint8Array {
  return encodeInternalKey({ userKey: userKey(random), sequence: BigInt(random.below(40)), type: random.below(2) });
}

/** `count` different keys, in order, and `shortKeys` that are too short to be internal keys. */
function sortedKeys(random: Random, count: number, shortKeys = 0): Uint8Array[] {
  const keys = Array.from({ length: count }, () => internalKey(random));
  for (let i = 0; i < shortKeys; i++) keys.push(random.bytes(random.below(8)));
  keys.sort((a, b) => compareInternalBytes(a, 0, a.length, b, 0, b.length));
  return keys.filter((key, i) => i === 0 || Buffer.compare(key, keys[i - 1]!) !== 0);
}

function landing(search: BlockSearch, target: Uint8Array, start = 0, end = target.length): string {
  return search.seek(target, start, end) ? `${Buffer.from(search.key).toString('hex')}=${Buffer.from(search.value).toString('hex')}` : 'past the end';
}

describe('a search for internal keys finds the same entry as comparing whole keys does', () => {
  test('in blocks of any restart interval, even if some keys are too short', () => {
    const random = seeded(71);
    const wrong: string[] = [];
    let landings = 0;
    for (let round = 0; round < 200; round++) {
      const builder = new BlockBuilder(1 + random.below(20));
      const keys = sortedKeys(random, 1 + random.below(120), random.pick([0, 0, 1, 5]));
      for (const [i, key] of keys.entries()) builder.add(key, Uint8Array.of(i));
      const contents = builder.finish();
      const fast = new BlockSearch(compareInternalBytes, 'data block');
      const slow = new BlockSearch(wholeKeys, 'data block');
      fast.reset(contents, 0);
      slow.reset(contents, 0);
      for (const target of [...keys, ...Array.from({ length: 60 }, () => internalKey(random)), Uint8Array.of(1, 2)]) {
        const expected = landing(slow, target);
        if (expected !== 'past the end') landings++;
        // The key is in the middle of a larger array, like the keys of a batch.
        const start = 1 + random.below(12);
        const array = Uint8Array.of(...random.bytes(start), ...target, ...random.bytes(9));
        if (landing(fast, array, start, start + target.length) !== expected) wrong.push(`round ${round}: ${Buffer.from(target).toString('hex')}`);
        if (fast.valid && fast.next() !== slow.next()) wrong.push(`round ${round}: the move after ${Buffer.from(target).toString('hex')}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(landings).toBeGreaterThan(10_000);
  });

  test('in indexes, even if the last separator has nothing in common with the others, or some keys are too short', () => {
    const random = seeded(72);
    const wrong: string[] = [];
    for (let round = 0; round < 200; round++) {
      const builder = new IndexBlockBuilder();
      const keys = sortedKeys(random, random.below(60), random.pick([0, 0, 1, 2]));
      const isShortened = random.below(2) === 0;
      if (isShortened) keys.push(encodeInternalKey({ userKey: Uint8Array.of(0x64), sequence: 9n, type: 1 }));
      for (const [i, key] of keys.entries()) builder.add(key, { offset: i * 100, size: 50 });
      const index = IndexBlock.open(builder.finish(), place, 1e6);
      const targets = [...keys, ...Array.from({ length: 60 }, () => internalKey(random))];
      targets.push(Uint8Array.of(1), encodeInternalKey({ userKey: Uint8Array.of(0xff), sequence: 1n, type: 1 }));
      for (const target of targets) {
        if (index.seek(target, compareInternalBytes) === index.seek(target, wholeKeys)) continue;
        wrong.push(`round ${round}: ${Buffer.from(target).toString('hex')}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
