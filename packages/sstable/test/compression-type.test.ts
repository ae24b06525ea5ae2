import { goldenTables, realTables } from '@bloom/fixtures';
import { MemorySink, MemorySource, TableBuilder } from '@bloom/sstable';
import { findCompressedBlock, readCompression } from '@bloom/sstable/internal';
import { describe, expect, test } from 'vitest';
import { caught } from '@bloom/fixtures/caught';
import { runSync } from '../src/read/reading.js';
import { buildTable } from './build-table.js';
import { putTogether, takeApart } from './damage.js';
import { numberedEntries } from './entries.js';

/** The compression type, and how many bytes were read for it. */
function read(bytes: Uint8Array): { readonly type: number | undefined; readonly bytesRead: number } {
  const source = new MemorySource(bytes);
  const reading = readCompression(source);
  let bytesRead = 0;
  for (let step = reading.next(); ; ) {
    if (step.done === true) return { type: step.value?.type, bytesRead };
    const { offset, length } = step.value;
    bytesRead += length;
    step = reading.next(source.read(offset, length));
  }
}

function tableOf(keys: readonly Uint8Array[], valueBytes = 10): Uint8Array {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { compression: 'none', filterPolicy: null });
  for (const key of keys) builder.add(key, new Uint8Array(valueBytes));
  builder.finish();
  return sink.toBytes();
}

describe('the compression type of a table', () => {
  test.each(goldenTables().map((table) => [table.name, table] as const))('of %s is that of its index, or of its first block where that is not compressed', (_, { options, bytes, entries }) => {
    const { type, bytesRead } = read(bytes());
    // The first byte of the trailer that is before the footer.
    const ofIndex = bytes().at(-48 - 5);
    if (entries === 0) expect(type).toBeUndefined();
    else if (options.compression === 'none') expect(type).toBe(0);
    else if (ofIndex !== 0) expect(type).toBe(ofIndex);
    else expect([0, 1]).toContain(type);
    expect(bytesRead).toBeLessThan(600);
  });

  test.each(realTables().map((table) => [table.file, table] as const))('of %s is one of those that its index or its data blocks have', (_, { blockTypes, bytes }) => {
    const types = (kind: 'index' | 'data'): number[] => Object.keys(blockTypes[kind] ?? {}).map(Number);
    const { type } = read(bytes());
    const [ofIndex] = types('index');
    if (ofIndex !== 0) expect(type).toBe(ofIndex);
    else if (types('data').length === 0) expect(type).toBeUndefined();
    else expect(types('data')).toContain(type);
  });

  test('is that of a first block that is longer than 64 KiB, and undefined where the first key of the index is too long', () => {
    const longBlock = tableOf([Uint8Array.of(1)], 100_000);
    expect(read(longBlock).type).toBe(0);
    const longKey = tableOf([new Uint8Array(1000).fill(0xff)]);
    expect(read(longKey).type).toBeUndefined();
    const key = tableOf([new Uint8Array(400).fill(0xff)]);
    expect(read(key).type).toBe(0);
  });

  test('is undefined where the index does not begin with the handle of a block before it, and no bytes of the index make it fail', () => {
    const bytes = tableOf([Uint8Array.of(1), Uint8Array.of(2)]);
    const { type } = read(bytes);
    expect(type).toBe(0);
    // The index has one entry: three lengths, the key, and the handle.
    const indexAt = bytes.length - 48 - 5 - 8 - 6;
    const changed = (offset: number, value: number): number | undefined => read(bytes.map((byte, i) => (i === indexAt + offset ? value : byte))).type;
    expect([...bytes.subarray(indexAt, indexAt + 3)]).toEqual([0, 1, 2]);
    expect(changed(0, 1)).toBeUndefined();
    expect(changed(1, 200)).toBeUndefined();
    expect(changed(2, 0)).toBeUndefined();
    expect(changed(2, 1)).toBeUndefined();
    expect(changed(5, 127)).toBeUndefined();
    for (let offset = 0; offset < 14; offset++) for (let value = 0; value < 256; value++) changed(offset, value);
  });

  test('is an error with a code, or is found, whatever bit of the handles in the footer is flipped', () => {
    const bytes = tableOf([Uint8Array.of(1), Uint8Array.of(2)]);
    const footerAt = bytes.length - 48;
    const failures = new Set<unknown>();
    for (let bit = 0; bit < 40 * 8; bit++) {
      const flipped = bytes.slice();
      flipped[footerAt + (bit >>> 3)]! ^= 1 << (bit & 7);
      const error = caught(() => read(flipped));
      if (error !== undefined) failures.add((error as { readonly code?: string }).code ?? error);
    }
    expect([...failures]).toEqual(['BLOOM_BAD_HANDLE']);
  });

  test('of a block in the middle is not looked for where the index has no handle of it', () => {
    const { parts } = takeApart(buildTable(numberedEntries(400, 60), { blockSize: 2600, compression: 'none' }));
    const damaged = putTogether(parts, { listings: (index) => (index[0]![1] = new Uint8Array()) });
    expect(runSync(new MemorySource(damaged), findCompressedBlock(new MemorySource(damaged), {}, 100))).toBeUndefined();
  });

  test('of bytes that are not a table is an error', () => {
    expect(caught(() => read(new Uint8Array(1000)))).toMatchObject({ code: 'BLOOM_NOT_A_TABLE' });
    expect(caught(() => read(new Uint8Array(3)))).toMatchObject({ code: 'BLOOM_NOT_A_TABLE' });
  });
});
