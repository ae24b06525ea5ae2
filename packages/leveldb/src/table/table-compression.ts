/**
 * The compression that a table has: what tells a database of Mojang's LevelDB from one of Google's, since nothing else in the folder
 * does.
 */
import { CorruptionError, type Place, UnsupportedError } from '@bloom/bytes';
import type { Source, TableOptions } from '@bloom/sstable';
import { type BlockCompression, compressionName, decodingFor, findCompressedBlock, NO_COMPRESSION, readCompression, readCompressionName } from '@bloom/sstable/internal';
import type { ClosingFiles } from '../folder/closing-files.js';
import { type FolderReading, openFile, readingOf } from '../folder/folder-reading.js';

/** The type of Snappy. Higher ones are those of codecs. */
export const SNAPPY_TYPE = 1;

/** How many data blocks of a table to look at. */
const LOOKED_AT_BLOCKS = 8;

/** The compression of the blocks of a table. */
export interface TableCompression {
  /** The compression type as stored: 0 for none, 1 for Snappy. Types above need codecs. */
  readonly type: number;
  /** `'none'`, `'snappy'`, `'zlib'`, `'zstd'` or `'deflate'`; of a type that is none of these, `'type 7'`, for example. */
  readonly name: string;
  /** Where a block of the type is. */
  readonly place: Place;
}

/**
 * The compression of a table as its index or its first data block have it. The checksum of that block is verified where the type is
 * that of a codec, so that damage does not pass for a codec.
 *
 * @returns undefined where it cannot be told: the table is damaged, no table of LevelDB's, or its index begins with a long key.
 */
export function* tableCompression(source: Source, options: TableOptions): FolderReading<TableCompression | undefined> {
  try {
    return yield* compressionOf(source, yield* readingOf(source, readCompression(source)), options);
  } catch (error) {
    mustBeOfTable(error);
    return undefined;
  }
}

/** The compression of some data blocks of a table, spread over it: for tables whose first block is not compressed. */
export function* dataBlockCompression(source: Source, options: TableOptions): FolderReading<TableCompression | undefined> {
  try {
    return yield* compressionOf(source, yield* readingOf(source, findCompressedBlock(source, options, LOOKED_AT_BLOCKS)), options);
  } catch (error) {
    mustBeOfTable(error);
    return undefined;
  }
}

/** @throws what is not about the bytes of a table. */
function mustBeOfTable(error: unknown): void {
  if (!(error instanceof CorruptionError) && !(error instanceof UnsupportedError)) throw error;
}

function* compressionOf(source: Source, block: BlockCompression | undefined, options: TableOptions): FolderReading<TableCompression | undefined> {
  if (block === undefined) return undefined;
  const { structure, type, handle } = block;
  const name =
    type > SNAPPY_TYPE
      ? yield* readingOf(source, readCompressionName(source, block, decodingFor(options).maxBlockBytes))
      : compressionName(type, new Uint8Array(0));
  return name === undefined ? undefined : { type, name, place: { structure, offset: handle.offset, file: source.name } };
}

/**
 * The compression of the newest table whose blocks have that of a codec, or else Snappy's, or else none.
 *
 * @param names the names of tables, the newest first.
 * @param closing closes the files.
 * @returns undefined where no table tells.
 */
export function* compressionOfTables(names: readonly string[], options: TableOptions, closing: ClosingFiles): FolderReading<TableCompression | undefined> {
  let known: TableCompression | undefined;
  for (const look of [tableCompression, dataBlockCompression]) {
    for (const name of names) {
      const file = yield* openFile(name);
      if (file === undefined) continue;
      try {
        const found = yield* look(file, options);
        if (found !== undefined && found.type > SNAPPY_TYPE) return found;
        if (found !== undefined && (known === undefined || found.type > known.type)) known = found;
      } finally {
        closing.close(file);
      }
    }
    // One block that is compressed tells.
    if (known !== undefined && known.type !== NO_COMPRESSION) return known;
  }
  return known;
}
