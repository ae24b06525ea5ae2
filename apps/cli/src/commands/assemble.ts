import { assemble, type Assembly, BulkError, decodePart, levelsToMerge, type Part, type PublishedPart, type PublishedState, readPublication, type Store } from '@bloom/bulk';
import { decodeMergedLevels, partsOfMergedLevels } from '@bloom/bulk/internal';
import type { Comparator } from '@bloom/sstable';
import type { Command } from 'commander';
import { Failure } from '../failure.js';
import { nameOfFile, readWholeText } from '../inputs/standard-input.js';
import { STORE_HELP } from '../inputs/input-help.js';
import { storeFailure, storeOf } from '../inputs/store-argument.js';
import { printForReader, printJson } from '../outputs/output.js';
import { loadPlugins } from '../plugins/plugin-options.js';

interface AssembleCommandOptions {
  readonly previous?: string;
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
      'Makes a database from the parts in a STORE that the DESCRIPTIONs list. Writes the MANIFEST of the database to the STORE, and prints one JSON object for bloom bulk publish. Refuses parts that are missing, overlap or are sorted by another comparator. Publishes nothing.',
    )
    .argument('<store>', 'where the parts are')
    .argument('<description...>', 'files with the output of bloom bulk part; - is standard input')
    .option('--previous <store>', 'where the database is published; the parts are added to what is there, if anything')
    .option('--comparator <module>', 'the order of the keys: a file or an npm package that exports a comparator; MODULE#NAME names the export')
    .addHelpText(
      'after',
      `${STORE_HELP}
Without --previous, the parts are the whole database. The command cannot detect
that the descriptions of some parts are missing. The output of
bloom bulk part --levels says which levels the parts replace.

Examples:
  bloom bulk assemble parts parts.jsonl > assembly.json
  bloom bulk assemble parts *.jsonl --previous s3://data/words > assembly.json`,
    )
    .action(assembleParts);
}

async function assembleParts(given: string, descriptions: readonly string[], options: AssembleCommandOptions): Promise<void> {
  if (descriptions.filter((name) => name === '-').length > 1) throw new Failure('-: stdin can be read only once');
  const { comparator } = await loadPlugins(options);
  const store = storeOf(given);
  const published = options.previous === undefined || options.previous === given ? store : storeOf(options.previous);
  try {
    const described = descriptions.map(describedIn);
    const parts = described.flatMap((file) => file.parts);
    const merges = mergedLevels(described);
    if (parts.length === 0 && merges === undefined) throw new Failure('the descriptions are empty: there are no parts');
    if (merges !== undefined && options.previous === undefined) throw new Failure('the parts are a merge of published levels: pass --previous with the STORE that has them');
    const previous = options.previous === undefined ? undefined : await readPublication(published);
    const replaces = merges === undefined || previous === undefined ? undefined : await partsOfMergedLevels(merges, previous);
    const isOldMerge = merges !== undefined && replaces === undefined;
    // The task runs again after its parts were published.
    const line = previous === undefined || replaces !== undefined ? undefined : publishedBefore(previous, parts, isOldMerge);
    if (isOldMerge && line === undefined) {
      throw new BulkError('BLOOM_OLD_MERGE', `the merged levels are no longer published in ${published.name}. If this merge was published, nothing is left to do; otherwise merge the levels again`);
    }
    const made = line ?? (await assembled(store, published, parts, previous, { replaces, comparator }));
    await printForReader(() => printJson(made));
  } catch (error) {
    throw storeFailure(error);
  }
}

async function assembled(
  store: Store,
  published: Store,
  parts: readonly Part[],
  previous: PublishedState | undefined,
  options: { readonly replaces: readonly PublishedPart[] | undefined; readonly comparator: Comparator | undefined },
): Promise<AssemblyLine> {
  let assembly: Assembly;
  try {
    assembly = await assemble(store === published ? store : bothOf(store, published), parts, { previous, ...options });
  } catch (error) {
    const levels = error instanceof BulkError && error.code === 'BLOOM_NO_LEVEL' ? previous && levelsToMerge(previous) : undefined;
    if (levels === undefined) throw error;
    throw new Failure(`no level is free above the published parts: merge two levels first, with bloom bulk part --levels ${levels.join(',')}, and assemble and publish the result`, { cause: error });
  }
  const { manifest, bytes, sha256, level } = assembly;
  await store.create({ name: manifest, bytes, sha256 });
  return lineOf(assembly, previous?.manifest ?? null, level);
}

/** The line for the current publication, if it already contains these parts. */
function publishedBefore(previous: PublishedState, parts: readonly Part[], isMerge: boolean): AssemblyLine | undefined {
  const numbers = new Set(parts.map(({ number }) => number));
  const level = previous.levels.findIndex((listed) => listed.length === numbers.size && listed.every(({ number }) => numbers.has(number)));
  if (level < 0 || numbers.size === 0) return undefined;
  // A delivery is in the highest level.
  if (!isMerge && previous.levels.slice(0, level).some((listed) => listed.length > 0)) return undefined;
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

/** A file with the output of `bloom bulk part`. */
interface Described {
  readonly name: string;
  readonly parts: readonly Part[];
  /** The levels that were merged, one for each task whose output is in the file; empty for a delivery. */
  readonly merges: readonly string[];
}

function describedIn(path: string): Described {
  const name = nameOfFile(path);
  const text = readWholeText(path);
  // A task that is killed while it prints leaves an incomplete line.
  if (text !== '' && !text.endsWith('\n')) throw new Failure(`${name}: the last line is incomplete: the task that printed it did not finish`);
  const parts: Part[] = [];
  const merges: string[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const merged = decodeMergedLevels(line);
    if (merged !== undefined) {
      merges.push(merged);
      continue;
    }
    try {
      parts.push(decodePart(line));
    } catch (error) {
      if (error instanceof BulkError) throw new Failure(`${name}: line ${i + 1}: ${error.message} (${error.code})`, { cause: error });
      throw error;
    }
  }
  return { name, parts, merges };
}

/** What all tasks merged; undefined if their parts are a delivery. */
function mergedLevels(described: readonly Described[]): string | undefined {
  const digests = described.flatMap(({ merges }) => merges);
  const first = digests[0];
  if (first === undefined) return undefined;
  if (digests.some((digest) => digest !== first)) throw new Failure('the tasks did not merge the same levels, because a publication came in between: merge again');
  const delivery = described.find(({ parts, merges }) => parts.length > 0 && merges.length === 0);
  if (delivery !== undefined) throw new Failure(`${delivery.name}: these parts are a delivery, but others are a merge of published levels: assemble them separately`);
  return first;
}
