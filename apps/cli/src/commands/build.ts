import { dirname } from 'node:path';
import { count, counted } from '@bloom/report';
import type { TableBuilderOptions } from '@bloom/sstable';
import { type Command, Option } from 'commander';
import { Failure } from '../failure.js';
import type { InputForm } from '../formats/decoders.js';
import { formatHelp, type FormatName, formatNames } from '../formats/format.js';
import { byteSize } from '../inputs/byte-size.js';
import { DecodedInputs } from '../inputs/decoded-inputs.js';
import { EntrySorter } from '../inputs/entry-sorter.js';
import { bytesOf, findInputs, type NamedInput } from '../inputs/input.js';
import { interruptible, unlessAborted } from '../interruption.js';
import { note } from '../outputs/output.js';
import { createOutput, listName, type WrittenTable } from '../outputs/output-tables.js';
import { Progress } from '../outputs/progress.js';
import { addSummaryOption, printSummary, secondsSince, type SummaryOptions } from '../outputs/summary.js';
import { addTableOptions, tableBuilderOptions, type TableOptions } from '../outputs/table-options.js';
import { mustBeWritable, writingFailure } from '../outputs/table-to-write.js';
import { writeEntries } from '../outputs/written-entries.js';
import { loadPlugins, type Plugins } from '../plugins/plugin-options.js';

/** The options about the format of inputs. */
export interface InputOptions {
  readonly format: FormatName;
  readonly hex?: true;
}

interface BuildOptions extends TableOptions, InputOptions, SummaryOptions {
  readonly output: string;
  readonly sort?: true;
  readonly memory: number;
  readonly maxTableSize?: number;
}

/** Bytes of entries that --sort keeps in memory by default. */
const SORT_BYTES = 256 * 2 ** 20;

export function addBuild(program: Command): void {
  const command = program
    .command('build')
    .summary('write a table')
    .description(
      'Writes a table of the entries in the INPUTs, one after another; a dash is standard input.\n' +
        'The table gets its name only when it is completely on disk.',
    )
    .argument('<input...>', 'the entries')
    .requiredOption('-o, --output <table>', 'the table to write');
  addInputOptions(command);
  addTableOptions(command)
    .option('--sort', 'accept keys in any order, and keep the last value of each key')
    .addOption(
      new Option('--memory <bytes>', 'for --sort: how many bytes of entries to keep in memory; what exceeds them is sorted in temporary files beside the output')
        .default(SORT_BYTES, '256MiB')
        .argParser(byteSize(2 ** 20)),
    )
    .addOption(
      new Option('--max-table-size <bytes>', 'write numbered tables, each of which ends at so many bytes of data, and a list of their names').argParser(
        byteSize(1),
      ),
    )
    .option('-q, --quiet', 'print only errors to standard error');
  addSummaryOption(command)
    .addHelpText(
      'after',
      `${formatHelp()}
Without --sort, keys must ascend by their bytes, or by the order of
--comparator, and the inputs are never held in memory.

With --max-table-size, -o words.ldb writes words-000001.ldb and so on, and their
names to words.list.

Examples:
  bloom build capitals.tsv -o capitals.ldb
  bloom build /usr/share/dict/words -f words --sort -o words.ldb
  bloom build events.jsonl -f jsonl --bits-per-key 16 -o events.ldb
  bloom build monday.tsv tuesday.tsv --sort --policy ribbon -o week.ldb`,
    )
    .action(build);
}

/** Adds the options about the format of inputs. */
export function addInputOptions(command: Command): Command {
  return command
    .addOption(new Option('-f, --format <format>', 'the format of the input').choices(formatNames).default('tsv'))
    .option('--hex', 'keys and values are in hexadecimal, as scan --hex prints them');
}

/** How the inputs are written. @throws Failure for options that do not go together. */
export function inputForm({ format, hex }: InputOptions): InputForm {
  if (hex && (format === 'base64' || format === 'kv')) throw new Failure(`--hex is not for ${format}`);
  return { format, hex: hex === true };
}

