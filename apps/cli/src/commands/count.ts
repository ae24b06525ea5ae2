import type { DatabaseEntry } from '@bloom/sstable/database';
import type { Command } from 'commander';
import { addDamageOption, noteDatabase } from '../inputs/folder-argument.js';
import { BUCKET_HELP, INPUTS } from '../inputs/input-help.js';
import { addRangeOptions } from '../inputs/key-range.js';
import { type Input, type InputOptions, withInput } from '../inputs/opened-input.js';
import { noteDropped } from '../inputs/opened-folder.js';
import { addRemoteOptions, tracingFor } from '../inputs/opened-source.js';
import { addKeyFormOptions, noteAssumption, openDatabaseTable, openTable } from '../inputs/opened-table.js';
import { addGroupOptions, type GroupOptions, GroupSums, type OrderedGroups, PrefixGroups } from '../inputs/prefix-groups.js';
import { addDatabaseBytes, addTableBytes } from '../inputs/stored-bytes.js';
import { printGroups } from '../outputs/group-rows.js';
import { Lines } from '../outputs/output.js';
import { addPluginOptions } from '../plugins/plugin-options.js';

interface CountOptions extends InputOptions, GroupOptions {
  readonly bytes?: true;
  readonly json?: true;
}

/** The counts of one input. */
interface Counted {
  readonly name: string;
  /** Entries, or bytes with --bytes. */
  readonly amount: number;
  /** Only for a database's table, whose entries are versions. */
  readonly deletions?: number;
}

export function addCount(program: Command): void {
  const command = program
    .command('count')
    .summary('count entries, or the bytes that they take')
    .description(
      'Prints the number of entries that scan would print: all, or those in a range of keys. Several INPUTs get a line each, and a line with the sum. In a table of a database, every version counts, and so does every deletion.\n' +
        'With --bytes, prints how many bytes of the files the keys take, with all versions. Each block is divided among its entries by their sizes, and index and filters are divided in proportion, so the bytes of all keys add up to the size of the files. This reads only the indexes of tables, and the blocks at the ends of ranges.',
    )
    .argument('<input...>', INPUTS);
  addGroupOptions(addRangeOptions(command), 'the count')
    .option('--bytes', 'count the bytes of files instead of entries')
    .option('--hex', 'bounds, prefixes and separator are in hexadecimal')
    .option('--json', 'print one JSON object per input, or per prefix');
  addRemoteOptions(addPluginOptions(addDamageOption(command)));
  addKeyFormOptions(command)
    .addHelpText(
      'after',
      `
With --prefix, groups start after the prefix: --by-prefix N takes the next N
bytes, and --by-separator the next part. The largest group comes first. TEXT at
the very beginning of a key does not end its group: with --by-separator !, the
key !users!42 is in the group !users!.
${BUCKET_HELP}
Examples:
  bloom count capitals.ldb
  bloom count path/to/database --prefix user/
  bloom count path/to/database --by-separator /
  bloom count --bytes path/to/database --by-separator / --limit 20
  bloom count --bytes *.ldb --by-prefix 4 --hex`,
    )
    .action(count);
}

async function count(paths: readonly string[], options: CountOptions): Promise<void> {
  const groups = new PrefixGroups(options);
  const { bytes, json, hex, limit } = options;
  const member = bytes ? 'bytes' : 'entries';
  const lines = new Lines();
  const sums = new GroupSums();
  let sum = 0;
  for (const path of paths) {
    const tracing = await tracingFor(options);
    const { name, amount, deletions } = await withInput(path, { ...options, tracing }, async (input) => {
      const found = bytes ? await bytesIn(input, groups, sums, options) : await entriesIn(path, input, groups, sums, options);
      tracing?.report(found.name, input.kind === 'database' ? input.file.database.stats : openTable(input.file).stats);
      return found;
    });
    sum += amount;
    if (groups.isGrouped) continue;
    if (json) await lines.json({ input: name, [member]: amount, ...(deletions !== undefined && { deletions }) });
    else await lines.add(paths.length === 1 ? String(amount) : `${amount}  ${name}`);
    await lines.flush();
  }
  if (groups.isGrouped) await printGroups(sums, { member, hex: hex === true, json: json === true, limit });
  else if (paths.length > 1 && !json) await lines.add(`${sum}  in all`);
  await lines.flush();
}

async function bytesIn({ kind, file }: Input, groups: PrefixGroups, sums: GroupSums, options: CountOptions): Promise<Counted> {
  const before = sums.total;
  if (kind === 'database') {
    const { path, database } = file;
    try {
      await addDatabaseBytes(file, options.damage ?? 'strict', groups.in({ name: database.describe().comparator }, (a, b) => database.compare(a, b)), sums);
    } finally {
      noteDropped(path, database.describe().dropped);
    }
  } else {
    const { comparator, isSearchable } = file;
    noteAssumption(file, options);
    await addTableBytes(file, groups.in(isSearchable ? comparator : undefined, (a, b) => comparator.compare(a, b)), sums);
  }
  return { name: file.path, amount: sums.total - before };
}

async function entriesIn(given: string, { kind, file }: Input, groups: PrefixGroups, sums: GroupSums, options: CountOptions): Promise<Counted> {
  if (kind === 'database') {
    const { path, database } = file;
    const ordered = groups.in({ name: database.describe().comparator }, (a, b) => database.compare(a, b));
    try {
      return { name: path, amount: await countOf(database.keys(ordered.range), keptBy(groups, ordered, sums)) };
    } finally {
      noteDropped(path, database.describe().dropped);
    }
  }
  const { path, comparator, isSearchable, isInternal } = file;
  const ordered = groups.in(isSearchable ? comparator : undefined, (a, b) => comparator.compare(a, b));
  const keeps = keptBy(groups, ordered, sums);
  noteAssumption(file, options);
  noteDatabase(given);
  if (!isInternal) {
    let amount = 0;
    for await (const batch of openTable(file).batches(ordered.range)) {
      if (keeps === undefined) amount += batch.length;
      else for (let i = 0; i < batch.length; i++) if (keeps(batch.key(i))) amount++;
    }
    return { name: path, amount };
  }
  const table = await openDatabaseTable(file);
  let deletions = 0;
  const amount = await countOf<DatabaseEntry>(table.entries(ordered.range), (entry) => {
    if (keeps?.(entry.key) === false) return false;
    if (entry.kind === 'deletion') deletions++;
    return true;
  });
  return { name: path, amount, deletions };
}

/** Returns whether a key is wanted, and counts it in its group; undefined if all keys are wanted and there are no groups. */
function keptBy({ isGrouped }: PrefixGroups, { keeps, of }: OrderedGroups, sums: GroupSums): ((key: Uint8Array) => boolean) | undefined {
  if (!isGrouped) return keeps;
  return (key) => {
    const group = of(key);
    if (group !== undefined) sums.add(group, 1);
    return group !== undefined;
  };
}

/** Counts entries. It makes no promise per entry if `steps` is synchronous. */
async function countOf<T>(steps: Iterable<T> | AsyncIterable<T>, keeps: ((step: T) => boolean) | undefined): Promise<number> {
  let found = 0;
  const take = (step: T): void => {
    if (keeps?.(step) !== false) found++;
  };
  if (Symbol.asyncIterator in steps) for await (const step of steps) take(step);
  else for (const step of steps) take(step);
  return found;
}
