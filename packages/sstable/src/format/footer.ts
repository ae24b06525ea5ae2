/**
 * The last 48 bytes of a table.
 *
 *     metaindex handle | index handle | zeros up to byte 40 | 57 fb 80 8b 24 75 47 db
 *
 * Source: LevelDB, table/format.h and doc/table_format.md.
 */
import { type BlockHandle, putBlockHandle, readBlockHandle } from './block-handle.js';
import { CorruptionError, type LabelledRange, type Place, UnsupportedError, VarintReader } from '@bloom/bytes';
import { GIT_LFS_POINTER, isEndOfGitLfsPointer, isTextual } from '@bloom/bytes/internal';

/** Bytes of the footer. */
export const FOOTER_LENGTH = 48;

const MAGIC_OFFSET = 40;
/** The magic number 0xdb4775248b80fb57, little-endian as in the file. */
const MAGIC = '57fb808b247547db';

/** A table of another program. */
export interface ForeignTable {
  /** The program. */
  readonly engine: 'RocksDB' | 'Pebble';
  /** What the file is, with its article. */
  readonly kind: string;
}

const ROCKSDB_PLAIN: ForeignTable = { engine: 'RocksDB', kind: 'a RocksDB plain table' };

/**
 * The magic numbers of other programs' tables.
 *
 * Source: RocksDB, table/block_based/block_based_table_builder.cc, table/plain/plain_table_builder.cc and
 * table/cuckoo/cuckoo_table_builder.cc; Pebble, sstable/table.go and sstable/blob/blob.go.
 */
const FOREIGN_MAGICS: Readonly<Record<string, ForeignTable>> = {
  f7cff485b741e288: { engine: 'RocksDB', kind: 'a RocksDB table (block-based format 1 or later)' },
  '6495bf6396224282': ROCKSDB_PLAIN,
  b8138f7aeb18344f: ROCKSDB_PLAIN,
  '7378f1c5d0896792': { engine: 'RocksDB', kind: 'a RocksDB cuckoo table' },
  f09faab3f09faab3: { engine: 'Pebble', kind: 'a Pebble table' },
  f09faab3f09fa680: { engine: 'Pebble', kind: 'a Pebble blob file' },
};

/** The programs that show such tables. */
const TABLE_TOOLS: Readonly<Record<ForeignTable['engine'], string>> = { RocksDB: "RocksDB's sst_dump", Pebble: 'the command pebble sstable' };

/** Bytes of the magic number, which is the end of a table. */
export const TABLE_MAGIC_LENGTH = FOOTER_LENGTH - MAGIC_OFFSET;

/** Whose table a file is. @param end the last 8 bytes of the file. @returns undefined for any other end than those that are known. */
export function engineOfTable(end: Uint8Array): 'LevelDB' | ForeignTable | undefined {
  const magic = hexOf(end, 0);
  return magic === MAGIC ? 'LevelDB' : FOREIGN_MAGICS[magic];
}

function hexOf(bytes: Uint8Array, start: number): string {
  let digits = '';
  for (let i = start; i < bytes.length; i++) digits += bytes[i]!.toString(16).padStart(2, '0');
  return digits;
}

/** The two handles of a footer. */
export interface Footer {
  readonly metaindex: BlockHandle;
  readonly index: BlockHandle;
}

/** Encodes a footer: 48 bytes. */
export function encodeFooter({ metaindex, index }: Footer): Uint8Array {
  const bytes = new Uint8Array(FOOTER_LENGTH);
  putBlockHandle(bytes, putBlockHandle(bytes, 0, metaindex), index);
  for (let i = 0; i < 8; i++) bytes[MAGIC_OFFSET + i] = Number.parseInt(MAGIC.slice(i * 2, i * 2 + 2), 16);
  return bytes;
}

/**
 * Decodes a footer.
 *
 * @param bytes the last 48 bytes of the file.
 * @throws UnsupportedError `BLOOM_UNSUPPORTED_FORMAT` for the magic number of RocksDB or Pebble.
 * @throws CorruptionError `BLOOM_NOT_A_TABLE` for any other magic number, `BLOOM_BAD_HANDLE` when a handle cannot be
 *   decoded.
 */
export function decodeFooter(bytes: Uint8Array, place: Place): Footer {
  const magic = hexOf(bytes, MAGIC_OFFSET);
  if (magic !== MAGIC) {
    const foreign = FOREIGN_MAGICS[magic];
    if (foreign !== undefined) {
      throw new UnsupportedError('BLOOM_UNSUPPORTED_FORMAT', place, `this is ${foreign.kind}, not a LevelDB table: open it with ${TABLE_TOOLS[foreign.engine]}`);
    }
    if (isEndOfPage(bytes)) throw new CorruptionError('BLOOM_NOT_A_TABLE', place, 'not a LevelDB table but an HTML page, which a server may have sent in its place');
    if (isEndOfGitLfsPointer(bytes)) throw new CorruptionError('BLOOM_NOT_A_TABLE', place, `not a LevelDB table but ${GIT_LFS_POINTER}`);
    throw new CorruptionError('BLOOM_NOT_A_TABLE', place, `not a LevelDB table: it ends in ${magic}, not in ${MAGIC}`);
  }
  const reader = new VarintReader(bytes, 0, MAGIC_OFFSET);
  const metaindex = readBlockHandle(reader);
  const index = metaindex && readBlockHandle(reader);
  if (metaindex === undefined || index === undefined) {
    throw new CorruptionError('BLOOM_BAD_HANDLE', place, 'the handles of metaindex and index cannot be read');
  }
  return { metaindex, index };
}

function isEndOfPage(bytes: Uint8Array): boolean {
  return isTextual(bytes) && /<\/html>\s*$/i.test(String.fromCharCode(...bytes));
}

/** Labels the bytes of a footer at `offset` of a file. */
export function footerLayout(bytes: Uint8Array, offset: number): LabelledRange[] {
  const reader = new VarintReader(bytes, 0, MAGIC_OFFSET);
  const ranges: LabelledRange[] = [];
  for (const label of ['metaindex handle', 'index handle']) {
    const start = reader.position;
    const handle = readBlockHandle(reader);
    if (handle === undefined) {
      reader.position = start;
      break;
    }
    const value = `offset ${handle.offset}, size ${handle.size}`;
    ranges.push({ offset: offset + start, byteLength: reader.position - start, label, value });
  }
  const { position } = reader;
  if (position < MAGIC_OFFSET) {
    ranges.push({ offset: offset + position, byteLength: MAGIC_OFFSET - position, label: 'padding' });
  }
  ranges.push({ offset: offset + MAGIC_OFFSET, byteLength: FOOTER_LENGTH - MAGIC_OFFSET, label: 'magic number' });
  return ranges;
}
