import process from 'node:process';
import { FilterBlockBuilder } from '@bloom/filter-block';
import { BloomFilterPolicy } from '@bloom/policy';
import { MemorySource, type SyncSource, SyncTable, Table, TableBuilder } from '@bloom/sstable';
import { tableLayout, verifyTable } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { encodeBlockHandle } from '../src/format/block-handle.js';
import { encodeFooter, FOOTER_LENGTH } from '../src/format/footer.js';
import { encodeMetaindex } from '../src/format/metaindex-block.js';
import { BLOCK_TRAILER_LENGTH } from '../src/format/stored-block.js';
import { blockOf } from './assemble-table.js';
import { sealed } from './damage.js';
import { collect, numberedEntries, sameEntries, utf8 } from './entries.js';

/** A sparse file in memory: only some parts are kept, and the rest reads as zeros. */
class SparseSource implements SyncSource {
  byteLength = 0;
  readonly name = 'sparse.ldb';
  readonly reads: [number, number][] = [];
  readonly #parts: { readonly offset: number; readonly bytes: Uint8Array }[] = [];

  put(offset: number, bytes: Uint8Array): void {
    this.#parts.push({ offset, bytes });
    this.byteLength = Math.max(this.byteLength, offset + bytes.length);
  }

  read(offset: number, length: number): Uint8Array {
    if (!(Number.isSafeInteger(offset) && offset >= 0 && offset + length <= this.byteLength)) throw new RangeError(`read at ${offset}`);
    this.reads.push([offset, length]);
    const bytes = new Uint8Array(length);
    for (const part of this.#parts) {
      const start = Math.max(offset, part.offset);
      const end = Math.min(offset + length, part.offset + part.bytes.length);
      if (start < end) bytes.set(part.bytes.subarray(start - part.offset, end - part.offset), start - offset);
    }
    return bytes;
  }
}

const GIB = 2 ** 30;
const entries = numberedEntries(60, 30);
const bloom = new BloomFilterPolicy();

/** A table whose blocks of ten entries start at these offsets. */
function sparseTable(offsets: readonly number[], withFilter: boolean): SparseSource {
  const source = new SparseSource();
  const index: [Uint8Array, Uint8Array][] = [];
  const filter = new FilterBlockBuilder(bloom);
  let end = 0;
  const put = (contents: Uint8Array, offset = end): { offset: number; size: number } => {
    const block = sealed(contents, 0);
    source.put(offset, block);
    end = offset + block.length;
    return { offset, size: contents.length };
  };
  offsets.forEach((offset, i) => {
    const own = entries.slice(i * 10, i * 10 + 10);
    if (withFilter) filter.startBlock(offset);
    for (const [key] of own) filter.addKey(key);
    index.push([own.at(-1)![0], encodeBlockHandle(put(blockOf(own), offset))]);
  });
  const filterHandle = withFilter ? { policyName: bloom.name, handle: put(filter.finish()) } : undefined;
  const metaindex = put(encodeMetaindex(filterHandle, 16));
  const indexHandle = put(blockOf(index));
  source.put(end, encodeFooter({ metaindex, index: indexHandle }));
  return source;
}

const pastFour = [0, 2 ** 31 - 5, 2 ** 32 - 100, 2 ** 32 + 3000, 2 ** 32 + 6000, 5 * GIB + 1];
const farOut = [2 ** 33 + 1, 2 ** 40, 2 ** 41 + 12_345, 2 ** 45 + 1, 2 ** 48 - 1, 2 ** 52 + 7];

