import { dirname, resolve } from 'node:path';
import { type Database, WriteBatch } from '@bloom/leveldb';
import { count, counted } from '@bloom/report';
import { type Command, Option } from 'commander';
import { Failure } from '../failure.js';
import { byteSize } from '../inputs/byte-size.js';
import { DecodedInputs } from '../inputs/decoded-inputs.js';
import { bytesOf, findInputs } from '../inputs/input.js';
import { Operations } from '../inputs/operations.js';
import { addDatabaseOptions, type DatabaseCommandOptions, withDatabase } from '../inputs/written-database.js';
import { interruptible, unlessAborted } from '../interruption.js';
import { formatHelp } from '../formats/format.js';
import { Progress } from '../outputs/progress.js';
import { addSummaryOption, printSummary, secondsSince, type SummaryOptions } from '../outputs/summary.js';
import { addInputOptions, inputForm, type InputOptions, SORT_BYTES } from './build.js';

interface LoadOptions extends DatabaseCommandOptions, InputOptions, SummaryOptions {
  readonly batchSize: number;
  readonly atomic?: true;
  readonly sync?: true;
  readonly compact?: true;
}

/** The most bytes of a batch that a database accepts. */
const MOST_BATCH_BYTES = 2 ** 27;

export function addLoad(program: Command): void {
  const command = program
    .command('load')
    .summary('write entries to a database')
    .description(
      "Writes the entries in the INPUTs to a database, and creates the folder if it does not exist. Entries are written in atomic batches: if the input is wrong or a signal ends the program, earlier batches stay. With --atomic, everything is one batch. With --versions, entries may be deletions.",
    )
    .argument('<folder>', 'the folder')
    .argument('<input...>', 'the entries; - is standard input');
  addInputOptions(command)
    .option('--versions', 'entries have a type, value or deletion, and optionally a sequence, as scan --all-versions prints them')
    .addOption(new Option('--batch-size <bytes>', 'bytes of a batch').default(2 ** 18, '256KiB').argParser(byteSize(1, 64 * 2 ** 20)))
    .addOption(new Option('--atomic', 'write everything in one batch of at most 128 MiB, or nothing').conflicts('batchSize'))
    .option('--sync', 'wait at the end until all batches survive a power failure')
    .option('--compact', 'merge all tables at the end')
    .option('-q, --quiet', 'print only errors to standard error');
  addDatabaseOptions(addSummaryOption(command))
    .addHelpText(
      'after',
      `${formatHelp()}
Keys can be in any order. Of several values of a key, the last one is kept.

With --versions, tsv, hex and base64 have the columns key, sequence, type, file
and value; the file can be left out, or both file and sequence. csv and jsonl
have columns and members of these names. kv has sequence and type in the key.
Versions with sequences are all read, and then written by ascending sequence.
Versions without sequences are written in the order of the input. The database
gives them new sequences.

Examples:
  bloom load path/to/database capitals.tsv
  bloom scan old.ldb -f kv | bloom load path/to/database - -f kv
  printf 'a\\tvalue\\t1\\nb\\tdeletion\\t\\n' | bloom load db - --versions --atomic
  bloom scan --all-versions --live old | bloom load new - --versions`,
    )
    .action(load);
}

async function load(path: string, inputPaths: readonly string[], options: LoadOptions): Promise<void> {
  const started = performance.now();
  const form = inputForm(options);
  const inputs = findInputs(inputPaths);
  const reading = new Progress('loading', 'bytes', bytesOf(inputs), options.quiet !== true);
  const decoded = new DecodedInputs(inputs, form, (bytesRead) => {
    reading.update(bytesRead);
  });
  const operations = new Operations(decoded, { versions: options.versions === true, memoryBytes: SORT_BYTES, folder: dirname(resolve(path)) });
  let entries = 0;
  try {
    // This happens before the folder is opened or created.
    const whole = await interruptible(async (signal) => {
      await operations.prepare(signal);
      return options.atomic ? wholeBatch(path, operations, signal) : undefined;
    });
    await withDatabase(path, options, true, async (database) => {
      const sync = options.sync === true;
      if (whole === undefined) entries = await interruptible((signal) => loadAll(database, operations, options, signal));
      else {
        await database.write(whole, { sync });
        entries = whole.count;
      }
      // Not interruptible, so a signal ends the program at once, as in `bloom compact`: the entries are in the database.
      if (options.compact) await database.compactRange();
    });
  } finally {
    reading.stop();
    await operations.close();
  }
  const seconds = secondsSince(started);
  const { deletions } = operations;
  const deleted = deletions === 0 ? '' : `, ${count(deletions)} of them ${deletions === 1 ? 'a deletion' : 'deletions'}`;
  const figures = { folder: path, entries, ...(options.versions && { deletions }), seconds };
  await printSummary(options, `${path}: ${counted(entries, 'entry')} written${deleted}; ${seconds.toFixed(2)} s`, figures);
}

/** One batch of all entries. @throws Failure when it is too large. */
async function wholeBatch(path: string, operations: Operations, signal: AbortSignal): Promise<WriteBatch> {
  const batch = new WriteBatch();
  while (await unlessAborted(operations.addTo(batch, MOST_BATCH_BYTES), signal)) {
    if (batch.byteLength > MOST_BATCH_BYTES) throw new Failure(`${path}: its entries exceed ${counted(MOST_BATCH_BYTES, 'byte')}, the limit of one batch: omit --atomic`);
  }
  return batch;
}

/** @returns how many entries were written. */
async function loadAll(database: Database, operations: Operations, { batchSize, sync }: LoadOptions, signal: AbortSignal): Promise<number> {
  let written = 0;
  const batch = new WriteBatch();
  while (await unlessAborted(operations.addTo(batch, batchSize), signal)) {
    if (batch.byteLength < batchSize) continue;
    await database.write(batch);
    written += batch.count;
    batch.clear();
    signal.throwIfAborted();
  }
  written += batch.count;
  await database.write(batch, { sync: sync === true });
  return written;
}
