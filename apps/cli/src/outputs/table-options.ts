/** The options of all commands that write tables. */
import { deflateCodec, zlibCodec } from '@bloom/codecs';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Codec, type Comparator, type TableBuilderOptions } from '@bloom/sstable';
import { internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import { type Command, Option } from 'commander';
import { Failure } from '../failure.js';
import { byteSize, filterRangeSize } from '../inputs/byte-size.js';
import { wholeNumber } from '../inputs/whole-number.js';
import { addPluginOptions, type PluginOptions, type Plugins } from '../plugins/plugin-options.js';
import { policyInOrder } from '../plugins/policy-in-order.js';

export interface FilterOptions {
  readonly bitsPerKey?: number;
  readonly filter: boolean;
  readonly filterRange?: number;
}

export interface TableOptions extends PluginOptions, FilterOptions {
  readonly blockSize?: number;
  readonly blockRestartInterval?: number;
  readonly compression?: string;
}

/** Adds --bits-per-key, --no-filter and --filter-range. @param bitsPerKey the default that the help states. */
export function addFilterOptions(command: Command, bitsPerKey = 10): Command {
  return command
    .addOption(new Option('--bits-per-key <n>', `bits of filter per key (default: ${bitsPerKey})`).argParser(wholeNumber(1, 1000)).conflicts('policy'))
    .addOption(new Option('--no-filter', 'write no filter').conflicts(['bitsPerKey', 'filterRange', 'policy']))
    .addOption(new Option('--filter-range <bytes>', 'bytes of the file that one filter covers, a power of two (default: 2048)').argParser(filterRangeSize));
}

/** Adds the options for writing tables. @param bitsPerKey the default that the help states. */
export function addTableOptions(command: Command, bitsPerKey?: number): Command {
  addFilterOptions(command, bitsPerKey)
    .addOption(
      new Option('--block-size <bytes>', 'bytes before compression at which a block is full (default: 4096)').argParser(byteSize(1, 64 * 2 ** 20)),
    )
    .addOption(
      new Option('--block-restart-interval <n>', 'entries from one restart point of a block to the next (default: 16)').argParser(wholeNumber(1, 1_000_000)),
    )
    .addOption(new Option('--compression <codec>', 'compression of the blocks: none, snappy, zlib, deflate, or the name of a codec passed with --codec (default: snappy)'));
  return addPluginOptions(command, true);
}

/** Adds --max-table-size and --quiet, for commands that write one table or many. */
export function addOutputOptions(command: Command): Command {
  return command
    .addOption(new Option('--max-table-size <bytes>', 'write numbered tables of about this many bytes of data, and a list of their names').argParser(byteSize(1)))
    .option('-q, --quiet', 'print only errors to standard error');
}

/** The options of a `TableBuilder`. @throws Failure for a compression that is unknown or cannot write. */
export function tableBuilderOptions(options: TableOptions, plugins: Plugins): TableBuilderOptions {
  const { blockSize, blockRestartInterval, filterRange } = options;
  return {
    comparator: plugins.comparator,
    filterPolicy: policyOf(options, plugins, plugins.comparator),
    filterRange,
    blockSize,
    blockRestartInterval,
    compression: compressionOf(options, plugins),
  };
}

/** The options of a table of a database. */
export function internalOptions(options: TableBuilderOptions): TableBuilderOptions {
  const { comparator = bytewiseComparator, filterPolicy } = options;
  return { ...options, comparator: internalKeyComparator(comparator), filterPolicy: filterPolicy && internalKeyPolicy(filterPolicy) };
}

/** The policy of new filters for keys in an order; null for none. */
export function policyOf({ filter, bitsPerKey }: TableOptions, { policies }: Plugins, comparator: Comparator | undefined): FilterPolicy | null {
  return filter ? policyInOrder(policies[0] ?? new BloomFilterPolicy(bitsPerKey), comparator) : null;
}

/** The compression with a name. */
export function compressionOf({ compression = 'snappy' }: Pick<TableOptions, 'compression'>, { codecs }: Plugins): 'none' | 'snappy' | Codec {
  if (compression === 'none' || compression === 'snappy') return compression;
  const writers = [...codecs, zlibCodec, deflateCodec].filter((codec) => codec.compress !== undefined);
  const codec = writers.find(({ name }) => name === compression);
  if (codec !== undefined) return codec;
  throw new Failure(`--compression ${compression}: unknown codec, or one that cannot compress: use none, snappy, ${writers.map(({ name }) => name).join(', ')}`);
}
