import { startsWithMark } from '@bloom/report';
import type { EntryBatch, KeyRange } from '@bloom/sstable';
import { ByteBuffer } from './byte-buffer.js';
import { OutputError } from './entry.js';
import { Failure } from './failure.js';
import type { DamageOptions } from './folder-argument.js';
import type { Encode, FormatName } from './format.js';
import { putMark } from './lines.js';
import type { KeyFormOptions } from './opened-table.js';
import { drain, flush } from './output.js';

/** The options with which any entry of plain keys can be printed, and any entry of versions. */
const REMEDIES = ['--hex', '--format kv'];
export const VERSION_REMEDIES = ['--hex'];

/** What `scan` was asked to print. */
export interface ScanOptions extends KeyFormOptions, DamageOptions {
  readonly allVersions?: true;
  readonly gt?: string;
  readonly gte?: string;
  readonly lt?: string;
  readonly lte?: string;
  readonly reverse?: true;
  readonly limit?: number;
  readonly format: FormatName;
  readonly hex?: true;
}

/**
 * Prints entries. If one fails, the ones before it are printed.
 *
 * @param remedies the options with which any entry can be printed.
 */
export function print<T>(
  path: string,
  format: FormatName,
  entries: Iterable<T>,
  encode: (entry: T, out: ByteBuffer) => void,
  remedies: readonly string[] = REMEDIES,
): Promise<void> {
  return printSteps(path, format, entries, remedies, (entry, out) => {
    out.begin();
    encode(entry, out);
  });
}

/** Prints batches of entries. If an entry fails, the ones before it are printed. */
export function printBatches(path: string, format: FormatName, batches: Iterable<EntryBatch>, encode: Encode): Promise<void> {
  return printSteps(path, format, batches, REMEDIES, (batch, out) => {
    for (let i = 0; i < batch.length; i++) {
      out.begin();
      encode(batch.key(i), batch.value(i), out);
    }
  });
}

/** @param encode begins each entry that it appends. */
async function printSteps<T>(
  path: string,
  format: FormatName,
  steps: Iterable<T>,
  remedies: readonly string[],
  encode: (step: T, out: ByteBuffer) => void,
): Promise<void> {
  const out = new ByteBuffer();
  try {
    for (const step of steps) {
      try {
        encode(step, out);
      } catch (error) {
        out.dropEntry();
        if (!(error instanceof OutputError || error instanceof RangeError)) throw error;
        // JSON lines are made as one string, which has a maximum length.
        if (error instanceof RangeError) throw new Failure(`${path}: an entry is too long for one line of ${format}: try --format tsv --hex`);
        const others = format === 'jsonl' ? remedies : [...remedies, '--format jsonl'];
        throw new Failure(`${path}: ${error.message}, which ${format} cannot represent: try ${others.join(' or ')}`);
      }
      const written = drain(out);
      if (written !== undefined) await written;
    }
  } finally {
    await flush(out);
  }
}

/** Filters `entries`, which may be in any order, by bounds. */
export function* inRange<T>(
  entries: Iterable<T>,
  { gt, gte, lt, lte, limit = Infinity }: KeyRange,
  keyOf: (entry: T) => Uint8Array,
  compare: (a: Uint8Array, b: Uint8Array) => number,
): Generator<T, void> {
  let left = limit;
  if (left <= 0) return;
  for (const entry of entries) {
    const key = keyOf(entry);
    if (gt !== undefined && compare(key, gt) <= 0) continue;
    if (gte !== undefined && compare(key, gte) < 0) continue;
    if (lt !== undefined && compare(key, lt) >= 0) continue;
    if (lte !== undefined && compare(key, lte) > 0) continue;
    yield entry;
    if (--left <= 0) return;
  }
}

/** Whether a range has any bound. */
export function hasBounds({ gt, gte, lt, lte }: KeyRange): boolean {
  return [gt, gte, lt, lte].some((bound) => bound !== undefined);
}

/** Puts a byte order mark before a text that starts with one, since a reader skips the first one. */
export function withMark(format: FormatName, hex: boolean, encode: Encode): Encode {
  let isFirst = !hex && (format === 'tsv' || format === 'words');
  return (key, value, out) => {
    if (isFirst && startsWithMark(key)) putMark(out);
    isFirst = false;
    encode(key, value, out);
  };
}
