import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type Comparator,
  MemorySource,
  type Source,
  type SyncSource,
  type TableBuilderOptions,
} from '@bloom/sstable';
import { allCodecs } from '@bloom/codecs';
import { internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import { salvagedEntries, type SalvageReport } from '@bloom/sstable/inspect';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { count, counted } from '@bloom/report';
import type { Command } from 'commander';
import { EXIT } from '../exit-codes.js';
import { Failure, failureOf, placedBytes, placedProblem } from '../failure.js';
import { inputStat } from '../inputs/input.js';
import { isFolder, mustNotInsist, noteDatabase } from '../inputs/folder-argument.js';
import { addKeyFormOptions, type KeyFormOptions, noteAssumption, type SyncTableFile, withTableFile } from '../inputs/opened-table.js';
import { locate, shownName } from '../inputs/location.js';
import { plainFindings, withoutAdvice } from '../library-advice.js';
import { mergeTables } from '../inputs/merging-thread.js';
import { type OpenedFile, openTableFile } from '../inputs/opened-file.js';
import { isDatabase, recognised } from '../inputs/opened-input.js';
import { addHeaderOption, type RemoteOptions, type TableLocation } from '../inputs/opened-source.js';
import { addPluginOptions, loadPlugins, type PluginOptions, type Plugins } from '../plugins/plugin-options.js';
import { policyInOrder } from '../plugins/policy-in-order.js';
import { note, printLines } from '../outputs/output.js';
import { addSummaryOption, printSummary, secondsSince, type SummaryOptions } from '../outputs/summary.js';
import { salvageFolder, type Saved } from './salvage-folder.js';
import { NothingSaved, type SalvagedTable, writeSalvaged } from './salvaged-table.js';
import { noteCodecs } from '../outputs/verification-report.js';
import { mustBeWritable, writingFailure } from '../outputs/writable-output.js';
import { writeTables } from '../outputs/written-entries.js';
import { internalOptions } from '../outputs/table-options.js';

interface SalvageCommandOptions extends KeyFormOptions, PluginOptions, RemoteOptions, Pick<SummaryOptions, 'json'> {
  readonly output: string;
  readonly anyOrder?: true;
}

export function addSalvage(program: Command): void {
  const command = program
    .command('salvage')
    .summary('copy what can still be read')
    .description(
      "Copies the entries in intact blocks of a damaged table to a new table. For a database's folder, copies the newest readable version of each key, with plain keys. Prints each loss on a line, and exits with 1 if there is any. If nothing can be saved, writes nothing. If several INPUTs have the same key, the entry of the first one is kept.",
    )
    .argument('<input...>', "damaged tables or folders of databases, the newest first, or URLs of tables; - is standard input; none is changed")
    .requiredOption('-o, --output <table>', 'the new table, in another file');
  addHeaderOption(addPluginOptions(command, true));
  addSummaryOption(addKeyFormOptions(command))
    .option('--any-order', 'for keys in an unknown order: keep the order of the file')
    .addHelpText(
      'after',
      `
If a folder cannot be opened, for example because CURRENT is missing, all of its
logs and tables are read into memory, and deleted keys may reappear.

Examples:
  bloom salvage damaged.ldb -o saved.ldb
  bloom salvage 000005.ldb -o saved.ldb
  bloom salvage path/to/database -o saved.ldb
  bloom salvage new.ldb old.ldb -o saved.ldb
  bloom salvage --any-order IndexedDB/000116.ldb -o saved.ldb`,
    )
    .action(salvage);
}

async function salvage(paths: readonly string[], options: SalvageCommandOptions): Promise<void> {
  const [first] = paths;
  if (paths.length === 1) {
    const { output } = options;
    const saved = await salvageOne(await damagedInput(first!, options), { output, path: output }, options);
    if (!options.json) await printLines(saved.lostLines);
    await printSummary(options, saved.text, { output: saved.isWritten ? output : null, entries: saved.entries, inputs: [saved.figures] });
    return;
  }
  if (options.anyOrder) throw new Failure('--any-order takes one input, because several are merged in key order');
  if (paths.filter((path) => path === '-').length > 1) throw new Failure('stdin can be read only once: use files for the others');
  for (const path of paths) mustNotBeInput(path, options.output);
  const inputs: DamagedInput[] = [];
  for (const path of paths) inputs.push(await damagedInput(path, options));
  await salvageSeveral(inputs, options);
}

/** A table to salvage, or a folder if there is no location. */
interface DamagedInput {
  readonly path: string;
  readonly location: TableLocation | undefined;
}

async function damagedInput(path: string, options: SalvageCommandOptions): Promise<DamagedInput> {
  return { path, location: isFolder(path) ? undefined : await tableLocation(path, options) };
}

/** Writes the readable entries of several inputs to one table. If several have a key, the entry of the first one is kept. */
async function salvageSeveral(inputs: readonly DamagedInput[], options: SalvageCommandOptions): Promise<void> {
  const { output } = options;
  const started = performance.now();
  const path = join(dirname(output), `.bloom.${randomBytes(6).toString('hex')}.tmp`);
  const files: OpenedFile[] = [];
  const part: SalvagedTable = { output, path, onWritten: async () => void files.push(await openNameless(path, output)) };
  try {
    let isInternal: boolean | undefined;
    const figures: object[] = [];
    const lostLines: (readonly string[])[] = [];
    for (const input of inputs) {
      const name = shownName(input.path);
      const saved = await salvageOne(input, part, options, `${name}: `);
      figures.push(saved.figures);
      lostLines.push(saved.lostLines);
      if (!options.json) note(saved.text);
      if (!saved.isWritten) continue;
      if (isInternal !== undefined && isInternal !== saved.isInternal) {
        throw new Failure(`${name}: it has ${saved.isInternal ? 'internal' : 'plain'} keys, unlike the inputs before it: salvage them separately`);
      }
      isInternal = saved.isInternal;
    }
    const entries = files.length === 0 ? 0 : await mergeInto(output, files, isInternal === true, options);
    // Printed last: the program ends while it prints if nobody reads on.
    if (!options.json) await printLines(lostLines.flat());
    if (files.length === 0) {
      await printSummary(options, `nothing can be saved; ${output} was not written`, { output: null, entries: 0, inputs: figures });
      return;
    }
    const seconds = secondsSince(started);
    await printSummary(options, `${output}: made of ${counted(files.length, 'input')}; ${seconds.toFixed(2)} s`, { output, entries, inputs: figures, seconds });
  } finally {
    for (const file of files) file.close();
    rmSync(path, { force: true });
  }
}

/** @returns how many entries were written. */
async function mergeInto(output: string, files: readonly OpenedFile[], isInternal: boolean, options: SalvageCommandOptions): Promise<number> {
  const plugins = await loadPlugins(options);
  const { comparator } = plugins;
  const plain: TableBuilderOptions = { comparator, filterPolicy: salvagedPolicy(plugins, comparator) };
  const source = await mergeTables({ files, plugins: options, isInternal });
  try {
    const [table] = await writeTables(source, output, isInternal ? internalOptions(plain) : plain);
    return table!.entries;
  } catch (error) {
    throw writingFailure(output, error);
  } finally {
    source.close();
  }
}

/**
 * Opens a part and deletes its name, so that the system removes the file however the process ends. Windows cannot do that, so the part
 * is copied there.
 */
async function openNameless(path: string, output: string): Promise<OpenedFile> {
  if (process.platform === 'win32') {
    const file = await openTableFile({ kind: 'memory', path: output, source: new MemorySource(readFileSync(path), output) }, {});
    rmSync(path);
    return file;
  }
  const fd = openSync(path, 'r');
  try {
    rmSync(path);
    const stat = fstatSync(fd, { bigint: true });
    return { name: output, fd, byteLength: Number(stat.size), stat, close: () => closeSync(fd) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** @throws Failure when the output would overwrite the input. */
function mustNotBeInput(path: string, output: string): void {
  const stat = /^https?:/i.test(path) || path === '-' ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  mustBeWritable(output, stat);
}

/**
 * Writes what can be saved of an input.
 *
 * @param head the start of each line about the input.
 */
async function salvageOne({ path, location }: DamagedInput, table: SalvagedTable, options: SalvageCommandOptions, head = ''): Promise<Saved> {
  const { anyOrder, output } = options;
  if (location === undefined) {
    mustNotInsist(path, options);
    if (anyOrder) throw new Failure(`${path}: is a folder, whose files are merged by the order of their keys: omit --any-order`);
    return salvageFolder(path, table, await loadPlugins(options), head);
  }
  mustBeWritable(output, location.kind === 'file' ? inputStat(path) : location.kind === 'memory' && path === '-' ? fstatSync(0, { bigint: true }) : undefined);
  const name = shownName(path);
  const { report, isInternal } = await withTableFile(location, { ...options, searchBytes: Infinity }, async (file) => {
    noteAssumption(file, options);
    // A database may have its own order. The blocks of a file are in this order.
    const hasOwnOrder = file.isInternal && !file.isOrdered;
    if (hasOwnOrder && !anyOrder) {
      if (head !== '') throw new Failure(`${name}: the keys are not in bytewise order: pass --comparator, or salvage this table alone`);
      note(`${name}: the keys are not in bytewise order: entries keep the order of the file`);
    }
    return { report: await copied(file, table, anyOrder === true || hasOwnOrder, await loadPlugins(options)), isInternal: file.isInternal };
  });
  if (location.kind === 'file') noteDatabase(path);

  noteCodecs(name, [...report.findings, ...report.lost]);
  const isLossy = lostSomething(report);
  if (isLossy) process.exitCode = EXIT.no;
  const lostLines = [
    ...report.findings.map((finding) => head + placedProblem(finding)),
    ...report.lost.map(({ offset, byteLength, problem }) => `${head}${placedBytes(byteLength, offset)}: ${withoutAdvice(problem)}`),
  ];
  const more = report.moreFindings + report.moreLost;
  if (more > 0) lostLines.push(`${head}and ${count(more)} more`);
  if (report.outOfOrder > 0) lostLines.push(`${head}${counted(report.outOfOrder, 'entry')} left out because of their order; --any-order keeps them`);
  const { entries, dataBlocks, foundBlocks } = report;
  const isWritten = entries > 0 || !isLossy;
  const found = foundBlocks > 0 ? `, ${count(foundBlocks)} of them found without the index` : '';
  const nothing = head === '' ? `${name}: nothing can be saved; ${output} was not written` : `${name}: nothing can be saved`;
  return {
    isWritten,
    entries,
    isInternal,
    text: isWritten ? `${head === '' ? `${output}: ` : head}${counted(entries, 'entry')} from ${counted(dataBlocks, 'block')}${found}` : nothing,
    lostLines,
    figures: { input: name, ...jsonOf(report) },
  };
}

function jsonOf({ entries, dataBlocks, foundBlocks, outOfOrder, findings, moreFindings, lost, lostBytes, moreLost }: SalvageReport): object {
  return {
    entries,
    dataBlocks,
    foundBlocks,
    outOfOrder,
    findings: plainFindings(findings),
    moreFindings,
    lost: lost.map(({ offset, byteLength, code, problem }) => ({ offset, bytes: byteLength, code, problem: withoutAdvice(problem) })),
    moreLost,
    lostBytes,
  };
}

/** The location of the input, which is a table even if its bytes look like something else. */
async function tableLocation(path: string, options: SalvageCommandOptions): Promise<TableLocation> {
  const location = locate(path);
  if (location.kind === 'log' || location.kind === 'folder') throw new Failure(`${path}: is a file of a database, not a table: pass the folder`);
  if (location.kind === 'file') return location;
  const found = await recognised(path, options);
  if (found.kind === 'memory-log') return { ...found, kind: 'memory' };
  if (isDatabase(found)) throw new Failure(`${shownName(path)}: is a remote folder or log: download it first`);
  return found;
}

/** The policy of the filters of what was saved. */
function salvagedPolicy({ policies }: Plugins, comparator: Comparator | undefined): FilterPolicy {
  return policyInOrder(policies[0] ?? new BloomFilterPolicy(), comparator);
}

/** Writes what can be saved from a table. Writes no file if nothing can be saved. */
async function copied(file: SyncTableFile, table: SalvagedTable, anyOrder: boolean, plugins: Plugins): Promise<SalvageReport> {
  const { codecs = allCodecs } = file.opening;
  const comparator = file.isInternal ? internalKeyComparator(file.comparator) : file.comparator;
  const policy = salvagedPolicy(plugins, anyOrder ? undefined : file.opening.comparator);
  const tableOptions: TableBuilderOptions = {
    comparator: anyOrder ? orderOfTheFile : comparator,
    filterPolicy: file.isInternal ? internalKeyPolicy(policy) : policy,
  };
  const source = interruptibleSource(file);
  let report: SalvageReport | undefined;
  const entries = async function* (signal: AbortSignal): AsyncGenerator<[Uint8Array, Uint8Array], void, undefined> {
    report = yield* salvagedEntries(source, { codecs, comparator: anyOrder ? null : comparator, signal });
    if (report.entries === 0 && lostSomething(report)) throw new NothingSaved();
  };
  await writeSalvaged(table, entries, tableOptions);
  return report!;
}

function lostSomething({ findings, lost, outOfOrder }: SalvageReport): boolean {
  return findings.length > 0 || lost.length > 0 || outOfOrder > 0;
}

/** Accepts keys in any order. Index keys are then complete keys, which are valid in any order. */
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
