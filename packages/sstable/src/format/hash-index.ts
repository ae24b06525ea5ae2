/**
 * A hash index, which RocksDB can write into data blocks of tables with LevelDB's magic number (`format_version` 0). It makes RocksDB's lookups
 * faster; the entries and restarts before it are those of any block.
 *
 *     entry | … | offset of restart 0 (u32) | … | bucket (u8) | … | number of buckets (u16) | number of restarts, with the highest bit set (u32)
 *
 * Source: RocksDB, table/block_based/data_block_hash_index.h and data_block_footer.cc.
 */
const HAS_HASH_INDEX = 2 ** 31;
/** Of the number of buckets and the last number of a block. */
const END_LENGTH = 6;

/**
 * Where the restarts of a block with a hash index start, and how many there are.
 *
 * @param last the last number of the block.
 * @param blockEnd where the block ends in `contents`.
 * @returns undefined if there is no such index, or it does not fit into the block.
 */
export function restartsBeforeHashIndex(contents: Uint8Array, last: number, blockEnd = contents.length): { readonly start: number; readonly count: number } | undefined {
  const end = blockEnd - END_LENGTH;
  if (last < HAS_HASH_INDEX || end < 0) return undefined;
  const count = last - HAS_HASH_INDEX;
  const buckets = contents[end]! | (contents[end + 1]! << 8);
  const start = end - buckets - count * 4;
  return count > 0 && buckets > 0 && start >= 0 ? { start, count } : undefined;
}