async function build(paths: readonly string[], options: BuildOptions): Promise<void> {
  const started = performance.now();
  const form = inputForm(options);
  const inputs = findInputs(paths);
  for (const { stat } of inputs) mustBeWritable(options.output, stat);
  const plugins = await loadPlugins(options);
  const work = new Build(inputs, form, options, plugins, tableBuilderOptions(options, plugins));
  const tables = await interruptible((signal) => work.run(signal));
  const { replaced } = work;
  if (replaced > 0 && !options.quiet && !options.json) note(`${paths.length === 1 ? (paths[0] === '-' ? 'standard input' : paths[0]!) : `${paths.length} inputs`}: ${replacedText(replaced)}`);
  const { text, figures } = tableSummary(tables, options, started);
  await printSummary(options, text, { ...figures, replaced });
}

class Build {
  /** How many entries were replaced by later ones with the same key. */
  replaced = 0;
  readonly #inputs: readonly NamedInput[];
  readonly #form: InputForm;
  readonly #options: BuildOptions;
  readonly #plugins: Plugins;
  readonly #tableOptions: TableBuilderOptions;

  constructor(inputs: readonly NamedInput[], form: InputForm, options: BuildOptions, plugins: Plugins, tableOptions: TableBuilderOptions) {
    this.#inputs = inputs;
    this.#form = form;
    this.#options = options;
    this.#plugins = plugins;
    this.#tableOptions = tableOptions;
  }

  async run(signal: AbortSignal): Promise<readonly WrittenTable[]> {
    const byteLength = bytesOf(this.#inputs);
    const reading = new Progress('reading', 'bytes', byteLength, this.#options.quiet !== true);
    const inputs = new DecodedInputs(this.#inputs, this.#form, (bytesRead) => {
      reading.update(bytesRead);
    });
    try {
      return this.#options.sort ? await this.#sorted(inputs, reading, signal) : await this.#inOrder(inputs, signal);
    } catch (error) {
      throw outputFailure(this.#options.output, error);
    } finally {
      reading.stop();
      inputs.close();
    }
  }

  async #inOrder(inputs: DecodedInputs, signal: AbortSignal): Promise<readonly WrittenTable[]> {
    const { output, maxTableSize } = this.#options;
    const out = await createOutput(output, this.#tableOptions, maxTableSize);
    try {
      await writeEntries(inputs, out, signal, { failureOf: (_, i) => inputs.orderProblem(i, this.#plugins.comparator) });
      return await out.finish(signal);
    } finally {
      await out.abandon();
    }
  }

  async #sorted(inputs: DecodedInputs, reading: Progress, signal: AbortSignal): Promise<readonly WrittenTable[]> {
    const { output, maxTableSize, memory } = this.#options;
    const sorter = new EntrySorter({ memoryBytes: memory, folder: dirname(output), comparator: this.#plugins.comparator, plugins: this.#options });
    let writing: Progress | undefined;
    try {
      for (;;) {
        const batch = await unlessAborted(inputs.next(), signal);
        if (batch === undefined) break;
        sorter.add(batch);
      }
      reading.stop();
      const source = await sorter.sorted();
      const out = await createOutput(output, this.#tableOptions, maxTableSize);
      try {
        const shown = (writing = new Progress('writing', 'entries', sorter.length, this.#options.quiet !== true));
        await writeEntries(source, out, signal, { onEntries: (entries) => shown.update(entries) });
        this.replaced = sorter.length - out.entries;
        return await out.finish(signal);
      } finally {
        source.close();
        await out.abandon();
      }
    } finally {
      writing?.stop();
      sorter.close();
    }
  }
}

/** Turns an error of writing tables into a failure. A RangeError is that of an input that exceeds a limit of the builder. */
export function outputFailure(output: string, error: unknown): unknown {
  return error instanceof RangeError ? new Failure(`${output}: ${error.message}`, { cause: error }) : writingFailure(output, error);
}

function replacedText(replaced: number): string {
  return replaced === 1
    ? '1 entry was replaced by a later one with the same key'
    : `${count(replaced)} entries were replaced by later ones with the same key`;
}

/** What was written, and how long it took: for people, and for JSON. */
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
