import { type Command, Option } from 'commander';
import { addRemoteOptions } from '../inputs/opened-source.js';
import { addKeyFormOptions } from '../inputs/opened-table.js';
import { realNumber, wholeNumber } from '../inputs/whole-number.js';
import { addPluginOptions } from '../plugins/plugin-options.js';

export function addFilter(program: Command): void {
  const command = program
    .command('filter')
    .summary('size filters, and test those of a table')
    .description('Prints how large filters are, and how often the filters of a table answer maybe for absent keys.');
  command
    .command('size')
    .summary('print how large a filter is')
    .description('Makes a filter of random keys with each policy, and prints its size and false positive rate.')
    .argument('<keys>', 'the number of keys in a filter: a few dozen in a table with blocks of 4 KiB', wholeNumber(1, 10_000_000))
    .addOption(new Option('--rate <rate>', 'the false positive rate').default(0.01).argParser(realNumber(1e-6, 0.5)))
    .addOption(new Option('--bits-per-key <n>', 'the bits per key of the Bloom filters, instead of a rate').argParser(wholeNumber(1, 100)).conflicts('rate'))
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Examples:
  bloom filter size 50
  bloom filter size 1000000 --rate 0.001
  bloom filter size 1000000 --bits-per-key 16`,
    )
    .action(async (keys: number, options: object) => (await import('./filter-size.js')).filterSize(keys, options));
  const testing = command
    .command('test')
    .summary("test a table's filters, and those of other policies, with absent keys")
    .description(
      "Tests how many absent keys match the filters of a table, and the filters that other policies would make of its keys, one per data block. The absent keys are derived from the table's own, or read from a file of keys that your program looks up.",
    )
    .argument('<table>', 'the table, or its URL; - is standard input')
    .option('--absent <file>', 'real absent keys, one per line; keys that the table has are skipped')
    .option('--hex', 'with --absent: the keys in the file are in hexadecimal')
    .option('--json', 'print one JSON object');
  addRemoteOptions(addPluginOptions(testing));
  addKeyFormOptions(testing)
    .addHelpText(
      'after',
      `
Without --policy, the policies are bloom:10, blocked:10, ribbon:0.01 and fuse:8.

Examples:
  bloom filter test words.ldb
  bloom filter test words.ldb --absent misspelt.txt
  bloom filter test words.ldb --policy bloom:16 --policy ribbon:0.001`,
    )
    .action(async (path: string, options: object) => (await import('./filter-test.js')).filterTest(path, options));
}
