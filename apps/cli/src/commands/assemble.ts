import { assemble, type Assembly, BulkError, decodePart, levelsToMerge, type Part, type PublishedState, readPublication, type Store } from '@bloom/bulk';
import type { Comparator } from '@bloom/sstable';
import { type Command, Option } from 'commander';
import { Failure } from '../failure.js';
import { nameOfFile, readWholeFile } from '../inputs/standard-input.js';
import { STORE_HELP, storeFailure, storeOf } from '../inputs/store-argument.js';
import { printJson } from '../outputs/output.js';
import { loadPlugins } from '../plugins/plugin-options.js';
import { levelNumbers } from './part.js';

interface AssembleCommandOptions {
  readonly previous?: string;
  readonly replaces?: readonly number[];
  readonly comparator?: string;
}

/** What `bloom bulk assemble` prints, and `bloom bulk publish` reads. */
export interface AssemblyLine {
  readonly manifest: string;
  /** The MANIFEST on which it is based, which must still be published; null if there must be none. */
  readonly previous: string | null;
  readonly comparator: string;
  /** A string, like all sequences. */
  readonly lastSequence: string;
  /** The level into which the parts were put. */
  readonly level: number;
  /** All parts of the database, and their bytes. */
  readonly parts: number;
  readonly bytes: number;
}

export function addAssemble(program: Command): void {
  program
    .command('assemble')
    .summary('make a database from parts')
    .description(
      'Makes a database from the parts in a STORE that the DESCRIPTIONs list. Writes the MANIFEST of the database to the STORE, and prints one JSON object for bloom bulk publish. Refuses parts that are missing, overlap or have another order. Publishes nothing.',
    )
    .argument('<store>', 'where the parts are')
    .argument('<description...>', 'files with the output of bloom bulk part; - is standard input')
    .option('--previous <store>', 'where the database is published; the parts are added to what is there, if anything')
    .addOption(new Option('--replaces <levels>', 'the parts replace these published levels, which were merged, such as 4,5').argParser(levelNumbers))
    .option('--comparator <module>', 'the order of the keys: a file or an npm package that exports a comparator; MODULE#NAME names the export')
    .addHelpText(
      'after',
      `${STORE_HELP}
Without --previous, the parts are the whole database. The command cannot detect
that the descriptions of some parts are missing.

Examples:
  bloom bulk assemble parts parts.jsonl > assembly.json
  bloom bulk assemble parts *.jsonl --previous s3://data/words > assembly.json`,
    )
    .action(assembleParts);
}

async function assembleParts(given: string, descriptions: readonly string[], options: AssembleCommandOptions): Promise<void> {
  if (options.replaces !== undefined && options.previous === undefined) throw new Failure('--replaces needs --previous, which has the levels');
  if (descriptions.filter((name) => name === '-').length > 1) throw new Failure('-: stdin can be read only once');
  const { comparator } = await loadPlugins(options);
  const store = storeOf(given);
  const published = options.previous === undefined || options.previous === given ? store : storeOf(options.previous);
  try {
    const parts = descriptions.flatMap(partsIn);
    if (parts.length === 0 && options.replaces === undefined) throw new Failure('the descriptions are empty: there are no parts');
    const previous = options.previous === undefined ? undefined : await readPublication(published);
    // The task runs again after its parts were published.
    const line = (previous && publishedBefore(previous, parts, options.replaces)) ?? (await assembled(store, published, parts, previous, { replaces: options.replaces, comparator }));
    await printJson(line);
  } catch (error) {
    throw storeFailure(error);
  }
}

async function assembled(
  store: Store,
  published: Store,
  parts: readonly Part[],
  previous: PublishedState | undefined,
  options: { readonly replaces: readonly number[] | undefined; readonly comparator: Comparator | undefined },
): Promise<AssemblyLine> {
  let assembly: Assembly;
  try {
    assembly = await assemble(store === published ? store : bothOf(store, published), parts, { previous, ...options });
  } catch (error) {
    if (error instanceof RangeError) throw new Failure(`--replaces: ${error.message}`, { cause: error });
    const levels = error instanceof BulkError && error.code === 'BLOOM_NO_LEVEL' ? previous && levelsToMerge(previous) : undefined;
    if (levels === undefined) throw error;
    throw new Failure(`no level is free above the published parts: merge two levels first, with bloom bulk part --levels ${levels.join(',')} and bloom bulk assemble --replaces ${levels.join(',')}`, { cause: error });
  }
  const { manifest, bytes, sha256, level } = assembly;
  await store.create({ name: manifest, bytes, sha256 });
  return lineOf(assembly, previous?.manifest ?? null, level);
}

/** The line for the current publication, if it already contains these parts. */
function publishedBefore(previous: PublishedState, parts: readonly Part[], replaces: readonly number[] | undefined): AssemblyLine | undefined {
  const numbers = new Set(parts.map(({ number }) => number));
  const level = previous.levels.findIndex((listed) => listed.length === numbers.size && listed.every(({ number }) => numbers.has(number)));
  if (level < 0 || numbers.size === 0) return undefined;
  // Without --replaces, the parts are a delivery, which is in the highest level.
  if (replaces === undefined && previous.levels.slice(0, level).some((listed) => listed.length > 0)) return undefined;
  return lineOf(previous, previous.manifest, level);
}

function lineOf({ manifest, comparator, lastSequence, levels }: PublishedState, previous: string | null, level: number): AssemblyLine {
  const all = levels.flat();
  return { manifest, previous, comparator, lastSequence: lastSequence.toString(), level, parts: all.length, bytes: all.reduce((sum, { size }) => sum + size, 0) };
}

/** The objects of two stores: the new parts, and the published ones. */
function bothOf(store: Store, published: Store): Pick<Store, 'name' | 'list'> {
  return {
    name: `${store.name} or ${published.name}`,
    async *list(signal) {
      yield* published.list(signal);
      yield* store.list(signal);
    },
  };
}

function partsIn(path: string): Part[] {
  const name = nameOfFile(path);
  const text = readWholeFile(path).toString();
  // A task that is killed while it prints leaves an incomplete line.
  if (text !== '' && !text.endsWith('\n')) throw new Failure(`${name}: the last line is incomplete: the task that printed it did not finish`);
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    try {
      return [decodePart(line)];
    } catch (error) {
      if (error instanceof BulkError) throw new Failure(`${name}: line ${i + 1}: ${error.message} (${error.code})`, { cause: error });
      throw error;
    }
  });
}
