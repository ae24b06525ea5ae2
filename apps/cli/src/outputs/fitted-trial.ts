/** Measures how many unnecessary reads fitted filters would save: tries the same absent neighbours with a table's own filters and with fitted ones. */
import { type FilterPolicy, FittedBloomFilterPolicy } from '@bloom/policy';
import { count, countMatching, databaseKeys, type FilterTrial, KeySet, plainKeys, tryFilters, WatchedPolicy } from '@bloom/report';
import { CorruptionError, type SyncSource, SyncTable, type TableOptions, UnsupportedError } from '@bloom/sstable';
import { internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import { profileTable, refilterTable } from '@bloom/sstable/inspect';
import { askedBits } from './filter-figures.js';

/** Larger tables are not tried: a trial takes as long as reading the table again and building its filters. */
export const MAX_FITTED_TABLE_BYTES = 256 * 2 ** 20;
/** The approximate number of bytes of a folder's tables that are tried. Tables larger than the next constant are left out. */
const SAMPLED_BYTES = 4 * 2 ** 20;
const MAX_SAMPLED_TABLE_BYTES = 32 * 2 ** 20;
/** With fewer neighbours, the rates are not meaningful. */
const LEAST_TRIED = 100;
/** The default bits per key of `bloom refilter`. */
const DEFAULT_BITS = 10;
/** The most bytes of fitted filters, relative to a table's own filters, for a fair comparison. */
const MOST_BYTES = 1.05;

/** The absent neighbours of stored keys that were tried, and how many of them pass. */
export interface FittedTrial {
  readonly tried: number;
  /** The number that pass the existing filters. */
  readonly passed: number;
  readonly fitted: number;
  /** The bits per key of the fitted filters. */
  readonly bitsPerKey: number;
}

/** A table whose own filters, of LevelDB's policy, were tried. */
export interface TriedTable {
  readonly source: SyncSource;
  readonly codecs: TableOptions['codecs'];
  /** Whether the keys are internal keys. */
  readonly isInternal: boolean;
  readonly filterBytes: number;
  readonly trial: FilterTrial;
  /** The neighbours that the trial has collected. */
  readonly neighbours: KeySet;
}

/** The trial of a table; undefined if the filters cannot be compared. */
export async function fittedTrial(tried: TriedTable): Promise<FittedTrial | undefined> {
  const { source, codecs, isInternal, filterBytes, trial, neighbours } = tried;
  const passed = trial.falsePositives?.neighbours?.passed;
  const bitsPerKey = trial.probes === undefined ? undefined : askedBits(trial.probes)?.most;
  if (bitsPerKey === undefined || passed === undefined || source.byteLength > MAX_FITTED_TABLE_BYTES) return undefined;
  const policy = new FittedBloomFilterPolicy(bitsPerKey);
  const refiltered = await refilterTable(source, { filterPolicy: isInternal ? internalKeyPolicy(policy) : policy, codecs });
  if (refiltered.filterBytes > MOST_BYTES * filterBytes) return undefined;
  const table = openedTable(refiltered.source as SyncSource, policy, codecs, isInternal);
  const fitted = countMatching(neighbours, table, isInternal ? databaseKeys : plainKeys);
  return { tried: neighbours.size, passed, fitted, bitsPerKey };
}

/** The trial of a sample of a database's tables, whose keys are in bytewise order. Tables that cannot be read, and those with other bits per key than the first, are left out. */
export interface SampledTrial extends FittedTrial {
  /** The number of tables that were tried. */
  readonly tables: number;
}

type OpenedSource = SyncSource & { close?(): void };

/**
 * The sum of the trials of tables from all parts of a database, of about 4 MiB together. Undefined if fitted filters do not let fewer pass.
 *
 * @param tables the sources of all tables, which are opened as they are needed.
 */
export async function sampledTrial(tables: readonly { readonly byteLength: number; readonly open: () => OpenedSource | undefined }[], codecs: TableOptions['codecs']): Promise<SampledTrial | undefined> {
  const total = tables.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const step = Math.max(1, total / SAMPLED_BYTES);
  const sum = { tables: 0, tried: 0, passed: 0, fitted: 0 };
  let bitsPerKey: number | undefined;
  for (let next = step / 2; next < tables.length; next += step) {
    const { byteLength, open } = tables[Math.floor(next)]!;
    if (byteLength > MAX_SAMPLED_TABLE_BYTES) continue;
    const found = await trialOf(open, codecs);
    if (found === undefined) continue;
    bitsPerKey ??= found.bitsPerKey;
    if (bitsPerKey !== found.bitsPerKey) continue;
    sum.tables++;
    sum.tried += found.tried;
    sum.passed += found.passed;
    sum.fitted += found.fitted;
  }
  return bitsPerKey === undefined ? undefined : ifSaving({ ...sum, bitsPerKey });
}

async function trialOf(open: () => OpenedSource | undefined, codecs: TableOptions['codecs']): Promise<FittedTrial | undefined> {
  const policy = new WatchedPolicy();
  let source: OpenedSource | undefined;
  try {
    source = open();
    // Another program may have deleted the table.
    if (source === undefined) return undefined;
    const { entries, filterBytes } = await profileTable(source, { codecs, comparator: internalKeyComparator(), filterPolicies: [internalKeyPolicy(policy)] });
    const table = openedTable(source, policy, codecs, true);
    const neighbours = new KeySet();
    const trial = tryFilters({ table, policy, entries, keys: databaseKeys, neighbours });
    return await fittedTrial({ source, codecs, isInternal: true, filterBytes, trial, neighbours });
  } catch (error) {
    if (error instanceof CorruptionError || error instanceof UnsupportedError) return undefined;
    throw error;
  } finally {
    source?.close?.();
  }
}

function openedTable(source: SyncSource, policy: FilterPolicy, codecs: TableOptions['codecs'], isInternal: boolean): SyncTable {
  const order = isInternal ? { comparator: internalKeyComparator(), filterPolicies: [internalKeyPolicy(policy)] } : { filterPolicies: [policy] };
  return SyncTable.open(source, { ...order, codecs, cache: null });
}

/** The trial, if fitted filters let fewer of enough neighbours pass by more than two standard deviations; a smaller difference may be random. */
export function ifSaving<T extends FittedTrial>(trial: T): T | undefined {
  const { tried, passed, fitted } = trial;
  return tried >= LEAST_TRIED && passed - fitted > 2 * Math.sqrt(passed) ? trial : undefined;
}

/** The number of neighbours that fitted filters would let pass, and the command that builds the filters. */
export function fittedText({ tried, passed, fitted, bitsPerKey }: FittedTrial, args: string, sample = ''): string {
  const bits = bitsPerKey === DEFAULT_BITS ? '' : ` --bits-per-key ${bitsPerKey}`;
  return `would let ${count(fitted)} of ${count(tried)} neighbours${sample} pass instead of ${count(passed)}: bloom refilter ${args}${bits}`;
}
