import { type BigIntStats, statSync } from 'node:fs';
import { bytewiseComparator, CorruptionError, type TableBuilderOptions } from '@bloom/sstable';
import { encodeInternalKey } from '@bloom/sstable/database';
import { type Command, Option } from 'commander';
import { Failure } from '../failure.js';
import { EntryBatch } from '../formats/entry-batch.js';
import { isHttpError } from '../http-problem.js';
import { type BatchSource, mapped } from '../inputs/batch-source.js';
import { addDamageOption, mustBeForFolder } from '../inputs/folder-argument.js';
import { BUCKET_HELP, INPUT } from '../inputs/input-help.js';
import { inputStat } from '../inputs/input.js';
import { shownName } from '../inputs/location.js';
import { mergeTables } from '../inputs/merging-thread.js';
import { addKeyFormOptions } from '../inputs/opened-table.js';
import { wholeNumber } from '../inputs/whole-number.js';
import { hasInternalKeys, openTableFile } from '../inputs/opened-file.js';
import { withDatabase } from '../inputs/opened-folder.js';
import { type InputOptions, isDatabase, recognised } from '../inputs/opened-input.js';
import { addHeaderOption } from '../inputs/opened-source.js';
import { databaseEntries, withVisibleOf } from '../inputs/visible-entries.js';
import { Progress } from '../outputs/progress.js';
import { addSummaryOption, printSummary, type SummaryOptions } from '../outputs/summary.js';
import { addOutputOptions, addTableOptions, internalOptions, policyOf, tableBuilderOptions, type TableOptions } from '../outputs/table-options.js';
import { mustBeOutside, mustBeWritableTables } from '../outputs/writable-output.js';
import { writeTables } from '../outputs/written-entries.js';
import { loadPlugins } from '../plugins/plugin-options.js';
import { outputFailure, tableSummary } from './build.js';

type Keys = 'plain' | 'database';

interface ConvertOptions extends TableOptions, InputOptions, SummaryOptions {
  readonly output: string;
  readonly keys?: Keys;
  readonly sequence?: number;
  readonly maxTableSize?: number;
}

export function addConvert(program: Command): void {
  const command = program
    .command('convert')
    .summary('rewrite a table or a folder as a new table')
    .description(
      "Writes the entries of a table to a new table with other compression, blocks, filters or keys. For a database's folder, writes the newest value of each key, with plain keys.",
    )
    .argument('<input>', INPUT)
    .requiredOption('-o, --output <table>', 'the table to write');
  addKeyFormOptions(addHeaderOption(addDamageOption(addTableOptions(command))), false)
    .addOption(
      new Option('--keys <form>', "plain: the newest value of each key in a database's table; database: keys with a sequence and a type").choices(['plain', 'database']),
    )
    .addOption(new Option('--sequence <n>', 'for --keys database: the sequence of the first entry; each later entry has the next one (default: 1)').argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER)));
  addSummaryOption(addOutputOptions(command))
    .addHelpText(
      'after',
      `${BUCKET_HELP}
Examples:
  bloom convert words.ldb -o smaller.ldb --compression zlib --block-size 64K
  bloom convert words.ldb -o ribbon.ldb --policy ribbon --filter-range 1MiB
  bloom convert path/to/database -o all.ldb`,
    )
    .action(convert);
}

async function convert(path: string, options: ConvertOptions): Promise<void> {
  const { keys } = options;
  if (options.sequence !== undefined && keys !== 'database') throw new Failure('--sequence is for --keys database');
  const plugins = await loadPlugins(options);
  const plain = tableBuilderOptions(options, plugins);
  if (path === '') throw new Failure('the name of the input is empty');
  const location = await recognised(path, options);
  if (isDatabase(location)) {
    mustBeWritableTables(options.output, options.maxTableSize, [{ name: shownName(path), stat: inputStatOf(path, location) }]);
    if (location.kind === 'folder') mustBeOutside(location.path, options.output);
    await withDatabase(location, options, (file) => {
      const visible = databaseEntries(file);
      const { comparator } = visible;
      return written(shownName(path), visible, { ...plain, comparator, filterPolicy: policyOf(options, plugins, comparator) }, options);
    });
    return;
  }
  mustBeForFolder(shownName(path), '--damage', options.damage);
  const file = await openTableFile(location, options);
  try {
    mustBeWritableTables(options.output, options.maxTableSize, [file]);
    const isInternal = options.internal ?? (await hasInternalKeys(file, plugins));
    const staysInternal = isInternal && keys !== 'plain';
    if (staysInternal && keys === 'database') throw new Failure(`${file.name}: it already has internal keys of a database`);
    if (isInternal && !staysInternal) {
      await withVisibleOf(file, options, true, (visible) => written(shownName(path), visible, plain, options));
      return;
    }
    const source = await mergeTables({ files: [file], plugins: options, isInternal });
    await written(shownName(path), source, staysInternal ? internalOptions(plain) : plain, options);
  } finally {
    file.close();
  }
}

/** The file that a database is read from; undefined for a remote one. */
function inputStatOf(path: string, location: Awaited<ReturnType<typeof recognised>>): BigIntStats | undefined {
  if (path === '-') return inputStat(path);
  return 'path' in location ? statSync(location.path, { bigint: true }) : undefined;
}

/** Writes the entries of a source, and closes the source. */
async function written(input: string, given: BatchSource, plain: TableBuilderOptions, options: ConvertOptions): Promise<void> {
  const started = performance.now();
  const { output, keys, sequence = 1, maxTableSize } = options;
  const makesDatabase = keys === 'database';
  const source = makesDatabase ? withSequences(given, BigInt(sequence)) : given;
  const tableOptions = makesDatabase ? internalOptions({ ...plain, comparator: plain.comparator ?? bytewiseComparator }) : plain;
  const progress = new Progress('converting', 'entries', undefined, options.quiet !== true);
  try {
    const tables = await writeTables(source, output, tableOptions, maxTableSize, { onEntries: (entries) => progress.update(entries) });
    progress.stop();
    const { text, figures } = tableSummary(tables, options, started);
    await printSummary(options, text, { input, ...figures });
  } catch (error) {
    // The input's failures name its file.
    throw error instanceof CorruptionError || isHttpError(error) ? error : outputFailure(output, error);
  } finally {
    progress.stop();
    source.close();
  }
}

/** Entries with plain keys as values of a database, with ascending sequences that start at `first`. */
function withSequences(source: BatchSource, first: bigint): BatchSource {
  let sequence = first;
  return mapped(source, (plain) => {
    const internal = new EntryBatch(plain.bytes.length + 8 * plain.length, plain.length);
    for (let i = 0; i < plain.length; i++) internal.add(encodeInternalKey({ userKey: plain.key(i), sequence: sequence++, type: 1 }), plain.value(i), 0);
    return internal;
  });
}
