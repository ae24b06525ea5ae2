import { counted } from '@bloom/report';
import type { Command } from 'commander';
import { Failure } from '../failure.js';
import { boundsOf } from '../inputs/key-range.js';
import { inputStat } from '../inputs/input.js';
import { shownName } from '../inputs/location.js';
import { MergingThread, mergeTables } from '../inputs/merging-thread.js';
import { addKeyFormOptions, type KeyFormOptions } from '../inputs/opened-table.js';
import { haveInternalKeys, openFile, type OpenedFile, tablesNamed } from '../inputs/opened-file.js';
import { addHeaderOption, type RemoteOptions } from '../inputs/opened-source.js';
import { nameOfFile } from '../inputs/standard-input.js';
import { type WrittenTable } from '../outputs/output-tables.js';
import { Progress } from '../outputs/progress.js';
import { addSummaryOption, printSummary, type SummaryOptions } from '../outputs/summary.js';
import { addOutputOptions, addTableOptions, internalOptions, tableBuilderOptions, type TableOptions } from '../outputs/table-options.js';
import { mustBeWritableTables } from '../outputs/writable-output.js';
import { writeTables } from '../outputs/written-entries.js';
import { loadPlugins } from '../plugins/plugin-options.js';
import { outputFailure, tableSummary } from './build.js';

interface MergeOptions extends TableOptions, KeyFormOptions, RemoteOptions, SummaryOptions {
  readonly output: string;
  readonly files?: string;
  readonly maxTableSize?: number;
  readonly gte?: string;
  readonly lt?: string;
  readonly hex?: true;
}

export function addMerge(program: Command): void {
  const command = program
    .command('merge')
    .summary('merge tables into one')
    .description('Writes the entries of several tables to one. If several tables have the same key, the entry of the first one is kept: put the newest first.')
    .argument('[table...]', 'the tables, or URLs of them, the newest first; - is standard input')
    .requiredOption('-o, --output <table>', 'the table to write')
    .option('--files <list>', 'a file with the names of further tables, one per line, the newest first; - is standard input');
  addKeyFormOptions(addHeaderOption(addTableOptions(command)), false)
    .option('--gte <key>', 'only KEY and keys after it')
    .option('--lt <key>', 'only keys before KEY')
    .option('--hex', 'the keys of --gte and --lt are in hexadecimal, as bloom bulk split prints them');
  addSummaryOption(addOutputOptions(command))
    .addHelpText(
      'after',
      `
Tables of a database keep all versions of a key, and so does the new table.

Examples:
  bloom merge new.ldb old.ldb -o all.ldb
  ls -t *.ldb | bloom merge --files - -o ../all.ldb`,
    )
    .action(merge);
}

async function merge(paths: readonly string[], options: MergeOptions): Promise<void> {
  const started = performance.now();
  const { output, maxTableSize } = options;
  const names = tablesNamed(paths, options);
  if (names.length === 0) throw new Failure('no tables given: pass tables, or a file with their names with --files');
  if (names.filter((name) => name === '-').length > (options.files === '-' ? 0 : 1)) throw new Failure('stdin can be read only once: use files for the others');
  const plugins = await loadPlugins(options);
  const range = boundsOf(options, plugins.comparator);
  mustBeWritableTables(output, maxTableSize, []);
  const files: OpenedFile[] = [];
  let thread: MergingThread | undefined;
  try {
    for (const name of names) files.push(await openFile(name, options));
    const list = options.files === undefined ? [] : [{ name: nameOfFile(options.files), stat: inputStat(options.files) }];
    mustBeWritableTables(output, maxTableSize, [...files, ...list]);
    // The thread starts while keys are sampled.
    thread = MergingThread.start(files);
    const isInternal = options.internal ?? (await haveInternalKeys(files, plugins));
    const tableOptions = isInternal ? internalOptions(tableBuilderOptions(options, plugins)) : tableBuilderOptions(options, plugins);
    const source = await mergeTables({ files, plugins: options, isInternal, range }, thread);
    const progress = new Progress('merging', 'entries', undefined, options.quiet !== true);
    let tables: readonly WrittenTable[];
    try {
      tables = await writeTables(source, output, tableOptions, maxTableSize, { onEntries: (entries) => progress.update(entries) });
    } catch (error) {
      throw outputFailure(output, error);
    } finally {
      progress.stop();
      source.close();
    }
    const { text, figures } = tableSummary(tables, options, started);
    await printSummary(options, `${counted(files.length, 'table')} merged; ${text}`, { inputs: names.map(shownName), ...figures });
  } finally {
    thread?.close();
    for (const file of files) file.close();
  }
}
