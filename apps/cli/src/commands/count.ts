import type { DatabaseEntry } from '@bloom/sstable/database';
import type { Command } from 'commander';
import { addDamageOption, noteDatabase } from '../inputs/folder-argument.js';
import { addRangeOptions, type RangeOptions, WantedRange } from '../inputs/key-range.js';
import { type Input, type InputOptions, withInput } from '../inputs/opened-input.js';
import { noteDropped } from '../inputs/opened-folder.js';
import { addRemoteOptions, tracingFor } from '../inputs/opened-source.js';
import { addKeyFormOptions, noteAssumption, openDatabaseTable, openTable } from '../inputs/opened-table.js';
import { Lines } from '../outputs/output.js';
import { addPluginOptions } from '../plugins/plugin-options.js';

interface CountOptions extends InputOptions, RangeOptions {
  readonly json?: true;
}

/** What is counted of one input. */
interface Counted {
  readonly name: string;
  readonly entries: number;
  /** Of a database's table, where entries are versions. */
  readonly deletions?: number;
}

export function addCount(program: Command): void {
  const command = program
    .command('count')
    .summary('count entries')
    .description(
      "Prints how many entries tables, folders and logs have, or a range of their keys: the ones that scan prints. Of several, prints a line for each, and the sum. Of a database's table, these are versions, and deletions count.",
    )
    .argument('<input...>', 'tables, folders, logs, MANIFESTs, URLs of them; - is standard input');
  addRangeOptions(command).option('--hex', 'bounds and prefix are in hexadecimal').option('--json', 'print one JSON object per input');
  addRemoteOptions(addPluginOptions(addDamageOption(command)));
  addKeyFormOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  bloom count capitals.ldb
  bloom count path/to/database --prefix user/
  bloom count *.ldb`,
    )
    .action(count);
}

async function count(paths: readonly string[], options: CountOptions): Promise<void> {
  const wanted = new WantedRange(options);
  const tracing = await tracingFor(options);
  const lines = new Lines();
  let sum = 0;
  for (const path of paths) {
    const counted = await withInput(path, { ...options, tracing }, async (input) => {
      const found = await counts(path, input, wanted, options);
      tracing?.report(found.name, input.kind === 'database' ? input.file.database.stats : openTable(input.file).stats);
      return found;
    });
    sum += counted.entries;
    if (options.json) await lines.json({ input: counted.name, entries: counted.entries, ...(counted.deletions !== undefined && { deletions: counted.deletions }) });
    else await lines.add(paths.length === 1 ? String(counted.entries) : `${counted.entries}  ${counted.name}`);
    await lines.flush();
  }
  if (paths.length > 1 && !options.json) await lines.add(`${sum}  in all`);
  await lines.flush();
}

async function counts(given: string, { kind, file }: Input, wanted: WantedRange, options: CountOptions): Promise<Counted> {
  if (kind === 'database') {
    const { path, database } = file;
    const { range, keeps } = wanted.in({ name: database.describe().comparator }, (a, b) => database.compare(a, b));
    try {
      return { name: path, entries: await countOf(database.keys(range), keeps) };
    } finally {
      noteDropped(path, database.describe().dropped);
    }
  }
  const { path, comparator, isSearchable, isInternal } = file;
  const { range, keeps } = wanted.in(isSearchable || wanted.isAll ? comparator : undefined, (a, b) => comparator.compare(a, b));
  noteAssumption(file, options);
  noteDatabase(given);
  if (!isInternal) {
    let entries = 0;
    for await (const batch of openTable(file).batches(range)) {
      if (keeps === undefined) entries += batch.length;
      else for (let i = 0; i < batch.length; i++) if (keeps(batch.key(i))) entries++;
    }
    return { name: path, entries };
  }
  const table = await openDatabaseTable(file);
  let deletions = 0;
  const entries = await countOf<DatabaseEntry>(table.entries(range), (entry) => {
    if (keeps?.(entry.key) === false) return false;
    if (entry.kind === 'deletion') deletions++;
    return true;
  });
  return { name: path, entries, deletions };
}

/** Counts without a promise for each where the steps need none. */
async function countOf<T>(steps: Iterable<T> | AsyncIterable<T>, keeps: ((step: T) => boolean) | undefined): Promise<number> {
  let found = 0;
  const take = (step: T): void => {
    if (keeps?.(step) !== false) found++;
  };
  if (Symbol.asyncIterator in steps) for await (const step of steps) take(step);
  else for (const step of steps) take(step);
  return found;
}
