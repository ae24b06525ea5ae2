import { type Random, seeded } from '@bloom/fixtures';
import { FilterBlockBuilder, FilterBlockReader } from '@bloom/filter-block';
import { BloomFilterPolicy, buildFilter, type FilterPolicy } from '@bloom/policy';
import { expect, test } from 'vitest';
import { hex, listPolicy } from './test-policies.js';

/** A data block: its offset and its keys. */
interface Block {
  readonly offset: number;
  readonly keys: readonly Uint8Array[];
}

const bloom = new BloomFilterPolicy(10);
const policies = [listPolicy, bloom];
/** The same answers, only without `keyMayMatchRange`. */
const withoutRanges: FilterPolicy = {
  name: bloom.name,
  createFilter: (keys, dst) => bloom.createFilter(keys, dst),
  keyMayMatch: (key, filter) => bloom.keyMayMatch(key, filter),
};
/** A subclass that replaces `keyMayMatch` alone. */
const upsideDown = new (class extends BloomFilterPolicy {
  override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    return !super.keyMayMatch(key, filter);
  }
})();

/** Blocks at ascending offsets: several in one range, one per range, or with empty ranges between. */
function anyBlocks(random: Random): Block[] {
  const blocks: Block[] = [];
  const step = random.pick([100, 2048, 4500, 30_000]);
  let offset = random.below(3) === 0 ? random.below(20_000) : 0;
  for (let count = random.below(25); count > 0; count--) {
    const keys = Array.from({ length: random.below(5) }, () => random.bytes(random.below(6)));
    blocks.push({ offset, keys });
    offset += random.below(4) === 0 ? (2048 - (offset % 2048)) % 2048 : random.below(step);
  }
  return blocks;
}

function build(policy: FilterPolicy, blocks: readonly Block[]): Uint8Array {
  const builder = new FilterBlockBuilder(policy);
  for (const { offset, keys } of blocks) {
    builder.startBlock(offset);
    for (const key of keys) builder.addKey(key);
  }
  return builder.finish();
}

/** The model: the keys of each 2 KiB range, up to the last range that has a filter. */
function keysOfRanges(blocks: readonly Block[]): Uint8Array[][] {
  const ranges: Uint8Array[][] = [];
  for (const { offset, keys } of blocks) {
    const range = Math.floor(offset / 2048);
    while (ranges.length <= range) ranges.push([]);
    ranges[range]!.push(...keys);
  }
  // The last range gets no filter if it has no keys.
  if (ranges.at(-1)?.length === 0) ranges.pop();
  return ranges;
}

/** The filter block that the model describes. */
function encode(policy: FilterPolicy, ranges: readonly Uint8Array[][]): Uint8Array {
  const filters = ranges.map((keys) => (keys.length === 0 ? new Uint8Array() : buildFilter(policy, keys)));
  const ends = filters.map((_, i) => Buffer.concat(filters.slice(0, i + 1)).length);
  const words = Buffer.alloc(4 * (filters.length + 1));
  for (const [i, word] of [0, ...ends].entries()) words.writeUInt32LE(word, i * 4);
  return Buffer.concat([...filters, words, Uint8Array.of(11)]);
}

const word = (contents: Uint8Array, at: number): number => Buffer.from(contents).readUInt32LE(at);

/** What the reader must find, by the format's definition: `match` where no filter can be read. */
function answer(policy: FilterPolicy, contents: Uint8Array, blockOffset: number, key: Uint8Array): boolean {
  const { length } = contents;
  if (length < 5) return true;
  const offsetsStart = word(contents, length - 5);
  const baseLg = contents[length - 1]!;
  if (offsetsStart > length - 5 || baseLg >= 64) return true;
  const filters = Number((BigInt(length) - 5n - BigInt(offsetsStart)) / 4n);
  const index = BigInt(blockOffset) >> BigInt(baseLg);
  if (index >= BigInt(filters)) return true;
  const start = word(contents, offsetsStart + Number(index) * 4);
  const limit = word(contents, offsetsStart + Number(index) * 4 + 4);
  if (start > limit || limit > offsetsStart) return true;
  return start < limit && policy.keyMayMatch(key, contents.slice(start, limit));
}

