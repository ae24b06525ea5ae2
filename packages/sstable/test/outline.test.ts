import { goldenTables, realTables, seeded } from '@bloom/fixtures';
import { MemorySource, Table, type Source } from '@bloom/sstable';
import { BLOCK_KINDS, inspectBlock, outlineTable, tableLayout, type TableOutline } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';

import type { BlockHandle } from '../src/format/block-handle.js';
import { buildTable } from './build-table.js';
import { damage, takeApart } from './damage.js';
import { collect, hex, numberedEntries, sameBytes, utf8 } from './entries.js';
import { zlibCodecs } from './zlib-codecs.js';

const codecs = zlibCodecs;
const outlineOf = (bytes: Uint8Array): Promise<TableOutline> => outlineTable(new MemorySource(bytes), { codecs });

/** An outline in the form of a layout by blocks. */
function rangesOf({ kinds, offsets, sizes }: TableOutline): [string, number, number][] {
  return Array.from(kinds, (kind, i) => [BLOCK_KINDS[kind]!, offsets[i]!, sizes[i]! + 5]);
}

const files = [
  ...goldenTables().map(({ name, bytes }) => ({ name, bytes })),
  ...realTables().map(({ file, bytes }) => ({ name: file, bytes })),
];

test.each(files)('the blocks of $name are those of its layout', async ({ bytes }) => {
  const file = bytes();
  const outline = await outlineOf(file);
  const layout = await collect(tableLayout(new MemorySource(file), { detail: 'blocks', codecs }));
  const named = layout.filter(({ label }) => label !== 'footer' && label !== 'bytes that nothing points to');
  expect(rangesOf(outline).map(([, offset, length]) => [offset, length])).toEqual(named.map(({ offset, byteLength }) => [offset, byteLength]));
  expect(hex(outline.footerBytes)).toBe(hex(file.subarray(-48)));
  expect(outline.findings).toEqual([]);
});

test.each(files)('the entries of the data blocks of $name are those of the table, in windows of any size', async ({ bytes }) => {
  const source = new MemorySource(bytes());
  const { kinds, offsets, sizes } = await outlineTable(source, { codecs });
  const table = await Table.open(source, { codecs });
  const scan = table.entries();
  for (const [i, kind] of kinds.entries()) {
    if (BLOCK_KINDS[kind] !== 'data block') continue;
    const block = await inspectBlock(source, 'data block', { offset: offsets[i]!, size: sizes[i]! }, { codecs });
    expect([block.problem, block.entryProblem]).toEqual([undefined, undefined]);
    const all = block.entries(0, block.entryCount);
    for (const { key, value } of all) {
      const { value: scanned } = (await scan.next()) as IteratorYieldResult<[Uint8Array, Uint8Array]>;
      const [scannedKey, scannedValue] = scanned;
      if (!sameBytes(key, scannedKey) || !sameBytes(value, scannedValue)) expect.fail(`${hex(key)} is not ${hex(scannedKey)}`);
    }
    for (let start = 0; start < block.entryCount; start += 7) {
      const window = block.entries(start, start + 5);
      const expected = all.slice(start, start + 5);
      const isSame = expected.every(({ offset, key, value }, n) => {
        const entry = window[n];
        return entry?.offset === offset && sameBytes(entry.key, key) && sameBytes(entry.value, value);
      });
      if (!isSame || window.length !== expected.length) expect.fail(`the window from entry ${start} on differs from the entries of the whole block`);
    }
    for (const [n, { restart, shared, key }] of all.entries()) {
      const before = restart === undefined ? all[n - 1]!.key : new Uint8Array(0);
      if (shared > before.length || !sameBytes(key.subarray(0, shared), before.subarray(0, shared))) expect.fail(`${hex(key)} shares ${shared}`);
    }
  }
  expect((await scan.next()).done).toBe(true);
});

test('reads footer, metaindex and index, and no other block', async () => {
  const bytes = buildTable(numberedEntries(20_000));
  const memory = new MemorySource(bytes);
  let bytesRead = 0;
  const source: Source = {
    byteLength: bytes.length,
    read(offset, length) {
      bytesRead += length;
      return memory.read(offset, length);
    },
  };
  const outline = await outlineTable(source);
  const length = (kind: string): number => rangesOf(outline).filter(([name]) => name === kind).reduce((sum, [, , size]) => sum + size, 0);
  expect(bytesRead).toBe(2 * 48 + length('metaindex block') + length('index block'));
});

