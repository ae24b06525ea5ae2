import { type BigIntStats, fstatSync, statSync } from 'node:fs';
import { Database } from '@bloom/leveldb';
import { type FilterPolicy, FittedBloomFilterPolicy } from '@bloom/policy';
import { count, counted } from '@bloom/report';
import { CorruptionError, type Source } from '@bloom/sstable';
import { internalKeyPolicy } from '@bloom/sstable/database';
import { refilterTable } from '@bloom/sstable/inspect';
import { writeTableFile } from '@bloom/sstable/node';
import type { Command } from 'commander';
import { Failure, failureOf, isUrl } from '../failure.js';
import { isFolder, mustNotInsist } from '../inputs/folder-argument.js';
import { shownName } from '../inputs/location.js';
import { addKeyFormOptions, type KeyFormOptions, noteAssumption, withTableFile } from '../inputs/opened-table.js';
import { type InputOptions, isDatabase, recognised } from '../inputs/opened-input.js';
import { addHeaderOption } from '../inputs/opened-source.js';
import { isPublished, noteNoLongerPublished } from '../inputs/published-folder.js';
import { comparatorOf, databaseFailure } from '../inputs/written-database.js';
import { WrittenFolder } from '../inputs/written-folder.js';
import { interruptible } from '../interruption.js';
import { Progress } from '../outputs/progress.js';
import { addSummaryOption, printSummary, secondsSince, type SummaryOptions } from '../outputs/summary.js';
import { addFilterOptions, type FilterOptions } from '../outputs/table-options.js';
import { mustBeWritable } from '../outputs/writable-output.js';
import { knownCodecs } from '../plugins/known-plugins.js';
import { addPluginOptions, loadPlugins, type PluginOptions, type Plugins } from '../plugins/plugin-options.js';
import { mustGoWith, policyInOrder } from '../plugins/policy-in-order.js';
import { outputFailure } from './build.js';

interface RefilterOptions extends FilterOptions, PluginOptions, KeyFormOptions, InputOptions, SummaryOptions {
  readonly output?: string;
}

export function addRefilter(program: Command): void {
  const command = program
    .command('refilter')
    .summary('give a table or a database other filters')
    .description(
      "Rewrites a table, or all tables of a database's folder, with other filters: by default fitted ones, which LevelDB reads too. Everything else stays the same, byte for byte.",
    )
    .argument('<input>', "a table, a database's folder, or the URL of a table; - is standard input")
    .option('-o, --output <table>', 'the table to write; a folder is changed in place');
  addFilterOptions(command).option('-q, --quiet', 'print only errors to standard error');
  addSummaryOption(addKeyFormOptions(addHeaderOption(addPluginOptions(command, true))))
    .addHelpText(
      'after',
      `
A fitted filter has the length and the number of probes that let the fewest
neighbours of its own keys pass. Programs that use LevelDB then read fewer
blocks for absent keys. A folder stays locked while its tables are rewritten.
Interrupting the command loses no entries; run it again to continue.

Examples:
  bloom refilter path/to/database
  bloom refilter numbers.ldb -o fitted.ldb
  bloom refilter numbers.ldb -o plain.ldb --policy bloom`,
    )
    .action(refilter);
}

async function refilter(input: string, options: RefilterOptions): Promise<void> {
  if (input === '') throw new Failure('the name of the input is empty');
  if (isFolder(input)) await refilterFolder(input, options);
  else await refilterFile(input, options);
}

/** The policy to write with; null for none. */
function policyOf({ filter, bitsPerKey }: RefilterOptions, { policies }: Plugins): FilterPolicy | null {
  return filter ? (policies[0] ?? new FittedBloomFilterPolicy(bitsPerKey)) : null;
}

