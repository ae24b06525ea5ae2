import { closeSync, openSync } from 'node:fs';
import { type BulkEntry, encodePart, levelRun, merge, partName, readPublication, writeParts } from '@bloom/bulk';
import { DEFAULT_PART_BYTES, encodeMergedLevels, READ_ONCE } from '@bloom/bulk/internal';
import { counted } from '@bloom/report';
import { bytewiseComparator, MemorySource } from '@bloom/sstable';
import { DatabaseTable, DELETION, INTERNAL_KEY_TRAILER_LENGTH, MAX_SEQUENCE, VALUE } from '@bloom/sstable/database';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { formatHelp } from '../formats/format.js';
import { byteSize } from '../inputs/byte-size.js';
import { DecodedInputs } from '../inputs/decoded-inputs.js';
import { bytesOf, findInputs } from '../inputs/input.js';
import { shownName } from '../inputs/location.js';
import { boundsOf } from '../inputs/key-range.js';
import type { KeyBounds } from '../inputs/merge-order.js';
import { mergeTables } from '../inputs/merging-thread.js';
import { haveInternalKeys, openFile, type OpenedFile, tablesNamed } from '../inputs/opened-file.js';
import { addHeaderOption, type RemoteOptions } from '../inputs/opened-source.js';
import { addKeyFormOptions, type KeyFormOptions } from '../inputs/opened-table.js';
import { endsAsTable } from '../inputs/recognized-file.js';
import { several } from '../inputs/several.js';
import { STORE_HELP } from '../inputs/input-help.js';
import { storeFailure, storeOf } from '../inputs/store-argument.js';
import { interruptible, unlessAborted } from '../interruption.js';
import { Lines, note } from '../outputs/output.js';
import { Progress } from '../outputs/progress.js';
import { secondsSince } from '../outputs/summary.js';
import { addTableOptions, tableBuilderOptions, type TableOptions } from '../outputs/table-options.js';
import { knownCodecs } from '../plugins/known-plugins.js';
import { loadPlugins, type Plugins } from '../plugins/plugin-options.js';
import { addInputOptions, inputForm, type InputOptions } from './build.js';

interface PartCommandOptions extends TableOptions, InputOptions, KeyFormOptions, RemoteOptions {
  readonly output: string;
  readonly sequence: bigint;
  readonly partSize?: number;
  readonly deletions?: readonly string[];
  readonly files?: string;
  readonly levels?: readonly number[];
  readonly gte?: string;
  readonly lt?: string;
  readonly dropDeletions?: true;
  readonly quiet?: true;
}

type Entries = AsyncGenerator<readonly BulkEntry[], void, undefined>;

/** The number of a table's entries that are passed on at a time. */
const MANY = 4096;
/** The default of `writeParts`. */
const BITS_PER_KEY = 14;

export function addPart(program: Command): void {
  const command = program
    .command('part')
    .summary('write parts of a published database')
    .description(
      'Writes the entries in the INPUTs, which must be in ascending key order, as parts of a database to be published. Prints a description of each part, one JSON object per line, for bloom bulk assemble. ' +
        'If the INPUTs are tables, they are merged: put the newest first. The same entries and options give the same parts with the same names, so a task can run again, or twice at once.',
    )
    .argument('[input...]', 'the entries, or tables; - is standard input, for entries')
    .requiredOption('-o, --output <store>', 'where to write the parts: a folder, or s3://BUCKET/PREFIX')
    .addOption(new Option('--sequence <n>', 'the sequence of all entries, higher than all published ones, such as 20261123').argParser(sequenceNumber).makeOptionMandatory())
    .addOption(new Option('--part-size <bytes>', 'bytes of a part, without its filters').default(DEFAULT_PART_BYTES, '16MiB').argParser(byteSize(1, 2 ** 30)))
    .addOption(new Option('--deletions <input>', 'keys to delete, in the format of the INPUTs and in order; values are ignored; repeatable').argParser(several))
    .option('--files <list>', 'a file with the names of further tables, one per line, the newest first; - is standard input')
    .option('--gte <key>', 'of tables: only KEY and keys after it')
    .option('--lt <key>', 'of tables: only keys before KEY')
    .addOption(new Option('--levels <levels>', 'merge these levels of the published database in the STORE that INPUT names, such as 4,5').argParser(levelNumbers))
    .option('--drop-deletions', 'of tables: leave out deletions; safe only if no lower level has entries that they hide');
  addInputOptions(addKeyFormOptions(addHeaderOption(addTableOptions(command, BITS_PER_KEY)), false))
    .option('-q, --quiet', 'print only errors to standard error')
    .addHelpText(
      'after',
      `${formatHelp()}${STORE_HELP}
With tables, --hex applies to --gte and --lt, which take the keys that
bloom bulk split prints. Use the descriptions only if the command exits with 0.

Examples:
  bloom bulk part words.tsv --sequence 1 -o parts > parts.jsonl
  bloom bulk part new.tsv --deletions gone.tsv --sequence 2 -o p2 > p2.jsonl
  bloom bulk part run-*.ldb --gte 66 --lt 6d --hex --sequence 1 -o p > 2.jsonl
  bloom bulk part --levels 4,5 s3://data/words --sequence 7 -o p7 > p7.jsonl`,
    )
    .action(part);
}

