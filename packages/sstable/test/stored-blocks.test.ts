import { CorruptionError } from '@bloom/bytes';
import { seeded } from '@bloom/fixtures';
import { MemorySource, type Source } from '@bloom/sstable';
import { profileTable, verifyTable } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import type { BlockHandle } from '../src/format/block-handle.js';
import { BLOCK_TRAILER_LENGTH } from '../src/format/stored-block.js';
import { StoredBlocks } from '../src/inspect/stored-blocks.js';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { numberedEntries } from './entries.js';

const place = { structure: 'data block' } as const;

/** A file that counts what is read of it. */
class WatchedFile implements Source {
  readonly name = 'watched.ldb';
  readonly byteLength: number;
  readonly bytes: Uint8Array;
  reads = 0;
  readBytes = 0;
  /** Bytes of the largest read. */
  largestRead = 0;
  /** Reads of any byte from here on are refused. */
  readableBytes = Infinity;
  refusedReads = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.byteLength = bytes.length;
  }

  read(offset: number, length: number): Promise<Uint8Array> {
    expect(offset + length).toBeLessThanOrEqual(this.byteLength);
    this.reads++;
    this.readBytes += length;
    this.largestRead = Math.max(this.largestRead, length);
    if (offset + length > this.readableBytes) {
      this.refusedReads++;
      return Promise.reject(new Error('the disk is damaged there'));
    }
    return Promise.resolve(this.bytes.slice(offset, offset + length));
  }

  stored({ offset, size }: Range): Uint8Array {
    return this.bytes.slice(offset, offset + size + BLOCK_TRAILER_LENGTH);
  }
}

interface Range {
  readonly offset: number;
  readonly size: number;
}

function randomFile(byteLength: number): WatchedFile {
  const { below } = seeded(1);
  return new WatchedFile(Uint8Array.from({ length: byteLength }, () => below(256)));
}

/** Adjacent blocks of the same size, as many as the file has room for. */
function adjacentBlocks({ byteLength }: Source, size: number): Range[] {
  const length = size + BLOCK_TRAILER_LENGTH;
  return Array.from({ length: Math.floor(byteLength / length) }, (_, i) => ({ offset: i * length, size }));
}

describe('adjacent blocks', () => {
  test('are read together, up to a MiB at a time', async () => {
    const file = randomFile(5_000_000);
    const blocks = adjacentBlocks(file, 4096);
    const stored = new StoredBlocks(file, {});
    for (const block of blocks) expect(Buffer.compare(await stored.stored(block, place), file.stored(block))).toBe(0);
    // 1, 2, 4, …, 128 blocks, then 1 MiB at a time.
    expect(file.reads).toBe(12);
    expect(file.readBytes).toBeLessThan(1.02 * file.byteLength);
    expect(file.largestRead).toBe(2 ** 20);
  });

  test('are read together up to maxBlockBytes where that is less than a MiB', async () => {
    const file = randomFile(1_000_000);
    const stored = new StoredBlocks(file, { maxBlockBytes: 40_000 });
    for (const block of adjacentBlocks(file, 4096)) await stored.stored(block, place);
    expect(file.largestRead).toBe(40_000);
  });

  test('are read one by one where what follows cannot be read', async () => {
    const file = randomFile(100_000);
    const blocks = adjacentBlocks(file, 995);
    file.readableBytes = 60_500;
    const stored = new StoredBlocks(file, {});
    const readable = blocks.filter(({ offset }) => offset + 1000 <= file.readableBytes);
    for (const block of readable) expect(await stored.stored(block, place)).toEqual(file.stored(block));
    expect(file.refusedReads).toBe(1);
    for (const block of blocks.slice(readable.length)) {
      expect(await rejection(stored.stored(block, place))).toEqual(new Error('the disk is damaged there'));
    }
  });

  test('are read where the source claims to be longer than it is', async () => {
    const { bytes } = randomFile(50_000);
    const memory = new MemorySource(bytes);
    const source: Source = { byteLength: 100_000, read: (offset, length) => memory.read(offset, Math.min(length, bytes.length - offset)) };
    const stored = new StoredBlocks(source, {});
    for (let offset = 0; offset < bytes.length; offset += 1000) {
      expect(await stored.stored({ offset, size: 995 }, place)).toEqual(bytes.slice(offset, offset + 1000));
    }
    expect(await rejection(stored.stored({ offset: 50_000, size: 995 }, place))).toBeInstanceOf(CorruptionError);
  });

  test('are not read once the signal is aborted', async () => {
    const file = randomFile(100_000);
    const controller = new AbortController();
    const stored = new StoredBlocks(file, { signal: controller.signal });
    const [first, second] = adjacentBlocks(file, 995);
    await stored.stored(first!, place);
    const reason = new Error('enough');
    const waiting = rejection(stored.stored(second!, place));
    controller.abort(reason);
    expect(await waiting).toBe(reason);
    const { reads } = file;
    expect(await rejection(stored.stored(first!, place))).toBe(reason);
    expect(file.reads).toBe(reads);
  });

  test('are not returned from a joint read once the signal is aborted', async () => {
    const file = randomFile(100_000);
    const controller = new AbortController();
    const stored = new StoredBlocks(file, { signal: controller.signal });
    const [first, second, third] = adjacentBlocks(file, 995);
    for (const block of [first!, second!]) await stored.stored(block, place);
    const { reads } = file;
    expect(await stored.stored(third!, place)).toEqual(file.stored(third!));
    expect(file.reads).toBe(reads);
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await rejection(stored.stored(third!, place))).toBe(reason);
  });
});

test('random blocks have their bytes, and at most three times as many are read', async () => {
  const { below } = seeded(2);
  for (let round = 0; round < 200; round++) {
    const file = randomFile(20_000);
    const most = 1 + below(3000);
    const stored = new StoredBlocks(file, {});
    const wrong: BlockHandle[] = [];
    let asked = 0;
    let offset = 0;
    for (let i = 0; i < 100; i++) {
      // Mostly the block after the last one, and sometimes one before or after it.
      if (below(6) === 0 || offset > file.byteLength - most - BLOCK_TRAILER_LENGTH) offset = below(file.byteLength - most - BLOCK_TRAILER_LENGTH);
      const block = { offset, size: below(most) };
      if (Buffer.compare(await stored.stored(block, place), file.stored(block)) !== 0) wrong.push(block);
      offset += block.size + BLOCK_TRAILER_LENGTH;
      asked += block.size + BLOCK_TRAILER_LENGTH;
    }
    expect(wrong).toEqual([]);
    expect(file.readBytes).toBeLessThanOrEqual(3 * asked);
  }
});

test.each([
  ['verifyTable', verifyTable],
  ['profileTable', profileTable],
])('%s reads a table of 200 blocks in a few reads', async (_, inspect) => {
  const file = new WatchedFile(buildTable(numberedEntries(30_000), { compression: 'none' }));
  await inspect(file);
  expect(file.reads).toBeLessThan(14);
  expect(file.readBytes).toBeLessThan(1.2 * file.byteLength);
});
