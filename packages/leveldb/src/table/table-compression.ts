/**
 * The compression of a table. It is the only difference between a folder of Mojang's LevelDB and one of Google's.
 */
import { CorruptionError, type Place, UnsupportedError } from '@bloom/bytes';
import type { Source, TableOptions } from '@bloom/sstable';
import { type BlockCompression, compressionName, decodingFor, findCompressedBlock, readCompression, readCompressionName, type Reading, SNAPPY_TYPE } from '@bloom/sstable/internal';
import { type FolderReading, readingOf } from '../folder/folder-reading.js';

/** The number of data blocks of a table to examine. */
const LOOKED_AT_BLOCKS = 8;

/** The compression of the blocks of a table. */
export interface TableCompression {
  /** The compression type as stored: 0 for none, 1 for Snappy. Higher types need codecs. */
  readonly type: number;
  /** `'none'`, `'snappy'`, `'zlib'`, `'zstd'` or `'deflate'`; for any other type, its number: `'type 7'`. */
  readonly name: string;
  /** The place of a block of the type. */
  readonly place: Place;
}

/**
 * The compression of a table's index or of its first data block. If the type is that of a codec, the checksum of the block is verified, so
 * that damage is not mistaken for a codec.
 *
 * @returns undefined when it is unknown: the table is damaged, is not a LevelDB table, or its index begins with a long key.
 */
export function tableCompression(source: Source, options: TableOptions): FolderReading<TableCompression | undefined> {
  return compressionOf(source, readCompression(source), options);
}

/** The compression of some data blocks of a table, spread over it: for tables whose first block is not compressed. */
export function dataBlockCompression(source: Source, options: TableOptions): FolderReading<TableCompression | undefined> {
  return compressionOf(source, findCompressedBlock(source, options, LOOKED_AT_BLOCKS), options);
}

function* compressionOf(source: Source, finding: Reading<BlockCompression | undefined>, options: TableOptions): FolderReading<TableCompression | undefined> {
  try {
    const block = yield* readingOf(source, finding);
    if (block === undefined) return undefined;
    const { structure, type, handle } = block;
    const name =
      type > SNAPPY_TYPE
        ? yield* readingOf(source, readCompressionName(source, block, decodingFor(options).maxBlockBytes))
        : compressionName(type, new Uint8Array(0));
    return name === undefined ? undefined : { type, name, place: { structure, offset: handle.offset, file: source.name } };
  } catch (error) {
    // Damage, or a foreign format.
    if (error instanceof CorruptionError || error instanceof UnsupportedError) return undefined;
    throw error;
  }
}
