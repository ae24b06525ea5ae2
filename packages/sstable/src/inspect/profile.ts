import { WholeBlockWalk } from '../format/whole-block-walk.js';
import type { OpenTable } from '../read/open-table.js';
import type { Reading } from '../read/reading.js';

/** What a table consists of. */
export interface TableProfile {
  readonly entries: number;
  /** Bytes of all keys, their shared prefixes written out. */
  readonly keyBytes: number;
  readonly valueBytes: number;
  readonly dataBlocks: number;
  /** Bytes of the data blocks before compression. */
  readonly rawDataBytes: number;
  /** Bytes of the data blocks as stored, with their trailers. */
  readonly storedDataBytes: number;
  /** Bytes of the filter block that is in use; 0 without one. */
  readonly filterBytes: number;
  /** Filters in it, those of no bytes included. */
  readonly filters: number;
}

/** Goes through all data blocks, past the cache. */
export function* profile(table: OpenTable): Reading<TableProfile> {
  const block = new WholeBlockWalk('data block', table.file);
  let entries = 0;
  let keyBytes = 0;
  let valueBytes = 0;
  let rawDataBytes = 0;
  let storedDataBytes = 0;
  for (let i = 0; i < table.index.length; i++) {
    const stored = yield table.rangeOf(i);
    const contents = table.decode(i, stored, false);
    storedDataBytes += stored.length;
    rawDataBytes += contents.length;
    block.reset(contents, table.index.offsetOf(i));
    for (let more = block.seekToFirst(); more; more = block.next()) {
      entries++;
      keyBytes += block.keyLength;
      valueBytes += block.valueEnd - block.valueStart;
    }
  }
  return {
    entries,
    keyBytes,
    valueBytes,
    dataBlocks: table.index.length,
    rawDataBytes,
    storedDataBytes,
    filterBytes: table.filter?.byteLength ?? 0,
    filters: table.filter?.filterCount ?? 0,
  };
}
