import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { Failure } from '../failure.js';
import type { PluginOptions } from '../plugins/plugin-options.js';
import { type DamageOptions, mustBeForFolder } from './folder-argument.js';
import { type Location, locate } from './location.js';
import type { DatabaseFile, DatabaseLocation } from './opened-folder.js';
import { nameOf, readWhole, type RemoteOptions, type TableLocation } from './opened-source.js';
import { GZIP_MAGIC, gunzipAdvice, RECORD_HEADER_BYTES, TABLE_MAGIC } from './recognized-file.js';
import { type KeyFormOptions, type TableFile, withReadTable } from './opened-table.js';

/** An opened input of a reading command. */
export type Input = { readonly kind: 'table'; readonly file: TableFile } | { readonly kind: 'database'; readonly file: DatabaseFile };

export interface InputOptions extends KeyFormOptions, DamageOptions, PluginOptions, RemoteOptions {
  /** As for opening a table. */
  readonly isWithoutFilters?: boolean;
}

/** Opens an input, runs `work` with it, and closes it. Failures name the input. */
export async function withInput<T>(given: string, options: InputOptions, work: (input: Input) => T | Promise<T>): Promise<T> {
  const location = await recognised(given, options);
  if (isDatabase(location)) {
    // The keys of a database are always user keys.
    const { withDatabase } = await import('./opened-folder.js');
    return withDatabase(location, options, (file) => work({ kind: 'database', file }));
  }
  return withReadTable(location, options, (file) => {
    mustBeForFolder(file.path, '--damage', options.damage);
    return work({ kind: 'table', file });
  });
}

/** {@link withInput} for several inputs, which are open at the same time. @param optionsOf the options of an input, by its number. */
export function withInputs<T>(given: readonly string[], optionsOf: (i: number) => InputOptions, work: (inputs: readonly Input[]) => Promise<T>): Promise<T> {
  const open = (i: number, inputs: readonly Input[]): Promise<T> =>
    i === given.length ? work(inputs) : withInput(given[i]!, optionsOf(i), (input) => open(i + 1, [...inputs, input]));
  return open(0, []);
}

export function isDatabase(location: DatabaseLocation | TableLocation): location is DatabaseLocation {
  return ['folder', 'remote-folder', 'bucket', 'log', 'remote-log', 'memory-log'].includes(location.kind);
}

/** The location of an input, and whether it is a table or a database, which may be visible only in its bytes. */
export async function recognised(given: string, { header = [], tracing }: RemoteOptions): Promise<DatabaseLocation | TableLocation> {
  const location: Location = locate(given);
  switch (location.kind) {
    case 'remote': {
      const { resolved, transportOf } = await import('./remote-files.js');
      return (await resolved(location, transportOf(location.url, header, tracing), kindOf)) as DatabaseLocation | TableLocation;
    }
    case 'stdin':
    case 'pipe': {
      const path = nameOf(location);
      const source = await readWhole(location);
      const { byteLength } = source;
      const start = source.read(0, Math.min(byteLength, RECORD_HEADER_BYTES));
      return { kind: kindOf(path, start, source.read(Math.max(0, byteLength - TABLE_MAGIC.length), Math.min(byteLength, TABLE_MAGIC.length))) === 'log' ? 'memory-log' : 'memory', path, source };
    }
    case 'file':
      return { kind: isNamedTable(location.path) ? 'file' : kindOfFile(location.path), path: location.path };
    default:
      return location;
  }
}

function isNamedTable(path: string): boolean {
  return /\.(?:ldb|sst)$/.test(path);
}

/** The kind of a file whose name does not show it. An unreadable file counts as a table: opening it reports why. */
function kindOfFile(path: string): 'file' | 'log' {
  const start = Buffer.alloc(RECORD_HEADER_BYTES);
  const end = Buffer.alloc(TABLE_MAGIC.length);
  try {
    const file = openSync(path, 'r');
    try {
      const startBytes = readSync(file, start, 0, start.length, 0);
      const endBytes = readSync(file, end, 0, end.length, Math.max(0, fstatSync(file).size - end.length));
      return kindOf(path, start.subarray(0, startBytes), end.subarray(0, endBytes));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    return 'file';
  }
}

/** @throws Failure for a file of a known other kind. */
function kindOf(path: string, start: Uint8Array, end: Uint8Array): 'file' | 'log' {
  if (TABLE_MAGIC.equals(end)) return 'file';
  if (GZIP_MAGIC.equals(start.subarray(0, GZIP_MAGIC.length))) {
    throw new Failure(`${path}: is compressed with gzip: ${gunzipAdvice(path)}`);
  }
  return looksLikeRecord(start) ? 'log' : 'file';
}

/** Whether a log's first record may begin like this: its type is FULL or FIRST, and it has at least the header of a batch. */
function looksLikeRecord(start: Uint8Array): boolean {
  if (start.length < RECORD_HEADER_BYTES) return false;
  const type = start[6]!;
  const length = start[4]! | (start[5]! << 8);
  return (type === 1 || type === 2) && length >= 12;
}
