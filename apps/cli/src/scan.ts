import { type Dropped, type StoredEntry, storedEntriesSync } from '@bloom/leveldb';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { bytewiseComparator, type KeyRange } from '@bloom/sstable';
import { allCodecs } from '@bloom/codecs';
import { encodeInternalKey } from '@bloom/sstable/database';
import { type Command, Option } from 'commander';
import { ByteBuffer } from './byte-buffer.js';
import { type Entry, OutputError } from './entry.js';
import { Failure } from './failure.js';
import { type Encode, formatHelp, type FormatName, formatNames, formats } from './format.js';
import { keyArgument } from './key-argument.js';
import { encodeKv } from './kv.js';
import { putMark, startsWithMark } from './lines.js';
import {
  addDamageOption,
  type DamageOptions,
  isFolder,
  mustBeForFolder,
  mustNotInsist,
  noteDatabase,
  noteDropped,
  withFolder,
  withFolderFailures,
} from './opened-folder.js';
import {
  addKeyFormOptions,
  type KeyFormOptions,
  noteAssumption,
  openDatabaseTable,
  openTable,
  type TableFile,
  withTableFile,
} from './opened-table.js';
import { drain, flush } from './output.js';
import { encodeStoredVersion } from './stored-version.js';
import { encodeVersion } from './version.js';
import { wholeNumber } from './whole-number.js';

interface ScanOptions extends KeyFormOptions, DamageOptions {
  readonly allVersions?: true;
  readonly gt?: string;
  readonly gte?: string;
  readonly lt?: string;
  readonly lte?: string;
  readonly reverse?: true;
  readonly limit?: number;
  readonly format: FormatName;
  readonly hex?: true;
}

export function addScan(program: Command): void {
  const command = program
    .command('scan')
    .summary('print entries in order')
    .description(
      "Prints the entries of a table, or of a range of its keys, in the order of the keys. For a database's folder, prints the newest version of each key that is not deleted. For a database's table, prints user key, sequence, type and value, and bounds are user keys; kv keeps the keys as stored.",
    )
    .argument('<table>', "the table, or a database's folder")
    .option('--gt <key>', 'only keys after KEY')
    .option('--gte <key>', 'only KEY and keys after it')
    .option('--lt <key>', 'only keys before KEY')
    .option('--lte <key>', 'only KEY and keys before it')
    .option('--reverse', 'print from the last entry to the first')
    .addOption(new Option('--limit <n>', 'at most N entries').argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER)))
    .addOption(new Option('-f, --format <format>', 'the format of the output').choices(formatNames).default('tsv'))
    .option('--hex', 'bounds, and the output of tsv and words, are in hexadecimal')
    .option(
      '--all-versions',
      'for a folder: print everything that its logs and tables store, file by file, including deleted, overwritten and obsolete entries: key, sequence, kind, file, value',
    );
  addKeyFormOptions(addDamageOption(command))
    .addHelpText(
      'after',
      `${formatHelp}
An entry that a format cannot represent, such as a line break in tsv, ends the
scan with an error. --hex and kv can represent any entry.

Examples:
  bloom scan capitals.ldb
  bloom scan capitals.ldb --gte F --lt G
  bloom scan capitals.ldb --reverse --limit 10 -f words
  bloom scan capitals.ldb -f jsonl > capitals.jsonl
  bloom scan table.ldb --hex --gte 00ff
  bloom scan 000005.ldb -f jsonl
  bloom scan path/to/database -f kv > entries.kv
  bloom scan --all-versions path/to/database`,
    )
    .action(scan);
}

async function scan(path: string, options: ScanOptions): Promise<void> {
  const { format } = options;
  const hex = options.hex === true;
  const bound = (text: string | undefined): Uint8Array | undefined =>
    text === undefined ? undefined : keyArgument(text, hex);
  const range: KeyRange = {
    gt: bound(options.gt),
    gte: bound(options.gte),
    lt: bound(options.lt),
    lte: bound(options.lte),
    reverse: options.reverse,
    limit: options.limit,
  };
  if (format === 'kv' && process.stdout.isTTY) {
    throw new Failure('standard output is a terminal, but kv is binary: send it to a file or a pipe');
  }
  if (isFolder(path)) return scanFolder(path, range, options);
  mustBeForFolder(path, '--all-versions', options.allVersions);
  mustBeForFolder(path, '--damage', options.damage);
  await withTableFile(path, options, async (file) => {
    if (!file.isInternal) {
      const encode = hex ? formats[format].encodeHex : formats[format].encode;
      const entries = entriesOf(file, openTable(file, { cache: null }), range, ([key]) => key);
      noteDatabase(path);
      await print(path, format, entries, withMark(format, hex, encode));
      return;
    }
    const entries = entriesOf(file, openDatabaseTable(file, { cache: null }), range, ({ userKey }) => userKey);
    // kv prints entries as stored. With --internal, it fails, because it cannot represent versions.
    const isStored = format === 'kv' && options.internal === undefined;
    if (!isStored || hasBounds(range)) noteAssumption(file, options);
    noteDatabase(path);
    await print(path, format, entries, (entry, out) => {
      if (isStored) encodeKv(encodeInternalKey(entry), entry.value, out);
      else encodeVersion(entry, format, hex, out);
    });
  });
}