test("the builder's bytes and the reader's answers agree with the model", () => {
  const seed = 20;
  const random = seeded(seed);
  const wrong: string[] = [];
  for (let run = 0; run < 150; run++) {
    const blocks = anyBlocks(random);
    const ranges = keysOfRanges(blocks);
    for (const policy of policies) {
      const contents = build(policy, blocks);
      if (Buffer.compare(contents, encode(policy, ranges)) !== 0) wrong.push(`run ${run}: bytes, ${policy.name}`);
      const reader = new FilterBlockReader(policy, contents);
      if (reader.filterCount !== ranges.length) wrong.push(`run ${run}: ${reader.filterCount} filters`);
      for (const { offset, keys } of blocks) {
        for (const key of keys) {
          if (!reader.keyMayMatch(offset, key)) wrong.push(`run ${run}: ${hex(key)} at ${offset} is hidden`);
        }
      }
    }
    // The filter lists its keys, so its answer is whether the range has the key.
    const reader = new FilterBlockReader(listPolicy, build(listPolicy, blocks));
    const sets = ranges.map((keys) => new Set(keys.map(hex)));
    const keys = blocks.flatMap((block) => block.keys);
    for (let probe = 0; probe < 40; probe++) {
      const key = keys.length > 0 && random.below(2) === 0 ? random.pick(keys) : random.bytes(random.below(6));
      const offset = random.below(ranges.length * 2048 + 5000);
      const expected = sets[Math.floor(offset / 2048)]?.has(hex(key)) ?? true;
      if (reader.keyMayMatch(offset, key) !== expected) wrong.push(`run ${run}: ${hex(key)} at ${offset}`);
    }
  }
  expect(wrong.slice(0, 3), `seed ${seed}`).toEqual([]);
});

test('damaged and random bytes never throw, and unreadable filters match every key', () => {
  const seed = 21;
  const random = seeded(seed);
  const wrong: string[] = [];
  const offsets = [0, 1, 2047, 2048, 5000, 2 ** 31, 2 ** 32, 2 ** 32 + 2048, 2 ** 53 - 1];
  for (let run = 0; run < 1500; run++) {
    const blocks = anyBlocks(random).slice(0, 6);
    let contents = run % 4 === 0 ? random.bytes(random.below(60)) : build(bloom, blocks);
    if (run % 4 !== 0) {
      for (let flips = random.below(4); flips >= 0; flips--) {
        // The offsets and baseLg at the end decide which filters can be read.
        const at = random.below(2) === 0 ? random.below(contents.length) : contents.length - 1 - random.below(5);
        contents[at] = random.below(3) === 0 ? random.below(16) : contents[at]! ^ (1 << random.below(8));
      }
      if (random.below(4) === 0) contents = contents.subarray(0, random.below(contents.length + 1));
    }
    const reader = new FilterBlockReader(bloom, contents);
    const readers = [reader, new FilterBlockReader(withoutRanges, contents), new FilterBlockReader(upsideDown, contents)];
    for (const offset of [...offsets, ...blocks.map((block) => block.offset)]) {
      for (const key of [random.bytes(3), ...blocks.flatMap((block) => block.keys).slice(0, 3)]) {
        if (reader.keyMayMatch(offset, key) !== answer(bloom, contents, offset, key)) wrong.push(`run ${run}: ${hex(key)} at ${offset} in ${hex(contents)}`);
        for (const [i, one] of readers.entries()) {
          const denied = one.denies(offset, Uint8Array.of(7, 8, 9, ...key, 1), 3, 3 + key.length);
          const isEmpty = one.filterAt(Math.floor(offset / one.base))?.length === 0;
          const expected = !one.keyMayMatch(offset, key) && !isEmpty;
          if (denied !== expected || one.denies(offset, key, 0, key.length) !== expected) wrong.push(`run ${run}: reader ${i} denies ${hex(key)} at ${offset} in ${hex(contents)}`);
        }
      }
    }
  }
  expect(wrong.slice(0, 3), `seed ${seed}`).toEqual([]);
});

test('an offset that is out of order hides no key, and does not change the answers of other filters', () => {
  const seed = 22;
  const random = seeded(seed);
  const wrong: string[] = [];
  let outOfOrder = 0;
  for (let run = 0; run < 1500; run++) {
    const blocks = anyBlocks(random).slice(0, 8);
    const ranges = keysOfRanges(blocks);
    if (ranges.length === 0) continue;
    const policy = random.pick(policies);
    const contents = build(policy, blocks);
    const offsetsStart = word(contents, contents.length - 5);
    const whole = new FilterBlockReader(policy, contents.slice());
    const damaged = random.below(ranges.length);
    const value = random.pick([random.below(offsetsStart + 1), offsetsStart + 1 + random.below(9), random.uint32()]);
    new DataView(contents.buffer).setUint32(offsetsStart + damaged * 4, value, true);
    const reader = new FilterBlockReader(policy, contents);
    for (const [i, keys] of ranges.entries()) {
      const start = word(contents, offsetsStart + i * 4);
      const limit = word(contents, offsetsStart + i * 4 + 4);
      const isOutOfOrder = start > limit || limit > offsetsStart;
      const isAsBefore = i !== damaged && i + 1 !== damaged;
      if (isOutOfOrder) outOfOrder++;
      for (const key of [...keys, random.bytes(3), random.bytes(4)]) {
        const matches = reader.keyMayMatch(i * 2048, key);
        if (isOutOfOrder && !matches) wrong.push(`run ${run}: ${hex(key)} of filter ${i} is hidden`);
        if (isAsBefore && matches !== whole.keyMayMatch(i * 2048, key)) wrong.push(`run ${run}: filter ${i} differs`);
      }
    }
  }
  expect(wrong.slice(0, 3), `seed ${seed}`).toEqual([]);
  expect(outOfOrder).toBeGreaterThan(500);
});
