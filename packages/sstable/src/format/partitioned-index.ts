/**
 * An index in partitions, which RocksDB can write into a table with LevelDB's magic number (`format_version` 0): the blocks to which the
 * index leads are indexes themselves, and read as data blocks, their handles would be values. The block of properties, which the metaindex
 * lists, has the kind of the index.
 *
 * Source: RocksDB, include/rocksdb/table.h (`IndexType`), table/block_based/block_based_table_factory.cc and table/meta_blocks.cc.
 */
import { type Place, UnsupportedError } from '@bloom/bytes';
import type { BlockHandle } from './block-handle.js';
import { BlockWalk } from './block-walk.js';
import type { MetaindexEntry } from './metaindex-block.js';

const PROPERTIES = 'rocksdb.properties';
const INDEX_TYPE = 'rocksdb.block.based.table.index.type';
const PARTITIONED = 2;

/** Where the properties of a table of RocksDB or Pebble are. */
export function propertiesHandle(metaindex: readonly MetaindexEntry[]): BlockHandle | undefined {
  return metaindex.find(({ name }) => name === PROPERTIES)?.handle;
}

/**
 * The error for a table whose index is in partitions.
 *
 * @param properties the contents of the block of properties.
 * @throws CorruptionError `BLOOM_BAD_BLOCK` when they are not a block.
 */
export function partitionedIndexError(properties: Uint8Array, place: Place): UnsupportedError | undefined {
  const walk = new BlockWalk(place.structure, place.file);
  walk.reset(properties, place.offset);
  const utf8 = new TextDecoder();
  for (let more = walk.seekToFirst(); more; more = walk.next()) {
    if (utf8.decode(walk.key) !== INDEX_TYPE) continue;
    if (properties[walk.valueStart] !== PARTITIONED) return undefined;
    return new UnsupportedError('BLOOM_UNSUPPORTED_FORMAT', place, "this is a RocksDB table with an index in partitions, not a LevelDB table: open it with RocksDB's sst_dump");
  }
  return undefined;
}
