import type { SyncTable } from '@bloom/sstable';
import { allCodecs } from '@bloom/codecs';
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
  type MeasuredRate,
  neighboursText,
  plainKeys,
  tryFilters,
  WatchedBloomPolicy,
} from '@bloom/report';
import { internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import { profileTable, type TableProfile } from '@bloom/sstable/inspect';
import type { Command } from 'commander';
import { ByteBuffer } from './byte-buffer.js';
import { policyNames, problemOf, statusText } from './filter-text.js';
import { isFolder, mustNotInsist } from './folder-argument.js';
import { keyText } from './key-text.js';
import {
  addKeyFormOptions,
  type KeyFormOptions,
  noteAssumption,
  openDatabaseTable,
  openTable,
  withTableFile,
} from './opened-table.js';
import { flush, Lines } from './output.js';
import { statFolder } from './stat-folder.js';
import { terminalJson } from './terminal-text.js';

interface StatOptions extends KeyFormOptions {
  readonly json?: true;
}

interface Findings {
  readonly path: string;
  readonly table: SyncTable;
  readonly isInternal: boolean;
  readonly profile: TableProfile;
  readonly trial: FilterTrial;
}

export function addStat(program: Command): void {
  const command = program
    .command('stat')
    .summary('print what a table consists of')
    .description(
      'Prints what a table consists of, and measures how often absent keys match its filters.\nReads the whole table.\nFor a database\'s folder, prints levels, tables, logs, and what is left out because it is damaged. Does not read the tables\' entries then.',
    )
    .argument('<table|folder>', "the table, or a database's folder")
    .option('--json', 'print one JSON object');
  addKeyFormOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  bloom stat capitals.ldb
  bloom stat --json capitals.ldb
  bloom stat path/to/database`,
    )
    .action(stat);
}

async function stat(path: string, options: StatOptions): Promise<void> {
  if (isFolder(path)) {
    mustNotInsist(path, options);
    return statFolder(path, options.json === true);
  }
  const policy = new WatchedBloomPolicy();
  await withTableFile(path, options, async (file) => {
    noteAssumption(file, options);
    const { isInternal } = file;
    const opening = { filterPolicies: [policy] };
    const table = isInternal ? openDatabaseTable(file, opening).table : openTable(file, opening);
    const keyOrder = isInternal ? { comparator: internalKeyComparator(), filterPolicies: [internalKeyPolicy(policy)] } : opening;
    const profile = await profileTable(file.source, { codecs: allCodecs, ...keyOrder });
    const trial = tryFilters({ table, policy, entries: profile.entries, keys: isInternal ? databaseKeys : plainKeys });
    const findings = { path, table, isInternal, profile, trial };
    if (options.json) {
      const out = new ByteBuffer();
      out.utf8(`${terminalJson(asJson(findings), 2)}\n`);
      await flush(out);
      return;
    }
    const lines = new Lines();
    for (const line of asText(findings)) await lines.add(line);
    await lines.flush();
  });
}

function asJson({ path, table, isInternal, profile, trial }: Findings): object {
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
          expectedRate: falsePositives.expectedRate,
          neighbours: neighboursJson(falsePositives.neighbours),
        }
      : null,
  };
}

function asText({ path, table, isInternal, profile, trial }: Findings): string[] {
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
  if (trial.inversions > 0) rows.push(['order', 'not bytewise: get, and scan with bounds, may miss keys']);
  rows.push(['filter policy', statusText(table.filterStatus)]);
  if (table.filterStatus.state === 'used') {
    rows.push(['filters', `${count(profile.filters)}: ${counted(profile.filterBytes, 'byte')}`]);
    const probes = trial.probes === undefined ? '' : `, ${counted(trial.probes, 'probe')}`;
    rows.push(['bits per key', bits === undefined ? 'none: no keys' : `${bits.toFixed(2)}${probes}`]);
    rows.push(['false positives', rateText(falsePositivesText(trial))]);
    if (trial.falsePositives !== undefined) rows.push(['  of neighbours', neighbourText(trial.falsePositives)]);
  }
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${text}`);
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
