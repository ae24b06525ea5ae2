import { type Command, Option } from 'commander';
import { addRemoteOptions } from '../inputs/opened-source.js';
import { addKeyFormOptions } from '../inputs/opened-table.js';
import { realNumber, wholeNumber } from '../inputs/whole-number.js';
import { addPluginOptions } from '../plugins/plugin-options.js';
import { addCompression } from './advise-compression.js';
import type { CompareOptions } from './advise-filters.js';

export function addAdvise(program: Command): void {
  const command = program
    .command('advise')
    .summary('compare filters or compressions for your data')
    .description('Compares settings on your own keys and values. Writes nothing.');
  const filters = command
    .command('filters')
    .summary('compare the size, false positives and speed of filter policies')
    .description(
      'Makes a filter of the same keys with each policy, for one false positive rate. Prints the size, measured rate and times of each filter, and the fewest bits that any filter of that rate needs. The keys are random, or those of a table. With a table, half of the absent keys resemble its keys.',
    )
    .argument('[table]', 'a table whose keys to use, or its URL')
    .option('--keys <n>', 'use this many random keys instead of those of a table', wholeNumber(1, 10_000_000))
    .addOption(new Option('--rate <rate>', 'the false positive rate').default(0.01).argParser(realNumber(2 ** -16, 0.5)))
    .option('--json', 'print one JSON object');
  addRemoteOptions(addPluginOptions(filters));
  addKeyFormOptions(filters)
    .addHelpText(
      'after',
      `
Without --policy, it compares bloom, blocked, ribbon and fuse, each with the
fewest bits that reach the rate.

Examples:
  bloom advise filters --keys 17000 --rate 0.01
  bloom advise filters capitals.ldb
  bloom advise filters capitals.ldb --policy bloom:10 --policy ribbon:0.001`,
    )
    .action(async (path: string | undefined, options: CompareOptions) => (await import('./advise-filters.js')).compareFilters(path, options));
  addCompression(command);
}
