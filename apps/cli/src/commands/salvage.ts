import {
  type Comparator,
  type Source,
  type SyncSource,
  type TableBuilderOptions,
} from '@bloom/sstable';
import { allCodecs } from '@bloom/codecs';
import { internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import { salvagedEntries, type SalvageReport } from '@bloom/sstable/inspect';
import { writeTable } from '@bloom/sstable/node';
import { BloomFilterPolicy } from '@bloom/policy';
import { count, counted } from '@bloom/report';
import type { Command } from 'commander';
import { EXIT, Failure, failureOf, placedBytes, placedProblem } from '../failure.js';
import { inputStat } from '../inputs/input.js';
import { interruptible } from '../interruption.js';
import { isFolder, mustNotInsist, noteDatabase } from '../inputs/folder-argument.js';
import { addKeyFormOptions, type KeyFormOptions, noteAssumption, type SyncTableFile, withTableFile } from '../inputs/opened-table.js';
import { locate } from '../inputs/location.js';
import { addPluginOptions, loadPlugins, type PluginOptions } from '../plugins/plugin-options.js';
import { Lines, note } from '../outputs/output.js';
import { salvageFolder } from './salvage-folder.js';
import { mustBeWritable, writingFailure } from '../outputs/table-to-write.js';

interface SalvageCommandOptions extends KeyFormOptions, PluginOptions {
  readonly output: string;
  readonly anyOrder?: true;
}

export function addSalvage(program: Command): void {
  const command = program
    .command('salvage')
    .summary('copy what can still be read')
    .description(
      "Copies all entries in intact blocks of a damaged table to a new table. For a database's folder, copies the newest readable version of each key, with plain keys. Prints what was lost, one item per line, and exits with 1 if anything was. If nothing can be saved, nothing is written.",
    )
    .argument('<table|folder>', "the damaged table, or a database's folder; it is not changed")
    .requiredOption('-o, --output <table>', 'the new table, in another file');
  addPluginOptions(command);
  addKeyFormOptions(command)
    .option('--any-order', 'for keys in an unknown order: keep the order of the file')
    .addHelpText(
      'after',
      `
Examples:
  bloom salvage damaged.ldb -o saved.ldb
  bloom salvage 000005.ldb -o saved.ldb
  bloom salvage path/to/database -o saved.ldb
  bloom salvage --any-order IndexedDB/000116.ldb -o saved.ldb`,
    )
    .action(salvage);
}

async function salvage(path: string, options: SalvageCommandOptions): Promise<void> {
  const { output, anyOrder } = options;
  if (isFolder(path)) {
    mustNotInsist(path, options);
    if (anyOrder) throw new Failure(`${path}: is a folder, whose files are merged by the order of their keys: omit --any-order`);
    return salvageFolder(path, output, await loadPlugins(options));
  }
  const location = locate(path);
  if (location.kind === 'log' || location.kind === 'folder') throw new Failure(`${path}: is a file of a database, and not a table: name the folder`);
  if (location.kind === 'stdin' || location.kind === 'pipe') throw new Failure(`${path}: the damaged table must be a file: copy it to one first`);
  if (location.kind !== 'file') throw new Failure(`${path}: the damaged table must be a file: download it first`);
  mustBeWritable(output, inputStat(path));
  const report = await withTableFile(location, { ...options, searchBytes: Infinity }, async (file) => {
    noteAssumption(file, options);
    // A database may have its own order. The blocks of a file are in this order.
    const hasOwnOrder = file.isInternal && !file.isOrdered;
    if (hasOwnOrder && !anyOrder) note(`${path}: the keys are not in bytewise order: entries stay in the order of the file`);
    return copied(file, output, anyOrder === true || hasOwnOrder);
  });
  noteDatabase(path);

  const isLossy = lostSomething(report);
  if (isLossy) process.exitCode = EXIT.no;
  const lines = new Lines();
  for (const finding of report.findings) await lines.add(placedProblem(finding));
  for (const { offset, byteLength, problem } of report.lost) {
    await lines.add(`${placedBytes(byteLength, offset)}: ${problem}`);
  }
  if (report.outOfOrder > 0) {
    await lines.add(`${counted(report.outOfOrder, 'entry')} left out because of their order; --any-order keeps them`);
  }
  await lines.flush();
  if (report.entries === 0 && isLossy) {
    note(`${path}: nothing can be saved; ${output} was not written`);
    return;
  }
  const found = report.foundBlocks > 0 ? `, ${count(report.foundBlocks)} of them found without the index` : '';
  note(`${output}: ${counted(report.entries, 'entry')} of ${counted(report.dataBlocks, 'block')}${found}`);
}

/** Writes what can be saved from a table to `output`. Writes no file if nothing can be saved. */
async function copied(file: SyncTableFile, output: string, anyOrder: boolean): Promise<SalvageReport> {
  const { codecs = allCodecs } = file.opening;
  const comparator = file.isInternal ? internalKeyComparator(file.comparator) : file.comparator;
  const policy = new BloomFilterPolicy();
  const tableOptions: TableBuilderOptions = {
    comparator: anyOrder ? orderOfTheFile : comparator,
    filterPolicy: file.isInternal ? internalKeyPolicy(policy) : policy,
  };
  const source = interruptibleSource(file);
  let report: SalvageReport | undefined;
  await interruptible(async (signal) => {
    const salvageOptions = { codecs, comparator: anyOrder ? null : comparator, signal };
    const entries = async function* (): AsyncGenerator<[Uint8Array, Uint8Array], void, undefined> {
      report = yield* salvagedEntries(source, salvageOptions);
      if (report.entries === 0 && lostSomething(report)) throw new NothingSaved();
    };
    try {
      await writeTable(output, entries(), { ...tableOptions, signal });
    } catch (error) {
      if (!(error instanceof NothingSaved)) throw writingFailure(output, error);
    }
  });
  return report!;
}

/** Ends the writing of a table that would have no entries. */
class NothingSaved extends Error {
  override readonly name = 'NothingSaved';
}

function lostSomething({ findings, lost, outOfOrder }: SalvageReport): boolean {
  return findings.length > 0 || lost.length > 0 || outOfOrder > 0;
}

/** Accepts keys in any order. The index keys are then whole keys, which are right in any order. */
const orderOfTheFile: Comparator = {
  name: 'bloom.OrderOfTheFile',
  compare: () => -1,
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};

/** Wraps a table's source so that signals are handled between reads, and failures name this table, not the new one. */
function interruptibleSource({ path, source }: { readonly path: string; readonly source: SyncSource }): Source {
  return {
    name: source.name,
    byteLength: source.byteLength,
    async read(offset, length) {
      await new Promise(setImmediate);
      try {
        return source.read(offset, length);
      } catch (error) {
        throw failureOf(path, error);
      }
    },
  };
}