function sequenceNumber(text: string): bigint {
  if (/^\d{1,17}$/.test(text) && BigInt(text) <= MAX_SEQUENCE) return BigInt(text);
  throw new InvalidArgumentError(`It must be a whole number from 0 to ${MAX_SEQUENCE}.`);
}

/** Reads levels, such as `4,5`. */
export function levelNumbers(text: string): readonly number[] {
  if (/^[1-6](?:,[1-6])*$/.test(text)) return text.split(',').map(Number);
  throw new InvalidArgumentError('It must be levels from 1 to 6 with commas between them, such as 4,5.');
}

async function part(given: readonly string[], options: PartCommandOptions): Promise<void> {
  const started = performance.now();
  const names = tablesNamed(given, options);
  if ([...names, ...(options.deletions ?? []), options.files].filter((name) => name === '-').length > 1) throw new Failure('stdin can be read only once: use files for the others');
  const { bitsPerKey, filter, policy = [], sequence, partSize } = options;
  const plugins = await loadPlugins(options);
  const { filterPolicy, ...tableOptions } = tableBuilderOptions(options, plugins);
  // If omitted, parts have their own default.
  const isPolicyGiven = !filter || bitsPerKey !== undefined || policy.length > 0;
  const partOptions = { ...tableOptions, ...(isPolicyGiven && { filterPolicy }), sequence, partBytes: partSize };
  const store = storeOf(options.output);
  const input = await inputOf(names, options, plugins);
  const written = { parts: 0, entries: 0, bytes: 0 };
  const lines = new Lines();
  // Set first: the program ends while it prints if nobody reads on, and the list of parts is then incomplete.
  process.exitCode = EXIT.failure;
  try {
    await interruptible(async (signal) => {
      if (input.header !== undefined) {
        await lines.json(JSON.parse(input.header) as object);
        await lines.flush();
      }
      for await (const made of writeParts(store, input.entries(signal), { ...partOptions, signal })) {
        written.parts++;
        written.entries += made.entries;
        written.bytes += made.byteLength;
        await lines.json(JSON.parse(encodePart(made)) as object);
        await lines.flush();
      }
    });
  } catch (error) {
    const failure = input.failureOf(error);
    throw failure instanceof RangeError ? new Failure(`${options.output}: ${failure.message}`, { cause: failure }) : storeFailure(failure);
  } finally {
    input.close();
  }
  process.exitCode = EXIT.ok;
  if (options.quiet) return;
  note(`${options.output}: ${counted(written.parts, 'part')}, ${counted(written.entries, 'entry')}, ${counted(written.bytes, 'byte')}; ${secondsSince(started).toFixed(2)} s`);
}

/** The entries to write. */
interface PartInput {
  /** The line that comes before the descriptions: the levels that are merged. */
  readonly header?: string;
  entries(signal: AbortSignal): Entries;
  close(): void;
  /** The failure to throw instead of an error of writing. */
  failureOf(error: unknown): unknown;
}

