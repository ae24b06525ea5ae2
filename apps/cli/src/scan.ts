import { bytewiseComparator, type KeyRange } from '@bloom/sstable';
import { type DatabaseEntry, encodeInternalKey, typeOfKind } from '@bloom/sstable/database';
import { type Command, Option } from 'commander';
import { Failure } from './failure.js';
import { formatHelp, formatNames, formats } from './format.js';
import { keyArgument } from './key-argument.js';
import { encodeKv } from './kv.js';
import { addDamageOption, isFolder, mustBeForFolder, noteDatabase } from './folder-argument.js';
import {
  addKeyFormOptions,
  noteAssumption,
  openDatabaseTable,
  openTable,
  type TableFile,
  withTableFile,
} from './opened-table.js';
import { hasBounds, inRange, print, printBatches, type ScanOptions, VERSION_REMEDIES, withMark } from './printed-entries.js';
import { encodeVersion } from './version.js';
import { wholeNumber } from './whole-number.js';

export function addScan(program: Command): void {
  const command = program
    .command('scan')
    .summary('print entries in order')
    .description(
      "Prints the entries of a table, or of a range of its keys, in the order of the keys. For a database's folder, prints the newest version of each key that is not deleted. For a database's table, prints user key, sequence, type and value, and bounds are user keys; kv keeps the keys as stored.",
    )
    .argument('<table|folder>', "the table, or a database's folder")
    .option('--gt <key>', 'only keys after KEY')
    .option('--gte <key>', 'only KEY and keys after it')
    .option('--lt <key>', 'only keys before KEY')
    .option('--lte <key>', 'only KEY and keys before it')
    .option('--reverse', 'print from the last entry to the first')
    .addOption(new Option('--limit <n>', 'at most N entries').argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER)))
    .addOption(new Option('-f, --format <format>', 'the format of the output').choices(formatNames).default('tsv'))
    .option('--hex', 'bounds, and the output of tsv, words and jsonl, are in hexadecimal')
    .option(
      '--all-versions',
      'for a folder: print everything that its logs and tables store, file by file, including deleted, overwritten and obsolete entries: key, sequence, type, file, value',
    );
  addKeyFormOptions(addDamageOption(command))
    .addHelpText(
      'after',
      `${formatHelp('one key per line, without values')}
An entry that a format cannot represent, such as a line break in tsv, ends the
scan with an error. With --hex, tsv, words and jsonl can represent any entry;
the members of jsonl are then keyHex and valueHex. kv can represent any key and
value, but not the other columns of --all-versions and --internal.

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
  if (format === 'kv' && hex && !hasBounds(range)) throw new Failure('kv is binary, also with --hex: omit --hex, or try --format tsv');
  if (isFolder(path)) return (await import('./scan-folder.js')).scanFolder(path, range, options);
  mustBeForFolder(path, '--all-versions', options.allVersions);
  mustBeForFolder(path, '--damage', options.damage);
  await withTableFile(path, options, async (file) => {
    if (!file.isInternal) {
      const encode = withMark(format, hex, hex ? formats[format].encodeHex : formats[format].encode);
      const table = openTable(file);
      noteDatabase(path);
      if (canSeek(file, range)) {
        await printBatches(path, format, table.batches(range), encode);
      } else {
        const entries = entriesOf(file, table, range, ([key]) => key);
        await print(path, format, entries, ([key, value], out) => encode(key, value, out));
      }
      return;
    }
    if (format === 'kv' && options.internal === true) {
      throw new Failure(`${path}: kv cannot represent sequence and type: omit --internal to print the keys as stored, or try --format jsonl`);
    }
    const entries = entriesOf(file, openDatabaseTable(file, { cache: null }), range, ({ key }) => key);
    // kv prints entries as stored, so what they look like matters only to bounds.
    if (format !== 'kv' || hasBounds(range)) noteAssumption(file, options);
    noteDatabase(path);
    if (format === 'kv') await print(path, format, entries, (entry, out) => encodeKv(storedKey(entry), entry.value, out));
    else await print(path, format, entries, (entry, out) => encodeVersion(entry, format, hex, out), VERSION_REMEDIES);
  });
}

/** The entries of a range, even if the whole table has to be searched for them. */
function* entriesOf<T>(
  file: TableFile,
  table: { readonly entries: (range: KeyRange) => Iterable<T> },
  range: KeyRange,
  keyOf: (entry: T) => Uint8Array,
): Generator<T, void> {
  if (canSeek(file, range)) {
    yield* table.entries(range);
    return;
  }
  yield* inRange(table.entries({ reverse: range.reverse }), range, keyOf, (a, b) => bytewiseComparator.compare(a, b));
}

/** The key of an entry as the table stores it. */
function storedKey({ key, sequence, kind }: DatabaseEntry): Uint8Array {
  return encodeInternalKey({ userKey: key, sequence, type: typeOfKind(kind) });
}

/** Whether the table can go to the start of the range. */
function canSeek({ isSearchable }: TableFile, range: KeyRange): boolean {
  return isSearchable || !hasBounds(range);
}
