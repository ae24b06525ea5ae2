import { basename } from 'node:path';
import type { DatabaseDescription, LogDescription, TableDescription } from '@bloom/leveldb';
import { count, counted, hexDigits } from '@bloom/report';
import { policyNames, statusText } from '../outputs/filter-text.js';
import { keyText } from '../outputs/key-text.js';
import type { InputOptions } from '../inputs/opened-input.js';
import { type DatabaseLocation, droppedJson, droppedText, withDatabase } from '../inputs/opened-folder.js';
import { Lines } from '../outputs/output.js';
import { namedRows } from '../outputs/screen-text.js';

/** Prints what a database consists of. Skips damaged parts and reports them, since users look for these. */
export async function statFolder(location: DatabaseLocation, options: InputOptions, asJson: boolean): Promise<void> {
  await withDatabase(location, { ...options, damage: 'skip' }, async ({ path, database }) => {
    const description = database.describe();
    if (asJson) {
      const json = new Lines();
      await json.json(jsonOf(path, description, database.filterStatus.state));
      await json.flush();
      return;
    }
    const lines = new Lines();
    for (const line of textOf(path, description)) await lines.add(line);
    await lines.flush();
  });
}

function textOf(path: string, description: DatabaseDescription): string[] {
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
  for (const log of logs) rows.push([`log`, logText(log)]);
  for (const drop of dropped) rows.push(['damage', `${basename(drop.file)}: ${droppedText(drop)}`]);
  return namedRows(rows);
}

function tableText({ byteLength, smallest, largest, filterStatus }: TableDescription): string {
  const filter = filterStatus.state === 'unopened' ? 'not opened' : filterStatus.state === 'absent' ? 'no filter' : `filter ${statusText(filterStatus)}`;
  return `${counted(byteLength, 'byte')}, ${keyText(smallest.userKey)} to ${keyText(largest.userKey)}, ${filter}`;
}

function logText({ name, byteLength, entries, tail }: LogDescription): string {
  const end = tail === undefined ? '' : `; ends in ${counted(tail.byteLength, 'byte')} of a record that is cut off (${tail.problem})`;
  return `${name}, ${counted(byteLength, 'byte')}, ${counted(entries, 'operation')}${end}`;
}

function jsonOf(folder: string, description: DatabaseDescription, filterState: string): object {
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