async function inputOf(names: readonly string[], options: PartCommandOptions, plugins: Plugins): Promise<PartInput> {
  if (names.length === 0) throw new Failure('no input given: pass files with entries, tables, or - for stdin');
  const range = boundsOf(options, plugins.comparator);
  const hasTableOptions = range.gte !== undefined || range.lt !== undefined || options.dropDeletions === true || options.internal !== undefined;
  if (options.levels !== undefined) {
    if (names.length !== 1) throw new Failure('--levels is for one STORE');
    if (options.internal !== undefined) throw new Failure('--internal and --no-internal are for tables');
    if (options.deletions !== undefined) throw new Failure('--deletions is for entries: publish a delivery with the deletions first');
    if (options.dropDeletions) throw new Failure('--drop-deletions is for tables: a merge of levels drops deletions where no lower level needs them');
    return levelInput(names[0]!, options.levels, range, options, plugins);
  }
  const tables = names.filter(isTable);
  if (tables.length === 0) {
    if (hasTableOptions) throw new Failure('--gte, --lt, --internal, --no-internal and --drop-deletions are for tables');
    return decodedInput(names, options, plugins);
  }
  const entries = names.find((name) => !isTable(name));
  if (entries !== undefined) throw new Failure(`${shownName(tables[0]!)} is a table and ${shownName(entries)} is not: pass only tables, or only entries`);
  if (options.deletions !== undefined) throw new Failure('--deletions is for entries: tables of a database have their own deletions');
  return tableInput(names, range, options, plugins);
}

/** Whether a name or the last bytes of a file are those of a table. */
function isTable(name: string): boolean {
  if (/^https?:/i.test(name)) return true;
  if (name === '-') return false;
  if (/\.(?:ldb|sst)$/.test(name)) return true;
  try {
    const file = openSync(name, 'r');
    try {
      return endsAsTable(file);
    } finally {
      closeSync(file);
    }
  } catch {
    // The code that opens it reports why it cannot be opened.
    return false;
  }
}

function decodedInput(names: readonly string[], options: PartCommandOptions, plugins: Plugins): PartInput {
  const form = inputForm(options);
  const inputs = findInputs([...names, ...(options.deletions ?? [])]);
  const values = inputs.slice(0, names.length);
  const reading = new Progress('reading', 'bytes', bytesOf(values), options.quiet !== true);
  const given = new DecodedInputs(values, form, (bytesRead) => {
    reading.update(bytesRead);
  });
  const deleted = new DecodedInputs(inputs.slice(names.length), form, () => undefined);
  const { comparator = bytewiseComparator } = plugins;
  let sizes: readonly [number, number] = [0, 0];
  async function* entries(signal: AbortSignal): Entries {
    let batch = await unlessAborted(given.next(), signal);
    let deletions = await unlessAborted(deleted.next(), signal);
    let i = 0;
    let n = 0;
    // A batch is valid only until the next one is requested, so its entries are passed on before that.
    while (batch !== undefined || deletions !== undefined) {
      const some: BulkEntry[] = [];
      while ((batch === undefined || i < batch.length) && (deletions === undefined || n < deletions.length)) {
        const order = batch === undefined ? 1 : deletions === undefined ? -1 : comparator.compare(batch.key(i), deletions.key(n));
        if (order === 0) throw new Failure(`${options.deletions!.join(', ')}: a key to delete is also one of the entries: 0x${Buffer.from(batch!.key(i)).toString('hex')}`);
        if (order < 0) {
          some.push([batch!.key(i), batch!.value(i)]);
          i++;
        } else {
          some.push([deletions!.key(n), undefined]);
          n++;
        }
      }
      sizes = [batch?.length ?? 0, deletions?.length ?? 0];
      if (some.length > 0) yield some;
      if (batch !== undefined && i >= batch.length) {
        batch = await unlessAborted(given.next(), signal);
        i = 0;
      }
      if (deletions !== undefined && n >= deletions.length) {
        deletions = await unlessAborted(deleted.next(), signal);
        n = 0;
      }
    }
  }
  return {
    entries,
    close() {
      reading.stop();
      given.close();
      deleted.close();
    },
    failureOf(error) {
      if (!isOrderError(error)) return error;
      for (const [which, source] of [given, deleted].entries()) {
        for (let at = 0; at < sizes[which]!; at++) {
          const problem = source.orderProblem(at, { comparator: plugins.comparator, sort: 'bloom build --sort' });
          if (problem !== undefined) return problem;
        }
      }
      return error;
    },
  };
}

function isOrderError(error: unknown): boolean {
  return error instanceof RangeError && error.message.startsWith('key must be after');
}

const wrongOrder = (error: unknown): unknown =>
  isOrderError(error) || (error instanceof RangeError && error.message.includes('is not in ascending order'))
    ? new Failure('the keys of a table are in another order: pass --comparator; bloom verify shows which tables are in order', { cause: error })
    : error;