describe('damage', () => {
  const sound = buildTable(numberedEntries(500), { blockSize: 1024, compression: 'none' });

  test('of the index is a finding, and the readable blocks are outlined', async () => {
    const whole = await outlineOf(sound);
    const index = Array.from(whole.kinds).findIndex((kind) => BLOCK_KINDS[kind] === 'index block');
    const bytes = sound.slice();
    bytes[whole.offsets[index]! + 3]! ^= 1;
    const outline = await outlineOf(bytes);
    expect(outline.findings[0]).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM', structure: 'index block', offset: whole.offsets[index]! });
    expect(outline.kinds.length).toBeGreaterThan(1);
  });

  test.each([0, 1, 47])('a file of %d bytes has no blocks, and a finding', async (length) => {
    const outline = await outlineOf(sound.slice(0, length));
    expect(outline.kinds.length).toBe(0);
    expect(outline.footerBytes.length).toBe(length);
    expect(outline.findings[0]!.code).toBe('BLOOM_NOT_A_TABLE');
  });

  test('of a data block is reported as its problem, and contents with a wrong checksum are still decoded', async () => {
    const bytes = sound.slice();
    bytes[40]! ^= 0x20;
    const { sizes } = await outlineOf(bytes);
    const block = await inspectBlock(new MemorySource(bytes), 'data block', { offset: 0, size: sizes[0]! });
    expect(block.problem).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM', structure: 'data block', offset: 0 });
    expect(hex(block.contents)).toBe(hex(bytes.subarray(0, sizes[0])));
    expect(block.entryCount).toBeGreaterThan(0);
  });

  test('an entry that runs past the block ends the list of its entries', async () => {
    const bytes = sound.slice();
    const { sizes } = await outlineOf(bytes);
    const before = await inspectBlock(new MemorySource(bytes), 'data block', { offset: 0, size: sizes[0]! });
    const third = before.entries(2, 3)[0]!;
    bytes[third.offset + 2] = 0x7f;
    bytes[third.offset + 1] = 0x7f;
    bytes[third.offset] = 0x7f;
    const block = await inspectBlock(new MemorySource(bytes), 'data block', { offset: 0, size: sizes[0]! });
    expect(block.entryProblem?.code).toBe('BLOOM_BAD_BLOCK');
    expect(block.entries(0, 100)).toHaveLength(2);
  });

  test('of any bytes never throws, and the outlined blocks are inside the file', async () => {
    const random = seeded(7);
    const parts = takeApart(sound);
    const other = buildTable(numberedEntries(50));
    for (let run = 0; run < 300; run++) {
      const { bytes } = damage(random, sound, parts, other);
      const outline = await outlineOf(bytes);
      for (const [kind, offset, length] of rangesOf(outline)) {
        expect(offset + length).toBeLessThanOrEqual(bytes.length);
        const block = await inspectBlock(new MemorySource(bytes), kind as 'data block', { offset, size: length - 5 }, { codecs });
        block.entries(0, 20);
      }
    }
  });
});

test('rejects a handle outside the file', async () => {
  const source = new MemorySource(buildTable([[utf8('a'), utf8('b')]]));
  await expect(inspectBlock(source, 'data block', { offset: 0, size: source.byteLength - 4 })).rejects.toThrow(RangeError);
});

describe('the options of a single block', () => {
  const bytes = buildTable(numberedEntries(200), { compression: 'none' });
  const handleOf = async (): Promise<BlockHandle> => ({ offset: 0, size: (await outlineOf(bytes)).sizes[0]! });

  test('limit its stored bytes, of which only the trailer is read if they are too many', async () => {
    const handle = await handleOf();
    const reads: [number, number][] = [];
    const source: Source = { byteLength: bytes.length, read: (offset, length) => (reads.push([offset, length]), bytes.subarray(offset, offset + length)) };
    const block = await inspectBlock(source, 'data block', handle, { maxBlockBytes: handle.size - 1 });
    expect(block.problem?.code).toBe('BLOOM_TOO_LARGE');
    expect([block.handle, block.contents, block.codecName, block.entryCount]).toEqual([handle, undefined, 'none', 0]);
    expect(reads).toEqual([[handle.size, 5]]);
    expect((await inspectBlock(source, 'data block', handle, { maxBlockBytes: handle.size })).problem).toBeUndefined();
  });

  test('are refused if they are unknown or wrong', async () => {
    const handle = await handleOf();
    for (const options of [{ maxBytes: 5 }, { signal: 5 }, 5]) {
      await expect(inspectBlock(new MemorySource(bytes), 'data block', handle, options as object)).rejects.toThrow(TypeError);
    }
  });

  test('end it by their signal at once, even if the source never answers', async () => {
    const controller = new AbortController();
    const source: Source = { byteLength: bytes.length, read: () => new Promise<never>(() => undefined) };
    const inspected = inspectBlock(source, 'data block', await handleOf(), { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(inspected).rejects.toThrow('enough');
  });
});
