import { WholeBlockWalk } from '../format/whole-block-walk.js';
import { DataBlocks } from '../read/data-blocks.js';
import { openTable } from '../read/open.js';
import type { TableOptions } from '../read/options.js';
import { type Reading, runAsync } from '../read/reading.js';
import type { Source } from '../read/source.js';
import { newTableStats } from '../read/stats.js';

/** How to profile a table. All of it has a default. */
export interface ProfileOptions extends Pick<TableOptions, 'comparator' | 'filterPolicies' | 'codecs' | 'maxBlockBytes'> {
  /** Ends the work early. */
  readonly signal?: AbortSignal | undefined;
}

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
  /** How many filters it has, including empty ones. */
  readonly filters: number;
}

/**
 * Counts what a table consists of, by reading all its data blocks.
 *
 * @throws CorruptionError or UnsupportedError when the table cannot be opened or a block cannot be read.
 */
export function profileTable(source: Source, options: ProfileOptions = {}): Promise<TableProfile> {
  return runAsync(source, profile(source, options), options.signal);
}

function* profile(source: Source, { comparator, filterPolicies, codecs, maxBlockBytes }: ProfileOptions): Reading<TableProfile> {
  const table = yield* openTable(source, { comparator, filterPolicies, codecs, maxBlockBytes });
  const blocks = new DataBlocks(table, null, newTableStats(table.bytesRead));
  const block = new WholeBlockWalk('data block', table.file);
  let entries = 0;
  let keyBytes = 0;
  let valueBytes = 0;
  let rawDataBytes = 0;
  let storedDataBytes = 0;
  for (let i = 0; i < table.index.length; i++) {
    const stored = yield blocks.rangeOf(i);
    const contents = blocks.decode(i, stored);
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
