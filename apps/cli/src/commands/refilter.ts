import { statSync } from 'node:fs';
import { Database } from '@bloom/leveldb';
import { WrittenFolder } from '../inputs/written-folder.js';
import { type FilterPolicy, FittedBloomFilterPolicy } from '@bloom/policy';
import { count, counted } from '@bloom/report';
import { internalKeyPolicy } from '@bloom/sstable/database';
import { refilterTable } from '@bloom/sstable/inspect';
import { writeTableFile } from '@bloom/sstable/node';
import { type Command, Option } from 'commander';
import { Failure } from '../failure.js';
import { filterRangeSize } from '../inputs/byte-size.js';
import { isFolder } from '../inputs/folder-argument.js';
import { shownName } from '../inputs/location.js';
import { addKeyFormOptions, type KeyFormOptions, withTableFile } from '../inputs/opened-table.js';
import { type InputOptions, isDatabase, recognised } from '../inputs/opened-input.js';
import { addHeaderOption } from '../inputs/opened-source.js';
import { wholeNumber } from '../inputs/whole-number.js';
import { databaseFailure, databaseOptionsOf } from '../inputs/written-database.js';
import { interruptible } from '../interruption.js';
import { Progress } from '../outputs/progress.js';
import { addSummaryOption, printSummary, secondsSince, type SummaryOptions } from '../outputs/summary.js';
import { mustBeWritable } from '../outputs/table-to-write.js';
import { knownCodecs } from '../plugins/known-plugins.js';
import { addPluginOptions, loadPlugins, type PluginOptions, type Plugins } from '../plugins/plugin-options.js';
import { outputFailure } from './build.js';

interface RefilterOptions extends PluginOptions, KeyFormOptions, InputOptions, SummaryOptions {
  readonly output?: string;
  readonly bitsPerKey?: number;
  readonly filter: boolean;
  readonly filterRange?: number;
}

export function addRefilter(program: Command): void {
  const command = program
    .command('refilter')
    .summary('give a table or a database other filters')
    .description(
      "Writes a table, or all tables of a database's folder, once more with other filters, by default fitted ones, which LevelDB reads too. Everything else stays byte for byte as it is.",
    )
    .argument('<input>', "a table, a database's folder, or the URL of a table; - is standard input")
    .option('-o, --output <table>', 'the table to write; a folder is changed in place')
    .addOption(new Option('--bits-per-key <n>', 'bits of filter per key (default: 10)').argParser(wholeNumber(1, 1000)).conflicts('policy'))
    .addOption(new Option('--no-filter', 'write no filter').conflicts(['bitsPerKey', 'policy']))
    .addOption(new Option('--filter-range <bytes>', 'bytes of the file that one filter covers, a power of two (default: 2048)').argParser(filterRangeSize))
    .option('-q, --quiet', 'print only errors to standard error');
  addSummaryOption(addKeyFormOptions(addHeaderOption(addPluginOptions(command))))
    .addHelpText(
      'after',
      `
A fitted filter has the length and the number of probes that let the fewest
neighbours of its own keys pass. Programs that use LevelDB then read fewer blocks
for absent keys. A folder must not be open for writing meanwhile; whenever the
work ends, it has the same entries.

Examples:
  bloom refilter path/to/database
  bloom refilter numbers.ldb -o fitted.ldb
  bloom refilter numbers.ldb -o plain.ldb --policy bloom`,
    )
    .action(refilter);
}

async function refilter(input: string, options: RefilterOptions): Promise<void> {
  if (isFolder(input)) await refilterFolder(input, options);
  else await refilterFile(input, options);
}

/** The policy to write with; null for none. */
function policyOf({ filter, bitsPerKey }: RefilterOptions, { policies }: Plugins): FilterPolicy | null {
  return filter ? (policies[0] ?? new FittedBloomFilterPolicy(bitsPerKey)) : null;
}

async function refilterFolder(path: string, options: RefilterOptions): Promise<void> {
  if (options.output !== undefined) throw new Failure(`${path}: is a folder, which is changed in place: omit --output, or copy it first with bloom copy`);
  const started = performance.now();
  const plugins = await loadPlugins(options);
  const { comparator, filterPolicy: ofOrder } = await databaseOptionsOf(path, options);
  const isOrdered = comparator?.keyEquivalence !== undefined;
  const filterPolicy = isOrdered ? (ofOrder ?? null) : policyOf(options, plugins);
  let progress: Progress | undefined;
  try {
    const { written, kept, entries, filterBytes, byteLength, byteLengthBefore } = await Database.refilter(new WrittenFolder(path), {
      comparator,
      filterPolicy,
      codecs: knownCodecs(plugins),
      filterRange: options.filterRange,
      onProgress({ done, total }) {
        progress ??= new Progress(shownName(path), 'bytes', total, !options.quiet);
        progress.update(done);
      },
    });
    progress?.stop();
    const seconds = secondsSince(started);
    const parts = [`${counted(written, 'table')} written`, `${count(kept)} kept`, counted(entries, 'entry'), `${count(byteLength)} bytes, before ${count(byteLengthBefore)}`];
    await printSummary(options, `${path}: ${parts.join(', ')}; ${seconds.toFixed(2)} s`, { folder: path, written, kept, entries, filterBytes, bytes: byteLength, bytesBefore: byteLengthBefore, seconds });
  } catch (error) {
    progress?.stop();
    throw databaseFailure(path, error);
  }
}

async function refilterFile(input: string, options: RefilterOptions): Promise<void> {
  const { output } = options;
  if (output === undefined) throw new Failure(`${shownName(input)}: name the table to write with --output`);
  const started = performance.now();
  mustBeWritable(output, statSync(input, { bigint: true, throwIfNoEntry: false }));
  const location = await recognised(input, options);
  if (isDatabase(location)) throw new Failure(`${shownName(input)}: is not a table; name the folder of the database`);
  const plugins = await loadPlugins(options);
  const policy = policyOf(options, plugins);
  await withTableFile(location, options, async ({ source, isInternal, opening }) => {
    const filterPolicy = isInternal ? policy && internalKeyPolicy(policy) : policy;
    const { codecs, maxBlockBytes } = opening;
    const refiltered = await interruptible(async (signal) => {
      const made = await refilterTable(source, { filterPolicy, filterRange: options.filterRange, codecs, maxBlockBytes, signal });
      await writeTableFile(output, made.file(), { signal }).catch((error: unknown) => {
        throw outputFailure(output, error);
      });
      return made;
    });
    const { entries, filters, filterBytes, fileBytes } = refiltered;
    const seconds = secondsSince(started);
    const text = `${output}: ${counted(entries, 'entry')}, ${counted(fileBytes, 'byte')}, ${counted(filters, 'filter')} of ${counted(filterBytes, 'byte')}; ${seconds.toFixed(2)} s`;
    await printSummary(options, text, { output, entries, bytes: fileBytes, bytesBefore: source.byteLength, filters, filterBytes, seconds });
  });
}
