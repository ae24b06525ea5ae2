import { basename } from 'node:path';
import type { DatabaseDescription, LogDescription, SyncFolder, TableDescription } from '@bloom/leveldb';
import { BloomFilterPolicy } from '@bloom/policy';
import { count, counted, hexDigits } from '@bloom/report';
import { bytewiseComparator } from '@bloom/sstable';
import { policyNames, statusText } from '../outputs/filter-text.js';
import { keyText } from '../outputs/key-text.js';
import type { InputOptions } from '../inputs/opened-input.js';
import { type DatabaseLocation, droppedJson, droppedText, isSync, withDatabase } from '../inputs/opened-folder.js';
import { fittedText, type SampledTrial, sampledTrial } from '../outputs/fitted-trial.js';
import { printJson, printLines } from '../outputs/output.js';
import { namedRows } from '../outputs/screen-text.js';
import { knownCodecs } from '../plugins/known-plugins.js';
import type { Plugins } from '../plugins/plugin-options.js';

/** Prints the parts of a database. Skips damaged parts and reports them. */
export async function statFolder(location: DatabaseLocation, options: InputOptions, asJson: boolean): Promise<void> {
  await withDatabase(location, { ...options, damage: 'skip' }, async ({ path, database, folder, plugins }) => {
    const description = database.describe();
    const fitted = isSync(folder) ? await fittedOf(description, folder, plugins) : undefined;
    await (asJson ? printJson(jsonOf(path, description, database.filterStatus.state, fitted)) : printLines(textOf(path, description, fitted)));
  });
}

/** The number of unnecessary reads that fitted filters would save, estimated from a sample of the tables with filters of LevelDB's policy. */
async function fittedOf({ comparator, levels }: DatabaseDescription, folder: SyncFolder, plugins: Plugins): Promise<SampledTrial | undefined> {
  if (comparator !== bytewiseComparator.name) return undefined;
  const { name: bloom } = new BloomFilterPolicy();
  const tables = levels.flat().filter(({ filterStatus }) => filterStatus.state === 'unopened' || policyNames(filterStatus).includes(bloom));
  const openings = tables.map(({ name, byteLength }) => ({ byteLength, open: () => folder.open(name) }));
  return sampledTrial(openings, knownCodecs(plugins));
}

function textOf(path: string, description: DatabaseDescription, fitted: SampledTrial | undefined): string[] {
  const { comparator, lastSequence, manifest, logNumber, nextFileNumber, levels, logs, dropped } = description;
  const tables = levels.flat();
  const rows: [name: string, text: string][] = [
    ['folder', path],
    ['comparator', comparator],
    ['last sequence', count(lastSequence)],
    ['manifest', `${manifest}; logs from number ${logNumber}, next file number ${nextFileNumber}`],
    ['tables', `${count(tables.length)}: ${counted(bytesOf(tables), 'byte')}`],
  ];
  for (const [level, files] of levels.entries()) {
    if (files.length === 0) continue;
    rows.push([`level ${level}`, `${counted(files.length, 'table')}, ${counted(bytesOf(files), 'byte')}`]);
    for (const file of files) rows.push([`  ${file.name}`, tableText(file)]);
  }
  if (fitted !== undefined) {
    const sample = tables.length === fitted.tables ? '' : `, of ${count(fitted.tables)} of the tables,`;
    rows.push(['fitted filters', fittedText(fitted, path, sample)]);
  }
  for (const log of logs) rows.push([`log`, logText(log)]);
  for (const drop of dropped) rows.push(['damage', `${basename(drop.file)}: ${droppedText(drop)}`]);
  return namedRows(rows);
}

function tableText({ byteLength, smallest, largest, filterStatus }: TableDescription): string {
  const filter = filterStatus.state === 'unopened' ? 'not opened' : filterStatus.state === 'absent' ? 'no filter' : `filter ${statusText(filterStatus)}`;
  return `${counted(byteLength, 'byte')}, ${keyText(smallest.userKey)} to ${keyText(largest.userKey)}, ${filter}`;
}

function logText({ name, byteLength, entries, tail }: LogDescription): string {
  const end = tail === undefined ? '' : `; ends in ${counted(tail.byteLength, 'byte')} of a truncated record (${tail.problem})`;
  return `${name}, ${counted(byteLength, 'byte')}, ${counted(entries, 'operation')}${end}`;
}

function jsonOf(folder: string, description: DatabaseDescription, filterState: string, fitted: SampledTrial | undefined): object {
  const { comparator, lastSequence, manifest, logNumber, previousLogNumber, nextFileNumber, levels, logs, dropped } = description;
  return {
    folder,
    comparator,
    lastSequence: String(lastSequence),
    manifest,
    logNumber: String(logNumber),
    previousLogNumber: String(previousLogNumber),
    nextFileNumber: String(nextFileNumber),
    filter: filterState,
    levels: levels.map((files) =>
      files.map(({ name, byteLength, smallest, largest, filterStatus }) => ({
        name,
        bytes: byteLength,
        smallest: internalKeyJson(smallest),
        largest: internalKeyJson(largest),
        filter: filterStatus.state === 'unopened' ? null : { state: filterStatus.state, policies: policyNames(filterStatus) },
      })),
    ),
    fittedFilters: fitted ?? null,
    logs: logs.map(({ name, byteLength, entries, tail }) => ({ name, bytes: byteLength, operations: entries, tail: tail ?? null })),
    dropped: dropped.map(droppedJson),
  };
}

/** Keys are in hexadecimal, because they can be any bytes. */
function internalKeyJson({ userKey, sequence, type }: TableDescription['smallest']): object {
  return { keyHex: hexDigits(userKey), sequence: String(sequence), type };
}

function bytesOf(tables: readonly TableDescription[]): number {
  return tables.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
