/** How the blocks of a table are compressed, as far as a few bytes tell. */
import { CorruptionError, type Place, VarintReader } from '@bloom/bytes';
import { type BlockHandle, readBlockHandle } from '../format/block-handle.js';
import { uint32At } from '../format/block-walk.js';
import { NO_COMPRESSION } from '../format/codec.js';
import { decodeFooter, FOOTER_LENGTH } from '../format/footer.js';
import { BLOCK_TRAILER_LENGTH, hasRightChecksum, storedEnd } from '../format/stored-block.js';
import { mustHaveFooter, readOpenTable } from './open.js';
import type { TableOptions } from './options.js';
import type { Reading } from './reading.js';
import type { Source } from './source.js';

/** How much of an index is read to find its first entry. Nearly all are shorter. */
const FIRST_ENTRY_BYTES = 512;

/** The first bytes of a zstd frame, as a little-endian number. */
const ZSTD_MAGIC = 0xfd2f_b528;

/** A block of a table, and the type of its compression. */
export interface BlockCompression {
  readonly structure: 'index block' | 'data block';
  readonly handle: BlockHandle;
  /** The compression type as stored; 0 means none. */
  readonly type: number;
}

/**
 * The compression of a table's index, or of its first data block where the index is not compressed: an index may have become no
 * smaller. Most blocks of a table have that type too. Little is read, and nothing verified.
 *
 * @returns undefined where the index does not begin with a short entry whose handle is that of a block before the index.
 * @throws CorruptionError when the footer or its handle of the index is damaged, or the file is too short.
 * @throws UnsupportedError when the footer is that of another format.
 */
export function* readCompression(source: Source): Reading<BlockCompression | undefined> {
  mustHaveFooter(source);
  const { byteLength } = source;
  const footerOffset = byteLength - FOOTER_LENGTH;
  // In tables of LevelDB, the trailer of the index is right before the footer.
  const tailOffset = Math.max(0, footerOffset - BLOCK_TRAILER_LENGTH);
  const tail = yield { offset: tailOffset, length: byteLength - tailOffset };
  const place: Place = { structure: 'footer', offset: footerOffset, file: source.name };
  const { index } = decodeFooter(tail.subarray(-FOOTER_LENGTH), place);
  const trailerOffset = index.offset + index.size;
  if (trailerOffset + BLOCK_TRAILER_LENGTH > footerOffset) {
    throw new CorruptionError('BLOOM_BAD_HANDLE', place, `the handle of the index block (offset ${index.offset}, size ${index.size}) points outside the file`);
  }
  const [type] = trailerOffset === tailOffset ? tail : yield { offset: trailerOffset, length: BLOCK_TRAILER_LENGTH };
  if (type !== NO_COMPRESSION) return { structure: 'index block', handle: index, type: type! };
  const handle = firstHandle(yield { offset: index.offset, length: Math.min(index.size, FIRST_ENTRY_BYTES) });
  if (handle === undefined || storedEnd(handle) > index.offset) return undefined;
  return yield* dataBlockAt(handle);
}

/**
 * The first compressed one of some data blocks of a table, which are spread evenly over it. Opens the table, and reads a byte of each
 * block.
 *
 * @param most how many data blocks to look at.
 * @returns undefined where none of them is compressed.
 * @throws what opening the table throws.
 */
export function* findCompressedBlock(source: Source, options: TableOptions, most: number): Reading<BlockCompression | undefined> {
  const { index } = yield* readOpenTable(source, { ...options, filters: 'never', filterPolicies: [] });
  const step = Math.max(1, Math.ceil(index.length / most));
  for (let i = 0; i < index.length; i += step) {
    const size = index.sizeOf(i);
    // Its handle is damaged.
    if (size < 0) continue;
    const block = yield* dataBlockAt({ offset: index.offsetOf(i), size });
    if (block.type !== NO_COMPRESSION) return block;
  }
  return undefined;
}

function* dataBlockAt(handle: BlockHandle): Reading<BlockCompression> {
  const [type] = yield { offset: handle.offset + handle.size, length: 1 };
  return { structure: 'data block', handle, type: type! };
}

/**
 * The name of a block's compression: `'snappy'`, `'zlib'`, `'zstd'` or `'deflate'`; of a type that is none of these, `'type 7'`, for
 * example. Type 2 is zstd in Google's LevelDB and zlib in Mojang's, told apart by the first bytes.
 *
 * @returns undefined where the checksum is wrong or the block has more than `maxBlockBytes`: its type may be wrong too.
 */
export function* readCompressionName(source: Source, { handle, type }: BlockCompression, maxBlockBytes: number): Reading<string | undefined> {
  const { offset, size } = handle;
  if (size > maxBlockBytes) return undefined;
  const block = yield { offset, length: size + BLOCK_TRAILER_LENGTH };
  return hasRightChecksum(block) ? compressionName(type, block) : undefined;
}

/** The name of a compression type, as of {@link readCompressionName}. @param stored what is stored of a block, from its start. */
export function compressionName(type: number, stored: Uint8Array): string {
  switch (type) {
    case NO_COMPRESSION:
      return 'none';
    case 1:
      return 'snappy';
    case 2:
      return stored.length >= 4 && uint32At(stored, 0) === ZSTD_MAGIC ? 'zstd' : 'zlib';
    case 4:
      return 'deflate';
    default:
      return `type ${type}`;
  }
}

/** The handle in the first entry of an index, of which `contents` is the start; undefined where there is none. */
function firstHandle(contents: Uint8Array): BlockHandle | undefined {
  const reader = new VarintReader(contents);
  const sharedBytes = reader.varint32();
  const keyBytes = reader.varint32();
  const valueBytes = reader.varint32();
  if (sharedBytes !== 0 || keyBytes < 0 || valueBytes < 0) return undefined;
  reader.position += keyBytes;
  reader.end = Math.min(contents.length, reader.position + valueBytes);
  return readBlockHandle(reader);
}
