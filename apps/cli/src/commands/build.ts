import { dirname } from 'node:path';
import { count, counted } from '@bloom/report';
import { type Command, Option } from 'commander';
import { Failure } from '../failure.js';
import type { InputForm } from '../formats/decoders.js';
import { formatHelp, type FormatName, formatNames } from '../formats/format.js';
import { versionOf } from '../formats/version-input.js';
import { type BatchSource, mapped } from '../inputs/batch-source.js';
import { byteSize } from '../inputs/byte-size.js';
import { DecodedInputs } from '../inputs/decoded-inputs.js';
import { EntrySorter } from '../inputs/entry-sorter.js';
import { bytesOf, findInputs, type NamedInput } from '../inputs/input.js';
import { nameOfFile } from '../inputs/standard-input.js';
import { interruptible, unlessAborted } from '../interruption.js';
import { note } from '../outputs/output.js';
import { OutputTables, type WrittenTable } from '../outputs/output-tables.js';
import { Progress } from '../outputs/progress.js';
import { addSummaryOption, printSummary, secondsSince, type SummaryOptions } from '../outputs/summary.js';
import { addOutputOptions, addTableOptions, internalOptions, tableBuilderOptions, type TableOptions } from '../outputs/table-options.js';
import { listName, mustBeWritableTables, writingFailure } from '../outputs/writable-output.js';
import { writeEntries } from '../outputs/written-entries.js';
import { loadPlugins, type Plugins } from '../plugins/plugin-options.js';

/** The options about the format of inputs. */
export interface InputOptions {
  readonly format: FormatName;
  readonly hex?: true;
  readonly versions?: true;
}

interface BuildOptions extends TableOptions, InputOptions, SummaryOptions {
  readonly output: string;
  readonly sort?: true;
  readonly memory: number;
  readonly maxTableSize?: number;
}

/** Bytes of entries that are kept in memory by default while they are sorted. */
export const SORT_BYTES = 256 * 2 ** 20;

export function addBuild(program: Command): void {
  const command = program
    .command('build')
    .summary('write a table')
    .description(
      'Writes a table from the entries in the INPUTs, which are read one after another. The table gets its name only when it is completely on disk.',
    )
    .argument('<input...>', 'the entries; - is standard input')
    .requiredOption('-o, --output <table>', 'the table to write');
  addInputOptions(command);
  addTableOptions(command)
    .option('--sort', 'accept keys in any order, and keep the last value of each key')
    .option('--versions', 'make a table like those in a database: entries have a sequence and a type, as scan --all-versions prints them')
    .addOption(
      new Option('--memory <bytes>', 'for --sort: bytes of entries to keep in memory; the rest is sorted in temporary files next to the output')
        .default(SORT_BYTES, '256MiB')
        .argParser(byteSize(2 ** 20)),
    );
  addSummaryOption(addOutputOptions(command))
    .addHelpText(
      'after',
      `${formatHelp()}
Without --sort, keys must ascend by their bytes, or by the order of
--comparator, without duplicates. The inputs are then never held in memory.

With --max-table-size, -o words.ldb writes words-000001.ldb and so on, and their
names to words.list.

With --versions, tsv, hex and base64 have the columns key, sequence, type, file
and value; the file can be left out. csv and jsonl have columns and members of
these names. kv has sequence and type in the key. Without --sort, versions must
be in the order of a database: by key, then from the highest sequence down.

Examples:
  bloom build capitals.tsv -o capitals.ldb
  bloom build /usr/share/dict/words -f words --sort -o words.ldb
  bloom build events.jsonl -f jsonl --bits-per-key 16 -o events.ldb
  bloom build monday.tsv tuesday.tsv --sort --policy ribbon -o week.ldb
  bloom build versions.tsv --versions --sort -o all.ldb`,
    )
    .action(build);
}

/** Adds the options about the format of inputs. */
export function addInputOptions(command: Command): Command {
  return command
    .addOption(new Option('-f, --format <format>', 'the format of the input').choices(formatNames).default('tsv'))
    .option('--hex', 'keys and values are in hexadecimal, as scan --hex prints them');
}

/** The format of the inputs. @throws Failure for options that contradict each other. */
export function inputForm({ format, hex, versions }: InputOptions): InputForm {
  if (hex && (format === 'base64' || format === 'kv')) throw new Failure(`--hex is not for ${format}: omit it`);
  if (versions && format === 'words') throw new Failure('--versions is not for words, which are keys without types: use --format tsv');
  if (versions && format === 'raw' && !hex) throw new Failure('--versions is not for raw, where a TAB in a value looks like the end of a column: use --format tsv, or --hex');
  return { format, hex: hex === true, versions: versions === true };
}

async function build(paths: readonly string[], options: BuildOptions, command: Command): Promise<void> {
  const started = performance.now();
  if (!options.sort && command.getOptionValueSource('memory') === 'cli') throw new Failure('--memory is for --sort');
  const form = inputForm(options);
  const inputs = findInputs(paths);
  mustBeWritableTables(options.output, options.maxTableSize, inputs.map(({ path, stat }) => ({ name: nameOfFile(path), stat })));
  const plugins = await loadPlugins(options);
  const { tables, replaced } = await interruptible((signal) => written(inputs, form, options, plugins, signal));
  if (replaced > 0 && !options.quiet && !options.json) note(`${paths.length === 1 ? (paths[0] === '-' ? 'standard input' : paths[0]!) : `${paths.length} inputs`}: ${replacedText(replaced, options.versions === true)}`);
  const { text, figures } = tableSummary(tables, options, started);
  await printSummary(options, text, { ...figures, replaced });
}

