import { mustBeOptions, shownValue } from '@bloom/bytes/internal';
import type { BlockHandle } from '../format/block-handle.js';
import { INTERNAL_KEY_TRAILER_LENGTH } from '../format/bytewise-order.js';
import { NO_COMPRESSION } from '../format/codec.js';
import { DELETION, InternalKeyComparator, internalKeyPolicy } from '../format/internal-key.js';
import { isFormatError } from '../format/is-format-error.js';
import { BLOCK_TRAILER_LENGTH, decodeStoredBlock } from '../format/stored-block.js';
import { WholeBlockWalk } from '../format/whole-block-walk.js';
import { readOpenTable } from '../read/open.js';
import { policiesFor, type TableOptions } from '../read/options.js';
import { runAsync } from '../read/reading.js';
import type { Source } from '../read/source.js';
import { FindingList } from './finding.js';
import { soundHandles } from './sound-handles.js';
import { ENTRIES_PER_PAUSE, INSPECTION_OPTIONS, type InspectionOptions, StoredBlocks } from './stored-blocks.js';
import { structureOf, survey } from './survey.js';

/** How to profile a table. Every option has a default. */
export interface ProfileOptions extends InspectionOptions, Pick<TableOptions, 'comparator' | 'filterPolicies'> {
  /** What becomes of damage: `'fail'` throws it, `'skip'` counts what can be read. Default: `'fail'`. */
  readonly damage?: 'fail' | 'skip' | undefined;
}

/** What a table consists of. */
export interface TableProfile {
  readonly entries: number;
  /** Bytes of all keys, including their shared prefixes. */
  readonly keyBytes: number;
  readonly valueBytes: number;
  /** Entries that delete a key; undefined unless the comparator is that of a database's internal keys. */
  readonly deletions: number | undefined;
  readonly dataBlocks: number;
  /** Data blocks that cannot be read to their end; 0 unless `damage` is `'skip'`. Their entries up to the damage are counted. */
  readonly damagedBlocks: number;
  /** How many data blocks each codec has, by its name: `none`, `snappy`, or `type 7` for one that was not given. */
  readonly codecs: Readonly<Record<string, number>>;
  /** Bytes of the data blocks before compression. */
  readonly rawDataBytes: number;
  /** Bytes of the data blocks as stored, with their trailers. */
  readonly storedDataBytes: number;
  /** Bytes of the filter block in use; 0 if there is none. */
  readonly filterBytes: number;
  /** How many filters the filter block has, including empty ones. */
  readonly filters: number;
}

/**
 * Counts what a table consists of, by reading all its data blocks.
 *
 * Takes memory for one block, the index and the filters, each at most a few times `maxBlockBytes`, and for 2 MiB of the
 * file; time in proportion to the bytes of the file and of its decompressed blocks.
 *
 * @throws CorruptionError or UnsupportedError when the table cannot be opened, when a block cannot be read, and
 *   `BLOOM_BAD_HANDLE` when two data blocks share bytes of the file; none of them with `damage: 'skip'`.
 *
 * @example
 * ```ts
 * const { entries, dataBlocks, storedDataBytes } = await profileTable(source);
 * ```
 */
export async function profileTable(source: Source, options: ProfileOptions = {}): Promise<TableProfile> {
  mustBeOptions('profileTable', options, { ...INSPECTION_OPTIONS, comparator: true, filterPolicies: true, damage: true });
  const { damage = 'fail' } = options;
  if (!['fail', 'skip'].includes(damage)) throw new RangeError(`damage must be 'fail' or 'skip', got ${shownValue(damage)}`);
  const stored = new StoredBlocks(source, options);
  const file = source.name;
  const parts = damage === 'fail' ? await soundParts(source, options) : await readableParts(stored, source, options);
  const isInternal = options.comparator instanceof InternalKeyComparator;
  const walk = new WholeBlockWalk('data block', file);
  const byCodec = new Map<string, number>();
  let entries = 0;
  let deletions = 0;
  let damagedBlocks = 0;
  let keyBytes = 0;
  let valueBytes = 0;
  let rawDataBytes = 0;
  let storedDataBytes = 0;
  const readBlock = async (handle: BlockHandle): Promise<void> => {
    const bytes = await stored.stored(handle, { structure: 'data block', file });
    const codec = codecNameOf(bytes[handle.size]!, stored);
    byCodec.set(codec, (byCodec.get(codec) ?? 0) + 1);
    const contents = decodeStoredBlock(bytes, { structure: 'data block', offset: handle.offset, file }, stored.decoding);
    rawDataBytes += contents.length;
    walk.reset(contents, handle.offset);
    for (let more = walk.seekToFirst(); more; more = walk.next()) {
      if (++entries % ENTRIES_PER_PAUSE === 0) await stored.pause();
      keyBytes += walk.keyLength;
      valueBytes += walk.valueEnd - walk.valueStart;
      if (isInternal && walk.keyBytes[walk.keyLength - INTERNAL_KEY_TRAILER_LENGTH] === DELETION) deletions++;
    }
  };
  for (const handle of parts.handles) {
    storedDataBytes += handle.size + BLOCK_TRAILER_LENGTH;
    try {
      await readBlock(handle);
    } catch (error) {
      if (damage === 'fail' || !isFormatError(error)) throw error;
      damagedBlocks++;
    }
  }
  return {
    entries,
    keyBytes,
    valueBytes,
    deletions: isInternal ? deletions : undefined,
    dataBlocks: parts.handles.length,
    damagedBlocks,
    codecs: Object.fromEntries(byCodec),
    rawDataBytes,
    storedDataBytes,
    filterBytes: parts.filterBytes,
    filters: parts.filters,
  };
}

/** Where the data blocks are, and the filters in use. */
interface TableParts {
  readonly handles: readonly BlockHandle[];
  readonly filterBytes: number;
  readonly filters: number;
}

/** @throws what is wrong with footer, index or handles. */
async function soundParts(source: Source, { comparator, filterPolicies: given, codecs, maxBlockBytes, signal }: ProfileOptions): Promise<TableParts> {
  // A database filters internal keys by their user keys.
  const filterPolicies = given === undefined && comparator instanceof InternalKeyComparator ? policiesFor({}, comparator).map(internalKeyPolicy) : given;
  const { index, filter } = await runAsync(source, readOpenTable(source, { comparator, filterPolicies, codecs, maxBlockBytes, filters: 'at-opening' }), signal);
  return { handles: soundHandles(index, source.name), filterBytes: filter?.byteLength ?? 0, filters: filter?.filterCount ?? 0 };
}

/** What can be found of a table in any state. */
async function readableParts(stored: StoredBlocks, source: Source, options: ProfileOptions): Promise<TableParts> {
  const { metaBlocks, blocks, fileOrder, isRepeated } = await survey(stored, new FindingList(0));
  const handles = Array.from(fileOrder.filter((i) => isRepeated[i] === 0 && structureOf(metaBlocks, i) === 'data block'), (i) => blocks.at(i));
  try {
    const { filterBytes, filters } = await soundParts(source, options);
    return { handles, filterBytes, filters };
  } catch (error) {
    if (!isFormatError(error)) throw error;
    return { handles, filterBytes: 0, filters: 0 };
  }
}

function codecNameOf(type: number, { decoding }: StoredBlocks): string {
  return type === NO_COMPRESSION ? 'none' : (decoding.codecs.get(type)?.name ?? `type ${type}`);
}
