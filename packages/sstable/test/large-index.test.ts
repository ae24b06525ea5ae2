import { rejection } from '@bloom/fixtures/caught';
import { MemorySource, SyncTable, Table } from '@bloom/sstable';
import { expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { utf8 } from './entries.js';

/** A source that notes the length of each read. */
class NotedSource extends MemorySource {
  readonly lengths: number[] = [];

  override read(offset: number, length: number): Uint8Array {
    this.lengths.push(length);
    return super.read(offset, length);
  }
}

const TAIL = 65_536;
const table = buildTable(
  Array.from({ length: 20_000 }, (_, i) => [utf8(String(i).padStart(16, '0')), new Uint8Array(100)] as const),
  { compression: 'none', filterPolicy: null, blockSize: 128 },
);

test('an index that is larger than a block may be is refused before more than the tail is read', async () => {
  const source = new NotedSource(table);
  const opened = await Table.open(source, { tailBytes: TAIL });
  const [tail, index] = source.lengths as [number, number];
  expect(source.lengths.length).toBe(2);
  expect(tail).toBe(TAIL);
  expect(index).toBeGreaterThan(200_000);
  await opened.close();

  // What the tail lacks of the index is smaller than the limit, but not the whole index.
  const small = new NotedSource(table);
  expect(await rejection(Table.open(small, { tailBytes: TAIL, maxBlockBytes: index - TAIL + 10_000 }))).toMatchObject({ code: 'BLOOM_TOO_LARGE' });
  expect(small.lengths).toEqual([TAIL]);
});

test('no read of an opening is larger than a block may be', async () => {
  const whole = new NotedSource(table);
  await Table.open(whole, { tailBytes: TAIL });
  const indexBytes = whole.lengths[1]! - TAIL;
  const source = new NotedSource(table);
  // Enough for the index, which ends before the footer.
  const maxBlockBytes = indexBytes + TAIL - 50;
  const opened = await Table.open(source, { tailBytes: TAIL, maxBlockBytes });
  expect(source.lengths).toEqual([TAIL, indexBytes]);
  expect(await opened.get('0000000000012345')).toHaveLength(100);
  expect(() => SyncTable.open(source, { tailBytes: TAIL, maxBlockBytes })).not.toThrow();
  expect(Math.max(...source.lengths)).toBeLessThanOrEqual(maxBlockBytes);
});
