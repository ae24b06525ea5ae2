import { CorruptionError, mustBeOptions, type Place } from '@bloom/bytes';
import type { IndexBlock } from '../format/index-block.js';
import { BLOCK_TRAILER_LENGTH } from '../format/stored-block.js';
import { WholeBlockWalk } from '../format/whole-block-walk.js';
import { readOpenTable } from '../read/open.js';
import type { TableOptions } from '../read/options.js';
import { runAsync } from '../read/reading.js';
import type { Source } from '../read/source.js';
import { BlockList } from './block-list.js';
import { INSPECTION_OPTIONS, type InspectionOptions, StoredBlocks } from './stored-blocks.js';

/** How to profile a table. Every option has a default. */
export interface ProfileOptions extends InspectionOptions, Pick<TableOptions, 'comparator' | 'filterPolicies'> {}

const PROFILE_OPTIONS = { ...INSPECTION_OPTIONS, comparator: true, filterPolicies: true } as const;

/** What a table consists of. */
export interface TableProfile {
  readonly entries: number;
  /** Bytes of all keys, including their shared prefixes. */
  readonly keyBytes: number;
  readonly valueBytes: number;
  readonly dataBlocks: number;
  /** Bytes of the data blocks before compression. */
  readonly rawDataBytes: number;
  /** Bytes of the data blocks as stored, with their trailers. */
  readonly storedDataBytes: number;
  /** Bytes of the filter block in use; 0 if there is none. */
  readonly filterBytes: number;
  /** How many filters the filter block has, including empty ones. */
  readonly filters: number;
}

/** How many entries to read between two checks of the time. */
const ENTRIES_PER_PAUSE = 4096;

/**
 * Counts what a table consists of, by reading all its data blocks.
 *
 * Takes memory for one block, the index and the filters, each at most a few times `maxBlockBytes`, and time in proportion
 * to the bytes of the file and of its decompressed blocks.
 *
 * @throws CorruptionError or UnsupportedError when the table cannot be opened, when a block cannot be read, and
 *   `BLOOM_BAD_HANDLE` when two data blocks share bytes of the file.
 *
 * @example
 * ```ts
 * const { entries, dataBlocks, storedDataBytes } = await profileTable(source);
 * ```
 */
export async function profileTable(source: Source, options: ProfileOptions = {}): Promise<TableProfile> {
  mustBeOptions('profileTable', options, PROFILE_OPTIONS);
  const { comparator, filterPolicies, codecs, maxBlockBytes, signal } = options;
  const stored = new StoredBlocks(source, options);
  const { index, filter } = await runAsync(source, readOpenTable(source, { comparator, filterPolicies, codecs, maxBlockBytes }), signal);
  const file = source.name;
  mustNotOverlap(index, file);
  const walk = new WholeBlockWalk('data block', file);
  let entries = 0;
  let keyBytes = 0;
  let valueBytes = 0;
  let rawDataBytes = 0;
  let storedDataBytes = 0;
  for (let i = 0; i < index.length; i++) {
    const handle = { offset: index.offsetOf(i), size: index.sizeOf(i) };
    const contents = await stored.contents(handle, { structure: 'data block', file });
    storedDataBytes += handle.size + BLOCK_TRAILER_LENGTH;
    rawDataBytes += contents.length;
    walk.reset(contents, handle.offset);
    for (let more = walk.seekToFirst(); more; more = walk.next()) {
      if (++entries % ENTRIES_PER_PAUSE === 0) await stored.pause();
      keyBytes += walk.keyLength;
      valueBytes += walk.valueEnd - walk.valueStart;
    }
  }
  return {
    entries,
    keyBytes,
    valueBytes,
    dataBlocks: index.length,
    rawDataBytes,
    storedDataBytes,
    filterBytes: filter?.byteLength ?? 0,
    filters: filter?.filterCount ?? 0,
  };
}

/** Without this check, an index of a few hundred bytes could list a block a million times. @throws CorruptionError. */
function mustNotOverlap(index: IndexBlock, file: string | undefined): void {
  const blocks = new BlockList();
  for (let i = 0; i < index.length; i++) {
    const offset = index.offsetOf(i);
    const place: Place = { structure: 'data block', offset, file };
    if (index.sizeOf(i) < 0) throw new CorruptionError('BLOOM_BAD_HANDLE', place, `its handle, entry ${i} of the index, is damaged`);
    blocks.push({ offset, size: index.sizeOf(i) });
  }
  let end = 0;
  for (const i of blocks.inFileOrder()) {
    const offset = blocks.offsetOf(i);
    if (offset < end) {
      const place: Place = { structure: 'data block', offset, file };
      throw new CorruptionError('BLOOM_BAD_HANDLE', place, `its handle, entry ${i} of the index, makes it overlap another block`);
    }
    end = offset + blocks.sizeOf(i) + BLOCK_TRAILER_LENGTH;
  }
}
