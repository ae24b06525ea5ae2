/** Recognises files by their first and last bytes: MANIFESTs, and files that are not in a format that `build` reads. */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { GIT_LFS_POINTER, isGitLfsPointer } from '@bloom/bytes/internal';
import { LOG_BLOCK_LENGTH, logRanges } from '@bloom/log';
import type { SyncSource } from '@bloom/sstable';
import type { FormatName } from '../formats/format.js';
import { Failure, failureOf, isUrl } from '../failure.js';
import { shellWord } from '../shell-word.js';
import { STANDARD_INPUT } from './location.js';

/** The last bytes of a LevelDB table. */
export const TABLE_MAGIC = Buffer.from('57fb808b247547db', 'hex');

/** The first bytes of a file that is compressed with gzip. */
export const GZIP_MAGIC = Buffer.from('1f8b', 'hex');

/** The length of the header of a log's record: checksum, length and type. */
export const RECORD_HEADER_BYTES = 7;
/** The bytes of a MANIFEST's first field that lie where a log has a sequence: tag, length, and the start of the comparator's name. */
const FIRST_FIELD_BYTES = 8;

/** How to read a table that is compressed with gzip. @param name of the file in messages. */
export function gunzipAdvice(name: string): string {
  if (isUrl(name)) return 'download it, decompress the copy and pass that';
  // Through standard input, because gunzip refuses names that do not end in .gz.
  return `decompress it first, for example gunzip -c < ${name === STANDARD_INPUT ? 'FILE' : shellWord(name)} | bloom scan -`;
}

interface Kind {
  readonly starts: readonly string[];
  readonly text: string;
}

/** Kinds of files by the hexadecimal digits of their first bytes. */
const KINDS: readonly Kind[] = [
  { starts: ['1f8b08'], text: 'is compressed with gzip: gunzip -c < FILE | bloom build -' },
  { starts: ['28b52ffd'], text: 'is compressed by zstd: zstd -dc < FILE | bloom build -' },
  { starts: ['fd377a585a00'], text: 'is compressed by xz: xz -dc < FILE | bloom build -' },
  { starts: ['504b0304'], text: 'is a zip archive: unzip -p FILE | bloom build -' },
  { starts: ['53514c69746520666f726d6174203300'], text: 'is a database of SQLite: sqlite3 -separator "$(printf \'\\t\')" FILE "select key, value from …" | bloom build -' },
];

/** The most bytes of a start. */
const START_BYTES = 16;

/** @param start the first bytes of an input. @throws UnfitInput when they are those of another kind of file. */
export function mustBeEntries(start: Uint8Array, format: FormatName): void {
  if (isLog(start)) {
    const isManifest = looksLikeManifest({ byteLength: start.length, read: (offset, length) => start.subarray(offset, offset + length) });
    throw new UnfitInput(isManifest ? 'is a MANIFEST of a database: bloom scan prints the entries of the folder' : 'is a log of a database: bloom scan prints its entries');
  }
  // Any bytes can be the length of a key.
  if (format === 'kv') return;
  const digits = Buffer.from(start.subarray(0, START_BYTES)).toString('hex');
  const kind = KINDS.find(({ starts }) => starts.some((known) => digits.startsWith(known)));
  if (kind !== undefined) throw new UnfitInput(kind.text);
  if (isGitLfsPointer(start)) throw new UnfitInput(`is ${GIT_LFS_POINTER}`);
  if (isUtf16(start)) throw new UnfitInput(`${UTF_16}: iconv -f UTF-16 -t UTF-8 FILE | bloom build -`);
}

/** The problem of a file that {@link isUtf16}. */
export const UTF_16 = 'is text in UTF-16, as Windows PowerShell redirects output';

/**
 * Whether the first bytes are text in UTF-16: a byte order mark, and a first line whose end is a newline in UTF-16. The mark alone proves
 * nothing, because keys and values can be any bytes; but their lines end with a newline of one byte.
 */
export function isUtf16(start: Uint8Array): boolean {
  const [first, second] = start;
  const end = start.indexOf(0x0a);
  if (end < 2) return false;
  if (first === 0xff && second === 0xfe) return end % 2 === 0 && start[end + 1] === 0;
  return first === 0xfe && second === 0xff && end % 2 === 1 && start[end - 1] === 0;
}

/** Whether the first bytes are a fragment of a log, whose checksum is right. */
function isLog(start: Uint8Array): boolean {
  const [first] = logRanges(start.subarray(0, LOG_BLOCK_LENGTH));
  return first?.label.endsWith('masked checksum') === true;
}

/** The input is another kind of file. The message lacks its name. */
export class UnfitInput extends Error {
  override readonly name = 'UnfitInput';
}

/** @param path a regular file, or `-`. @throws Failure when it is a table. */
export function mustNotBeTable(path: string): void {
  const file = path === '-' ? 0 : open(path);
  try {
    if (endsAsTable(file)) {
      throw new Failure(`${path === '-' ? 'standard input' : path}: is already a table: bloom convert rewrites it with other options, bloom merge merges tables, and bloom scan prints entries that can be loaded`);
    }
  } finally {
    if (path !== '-') closeSync(file);
  }
}

/** Whether the last bytes of an open file are those of a table. */
export function endsAsTable(fd: number): boolean {
  const end = Buffer.alloc(TABLE_MAGIC.length);
  const { size } = fstatSync(fd);
  return size >= end.length && readSync(fd, end, 0, end.length, size - end.length) === end.length && end.equals(TABLE_MAGIC);
}

function open(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw failureOf(path, error);
  }
}

/** The problem of a folder that was given as an input, and what to do with it. */
export function folderProblem(path: string): string {
  return existsSync(join(path, 'CURRENT')) ? 'is the folder of a database: bloom convert writes its entries to a table' : 'is a folder';
}

/**
 * Whether a file of records is a MANIFEST: its first record begins with the name of a comparator. In a log, these bytes would be a
 * sequence that no database reaches.
 */
export function looksLikeManifest(source: Pick<SyncSource, 'byteLength' | 'read'>): boolean {
  if (source.byteLength < RECORD_HEADER_BYTES + FIRST_FIELD_BYTES) return false;
  const [tag, length, ...name] = source.read(RECORD_HEADER_BYTES, FIRST_FIELD_BYTES);
  return tag === 1 && length! >= name.length && name.every((byte) => byte >= 0x20 && byte < 0x7f);
}
