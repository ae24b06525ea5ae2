import type { SyncTable } from '@bloom/sstable';
import {
  bitsPerKey,
  compressionRatio,
  count,
  counted,
  databaseKeys,
  type FalsePositives,
  falsePositivesText,
  type FilterTrial,
  hexDigits,
  KeySet,
  type MeasuredRate,
  neighboursText,
  plainKeys,
  tryFilters,
} from '@bloom/report';
import { profileTable, tableLayout, type TableProfile } from '@bloom/sstable/inspect';
import type { Command } from 'commander';
import { policyNames, problemOf, statusText } from '../outputs/filter-text.js';
import { BUCKET_HELP, INPUTS } from '../inputs/input-help.js';
import { type InputOptions, isDatabase, recognised } from '../inputs/opened-input.js';
import { addRemoteOptions, type RemoteOptions, type TableLocation, tracingFor } from '../inputs/opened-source.js';
import { shownName } from '../inputs/location.js';
import { addPluginOptions } from '../plugins/plugin-options.js';
import { keyText } from '../outputs/key-text.js';
import { addKeyFormOptions, noteAssumption, withTableFile } from '../inputs/opened-table.js';
import { watchedTable } from '../inputs/watched-table.js';
import { printJson, printLines } from '../outputs/output.js';
import { statFolder } from './stat-folder.js';
import { fittedText, type FittedTrial, fittedTrial, ifSaving } from '../outputs/fitted-trial.js';
import { askedBits, rateCurve, reasonOfBits, SizeHistogram } from '../outputs/filter-figures.js';
import { bars, namedRows, shortSize } from '../outputs/screen-text.js';

interface StatOptions extends InputOptions {
  readonly json?: true;
}

interface Findings {
  readonly path: string;
  readonly table: SyncTable;
  readonly isInternal: boolean;
  readonly profile: TableProfile;
  readonly trial: FilterTrial;
  readonly fitted: FittedTrial | undefined;
  /** The stored sizes of the data blocks. */
  readonly sizes: SizeHistogram;
  /** Whether --comparator gave the order. */
  readonly isNamedOrder: boolean;
}

export function addStat(program: Command): void {
  const command = program
    .command('stat')
    .summary('print what a table consists of')
    .description(
      'Prints what a table consists of, and measures how many absent keys pass its filters. Reads the whole table.\nFor a database\'s folder, prints levels, tables, logs, and damage that is skipped. Reads the entries of only a few tables, to try their filters.',
    )
    .argument('<input...>', INPUTS)
    .option('--json', 'print one JSON object per input');
  addRemoteOptions(addPluginOptions(command));
  addKeyFormOptions(command)
    .addHelpText(
      'after',
      `
The line "of neighbours" is about absent keys next to stored ones. Read it if
your program looks up keys close to stored ones, such as numbers.
${BUCKET_HELP}
Examples:
  bloom stat capitals.ldb
  bloom stat --json capitals.ldb
  bloom stat path/to/database`,
    )
    .action(stat);
}

async function stat(paths: readonly string[], options: StatOptions): Promise<void> {
  for (const [i, path] of paths.entries()) {
    if (i > 0 && options.json !== true) await printLines(['']);
    const tracing = await tracingFor(options);
    const location = await recognised(path, { ...options, tracing });
    if (isDatabase(location)) await statFolder(location, { ...options, tracing }, options.json === true);
    else await statTable(location, { ...options, tracing });
    tracing?.report(shownName(path));
  }
}

async function statTable(location: TableLocation, options: StatOptions & RemoteOptions): Promise<void> {
  await withTableFile(location, options, async (file) => {
    noteAssumption(file, options);
    const { path, source, isInternal } = file;
    const { codecs, comparator } = file.opening;
    const { table, policy, keyOrder } = watchedTable(file);
    const profile = await profileTable(source, { codecs, ...keyOrder });
    const neighbours = new KeySet();
    const trial = tryFilters({ table, policy, entries: profile.entries, keys: isInternal ? databaseKeys : plainKeys, neighbours });
    const { filterBytes } = profile;
    const passed = comparator === undefined && policy.isBloom ? (trial.falsePositives?.neighbours?.passed ?? 0) : 0;
    const tried = passed === 0 ? undefined : await fittedTrial({ source, codecs, isInternal, filterBytes, trial, neighbours });
    const fitted = tried && ifSaving(tried);
    const sizes = new SizeHistogram();
    for await (const { byteLength, label } of tableLayout(source, { codecs, detail: 'blocks' })) {
      if (label.startsWith('data block')) sizes.add(byteLength);
    }
    const findings = { path, table, isInternal, profile, trial, fitted, sizes, isNamedOrder: comparator !== undefined };
    await (options.json ? printJson(asJson(findings)) : printLines(asText(findings)));
  });
}

