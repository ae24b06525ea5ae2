/**
 * The metaindex of a table: a block of names and handles of whatever else is in the file.
 *
 *     key: "filter." + name of the filter policy      value: the filter block's handle
 *
 * Names are plain bytes in bytewise order, whatever the order of the table. Names that a reader does not know are
 * skipped; RocksDB and Pebble write some of their own.
 *
 * Source: LevelDB, table/table_builder.cc and doc/table_format.md.
 */
import { type BlockHandle, encodeBlockHandle, readBlockHandle } from './block-handle.js';
import { BlockBuilder, BlockCursor, maxKeyBytesOf } from './block.js';
import { bytewiseComparator, compareRangeOf } from './comparator.js';
import { CorruptionError, type Place, VarintReader } from '@bloom/bytes';

const FILTER_PREFIX = 'filter.';
const FOREIGN_FILTERS = /^(full|partitioned)filter\./;

/** A name in the metaindex, and where it points. */
export interface MetaindexEntry {
  readonly name: string;
  /** Undefined when it cannot be read as a handle. */
  readonly handle: BlockHandle | undefined;
}

/** The contents of the metaindex of a table, with the filter block if there is one. */
export function encodeMetaindex(
  filter: { readonly policyName: string; readonly handle: BlockHandle } | undefined,
  restartInterval: number,
): Uint8Array {
  const builder = new BlockBuilder(restartInterval);
  if (filter !== undefined) {
    builder.add(encodeUtf8(FILTER_PREFIX + filter.policyName), encodeBlockHandle(filter.handle));
  }
  return builder.finish();
}

/** @throws CorruptionError when the contents are not a block. */
export function decodeMetaindex(contents: Uint8Array, place: Place): MetaindexEntry[] {
  const cursor = new BlockCursor(compareRangeOf(bytewiseComparator), place.structure, place.file);
  cursor.reset(contents, place.offset);
  const entries: MetaindexEntry[] = [];
  const utf8 = new TextDecoder();
  const maxNameBytes = maxKeyBytesOf(contents);
  let nameBytes = 0;
  for (let more = cursor.seekToFirst(); more; more = cursor.next()) {
    nameBytes += cursor.keyLength;
    if (nameBytes > maxNameBytes) {
      throw new CorruptionError('BLOOM_TOO_LARGE', place, `its names have more than ${maxNameBytes} bytes`);
    }
    const reader = new VarintReader(contents, cursor.valueStart, cursor.valueEnd);
    entries.push({ name: utf8.decode(cursor.key), handle: readBlockHandle(reader) });
  }
  return entries;
}

/** The name of the filter policy that an entry is for, if it is for one. */
export function policyNameOf({ name }: MetaindexEntry): string | undefined {
  return name.startsWith(FILTER_PREFIX) ? name.slice(FILTER_PREFIX.length) : undefined;
}

/** Whether an entry is for filters of another kind: RocksDB's, one for the whole file or in partitions. */
export function isForeignFilter({ name }: MetaindexEntry): boolean {
  return FOREIGN_FILTERS.test(name);
}

function encodeUtf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
