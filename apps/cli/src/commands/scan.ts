import { type KeyRange, SyncTable, type Table } from '@bloom/sstable';
import type { DatabaseEntry } from '@bloom/sstable/database';
import { type Command, Option } from 'commander';
import { Failure } from '../failure.js';
import type { Columns } from '../formats/format-contract.js';
import { formatHelp, formatNames } from '../formats/format.js';
import { KEY_DECODERS } from '../decoded-keys/key-decoders.js';
import { addDamageOption, mustBeForFolder, noteDatabase } from '../inputs/folder-argument.js';
import { BUCKET_HELP, INPUTS } from '../inputs/input-help.js';
import { addLimitOption, addRangeOptions, WantedRange } from '../inputs/key-range.js';
import { isDatabase, recognised } from '../inputs/opened-input.js';
import { addRemoteOptions, tracingFor } from '../inputs/opened-source.js';
import { addKeyFormOptions, noteAssumption, openDatabaseTable, openTable, type TableFile, withReadTable } from '../inputs/opened-table.js';
import { EntryOutput } from '../outputs/entry-output.js';
import { DECODE_OPTION } from './decode-option.js';
import { columnsOf, type ScanOptions, versionPrinter } from './scan-columns.js';
import { addPluginOptions } from '../plugins/plugin-options.js';

export function addScan(program: Command): void {
  const command = program
    .command('scan')
    .summary('print entries in order')
    .description(
      "Prints the entries of tables, folders and logs in key order: all, or those in a range of keys. Several INPUTs are printed one after another. For a database's folder or a log, prints the newest version of each key that is not deleted. For a table of a database, prints user key, sequence, type and value; bounds are user keys. A MANIFEST is read as the folder that it describes.",
    )
    .argument('<input...>', INPUTS);
  addLimitOption(addRangeOptions(command))
    .option('--reverse', 'print from the last entry to the first')
    .addOption(new Option('--keys-only', 'print only keys').conflicts('valuesOnly'))
    .option('--values-only', 'print only values')
    .addOption(new Option('-f, --format <format>', 'the format of the output').choices(formatNames).default('tsv'))
    .option('--hex', 'bounds, and the keys and values of tsv, raw, words, csv and jsonl, are in hexadecimal')
    .addOption(new Option(...DECODE_OPTION).conflicts(['decodeKeys', 'hex', 'prefix', 'gt', 'gte', 'lt', 'lte']))
    .addOption(new Option('--decode-keys <program>', "print keys of Chromium's IndexedDB or of Minecraft's worlds as text; build does not read that back").choices(KEY_DECODERS))
    .option(
      '--all-versions',
      'for a folder: print everything that its logs and tables store, file by file, including deleted, overwritten and obsolete entries: key, sequence, type, file, value',
    )
    .option('--live', 'with --all-versions: skip files that are no longer part of the database');
  addRemoteOptions(addPluginOptions(addDamageOption(command)));
  addKeyFormOptions(command)
    .addHelpText(
      'after',
      `${formatHelp()}
An entry that raw or words cannot represent, such as one with a line break, ends
the scan with an error. With --hex, tsv and raw print what hex prints, and jsonl
and csv have keyHex and valueHex. For a table of a database, and with
--all-versions, kv has the keys as they are stored. load --versions and
build --versions read versions of keys back, except from raw and words.
Bounds and --prefix are for keys as they are stored, so they cannot be used with
--decode.
${BUCKET_HELP}
Examples:
  bloom scan capitals.ldb
  bloom scan capitals.ldb --gte F --lt G
  bloom scan capitals.ldb --prefix Fr --keys-only
  bloom scan capitals.ldb --reverse --limit 10 -f words
  bloom scan capitals.ldb -f jsonl > capitals.jsonl
  bloom scan table.ldb --hex --gte 00ff
  bloom scan january.ldb february.ldb
  bloom scan path/to/database -f kv > entries.kv
  bloom scan --all-versions path/to/database
  bloom scan --decode 'Local Storage/leveldb'
  bloom scan --all-versions --live path/to/database > versions.tsv
  bloom scan https://example.org/capitals.ldb --prefix Fr`,
    )
    .action(scan);
}

async function scan(paths: readonly string[], options: ScanOptions): Promise<void> {
  const wanted = new WantedRange(options);
  if (options.live && !options.allVersions) throw new Failure('--live needs --all-versions');
  if (options.format === 'words' && options.valuesOnly) throw new Failure('words prints only keys: omit --values-only, or use --format raw');
  if (options.format === 'kv' && options.hex && wanted.isAll) throw new Failure('kv is binary: omit --hex, or use --format hex');
  const isText = !options.hex && !['kv', 'hex', 'base64'].includes(options.format);
  if (options.decodeKeys !== undefined && !isText) throw new Failure(`--decode-keys prints text: omit it, or ${options.hex ? '--hex' : `--format ${options.format}`}`);
  if (options.decode) return (await import('./decoded.js')).scanDecoded(paths, options);
  const output = new EntryOutput(options.format, options.limit, options.decodeKeys && (await import('../decoded-keys/decoded-key.js')).keyDecoder(options.decodeKeys));
  try {
    for (const path of paths) {
      if (output.isFull && options.limit !== 0) return;
      const tracing = await tracingFor(options);
      const all = { ...options, tracing };
      const location = await recognised(path, all);
      if (!isDatabase(location)) {
        await withReadTable(location, all, async (file) => {
          await scanTable(path, file, wanted, options, output);
          tracing?.report(file.path, openTable(file).stats);
        });
      } else {
        await (await import('./scan-folder.js')).scanFolder(location, wanted, all, output);
      }
    }
  } finally {
    await output.flush();
  }
}

async function scanTable(given: string, file: TableFile, wanted: WantedRange, options: ScanOptions, output: EntryOutput): Promise<void> {
  const { path, comparator } = file;
  mustBeForFolder(path, '--all-versions', options.allVersions);
  mustBeForFolder(path, '--damage', options.damage);
  const { reverse } = options;
  const { limit } = output;
  const canSeek = file.isSearchable || wanted.isAll;
  const { range, keeps } = wanted.in(canSeek ? comparator : undefined, (a, b) => comparator.compare(a, b));
  // Bytewise if the order is unknown.
  const asked = { ...range, reverse, ...(keeps === undefined && { limit }) };
  if (!file.isInternal) {
    const table: SyncTable | Table = openTable(file);
    noteDatabase(given);
    await printPlain(path, table, columnsOf(options), asked, keeps, output);
    return;
  }
  const { format } = options;
  const table = await openDatabaseTable(file, { cache: null });
  // kv prints entries as stored, so the form of keys matters only for bounds.
  if (format !== 'kv' || !wanted.isAll) noteAssumption(file, options);
  noteDatabase(given);
  const columns = columnsOf(options, ['sequence', 'type']);
  await output.print<DatabaseEntry>(path, columns, table.entries(asked), versionPrinter(format, columns, keeps));
}

async function printPlain(
  path: string,
  table: SyncTable | Table,
  columns: Columns,
  asked: KeyRange,
  keeps: ((key: Uint8Array) => boolean) | undefined,
  output: EntryOutput,
): Promise<void> {
  const { gt, gte, lt, lte, reverse } = asked;
  const isToEnd = [gt, lt, lte, keeps].every((bound) => bound === undefined) && reverse !== true;
  if (isToEnd && table instanceof SyncTable) {
    const cursor = table.cursor();
    if (await output.printRest(path, columns, cursor, () => (gte === undefined ? cursor.seekToFirst() : cursor.seek(gte)))) return;
  }
  await output.printBatches(path, columns, table.batches(asked), keeps);
}
