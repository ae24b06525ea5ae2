import { type Random, seeded } from '@bloom/bytes/internal';
import { describe, expect, test } from 'vitest';
import { maskedCrc32c } from '@bloom/crc32c';
import { snappyCodec } from '../../src/compression/snappy.js';
import { ANY_SHAPE, type ChecksumPairs, checksumPairs, RAW_SHAPE, SNAPPY_SHAPE } from '../../src/inspect/checksum-search.js';
import { BLOCK_TRAILER_LENGTH } from '../../src/format/stored-block.js';
import { blockOf } from '../assemble-table.js';
import { sealed } from '../damage.js';
import { numberedEntries } from '../entries.js';

const pause = (): Promise<void> => Promise.resolve();

function shapes(byType: Readonly<Record<number, number>>): Uint8Array {
  const all = new Uint8Array(256);
  for (const [type, shape] of Object.entries(byType)) all[Number(type)] = shape;
  return all;
}

function listed(pairs: ChecksumPairs | undefined): string[] {
  return Array.from({ length: pairs!.length }, (_, i) => `${pairs!.starts[i]} ${pairs!.typesAt[i]}`);
}

/** Finds all pairs by trying each of them. */
function tried(bytes: Uint8Array, types: ReadonlySet<number>): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pairs: string[] = [];
  for (let start = 0; start < bytes.length; start++) {
    for (let typeAt = start; typeAt < bytes.length - 4; typeAt++) {
      if (!types.has(bytes[typeAt]!)) continue;
      if (maskedCrc32c(bytes.subarray(start, typeAt + 1)) === view.getUint32(typeAt + 1, true)) pairs.push(`${start} ${typeAt}`);
    }
  }
  return pairs;
}

/** Random bytes with stored blocks of random bytes between them, and blocks inside blocks. */
function bytesWithBlocks(random: Random, types: readonly number[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let i = random.below(5); i >= 0; i--) {
    let part = random.bytes(random.below(60));
    for (let depth = random.below(4); depth > 0; depth--) {
      part = sealed(new Uint8Array(Buffer.concat([random.bytes(random.below(20)), part, random.bytes(random.below(20))])), random.pick(types));
    }
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}

test('finds the same pairs as trying every start with every end (seeds 0 to 199)', async () => {
  const types = [2, 4, 9];
  const all = shapes({ 2: ANY_SHAPE, 4: ANY_SHAPE, 9: ANY_SHAPE });
  const wrong: number[] = [];
  let found = 0;
  for (let seed = 0; seed < 200; seed++) {
    const bytes = bytesWithBlocks(seeded(seed), types);
    const expected = tried(bytes, new Set(types));
    if (listed(await checksumPairs(bytes, all, pause)).join() !== expected.join()) wrong.push(seed);
    found += expected.length;
  }
  expect(wrong).toEqual([]);
  expect(found).toBeGreaterThan(500);
});

describe('a block of entries', () => {
  const contents = blockOf(numberedEntries(50));
  const known = shapes({ 0: RAW_SHAPE, 1: SNAPPY_SHAPE });

  test.each([
    ['as it is', sealed(contents, 0)],
    ['compressed by Snappy', sealed(snappyCodec.compress!(contents), 1)],
    ['of one short entry', sealed(blockOf([[Uint8Array.of(1), Uint8Array.of()]]), 0)],
    ['of one short entry, by Snappy', sealed(snappyCodec.compress!(blockOf([[Uint8Array.of(1), Uint8Array.of()]])), 1)],
  ])('%s is found wherever it starts', async (_, block) => {
    const random = seeded(7);
    for (const before of [0, 1, 2, 3, 4, 5, 100, 4096]) {
      const bytes = new Uint8Array(Buffer.concat([random.bytes(before), block, random.bytes(30)]));
      const typeAt = before + block.length - BLOCK_TRAILER_LENGTH;
      expect(listed(await checksumPairs(bytes, known, pause))).toContain(`${before} ${typeAt}`);
    }
  });

  test('is not found if one bit is changed', async () => {
    const block = sealed(contents, 0);
    for (let i = 0; i < block.length; i += 7) {
      const damaged = block.slice();
      damaged[i]! ^= 0x10;
      expect(listed(await checksumPairs(damaged, known, pause)), `byte ${i}`).toEqual([]);
    }
  });

  test('is found across the parts of the walk', async () => {
    const block = sealed(contents, 0);
    const bytes = new Uint8Array(2 ** 20 + 3000);
    for (const end of [2 ** 20 + 1, 2 ** 20 + 500, bytes.length]) {
      bytes.fill(0);
      bytes.set(block, end - block.length);
      expect(listed(await checksumPairs(bytes, known, pause))).toEqual([`${end - block.length} ${end - BLOCK_TRAILER_LENGTH}`]);
    }
  });
});

test('gives up on bytes that could all be types, instead of keeping their positions', async () => {
  const bytes = new Uint8Array(2 ** 22 + 100).fill(9);
  expect(await checksumPairs(bytes, shapes({ 9: ANY_SHAPE }), pause)).toBeUndefined();
  expect(await checksumPairs(bytes.subarray(100), shapes({ 9: ANY_SHAPE }), pause)).toBeDefined();
});
