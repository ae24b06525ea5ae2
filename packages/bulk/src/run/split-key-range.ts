import type { Signal } from '@bloom/bytes';
import { mustBeArray, mustBeOptions, mustBeSignal, mustBeWhole } from '@bloom/bytes/internal';
import { type Comparator, type Source, type TableOptions } from '@bloom/sstable';
import { INTERNAL_KEY_TRAILER_LENGTH, internalTableOptions } from '@bloom/sstable/database';
import { comparatorOf, type OpenTable, readOpenTable, readRange } from '@bloom/sstable/internal';
import type { FileMetadata } from '@bloom/leveldb';
import { userKeyOf } from './run.js';

/** How to split the contents of sorted tables. */
export interface SplitOptions extends Pick<TableOptions, 'codecs' | 'maxBlockBytes'> {
  /** The order of the keys. Default: bytewise. */
  readonly comparator?: Comparator | undefined;
  /** Whether the tables have the keys of a database, like parts, or plain keys. Default: `'plain'`. */
  readonly keys?: 'plain' | 'database' | undefined;
  readonly signal?: Signal | undefined;
}

const SPLIT_OPTIONS: Record<keyof SplitOptions, true> = { comparator: true, keys: true, signal: true, codecs: true, maxBlockBytes: true };

/** The most places of one table that are sampled. Of a larger table, every second or third block is sampled, and so on. */
const MAX_SAMPLES = 2 ** 16;

/** A key, and the number of bytes between the previous sample and this key. */
interface Sample {
  readonly key: Uint8Array;
  readonly bytes: number;
}

/**
 * Finds keys that split the contents of sorted tables into ranges of about the same number of bytes, from the tables' indexes alone.
 *
 * @param n the number of ranges.
 * @returns at most `n - 1` keys in ascending order: range `i` starts at key `i - 1` and ends before key `i`. The same tables always
 *   give the same keys, whatever their order. There are fewer if the tables have fewer blocks.
 * @throws CorruptionError when a table cannot be opened.
 */
export async function split(sources: readonly Source[], n: number, options: SplitOptions = {}): Promise<Uint8Array[]> {
  mustBeArray('sources', sources, 'sources');
  mustBeWhole('n', n, 1);
  mustBeOptions('split', options, SPLIT_OPTIONS);
  const { keys = 'plain', signal, codecs, maxBlockBytes } = options;
  const comparator = comparatorOf('comparator', options.comparator);
  if (!['plain', 'database'].includes(keys)) throw new RangeError(`keys must be 'plain' or 'database', got ${keys}`);
  if (signal !== undefined) mustBeSignal('signal', signal);
  const plain: TableOptions = { comparator, codecs, maxBlockBytes, filters: 'never', filterPolicies: [] };
  const samples: Sample[] = [];
  for (const source of sources) {
    const { index } = await openedTable(source, keys === 'plain' ? plain : internalTableOptions(plain), signal);
    const step = Math.max(1, Math.ceil(index.length / MAX_SAMPLES));
    let bytes = 0;
    for (let i = 0; i < index.length; i++) {
      bytes += Math.max(0, index.sizeOf(i));
      if ((i + 1) % step !== 0 && i + 1 < index.length) continue;
      const separator = index.separatorOf(i);
      samples.push({ key: (keys === 'plain' ? separator : userKeyOf(separator)).slice(), bytes });
      bytes = 0;
    }
  }
  return boundariesOf(samples, n, comparator);
}

/**
 * Finds keys that split parts into ranges of about the same number of bytes, from the MANIFEST alone, without reading parts. A
 * range is at least about one part.
 *
 * @returns as {@link split}.
 */
export function splitParts(parts: readonly Pick<FileMetadata, 'size' | 'largest'>[], n: number, comparator?: Comparator): Uint8Array[] {
  mustBeArray('parts', parts, 'parts');
  mustBeWhole('n', n, 1);
  const order = comparatorOf('comparator', comparator);
  return boundariesOf(
    parts.map(({ size, largest }) => ({ key: new Uint8Array(largest.subarray(0, -INTERNAL_KEY_TRAILER_LENGTH)), bytes: size })),
    n,
    order,
  );
}

function boundariesOf(samples: Sample[], n: number, comparator: Comparator): Uint8Array[] {
  samples.sort((a, b) => comparator.compare(a.key, b.key));
  const total = samples.reduce((sum, { bytes }) => sum + bytes, 0);
  const boundaries: Uint8Array[] = [];
  let before = 0;
  for (const [i, { key, bytes }] of samples.entries()) {
    before += bytes;
    const next = samples[i + 1];
    // The last sample is at or behind the last key, so that a range from there on would be empty.
    if (next === undefined || boundaries.length >= n - 1) break;
    // Among samples with the same key, the last one counts, whatever their order.
    if (comparator.compare(key, next.key) < 0 && before * n >= total * (boundaries.length + 1)) boundaries.push(key);
  }
  return boundaries;
}

async function openedTable(source: Source, options: TableOptions, signal: Signal | undefined): Promise<OpenTable> {
  const reading = readOpenTable(source, options);
  let step = reading.next();
  while (step.done !== true) step = reading.next(await readRange(source, step.value, signal));
  return step.value;
}
