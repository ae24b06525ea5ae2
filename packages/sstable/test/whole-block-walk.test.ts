import { CorruptionError, putVarint } from '@bloom/bytes';
import { describe, expect, test } from 'vitest';
import { BlockBuilder } from '../src/format/block-builder.js';
import { WholeBlockWalk } from '../src/format/whole-block-walk.js';
import { caught } from '@bloom/fixtures/caught';

const MIB = 2 ** 20;

/**
 * A block of `count` entries whose keys share all but four bytes, so that each entry is small. It is encoded here because a
 * builder would compare megabytes for each entry.
 */
function crafted(count: number, keyLength: number, valueLength = 0, restartInterval = count): Uint8Array {
  const parts: Buffer[] = [];
  const restarts: number[] = [];
  const lengths = new Uint8Array(15);
  let position = 0;
  for (let i = 0; i < count; i++) {
    const isRestart = i % restartInterval === 0;
    if (isRestart) restarts.push(position);
    const shared = isRestart ? 0 : keyLength - 4;
    const end = Buffer.alloc(keyLength - shared);
    end.writeUInt32BE(i, end.length - 4);
    const headerLength = putVarint(lengths, putVarint(lengths, putVarint(lengths, 0, shared), end.length), valueLength);
    const entry = Buffer.concat([lengths.subarray(0, headerLength), end, Buffer.alloc(valueLength)]);
    parts.push(entry);
    position += entry.length;
  }
  const trailer = Uint32Array.of(...restarts, restarts.length);
  return new Uint8Array(Buffer.concat([...parts, Buffer.from(trailer.buffer)]));
}

function walkOver(contents: Uint8Array): WholeBlockWalk {
  const walk = new WholeBlockWalk('index block', 'a.ldb');
  walk.reset(contents, 4711);
  return walk;
}

function count(walk: WholeBlockWalk): number {
  let entries = 0;
  for (let more = walk.seekToFirst(); more; more = walk.next()) entries++;
  return entries;
}

test('counts the bytes of keys including shared prefixes, from zero for each block', () => {
  const walk = walkOver(crafted(3, 100));
  expect(walk.totalKeyBytes).toBe(0);
  expect([count(walk), walk.totalKeyBytes]).toEqual([3, 300]);
  walk.reset(crafted(2, 10), 0);
  expect([walk.totalKeyBytes, count(walk), walk.totalKeyBytes]).toEqual([0, 2, 20]);
});

test('also counts the key at a restart to which it moves', () => {
  const walk = walkOver(crafted(6, 100, 0, 2));
  expect([walk.seekToRestart(1), walk.totalKeyBytes, walk.next(), walk.totalKeyBytes]).toEqual([true, 100, true, 200]);
});

test('counts zero bytes for a block without entries', () => {
  expect(count(walkOver(new BlockBuilder(16).finish()))).toBe(0);
});

describe('keys of more than 64 MiB with their shared prefixes', () => {
  test('are refused in a small block, and the error names it', () => {
    expect(count(walkOver(crafted(64, MIB)))).toBe(64);
    const walk = walkOver(crafted(65, MIB));
    const error = caught(() => count(walk));
    expect(error).toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ code: 'BLOOM_TOO_LARGE', structure: 'index block', offset: 4711, file: 'a.ldb' });
    expect((error as CorruptionError).message).toContain(String(64 * MIB));
    expect(walk.valid).toBe(false);
  });

  test('are refused if they have more than 16 times the bytes of a large block', () => {
    // A value of 5 MiB in the block raises the limit above 80 MiB.
    expect(count(walkOver(crafted(80, MIB, 2 ** 16)))).toBe(80);
    expect(caught(() => count(walkOver(crafted(200, MIB, 2 ** 12))))).toMatchObject({ code: 'BLOOM_TOO_LARGE' });
  });
});
