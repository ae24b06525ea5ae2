import { BloomFilterPolicy } from '@bloom/policy';
import { count, counted } from '@bloom/report';
import type { TableInfo } from '@bloom/sstable';
import { writeTable } from '@bloom/sstable/node';
import { type Command, Option } from 'commander';
import { ascending } from './ascending.js';
import { EntryStream } from './entry-stream.js';
import { Failure } from './failure.js';
import { formatHelp, type FormatName, formatNames, formats } from './format.js';
import { inputStat, openInput } from './input.js';
import { interruptible } from './interruption.js';
import { note } from './output.js';
import { Progress } from './progress.js';
import { SortedEntries } from './sorted-entries.js';
import { mustBeWritable, writingFailure } from './table-to-write.js';
import { wholeNumber } from './whole-number.js';

interface BuildOptions {
  readonly output: string;
  readonly format: FormatName;
  readonly bitsPerKey: number;
  readonly filter: boolean;
  readonly blockSize: number;
  readonly blockRestartInterval: number;
  readonly compression: 'none' | 'snappy';
  readonly sort?: true;
  readonly quiet?: true;
}

export function addBuild(program: Command): void {
  program
    .command('build')
    .summary('write a table')
    .description(
      'Writes a table of the entries in INPUT, or in standard input if INPUT is a dash.\n' +
        'The table gets its name only when it is completely on disk.',
    )
    .argument('<input>', 'the entries')
    .requiredOption('-o, --output <table>', 'the table to write')
    .addOption(new Option('-f, --format <format>', 'the format of INPUT').choices(formatNames).default('tsv'))
    .addOption(
      new Option('--bits-per-key <n>', 'bits of filter per key').default(10).argParser(wholeNumber(1, 1000)),
    )
    .addOption(new Option('--no-filter', 'write no filter').conflicts('bitsPerKey'))
    .addOption(
      new Option('--block-size <bytes>', 'bytes before compression at which a block is full')
        .default(4096)
        .argParser(wholeNumber(1, 64 * 2 ** 20)),
    )
    .addOption(
      new Option('--block-restart-interval <n>', 'entries from one restart of a block to the next')
        .default(16)
        .argParser(wholeNumber(1, 1_000_000)),
    )
    .addOption(new Option('--compression <codec>', 'compression of the blocks').choices(['none', 'snappy']).default('snappy'))
    .option('--sort', 'accept keys in any order, and keep the last value of each key')
    .option('-q, --quiet', 'print only errors to standard error')
    .addHelpText(
      'after',
      `${formatHelp('one key per line; its value is the number of the line')}
Without --sort, keys must ascend by their bytes, and INPUT is never held in
memory. With it, memory holds all of INPUT, and up to 48 more bytes per entry.

Examples:
  bloom build capitals.tsv -o capitals.ldb
  bloom build /usr/share/dict/words -f words --sort -o words.ldb
  bloom build events.jsonl -f jsonl --bits-per-key 16 --block-size 16384 -o events.ldb
  bloom scan old.ldb -f kv | bloom build - -f kv --compression none -o new.ldb`,
    )
    .action(build);
}

async function build(path: string, options: BuildOptions): Promise<void> {
  const started = performance.now();
  const stat = inputStat(path);
  mustBeWritable(options.output, stat);
  const input = await openInput(path, stat);
  const { name, byteLength } = input;
  const isVerbose = options.quiet !== true;

  const reading = new Progress(byteLength === undefined ? 'bytes read:' : 'reading', byteLength, isVerbose);
  const onBytes = (bytesRead: number): void => reading.update(bytesRead);
  const decoder = formats[options.format].decoder();
  const tableOptions = {
    filterPolicy: options.filter ? new BloomFilterPolicy(options.bitsPerKey) : null,
    blockSize: options.blockSize,
    blockRestartInterval: options.blockRestartInterval,
    compression: options.compression,
  };

  let info: TableInfo;
  let replaced = 0;
  let writing: Progress | undefined;
  try {
    if (options.sort) {
      const sorted = new SortedEntries();
      // There is nothing to clean up yet, so signals need no handling.
      for await (const [key, value] of new EntryStream(input, decoder, { onBytes })) sorted.add(key, value);
      reading.stop();
      replaced = sorted.sort();
      const shown = (writing = new Progress('writing', sorted.length - replaced, isVerbose));
      const onProgress = (entries: number): void => shown.update(entries);
      info = await interruptible((signal) =>
        writeTable(options.output, sorted, { ...tableOptions, signal, onProgress }),
      );
    } else {
      info = await interruptible((signal) => {
        const entries = new EntryStream(input, decoder, { onBytes, inspect: ascending() });
        return writeTable(options.output, entries, { ...tableOptions, signal });
      });
    }
  } catch (error) {
    // The input exceeds a limit of the builder.
    if (error instanceof RangeError) throw new Failure(`${options.output}: ${error.message}`, { cause: error });
    throw writingFailure(options.output, error);
  } finally {
    reading.stop();
    writing?.stop();
  }
  if (!isVerbose) return;
  if (replaced > 0) note(`${name}: ${replacedText(replaced)}`);
  note(summary(info, options, performance.now() - started));
}

function replacedText(replaced: number): string {
  return replaced === 1
    ? '1 entry was replaced by a later one with the same key'
    : `${count(replaced)} entries were replaced by later ones with the same key`;
}

function summary(info: TableInfo, { output, filter }: BuildOptions, milliseconds: number): string {
  const blocks = counted(info.dataBlocks, 'block');
  const filters = filter
    ? `${counted(info.filters, 'filter')}${info.entries > 0 ? ` with ${((info.filterBytes * 8) / info.entries).toFixed(1)} bits per key` : ''}`
    : 'no filter';
  const parts = [counted(info.entries, 'entry'), counted(info.byteLength, 'byte'), blocks, filters];
  return `${output}: ${parts.join(', ')}; ${(milliseconds / 1000).toFixed(2)} s`;
}
