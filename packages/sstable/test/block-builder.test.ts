import { putVarint } from '@bloom/bytes';
import { type Random, seeded } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import { BlockBuilder, MAX_ENTRY_OVERHEAD } from '../src/format/block-builder.js';
import { compareBytes } from '../src/format/bytewise-order.js';
import { hex, sameBytes } from './entries.js';

type Entry = readonly [key: Uint8Array, value: Uint8Array];

function commonLength(a: Uint8Array, b: Uint8Array): number {
  let common = 0;
  while (common < a.length && common < b.length && a[common] === b[common]) common++;
  return common;
}

/** The block of `entries`, encoded as in the picture in `block.ts`. */
function encoded(entries: readonly Entry[], restartInterval: number): Uint8Array {
  const parts: Uint8Array[] = [];
  const restarts: number[] = entries.length === 0 ? [0] : [];
  let position = 0;
  for (const [i, [key, value]] of entries.entries()) {
    const isRestart = i % restartInterval === 0;
    if (isRestart) restarts.push(position);
    const shared = isRestart ? 0 : commonLength(entries[i - 1]![0], key);
    const lengths = new Uint8Array(15);
    const headerLength = [shared, key.length - shared, value.length].reduce((end, length) => putVarint(lengths, end, length), 0);
    for (const part of [lengths.subarray(0, headerLength), key.subarray(shared), value]) {
      parts.push(part);
      position += part.length;
    }
  }
  const trailer = Buffer.alloc(restarts.length * 4 + 4);
  for (const [i, number] of [...restarts, restarts.length].entries()) trailer.writeUInt32LE(number, i * 4);
  return new Uint8Array(Buffer.concat([...parts, trailer]));
}

/** Entries in order. Many keys have some of `start` in common. */
function sortedEntries(random: Random, count: number, start: Uint8Array): Entry[] {
  const keys = Array.from({ length: count }, () =>
    Uint8Array.of(...start.subarray(0, random.below(start.length + 1)), ...random.bytes(random.below(8)).map((byte) => byte & 3)),
  );
  keys.sort((a, b) => Buffer.compare(a, b));
  return keys
    .filter((key, i) => i === 0 || !sameBytes(key, keys[i - 1]))
    .map((key): Entry => [key, random.bytes(random.pick([0, 1, 5, 127, 128, random.below(start.length * 4 + 1)]))]);
}

test('consecutive blocks have the bytes of the format, and the builder knows their size before and after each entry', () => {
  const random = seeded(31);
  const wrong: string[] = [];
  for (let round = 0; round < 30; round++) {
    const restartInterval = random.pick([1, 2, 3, 16]);
    const builder = new BlockBuilder(restartInterval);
    const start = random.bytes(random.pick([3, 40, 200, 3000]));
    for (let block = 0; block < 3; block++) {
      const entries = sortedEntries(random, random.pick([0, 1, 2, 10, 200]), start);
      for (const [i, [key, value]] of entries.entries()) {
        const framed = Uint8Array.of(1, ...key, 2, ...value, 3);
        const [keyEnd, valueStart] = [1 + key.length, 2 + key.length];
        const common = builder.commonWithLast(framed, 1, keyEnd);
        const expected = builder.byteLengthWith(key.length, value.length, common);
        if (i > 0 && common !== commonLength(entries[i - 1]![0], key)) wrong.push(`round ${round}: common bytes of entry ${i}`);
        if (i % 2 === 0) builder.add(key, value);
        else builder.addRange(framed, 1, keyEnd, framed, valueStart, valueStart + value.length, common);
        if (builder.byteLength !== expected) wrong.push(`round ${round}: bytes with entry ${i}`);
        if (builder.isEmpty || !sameBytes(builder.lastKey, key)) wrong.push(`round ${round}: last key ${i}`);
      }
      const { byteLength } = builder;
      const contents = builder.finish();
      if (byteLength !== contents.length || !sameBytes(contents, encoded(entries, restartInterval))) wrong.push(`round ${round}, block ${block}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('a key is compared with the last one added, even across blocks', () => {
  const keys = ['', '61', '6100', '6161', '6162', '62', 'ff', 'ffff'].map((key) => Buffer.from(key, 'hex'));
  const wrong: string[] = [];
  for (const last of keys) {
    const builder = new BlockBuilder(16);
    builder.add(last, Uint8Array.of(1));
    for (const isNewBlock of [false, true]) {
      if (isNewBlock) builder.finish();
      for (const key of keys) {
        const order = Buffer.compare(last, key);
        const framed = Uint8Array.of(0, ...key, 0);
        const end = 1 + key.length;
        const common = builder.commonWithLast(framed, 1, end);
        if (common !== commonLength(last, key)) wrong.push(`common bytes of ${hex(last)} and ${hex(key)}`);
        if (Math.sign(builder.compareLast(compareBytes, framed, 1, end)) !== order) wrong.push(`order of ${hex(last)} and ${hex(key)}`);
        if (builder.isAfterLast(framed, 1, end, common, 0) !== order < 0) wrong.push(`${hex(key)} after ${hex(last)}`);
      }
    }
  }
  expect(wrong).toEqual([]);
});

test('a key without its trailer is after the last one without its own if they differ before either trailer', () => {
  const userKeys = ['', '00', '61', '6100', '6161', '6162', '62', 'ffff'].map((key) => Buffer.from(key, 'hex'));
  const trailers = ['0000', '6161', 'ffff'].map((trailer) => Buffer.from(trailer, 'hex'));
  const keys = userKeys.flatMap((userKey) => trailers.map((trailer) => ({ userKey, key: Uint8Array.of(...userKey, ...trailer) })));
  const wrong: string[] = [];
  let after = 0;
  for (const last of keys) {
    const builder = new BlockBuilder(16);
    builder.add(last.key, Uint8Array.of(1));
    for (const { userKey, key } of keys) {
      const framed = Uint8Array.of(0, ...key, 0);
      const common = builder.commonWithLast(framed, 1, 1 + key.length);
      const isAfter = builder.isAfterLast(framed, 1, 1 + key.length, common, 2);
      // Where the last key has all of the user key in common, its trailer included, nothing is known.
      if (isAfter !== (Buffer.compare(last.userKey, userKey) < 0 && common < userKey.length)) wrong.push(`${hex(key)} after ${hex(last.key)}`);
      if (isAfter) after++;
    }
  }
  expect(wrong).toEqual([]);
  expect(after).toBeGreaterThan(200);
});

test('an entry at a restart takes room for its lengths and the restart besides key and value', () => {
  const builder = new BlockBuilder(1);
  builder.add(Uint8Array.of(1), Uint8Array.of());
  const before = builder.byteLength;
  const key = new Uint8Array(2 ** 21).fill(2);
  const value = new Uint8Array(2 ** 21);
  const added = builder.byteLengthWith(key.length, value.length, 0) - before - key.length - value.length;
  // One byte for a shared length of 0, four for each of the other lengths, four for the restart.
  expect(added).toBe(13);
  expect(added).toBeLessThanOrEqual(MAX_ENTRY_OVERHEAD);
});