function asJson({ path, table, isInternal, profile, trial, fitted, sizes }: Findings): object {
  const { filterStatus } = table;
  const { falsePositives } = trial;
  const isUsed = filterStatus.state === 'used';
  return {
    file: path,
    bytes: table.byteLength,
    entries: profile.entries,
    keyBytes: profile.keyBytes,
    valueBytes: profile.valueBytes,
    dataBlocks: profile.dataBlocks,
    rawDataBytes: profile.rawDataBytes,
    storedDataBytes: profile.storedDataBytes,
    compressionRatio: compressionRatio(profile) ?? null,
    blockSizes: sizes.rows,
    keys: isInternal ? 'internal' : 'plain',
    isBytewise: trial.inversions === 0,
    filter: {
      state: filterStatus.state,
      policies: policyNames(filterStatus),
      problem: filterStatus.state === 'corrupt' ? problemOf(filterStatus.error) : null,
      bytes: profile.filterBytes,
      filters: profile.filters,
      bitsPerKey: isUsed ? (bitsPerKey(profile) ?? null) : null,
      probes: trial.probes ?? null,
      deniedKeys: isUsed ? trial.denied : null,
    },
    falsePositives: falsePositives
      ? {
          tried: falsePositives.tried,
          passed: falsePositives.passed,
          rate: falsePositives.passed / falsePositives.tried,
          expectedRate: falsePositives.expectedRate ?? null,
          neighbours: neighboursJson(falsePositives.neighbours),
        }
      : null,
    fittedFilters: fitted ?? null,
  };
}

function asText({ path, table, isInternal, profile, trial, fitted, sizes, isNamedOrder }: Findings): string[] {
  const ratio = compressionRatio(profile);
  const bits = bitsPerKey(profile);
  const rows: [name: string, text: string][] = [
    ['file', `${path}, ${counted(table.byteLength, 'byte')}`],
    ['entries', `${count(profile.entries)}: ${keysAndValues(profile)}`],
    [
      'data blocks',
      `${count(profile.dataBlocks)}: ${counted(profile.rawDataBytes, 'byte')}, stored as ${count(profile.storedDataBytes)}`,
    ],
    ['compression', ratio === undefined ? 'none: no data' : `${ratio.toFixed(2)} : 1`],
  ];
  if (isInternal) rows.push(['keys', "a database's: user key, and 8 bytes of type and sequence"]);
  if (trial.inversions > 0) {
    rows.push(['order', isNamedOrder ? 'not that of --comparator' : 'not bytewise: get, and scan with bounds, may miss keys without --comparator']);
  }
  rows.push(['filter policy', statusText(table.filterStatus)]);
  if (table.filterStatus.state === 'used') {
    rows.push(['filters', `${count(profile.filters)}: ${counted(profile.filterBytes, 'byte')}`]);
    const probes = trial.probes === undefined ? '' : `, ${counted(trial.probes, 'probe')}`;
    rows.push(['bits per key', bits === undefined ? 'none: no keys' : `${bits.toFixed(2)}${probes}`]);
    const reason = trial.probes === undefined ? undefined : reasonOfBits(profile, trial.probes);
    if (reason !== undefined) rows.push(['', reason]);
    rows.push(['false positives', rateText(falsePositivesText(trial))]);
    if (trial.falsePositives !== undefined) rows.push(['  of neighbours', neighbourText(trial.falsePositives)]);
    if (fitted !== undefined) rows.push(['fitted filters', fittedText(fitted, `${path === shownName('-') ? '-' : path} -o NEW`)]);
  }
  return [...namedRows(rows), ...blockSizeLines(sizes), ...curveLines(trial)];
}

function blockSizeLines({ rows }: SizeHistogram): string[] {
  if (rows.length === 0) return [];
  return ['', 'stored data blocks by size', ...bars(rows.map(({ from, to, blocks }) => ({ name: `${shortSize(from)} to ${shortSize(to)}`, share: blocks, figure: count(blocks) })))];
}

function curveLines({ probes }: FilterTrial): string[] {
  const asked = probes === undefined ? undefined : askedBits(probes)?.most;
  if (asked === undefined) return [];
  return ['', 'false positives by bits per key, in theory, for filters of many keys', ...rateCurve(asked)];
}

function keysAndValues({ keyBytes, valueBytes }: TableProfile): string {
  return `${counted(keyBytes, 'byte')} of keys, ${count(valueBytes)} of values`;
}

function rateText(measured: MeasuredRate): string {
  return 'rate' in measured ? `${measured.rate}: ${measured.detail}` : `not measured: ${measured.notMeasured}`;
}

function neighbourText(falsePositives: FalsePositives): string {
  const { neighbours } = falsePositives;
  return `${rateText(neighboursText(falsePositives))}${neighbours === undefined ? '' : ` ${keyText(neighbours.example)}`}`;
}

function neighboursJson(neighbours: FalsePositives['neighbours']): object | null {
  if (neighbours === undefined) return null;
  const { tried, passed, example } = neighbours;
  return { tried, passed, rate: passed / tried, exampleHex: hexDigits(example) };
}
