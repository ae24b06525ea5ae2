/**
 * The metaindex of a table: a block with the names and handles of other blocks, such as the filter block.
 *
 *     key: "filter." + name of the filter policy      value: the filter block's handle
 *
 * Names are in bytewise order, whatever the comparator of the table. Readers skip names they do not know; RocksDB and
 * Pebble write some of their own.
 *
 * Source: LevelDB, table/table_builder.cc and doc/table_format.md.
 */
import { type BlockHandle, encodeBlockHandle, readBlockHandle } from './block-handle.js';
import { BlockBuilder } from './block-builder.js';
import { BlockWalk } from './block-walk.js';
import { CorruptionError, type Place, VarintReader } from '@bloom/bytes';

const FILTER_PREFIX = 'filter.';
const FOREIGN_FILTERS = /^(full|partitioned)filter\./;

/** An entry of the metaindex. */
export interface MetaindexEntry {
  readonly name: string;
  /** Undefined when the handle cannot be decoded. */
  readonly handle: BlockHandle | undefined;
}

/** Encodes the contents of a metaindex block, which names the filter block if there is one. */
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

/** Limits for hostile files. Real metaindexes have a handful of short names. */
const MAX_ENTRIES = 4096;
const MAX_NAME_BYTES = 2 ** 20;

/** @throws RangeError for a policy with a name that {@link decodeMetaindex} would refuse. */
export function mustHaveShortName({ name }: { readonly name: string }): void {
  const byteLength = encodeUtf8(FILTER_PREFIX + name).length;
  const most = MAX_NAME_BYTES - FILTER_PREFIX.length;
  if (byteLength <= MAX_NAME_BYTES) return;
  throw new RangeError(`the name of filterPolicy must have at most ${most} bytes, got ${byteLength - FILTER_PREFIX.length}`);
}

/**
 * Decodes the contents of a metaindex block.
 *
 * @throws CorruptionError `BLOOM_BAD_BLOCK` when they are not a block, `BLOOM_TOO_LARGE` for more than 4,096 names or
 *   for names of more than 1 MiB in total.
 */
export function decodeMetaindex(contents: Uint8Array, place: Place): MetaindexEntry[] {
  const walk = new BlockWalk(place.structure, place.file);
  walk.reset(contents, place.offset);
  const entries: MetaindexEntry[] = [];
  const utf8 = new TextDecoder();
  let nameBytes = 0;
  for (let more = walk.seekToFirst(); more; more = walk.next()) {
    nameBytes += walk.keyLength;
    if (entries.length === MAX_ENTRIES || nameBytes > MAX_NAME_BYTES) {
      const problem = `it has more than ${MAX_ENTRIES} names, or names of more than ${MAX_NAME_BYTES} bytes`;
      throw new CorruptionError('BLOOM_TOO_LARGE', place, problem);
    }
    const reader = new VarintReader(contents, walk.valueStart, walk.valueEnd);
    entries.push({ name: utf8.decode(walk.key), handle: readBlockHandle(reader) });
  }
  return entries;
}

/** The name of the filter policy, if the entry points to a filter block. */
export function policyNameOf({ name }: MetaindexEntry): string | undefined {
  return name.startsWith(FILTER_PREFIX) ? name.slice(FILTER_PREFIX.length) : undefined;
}

/** Whether the entry points to another kind of filter: RocksDB's for the whole file, or its partitioned ones. */
export function isForeignFilter({ name }: MetaindexEntry): boolean {
  return FOREIGN_FILTERS.test(name);
}

function encodeUtf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