async function scanFolder(path: string, range: KeyRange, options: ScanOptions): Promise<void> {
  const { format } = options;
  const hex = options.hex === true;
  mustNotInsist(path, options);
  if (options.allVersions) return scanAllVersions(path, range, options);
  await withFolder(path, options, async (database) => {
    const encode = hex ? formats[format].encodeHex : formats[format].encode;
    try {
      await print(path, format, database.entries(range), withMark(format, hex, encode));
    } finally {
      noteDropped(path, database.describe().dropped);
    }
  });
}

/** Prints what each file stores. Without bounds that needs neither MANIFEST nor comparator. */
async function scanAllVersions(path: string, range: KeyRange, options: ScanOptions): Promise<void> {
  const { format, damage = 'strict' } = options;
  if (range.reverse) throw new Failure(`${path}: --all-versions prints file by file: omit --reverse`);
  if (format === 'kv') throw new Failure(`${path}: kv cannot represent sequence, kind and file: omit --all-versions, or try --format jsonl`);
  let compare = (a: Uint8Array, b: Uint8Array): number => bytewiseComparator.compare(a, b);
  const scanWith = async (): Promise<void> => {
    const dropped: Dropped[] = [];
    const onDropped = (drop: Dropped): unknown => dropped.push(drop);
    const stored = storedEntriesSync(new SyncNodeFolder(path), { codecs: allCodecs, damage, onDropped });
    try {
      const entries = inRange(stored, range, ({ key }) => key, compare);
      await print(path, format, entries, (entry: StoredEntry, out) => encodeStoredVersion(entry, format, options.hex === true, out));
    } finally {
      noteDropped(path, dropped);
    }
  };
  if (!hasBounds(range)) return withFolderFailures(path, options, scanWith);
  await withFolder(path, { damage: 'skip' }, (database) => {
    // Bounds refer to the order of the database.
    compare = (a, b) => database.compare(a, b);
    return withFolderFailures(path, options, scanWith);
  });
}

/** Prints entries. If one fails, the ones before it are printed. */
async function print<T>(
  path: string,
  format: FormatName,
  entries: Iterable<T>,
  encode: (entry: T, out: ByteBuffer) => void,
): Promise<void> {
  const out = new ByteBuffer();
  try {
    for (const entry of entries) {
      const start = out.length;
      try {
        encode(entry, out);
      } catch (error) {
        out.length = start;
        if (!(error instanceof OutputError || error instanceof RangeError)) throw error;
        // The entry would exceed the longest possible string.
        const problem = error instanceof RangeError ? 'an entry is too long for one line' : error.message;
        const others = ['--hex', '--format kv', '--format jsonl'].filter((other) => !other.endsWith(` ${format}`));
        throw new Failure(`${path}: ${problem}, which ${format} cannot represent: try ${others.join(' or ')}`);
      }
      const written = drain(out);
      if (written !== undefined) await written;
    }
  } finally {
    await flush(out);
  }
}

/** The entries of a range, even if the whole table has to be searched for them. */
function* entriesOf<T>(
  { isSearchable }: TableFile,
  table: { readonly entries: (range: KeyRange) => Iterable<T> },
  range: KeyRange,
  keyOf: (entry: T) => Uint8Array,
): Generator<T, void> {
  if (isSearchable || !hasBounds(range)) {
    yield* table.entries(range);
    return;
  }
  yield* inRange(table.entries({ reverse: range.reverse }), range, keyOf, (a, b) => bytewiseComparator.compare(a, b));
}

/** Filters `entries`, which may be in any order, by bounds. */
function* inRange<T>(
  entries: Iterable<T>,
  { gt, gte, lt, lte, limit = Infinity }: KeyRange,
  keyOf: (entry: T) => Uint8Array,
  compare: (a: Uint8Array, b: Uint8Array) => number,
): Generator<T, void> {
  let left = limit;
  if (left <= 0) return;
  for (const entry of entries) {
    const key = keyOf(entry);
    if (gt !== undefined && compare(key, gt) <= 0) continue;
    if (gte !== undefined && compare(key, gte) < 0) continue;
    if (lt !== undefined && compare(key, lt) >= 0) continue;
    if (lte !== undefined && compare(key, lte) > 0) continue;
    yield entry;
    if (--left <= 0) return;
  }
}

function hasBounds({ gt, gte, lt, lte }: KeyRange): boolean {
  return [gt, gte, lt, lte].some((bound) => bound !== undefined);
}

/** Puts a byte order mark before a text that starts with one, since a reader skips the first one. */
function withMark(format: FormatName, hex: boolean, encode: Encode): (entry: Entry, out: ByteBuffer) => void {
  let isFirst = !hex && (format === 'tsv' || format === 'words');
  return ([key, value], out) => {
    if (isFirst && startsWithMark(key)) putMark(out);
    isFirst = false;
    encode(key, value, out);
  };
}
