import { type Command, Option } from 'commander';
import { ByteBuffer } from './byte-buffer.js';
import { OutputError } from './entry.js';
import { Failure } from './failure.js';
import { formatHelp, type FormatName, formatNames, formats } from './format.js';
import { keyArgument } from './key-argument.js';
import { withDatabaseTable, withTable } from './opened-table.js';
import { drain, flush } from './output.js';
import { encodeVersion } from './version.js';
import { wholeNumber } from './whole-number.js';

interface ScanOptions {
  readonly gt?: string;
  readonly gte?: string;
  readonly lt?: string;
  readonly lte?: string;
  readonly reverse?: true;
  readonly limit?: number;
  readonly format: FormatName;
  readonly hex?: true;
  readonly internal?: true;
}

export function addScan(program: Command): void {
  program
    .command('scan')
    .summary('print entries in order')
    .description('Prints the entries of a table, or of a range of its keys, in the order of the keys.')
    .argument('<table>', 'the table')
    .option('--gt <key>', 'only keys after KEY')
    .option('--gte <key>', 'only KEY and keys after it')
    .option('--lt <key>', 'only keys before KEY')
    .option('--lte <key>', 'only KEY and keys before it')
    .option('--reverse', 'from the last entry to the first')
    .addOption(new Option('--limit <n>', 'at most N entries').argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER)))
    .addOption(new Option('-f, --format <format>', 'what to print').choices(formatNames).default('tsv'))
    .option('--hex', 'bounds are in hexadecimal, and what tsv and words print')
    .option('--internal', "the table is a database's: show user key, sequence, type and value")
    .addHelpText(
      'after',
      `${formatHelp}
An entry that a format has no room for, such as a line break in tsv, ends the
scan with an error. --hex and kv have room for all.

Examples:
  bloom scan capitals.ldb
  bloom scan capitals.ldb --gte F --lt G
  bloom scan capitals.ldb --reverse --limit 10 -f words
  bloom scan capitals.ldb -f jsonl > capitals.jsonl
  bloom scan table.ldb --hex --gte 00ff
  bloom scan 000005.ldb --internal -f jsonl`,
    )
    .action(scan);
}

async function scan(path: string, options: ScanOptions): Promise<void> {
  const { format, limit, reverse } = options;
  const hex = options.hex === true;
  const bound = (text: string | undefined): Uint8Array | undefined =>
    text === undefined ? undefined : keyArgument(text, hex);
  const range = {
    gt: bound(options.gt),
    gte: bound(options.gte),
    lt: bound(options.lt),
    lte: bound(options.lte),
    reverse,
    limit,
  };
  const out = new ByteBuffer();

  async function print<T>(entries: Iterable<T>, encode: (entry: T) => void): Promise<void> {
    for (const entry of entries) {
      try {
        encode(entry);
      } catch (error) {
        if (!(error instanceof OutputError)) throw error;
        const others = ['--hex', '--format kv', '--format jsonl'].filter((other) => !other.endsWith(` ${format}`));
        throw new Failure(`${path}: ${error.message}, which ${format} cannot say: try ${others.join(' or ')}`);
      }
      const written = drain(out);
      if (written !== undefined) await written;
    }
    await flush(out);
  }

  if (options.internal) {
    await withDatabaseTable(path, { cache: null }, (table) =>
      print(table.entries(range), (entry) => encodeVersion(entry, format, hex, out)),
    );
    return;
  }
  const encode = hex ? formats[format].encodeHex : formats[format].encode;
  await withTable(path, { cache: null }, (table) =>
    print(table.entries(range), ([key, value]) => encode(key, value, out)),
  );
}