interface Written {
  readonly tables: readonly WrittenTable[];
  /** The number of entries that were replaced by later ones with the same key. */
  readonly replaced: number;
}

async function written(given: readonly NamedInput[], form: InputForm, options: BuildOptions, plugins: Plugins, signal: AbortSignal): Promise<Written> {
  const { output, sort, maxTableSize, versions, quiet } = options;
  const reading = new Progress('reading', 'bytes', bytesOf(given), quiet !== true);
  const inputs = new DecodedInputs(given, form, (bytesRead) => {
    reading.update(bytesRead);
  });
  try {
    const plain = tableBuilderOptions(options, plugins);
    const create = (): Promise<OutputTables> => OutputTables.create(output, versions ? internalOptions(plain) : plain, maxTableSize);
    const source = versions ? numberedVersions(inputs) : inputs;
    if (sort) return await writtenSorted(source, create, given, options, plugins, reading, signal);
    const out = await create();
    try {
      await writeEntries(source, out, signal, { failureOf: (_, i) => inputs.orderProblem(i, { comparator: plugins.comparator, versions }) });
      return { tables: await out.finish(signal), replaced: 0 };
    } finally {
      await out.abandon();
    }
  } catch (error) {
    throw outputFailure(output, error);
  } finally {
    reading.stop();
    inputs.close();
  }
}

async function writtenSorted(
  inputs: BatchSource,
  create: () => Promise<OutputTables>,
  given: readonly NamedInput[],
  options: BuildOptions,
  { comparator }: Plugins,
  reading: Progress,
  signal: AbortSignal,
): Promise<Written> {
  const { output, memory, versions, quiet } = options;
  const sorter = new EntrySorter({ memoryBytes: memory, expectedBytes: bytesOf(given), folder: dirname(output), comparator, plugins: options, isInternal: versions });
  let writing: Progress | undefined;
  try {
    for (;;) {
      const batch = await unlessAborted(inputs.next(), signal);
      if (batch === undefined) break;
      await unlessAborted(sorter.add(batch), signal);
    }
    reading.stop();
    const source = await unlessAborted(sorter.sorted(), signal);
    const out = await create();
    try {
      const shown = (writing = new Progress('writing', 'entries', sorter.length, quiet !== true));
      await writeEntries(source, out, signal, { onEntries: (entries) => shown.update(entries) });
      const replaced = sorter.length - out.entries;
      return { tables: await out.finish(signal), replaced };
    } finally {
      source.close();
      await out.abandon();
    }
  } finally {
    writing?.stop();
    await sorter.close();
  }
}

/** Versions, each with a sequence. */
function numberedVersions(inputs: DecodedInputs): BatchSource {
  return mapped(inputs, (batch) => {
    for (let i = 0; i < batch.length; i++) {
      if (versionOf(batch.key(i)).sequence === undefined) throw inputs.failureAt(i, 'no sequence, which a table stores with each key: bloom load --versions writes what has none to a folder');
    }
    return batch;
  });
}

/** Turns an error of writing tables into a failure. A RangeError means that an input exceeds a limit of the builder. */
export function outputFailure(output: string, error: unknown): unknown {
  return error instanceof RangeError ? new Failure(`${output}: ${error.message}`, { cause: error }) : writingFailure(output, error);
}

function replacedText(replaced: number, versions: boolean): string {
  const same = versions ? 'the same key, sequence and type' : 'the same key';
  return replaced === 1
    ? `1 entry was replaced by a later one with ${same}`
    : `${count(replaced)} entries were replaced by later ones with ${same}`;
}

/** What was written and how long it took, as text and as JSON. */
export function tableSummary(
  tables: readonly WrittenTable[],
  { output, filter, maxTableSize }: Pick<BuildOptions, 'output' | 'filter' | 'maxTableSize'>,
  started: number,
): { readonly text: string; readonly figures: object } {
  const sum = (number: (table: WrittenTable) => number): number => tables.reduce((total, table) => total + number(table), 0);
  const entries = sum((table) => table.entries);
  const bytes = sum(({ byteLength }) => byteLength);
  const dataBlocks = sum((table) => table.dataBlocks);
  const filters = sum((table) => table.filters);
  const filterBytes = sum((table) => table.filterBytes);
  const seconds = secondsSince(started);
  const filterText = filter
    ? `${counted(filters, 'filter')}${entries > 0 ? ` with ${((filterBytes * 8) / entries).toFixed(1)} bits per key` : ''}`
    : 'no filter';
  const parts = [counted(entries, 'entry'), counted(bytes, 'byte'), counted(dataBlocks, 'block'), filterText];
  const isNumbered = maxTableSize !== undefined;
  const name = isNumbered ? `${listName(output)}: ${counted(tables.length, 'table')}, ` : `${output}: `;
  const files = isNumbered ? { list: listName(output), tables: tables.map((table) => ({ output: table.path, entries: table.entries, bytes: table.byteLength })) } : { output };
  return { text: `${name}${parts.join(', ')}; ${seconds.toFixed(2)} s`, figures: { ...files, entries, bytes, dataBlocks, filters, filterBytes, seconds } };
}
