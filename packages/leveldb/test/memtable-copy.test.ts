import { expect, test } from 'vitest';
import { keyOrderOf } from '../src/format/database-key.js';
import { bytewiseComparator } from '@bloom/sstable';
import { Memtable } from '../src/memtable/memtable.js';
import { copiedMemtable } from '../src/write/memtable-copy.js';

const { compareInternalKeys } = keyOrderOf(bytewiseComparator);
const VALUE = 1;

function filled(count: number, memtable = new Memtable(compareInternalKeys)): Memtable {
  for (let i = 0; i < count; i++) {
    const bytes = new TextEncoder().encode(`key ${String(i).padStart(6, '0')}${'value'.repeat(20)}`);
    memtable.add(BigInt(i + 1), VALUE, bytes, 0, 10, 10, bytes.length);
  }
  return memtable;
}

const buffersOf = ({ arena, nodes }: { arena: Uint8Array; nodes: Uint32Array }): ArrayBufferLike[] => [arena.buffer, nodes.buffer];

test('a copy of a memtable uses the arrays of an earlier one that is about as large', async () => {
  const first = await copiedMemtable(filled(30_000));
  for (const count of [30_000, 29_000, 30_200, 20_000]) {
    const memtable = filled(count);
    const copy = await copiedMemtable(memtable, first);
    expect(buffersOf(copy)).toEqual(buffersOf(first));
    expect(buffersOf(copy).every((buffer, i) => buffer === buffersOf(first)[i])).toBe(true);
    expect(Buffer.compare(copy.arena, memtable.arrays.arena)).toBe(0);
    expect(copy.nodes).toEqual(memtable.arrays.nodes);
  }
});

test.each([100, 100_000])('a copy of a memtable of %d entries has arrays of its own where those of another are too small or far too large', async (count) => {
  const first = await copiedMemtable(filled(30_000));
  const memtable = filled(count);
  const copy = await copiedMemtable(memtable, first);
  expect(buffersOf(copy).some((buffer) => buffersOf(first).includes(buffer))).toBe(false);
  expect(Buffer.compare(copy.arena, memtable.arrays.arena)).toBe(0);
  expect(copy.nodes).toEqual(memtable.arrays.nodes);
});

test('a memtable that follows a full one has its room from the start, up to 8 MiB, and none of its entries', () => {
  const full = filled(30_000);
  const next = Memtable.following(full, compareInternalKeys);
  expect([next.count, next.first, next.arena.length]).toEqual([0, 0, full.arena.length]);
  const { arena } = next;
  filled(30_000, next);
  expect(next.arena).toBe(arena);
  expect(next.memoryUsage).toBe(full.memoryUsage);
  expect(Memtable.following(filled(100_000), compareInternalKeys).arena.length).toBe(8 * 2 ** 20);
});

test('a memtable in the memory of another has only its own entries', () => {
  const used = filled(30_000);
  const arrays = buffersOf(used.arrays);
  const next = Memtable.reusing(used, compareInternalKeys);
  expect([next.count, next.first, next.last]).toEqual([0, 0, 0]);
  expect(next.seek(used.bounds.smallest)).toBe(0);
  const fresh = new Memtable(compareInternalKeys);
  for (const memtable of [next, fresh]) {
    for (let i = 0; i < 20_000; i++) {
      const bytes = new TextEncoder().encode(`key ${String((i * 7919) % 20_000).padStart(6, '0')}${'other'.repeat(i % 20)}`);
      memtable.add(BigInt(i + 1), VALUE, bytes, 0, 10, 10, bytes.length);
    }
  }
  expect(buffersOf(next.arrays).every((buffer, i) => buffer === arrays[i])).toBe(true);
  expect(next.memoryUsage).toBe(fresh.memoryUsage);
  expect(Buffer.compare(next.arrays.arena, fresh.arrays.arena)).toBe(0);
  expect(next.arrays.nodes).toEqual(fresh.arrays.nodes);
});