async function refilterFolder(path: string, options: RefilterOptions): Promise<void> {
  if (options.output !== undefined) throw new Failure(`${path}: is a folder, which is rewritten in place: omit --output, or copy it first with bloom copy`);
  mustNotInsist(path, options);
  const started = performance.now();
  const plugins = await loadPlugins(options);
  const comparator = comparatorOf(path, plugins);
  const policy = policyOf(options, plugins);
  const filterPolicy = policy && policyInOrder(policy, comparator);
  mustGoWith(path, filterPolicy, comparator);
  let progress: Progress | undefined;
  const wasPublished = options.quiet !== true && (await isPublished(path));
  try {
    const { written, kept, unfiltered, entries, filterBytes, byteLength, byteLengthBefore } = await interruptible((signal) =>
      Database.refilter(new WrittenFolder(path), {
        comparator,
        filterPolicy,
        codecs: knownCodecs(plugins),
        filterRange: options.filterRange,
        onProgress({ done, total }) {
          progress ??= new Progress(shownName(path), 'bytes', total, !options.quiet);
          progress.update(done);
        },
        signal,
      }),
    );
    progress?.stop();
    if (wasPublished && written > 0) noteNoLongerPublished(path);
    const seconds = secondsSince(started);
    const parts = [`${counted(written, 'table')} written`, `${count(kept)} kept`, counted(entries, 'entry'), `${counted(byteLength, 'byte')} (before: ${count(byteLengthBefore)})`];
    if (unfiltered > 0) parts.splice(2, 0, `${count(unfiltered)} without filters, which would need too large a block`);
    await printSummary(options, `${path}: ${parts.join(', ')}; ${seconds.toFixed(2)} s`, { folder: path, written, kept, unfiltered, entries, filterBytes, bytes: byteLength, bytesBefore: byteLengthBefore, seconds });
  } catch (error) {
    progress?.stop();
    throw databaseFailure(path, error);
  }
}

async function refilterFile(input: string, options: RefilterOptions): Promise<void> {
  const { output } = options;
  const name = shownName(input);
  const stat = statOf(input);
  if (output === undefined) {
    if (stat === undefined && input !== '-' && !isUrl(input)) throw new Failure(`${name}: no such file or folder`);
    throw new Failure(`${name}: pass the table to write with --output`);
  }
  const started = performance.now();
  mustBeWritable(output, stat);
  const location = await recognised(input, options);
  if (isDatabase(location)) throw new Failure(`${name}: is not a table: pass a table, or a database's folder on this computer`);
  const plugins = await loadPlugins(options);
  const policy = policyOf(options, plugins);
  await withTableFile(location, options, async (file) => {
    const { source, isInternal, opening } = file;
    mustGoWith(name, policy, opening.comparator);
    if (!options.quiet) noteAssumption(file, options);
    const filterPolicy = isInternal ? policy && internalKeyPolicy(policy) : policy;
    const { codecs, maxBlockBytes } = opening;
    // Each block is read twice: for its keys, and to be copied.
    const progress = new Progress(name, 'bytes', 2 * source.byteLength, !options.quiet);
    const { entries, filters, filterBytes, fileBytes } = await interruptible(async (signal) => {
      try {
        const made = await refilterTable(watched(source, (bytesRead) => progress.update(bytesRead)), { filterPolicy, filterRange: options.filterRange, codecs, maxBlockBytes, signal });
        await writeTableFile(output, made.file(), { signal }).catch((error: unknown) => {
          throw error instanceof CorruptionError ? error : outputFailure(output, error);
        });
        return made;
      } finally {
        progress.stop();
      }
    });
    const seconds = secondsSince(started);
    const text = `${output}: ${counted(entries, 'entry')}, ${counted(fileBytes, 'byte')}, ${counted(filters, 'filter')} of ${counted(filterBytes, 'byte')}; ${seconds.toFixed(2)} s`;
    await printSummary(options, text, { output, entries, bytes: fileBytes, bytesBefore: source.byteLength, filters, filterBytes, seconds });
  });
}

/** Undefined if the input is not a file. */
function statOf(input: string): BigIntStats | undefined {
  try {
    return input === '-' ? fstatSync(0, { bigint: true }) : statSync(input, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    throw failureOf(shownName(input), error);
  }
}

/** A source that reports how many bytes have been read. */
function watched(source: Source, onRead: (bytesRead: number) => void): Source {
  let bytesRead = 0;
  return {
    byteLength: source.byteLength,
    name: source.name,
    read(offset, length) {
      onRead((bytesRead += length));
      return source.read(offset, length);
    },
  };
}
