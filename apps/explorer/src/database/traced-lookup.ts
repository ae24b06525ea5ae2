/** Adds the compared keys, from the searched blocks, to the library's explanation of a lookup. */
import type { AskedTable, FoundVersion, LookupExplanation } from '@bloom/leveldb';
import type { LookupFailure } from '@bloom/sstable';
import { decodeInternalKey } from '@bloom/sstable/database';
import { BLOCK_KINDS, type InspectedBlock } from '@bloom/sstable/inspect';
import { clipped } from '../table/clipped.js';
import type { InspectedTable } from '../table/inspected-table.js';
import type { Clipped } from '../table/table-facts.js';
import type { FailureFacts } from '../worker/failure.js';
import type { LookupTrace, TableTrace, TraceStep } from './database-facts.js';

/** The number of bytes of a found value that are shown. */
const VALUE_BYTES = 64 * 1024;

/** The steps of a lookup as the page shows them. @param openTable opens a table by its name, to show the keys of the blocks that were searched. */
export async function lookupTrace({ steps, outcome }: LookupExplanation, openTable: (name: string) => Promise<InspectedTable>): Promise<LookupTrace> {
  const shown: TraceStep[] = [];
  const rest: string[] = [];
  let reads = 0;
  let saved = 0;
  const level0 = steps.filter((step) => step.source === 'table' && step.level === 0);
  for (const step of steps) {
    if (!step.asked && step.reason === 'not-reached') {
      const isWholeLevel = step.source === 'table' && level0.every(({ asked }) => !asked);
      const name = step.source === 'level' ? `level ${step.level}` : isWholeLevel ? 'level 0' : step.file;
      if (!rest.includes(name)) rest.push(name);
    } else if (step.source === 'memtable') {
      const found: FoundVersion = step.asked ? step.found : { kind: 'nothing' };
      shown.push({ kind: 'log', file: step.file, entries: step.entries, ...resultOf(found) });
    } else if (step.source === 'level') {
      shown.push({ kind: 'level', level: step.level, tables: step.tables, outcome: 'no table' });
    } else if (step.asked) {
      if (step.search.filter?.answer === 'no') saved++;
      if (step.search.searched !== undefined) reads++;
      shown.push({ kind: 'table', ...(await tableTrace(step, openTable)) });
    } else if (step === level0.at(-1) && level0.every((other) => !other.asked && other.reason === 'out-of-range')) {
      shown.push({ kind: 'level', level: 0, tables: level0.length, outcome: 'no table' });
    }
  }
  if (rest.length > 0) shown.push({ kind: 'rest', sources: rest });
  const kinds = { value: 'found', deletion: 'deleted', absent: 'absent', failed: 'unknown' } as const;
  const value = outcome.kind === 'value' ? clipped(outcome.value, VALUE_BYTES) : undefined;
  return { steps: shown, outcome: kinds[outcome.kind], value, reads, saved };
}

function resultOf(found: FoundVersion): { readonly outcome: 'found' | 'deleted' | 'nothing'; readonly sequence: string | undefined } {
  if (found.kind === 'value') return { outcome: 'found', sequence: found.sequence };
  if (found.kind === 'deletion') return { outcome: 'deleted', sequence: found.sequence };
  return { outcome: 'nothing', sequence: undefined };
}

async function tableTrace({ file, level, search, found }: AskedTable, openTable: (name: string) => Promise<InspectedTable>): Promise<TableTrace> {
  const { outcome, sequence } = resultOf(found);
  const trace: TableTrace = {
    file,
    level,
    index: { entries: search.blockCount, compared: [], block: search.block },
    filter: filterOf(search.filter),
    block: undefined,
    outcome: search.filter?.answer === 'no' ? 'skipped' : outcome,
    sequence,
    failure: found.kind === 'failed' ? failureOf(found.error, file) : undefined,
  };
  if (search.blockCount === 0) return trace;
  const table = await openTable(file);
  const { kinds, offsets } = table.outline;
  const indexBlock = await table.block(kinds.indexOf(BLOCK_KINDS.indexOf('index block')));
  const index = { ...trace.index, compared: comparedEntries(indexBlock, search.block?.number ?? search.blockCount) };
  if (search.searched === undefined) return { ...trace, index };
  const block = await table.block(offsets.indexOf(search.block!.offset));
  return { ...trace, index, block: { restarts: block.restartCount, ...walkedEntries(block, search.searched) } };
}

function filterOf(filter: AskedTable['search']['filter']): TableTrace['filter'] {
  if (filter === undefined) return undefined;
  if (filter.answer === 'no' || filter.answer === 'maybe') {
    const { answer, number, from, byteLength } = filter;
    return { answer, number, from, byteLength };
  }
  const isDamaged = filter.answer !== 'not-asked' || filter.state === 'corrupt' || filter.state === 'contradicted';
  return { answer: isDamaged ? 'damaged' : 'no filter', number: 0, from: 0, byteLength: 0 };
}

function failureOf({ name, code, structure, offset, problem, file }: LookupFailure, fallback: string): FailureFacts {
  return { name, message: problem, code, structure, offset, file: file ?? fallback };
}

/** The entries of an index that the binary search compares on the way to `entry`. */
function comparedEntries(index: InspectedBlock, entry: number): TableTrace['index']['compared'] {
  const compared: TableTrace['index']['compared'][number][] = [];
  let left = 0;
  let right = index.entryCount;
  while (left < right) {
    const middle = (left + right) >>> 1;
    const isBefore = middle < entry;
    compared.push({ entry: middle, key: clippedUserKey(index.entries(middle, middle + 1)[0]!.key), order: isBefore ? 'before' : 'at or after' });
    if (isBefore) left = middle + 1;
    else right = middle;
  }
  return compared;
}

/** The restarts that the binary search compares, and the entries that the lookup scans from the last of them. */
function walkedEntries(block: InspectedBlock, { restart, walkStart, walkEnd }: NonNullable<AskedTable['search']['searched']>): Pick<NonNullable<TableTrace['block']>, 'compared' | 'walked'> {
  const entries = block.entries(0, block.entryCount);
  const keyAt = (position: number): Clipped | undefined => {
    const entry = entries.find(({ offset }) => offset === block.restartOffset(position));
    return entry && clippedUserKey(entry.key);
  };
  const compared: NonNullable<TableTrace['block']>['compared'][number][] = [];
  let left = 0;
  let right = Math.max(0, block.restartCount - 1);
  while (left < right) {
    const middle = (left + right + 1) >>> 1;
    const isBefore = middle <= restart;
    const key = keyAt(middle);
    if (key !== undefined) compared.push({ restart: middle, key, order: isBefore ? 'before' : 'at or after' });
    if (isBefore) left = middle;
    else right = middle - 1;
  }
  const walked = entries.filter(({ offset }) => offset >= walkStart && offset < walkEnd).map(({ key }) => clippedUserKey(key));
  return { compared, walked };
}

function clippedUserKey(internalKey: Uint8Array): Clipped {
  return clipped(decodeInternalKey(internalKey)?.userKey ?? internalKey);
}
