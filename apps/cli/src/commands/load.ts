import { type Database, WriteBatch } from '@bloom/leveldb';
import { counted } from '@bloom/report';
import { type Command, Option } from 'commander';
import { byteSize } from '../inputs/byte-size.js';
import { DecodedInputs } from '../inputs/decoded-inputs.js';
import { bytesOf, findInputs } from '../inputs/input.js';
import { addDatabaseOptions, type DatabaseCommandOptions, withDatabase } from '../inputs/written-database.js';
import { interruptible, unlessAborted } from '../interruption.js';
import { formatHelp } from '../formats/format.js';
import { Progress } from '../outputs/progress.js';
import { addSummaryOption, printSummary, secondsSince, type SummaryOptions } from '../outputs/summary.js';
import { addInputOptions, inputForm, type InputOptions } from './build.js';

interface LoadOptions extends DatabaseCommandOptions, InputOptions, SummaryOptions {
  readonly batchSize: number;
  readonly sync?: true;
  readonly compact?: true;
}

export function addLoad(program: Command): void {
  const command = program
    .command('load')
    .summary('write entries to a database')
    .description(
      "Writes the entries in the INPUTs to a database's folder, which is made if it does not exist. Entries are written in batches, each completely or not at all: when the input is wrong or a signal ends the program, the batches before are written.",
    )
    .argument('<folder>', 'the folder')
    .argument('<input...>', 'the entries; a dash is standard input');
  addInputOptions(command)
    .addOption(new Option('--batch-size <bytes>', 'bytes of a batch').default(2 ** 18, '256KiB').argParser(byteSize(1, 64 * 2 ** 20)))
    .option('--sync', 'wait after the last batch until all survive a power failure')
    .option('--compact', 'merge all tables in the end')
    .option('-q, --quiet', 'print only errors to standard error');
  addDatabaseOptions(addSummaryOption(command))
    .addHelpText(
      'after',
      `${formatHelp()}
Keys can be in any order; of equal keys the last one counts.

Examples:
  bloom load path/to/database capitals.tsv
  bloom scan old.ldb -f kv | bloom load path/to/database - -f kv`,
    )
    .action(load);
}

async function load(path: string, inputPaths: readonly string[], options: LoadOptions): Promise<void> {
  const started = performance.now();
  const form = inputForm(options);
  const inputs = findInputs(inputPaths);
  const reading = new Progress('loading', 'bytes', bytesOf(inputs), options.quiet !== true);
  const source = new DecodedInputs(inputs, form, (bytesRead) => {
    reading.update(bytesRead);
  });
  let entries = 0;
  try {
    await interruptible((signal) =>
      withDatabase(path, options, true, async (database) => {
        entries = await loadAll(database, source, options, signal);
        if (options.compact) await database.compactRange();
      }),
    );
  } finally {
    reading.stop();
    source.close();
  }
  const seconds = secondsSince(started);
  await printSummary(options, `${path}: ${counted(entries, 'entry')} written; ${seconds.toFixed(2)} s`, { folder: path, entries, seconds });
}

/** @returns how many entries were written. */
async function loadAll(database: Database, source: DecodedInputs, { batchSize, sync }: LoadOptions, signal: AbortSignal): Promise<number> {
  let written = 0;
  const batch = new WriteBatch();
  for (;;) {
    const entries = await unlessAborted(source.next(), signal);
    if (entries === undefined) break;
    for (let i = 0; i < entries.length; i++) {
      batch.put(entries.key(i), entries.value(i));
      if (batch.byteLength < batchSize) continue;
      await database.write(batch);
      written += batch.count;
      batch.clear();
      signal.throwIfAborted();
    }
  }
  written += batch.count;
  await database.write(batch, { sync: sync === true });
  return written;
}
