import { split } from '@bloom/bulk';
import { type Command, Option } from 'commander';
import { Failure } from '../failure.js';
import { haveInternalKeys, openFile, type OpenedFile, tablesNamed } from '../inputs/opened-file.js';
import { addHeaderOption, type RemoteOptions } from '../inputs/opened-source.js';
import { addKeyFormOptions, type KeyFormOptions } from '../inputs/opened-table.js';
import { DescriptorSource } from '../inputs/sorted-run.js';
import { storeFailure } from '../inputs/store-argument.js';
import { wholeNumber } from '../inputs/whole-number.js';
import { printForReader, printLines } from '../outputs/output.js';
import { knownCodecs } from '../plugins/known-plugins.js';
import { addPluginOptions, loadPlugins, type PluginOptions } from '../plugins/plugin-options.js';

interface SplitCommandOptions extends PluginOptions, KeyFormOptions, RemoteOptions {
  readonly ranges: number;
  readonly files?: string;
}

export function addSplit(program: Command): void {
  const command = program
    .command('split')
    .summary('find where to cut tables into ranges')
    .description(
      'Prints the keys that cut tables into ranges of about the same size, in hexadecimal, one per line. N ranges need N - 1 keys. Only the indexes of the tables are read. The same tables always give the same keys.',
    )
    .argument('[table...]', 'the tables, in any order')
    .addOption(new Option('-n, --ranges <n>', 'the number of ranges').argParser(wholeNumber(1, 1_000_000)).makeOptionMandatory())
    .option('--files <list>', 'a file with the names of further tables, one per line; - is standard input');
  addKeyFormOptions(addHeaderOption(addPluginOptions(command)), false)
    .addHelpText(
      'after',
      `
Tables with fewer blocks than ranges give fewer keys.

Examples:
  bloom bulk split run-*.ldb -n 8 > cuts
  bloom bulk part run-*.ldb --hex --lt "$(sed -n 1p cuts)" --sequence 1 -o parts`,
    )
    .action(cut);
}

async function cut(given: readonly string[], options: SplitCommandOptions): Promise<void> {
  const names = tablesNamed(given, options);
  if (names.length === 0) throw new Failure('no tables given: pass tables, or a file with their names with --files');
  const plugins = await loadPlugins(options);
  const files: OpenedFile[] = [];
  try {
    for (const name of names) files.push(await openFile(name, options));
    const isInternal = options.internal ?? (await haveInternalKeys(files, plugins));
    const sources = files.map(({ name, fd, byteLength }) => Object.assign(new DescriptorSource(fd, byteLength), { name }));
    const keys = await split(sources, options.ranges, { comparator: plugins.comparator, codecs: knownCodecs(plugins), keys: isInternal ? 'database' : 'plain' });
    await printForReader(() => printLines(keys.map((key) => Buffer.from(key).toString('hex'))));
  } catch (error) {
    throw storeFailure(error);
  } finally {
    for (const file of files) file.close();
  }
}
