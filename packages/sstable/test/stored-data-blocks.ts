import type { KeyValue } from '@bloom/fixtures';
import type { MemorySource, TableOptions } from '@bloom/sstable';
import { BlockWalk } from '../src/format/block-walk.js';
import { DataBlocks } from '../src/read/data-blocks.js';
import { readOpenTable } from '../src/read/open.js';
import { runSync } from '../src/read/reading.js';
import { newTableStats } from '../src/read/stats.js';

/** A data block: its bytes in the file, with the trailer, and its entries. */
export interface StoredDataBlock {
  readonly start: number;
  readonly end: number;
  readonly entries: readonly KeyValue[];
}

/** The data blocks of a table, in the order of its index. */
export function storedDataBlocks(source: MemorySource, options: TableOptions = {}): StoredDataBlock[] {
  const table = runSync(source, readOpenTable(source, options));
  const blocks = new DataBlocks(table, null, newTableStats(0));
  const walk = new BlockWalk('data block');
  return Array.from({ length: table.index.length }, (_, i) => {
    const { offset, length } = blocks.rangeOf(i);
    walk.reset(blocks.decode(i, source.read(offset, length)), offset);
    const entries: KeyValue[] = [];
    for (let more = walk.seekToFirst(); more; more = walk.next()) entries.push([walk.key.slice(), walk.value.slice()]);
    return { start: offset, end: offset + length, entries };
  });
}