async function tableInput(names: readonly string[], range: KeyBounds, options: PartCommandOptions, plugins: Plugins): Promise<PartInput> {
  const files: OpenedFile[] = [];
  const close = (): void => {
    for (const file of files) file.close();
  };
  try {
    for (const name of names) files.push(await openFile(name, options));
    const isInternal = options.internal ?? (await haveInternalKeys(files, plugins));
    if (options.dropDeletions && !isInternal) throw new Failure('--drop-deletions is for tables of a database: tables with plain keys have no deletions');
    const source = await mergeTables({ files, plugins: options, isInternal, range });
    const progress = new Progress('merging', 'entries', undefined, options.quiet !== true);
    return {
      async *entries(signal) {
        const newest = isInternal ? newestVersions(plugins, options.dropDeletions === true) : undefined;
        let entries = 0;
        for (let batch = await unlessAborted(source.next(), signal); batch !== undefined; batch = await unlessAborted(source.next(), signal)) {
          for (let start = 0; start < batch.length; start += MANY) {
            const some: BulkEntry[] = [];
            const end = Math.min(batch.length, start + MANY);
            for (let i = start; i < end; i++) {
              if (newest === undefined) some.push([batch.key(i), batch.value(i)]);
              else newest(batch.key(i), batch.value(i), some);
            }
            yield some;
          }
          progress.update((entries += batch.length));
        }
      },
      close() {
        progress.stop();
        source.close();
        close();
      },
      failureOf: wrongOrder,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** Adds the newest version of each key of a database's tables, which is the first one of the key. */
function newestVersions({ comparator = bytewiseComparator }: Plugins, dropDeletions: boolean): (stored: Uint8Array, value: Uint8Array, to: BulkEntry[]) => void {
  let last: Uint8Array | undefined;
  return (stored, value, to) => {
    const length = stored.length - INTERNAL_KEY_TRAILER_LENGTH;
    const type = stored[length];
    if (length < 0 || (type !== VALUE && type !== DELETION)) throw new Failure('a key is not an internal key of a database: --no-internal reads tables with plain keys');
    const key = stored.subarray(0, length);
    if (last !== undefined && comparator.compare(last, key) === 0) return;
    // Copied, because the batch becomes invalid when the next one is read.
    last = key.slice();
    if (type === VALUE) to.push([key, value]);
    else if (!dropDeletions) to.push([key, undefined]);
  };
}

/** The merge of levels of a published database. */
async function levelInput(name: string, levels: readonly number[], range: KeyBounds, options: PartCommandOptions, plugins: Plugins): Promise<PartInput> {
  const store = storeOf(name);
  const { comparator = bytewiseComparator } = plugins;
  const publication = await readPublication(store).catch((error: unknown) => {
    throw storeFailure(error);
  });
  if (publication === undefined) throw new Failure(`${store.name} has no CURRENT`);
  if (publication.comparator !== comparator.name) throw new Failure(`the database in ${store.name} is sorted by the comparator ${publication.comparator}: pass it with --comparator`);
  const sorted = [...new Set(levels)].sort((a, b) => a - b);
  for (const level of sorted) if (publication.levels[level]!.length === 0) throw new Failure(`level ${level} has no parts`);
  const whole = publication.levels.flatMap((parts, level) => (parts.length > 0 && level >= sorted[0]! && level <= sorted.at(-1)! ? [level] : []));
  if (whole.length > sorted.length) throw new Failure(`between the levels ${sorted.join(' and ')} there are others with parts: merge neighbouring levels, such as --levels ${whole.join(',')}`);
  const runs = sorted.map((level) =>
    levelRun(
      publication.levels[level]!,
      async ({ number }, signal) => {
        const file = partName(number);
        const found = await store.get(file, signal);
        if (found === undefined) throw new Failure(`${store.name} does not have ${file}`);
        return DatabaseTable.open(new MemorySource(found.bytes, file), { ...READ_ONCE, comparator, codecs: knownCodecs(plugins) });
      },
      comparator,
    ),
  );
  const merged = sorted.flatMap((level) => publication.levels[level]!);
  const isLowest = publication.levels.slice(sorted.at(-1)! + 1).every((parts) => parts.length === 0);
  return {
    header: await encodeMergedLevels(merged),
    entries: (signal) => merge(runs, { ...range, comparator, dropDeletions: isLowest, signal }),
    close: () => undefined,
    failureOf: wrongOrder,
  };
}