describe.each([
  ['of 5 GiB, with filters', pastFour, true],
  ['of 5 GiB, without filters', pastFour, false],
  ['of 4 PiB', farOut, false],
])('a table %s', (_, offsets, withFilter) => {
  const source = sparseTable(offsets, withFilter);

  test('finds each key with one read of its block, at its offset', () => {
    const table = SyncTable.open(source);
    expect(table.filterStatus.state).toBe(withFilter ? 'used' : 'absent');
    const wrong: string[] = [];
    for (const [i, [key, value]] of entries.entries()) {
      const fresh = i % 10 === 0;
      source.reads.length = 0;
      const found = table.get(key);
      if (found === undefined || Buffer.compare(found, value) !== 0) wrong.push(`entry ${i}`);
      if (source.reads.length !== (fresh ? 1 : 0)) wrong.push(`entry ${i}: ${source.reads.length} reads`);
      if (fresh && source.reads[0]?.[0] !== offsets[i / 10]) wrong.push(`entry ${i}: read at ${source.reads[0]?.[0]}`);
      if (table.approximateOffset(key) !== offsets[Math.floor(i / 10)]) wrong.push(`entry ${i}: approximate offset`);
    }
    expect(wrong).toEqual([]);
    expect(table.approximateOffset(utf8('z'))).toBeGreaterThan(offsets.at(-1)!);
    expect(table.byteLength).toBe(source.byteLength);
  });

  test('is scanned in both directions, with and without promises, and verified without findings', async () => {
    const table = SyncTable.open(source);
    expect(sameEntries(table.entries(), entries)).toBe(true);
    expect(sameEntries([...table.entries({ reverse: true })].reverse(), entries)).toBe(true);
    const later = await Table.open(source);
    expect(sameEntries(await collect(later), entries)).toBe(true);
    const found = await later.getMany(entries.map(([key]) => key).reverse());
    expect(found.reverse()).toEqual(entries.map(([, value]) => value));
    expect((await verifyTable(source)).findings).toEqual([]);
  });

  test('has a layout up to its last byte', async () => {
    const ranges = await collect(tableLayout(source, { detail: 'blocks' }));
    const wrong = ranges.filter(({ offset }, i) => offset !== (i === 0 ? 0 : ranges[i - 1]!.offset + ranges[i - 1]!.byteLength));
    expect(wrong).toEqual([]);
    const last = ranges.at(-1)!;
    expect(last).toEqual({ offset: source.byteLength - FOOTER_LENGTH, byteLength: FOOTER_LENGTH, label: 'footer' });
    expect(ranges.filter(({ label }) => label.startsWith('data block')).map(({ offset }) => offset)).toEqual(offsets);
  });

  test.runIf(withFilter)('has a filter for each range, and absent keys cost no read', () => {
    const table = SyncTable.open(source);
    source.reads.length = 0;
    let reads = 0;
    for (let i = 0; i < 59; i++) {
      for (const end of ['a', 'b', 'c', 'd']) if (table.get(utf8(`key ${String(i).padStart(6, '0')}${end}`)) !== undefined) reads = NaN;
    }
    reads += source.reads.length;
    const { filterNegatives, filterFalsePositives } = table.stats;
    expect(filterNegatives + filterFalsePositives).toBe(59 * 4);
    expect(filterFalsePositives).toBeLessThan(15);
    expect(reads).toBeLessThanOrEqual(filterFalsePositives);
  });
});

test('damage past 4 GiB is reported with its offset', () => {
  const source = sparseTable(pastFour, true);
  const damaged = source.read(pastFour[5]! + 4, 1);
  damaged[0]! ^= 1;
  source.put(pastFour[5]! + 4, damaged);
  const table = SyncTable.open(source);
  expect(() => table.get(entries[55]![0])).toThrow(expect.objectContaining({ code: 'BLOOM_BAD_CHECKSUM', offset: pastFour[5] }));
});

// `pnpm --filter @bloom/long-tests scale`: builds 4.2 GiB, of which only a few blocks and the tail are kept.
test.runIf(process.env.BLOOM_SCALE === '1')('a table of 4.2 GiB is built and read, with exact offsets', { timeout: 600_000 }, () => {
  const value = new Uint8Array(2 ** 20);
  for (let i = 0; i < value.length; i++) value[i] = i * 31;
  const key = (i: number): Uint8Array => utf8(`key ${String(i).padStart(6, '0')}`);
  const source = new SparseSource();
  const COUNT = 4300;
  let position = 0;
  let added = 0;
  const builder = new TableBuilder(
    {
      append(bytes) {
        // All data blocks are alike except for their keys. Each reaches the sink when the next one is full.
        if (added % 100 === 2 || added > 4200 || bytes.length < 2 ** 20) source.put(position, bytes);
        position += bytes.length;
      },
    },
    { compression: 'none' },
  );
  for (let i = 0; i < COUNT; i++) {
    added = i + 1;
    builder.add(key(i), value);
  }
  const info = builder.finish();
  source.byteLength = position;
  expect(info.byteLength).toBe(position);
  expect(position).toBeGreaterThan(4.2 * GIB);
  const table = SyncTable.open(source);
  expect(table.filterStatus.state).toBe('used');
  const blockLength = info.storedDataBytes / info.dataBlocks;
  for (const i of [0, 100, 4000, 4201, 4299]) {
    expect(table.approximateOffset(key(i))).toBe(i * blockLength);
    expect(Buffer.compare(table.get(key(i))!, value)).toBe(0);
  }
  expect([...table.keys({ gte: key(4290) })]).toHaveLength(10);
  expect(BLOCK_TRAILER_LENGTH + new MemorySource(value).byteLength).toBeLessThan(blockLength);
});
