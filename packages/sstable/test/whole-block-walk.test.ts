import { CorruptionError } from '@bloom/bytes';
import { describe, expect, test } from 'vitest';
import { BlockBuilder } from '../src/format/block-builder.js';
import { WholeBlockWalk } from '../src/format/whole-block-walk.js';
import { caught } from './caught.js';

const MIB = 2 ** 20;

/** `count` entries with keys of `keyLength` bytes that share all but the last few, so that each takes few bytes. */
function crafted(count: number, keyLength: number, valueLength = 0, restartInterval = count + 1): Uint8Array {
  const builder = new BlockBuilder(restartInterval);
  const key = new Uint8Array(keyLength);
  for (let i = 0; i < count; i++) {
    new DataView(key.buffer).setUint32(keyLength - 4, i);
    builder.add(key, new Uint8Array(valueLength));
  }
  return builder.finish().slice();
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

test('counts the bytes of keys with their shared prefixes, anew for each block', () => {
  const walk = walkOver(crafted(3, 100));
  expect(walk.totalKeyBytes).toBe(0);
  expect([count(walk), walk.totalKeyBytes]).toEqual([3, 300]);
  walk.reset(crafted(2, 10), 0);
  expect([walk.totalKeyBytes, count(walk), walk.totalKeyBytes]).toEqual([0, 2, 20]);
});

test('counts the key of a restart that it goes to', () => {
  const walk = walkOver(crafted(6, 100, 0, 2));
  expect([walk.seekToRestart(1), walk.totalKeyBytes, walk.next(), walk.totalKeyBytes]).toEqual([true, 100, true, 200]);
});

test('a block without entries has none', () => {
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

  test('are refused where they are more than 16 times the bytes of a large block', () => {
    // 5 MiB of value in the block make the limit more than 80 MiB.
    expect(count(walkOver(crafted(80, MIB, 2 ** 16)))).toBe(80);
    expect(caught(() => count(walkOver(crafted(200, MIB, 2 ** 12))))).toMatchObject({ code: 'BLOOM_TOO_LARGE' });
  });
});
