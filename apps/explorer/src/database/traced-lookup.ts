/**
 * A lookup, step by step, with what each step compared and read. `DatabaseReader.get` does the same without telling.
 *
 * Source: LevelDB, db/version_set.cc, `Version::Get`, and table/table.cc, `Table::InternalGet`.
 */
import { FilterBlockReader } from '@bloom/filter-block';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import type { Comparator } from '@bloom/sstable';
import { decodeInternalKey, DELETION, encodeInternalKey, internalKeyComparator, MAX_SEQUENCE } from '@bloom/sstable/database';
import { BLOCK_KINDS, handleInValue, type InspectedBlock } from '@bloom/sstable/inspect';
import type { InspectedTable } from '../table/inspected-table.js';
import type { Clipped } from '../table/table-facts.js';
import { failureFacts } from '../worker/failure.js';
import type { FilterAnswer, TableTrace } from './database-facts.js';

const CLIPPED_BYTES = 200;
/** LevelDB's own types are 0 and 1: a search key with this one comes before every version. */
const MAX_TYPE = 0xff;

export function clipped(bytes: Uint8Array, limit = CLIPPED_BYTES): Clipped {
  return { bytes: bytes.slice(0, limit), byteLength: bytes.length };
}

function clippedUserKey(internalKey: Uint8Array): Clipped {
  return clipped(decodeInternalKey(internalKey)?.userKey ?? internalKey);
}

type Compared = TableTrace['index']['compared'][number];

/** How `userKey` is looked for in one table, and the value if it is there. */
export async function traceTable(
  table: InspectedTable,
  place: { readonly file: string; readonly level: number },
  userKey: Uint8Array,
  userComparator: Comparator,
  filterPolicy: FilterPolicy,
): Promise<TableTrace & { readonly value: Uint8Array | undefined }> {
  const comparator = internalKeyComparator(userComparator);
  const wanted = encodeInternalKey({ userKey, sequence: MAX_SEQUENCE, type: MAX_TYPE });
  const { kinds, offsets, sizes } = table.outline;
  const base = { ...place, sequence: undefined, value: undefined, failure: undefined };
  const noIndex = { entries: 0, compared: [], block: undefined };
  const indexNumber = kinds.indexOf(BLOCK_KINDS.indexOf('index block'));
  if (indexNumber < 0) {
    const failure = table.facts.findings[0];
    const { code, structure, offset, problem } = failure ?? { code: undefined, structure: 'file', offset: 0, problem: 'it has no index' };
    return { ...base, index: noIndex, filter: undefined, block: undefined, outcome: 'nothing', failure: { name: 'CorruptionError', code, structure, offset, message: problem, file: place.file } };
  }
  try {
    const indexBlock = await table.block(indexNumber);
    const compared: Compared[] = [];
    let left = 0;
    let right = indexBlock.entryCount;
    while (left < right) {
      const middle = (left + right) >>> 1;
      const { key } = indexBlock.entries(middle, middle + 1)[0]!;
      const isBefore = comparator.compare(key, wanted) < 0;
      compared.push({ entry: middle, key: clippedUserKey(key), order: isBefore ? 'before' : 'at or after' });
      if (isBefore) left = middle + 1;
      else right = middle;
    }
    const entry = indexBlock.entries(left, left + 1)[0];
    const handle = entry && handleInValue(entry.value);
    if (handle === undefined) {
      return { ...base, index: { entries: indexBlock.entryCount, compared, block: undefined }, filter: undefined, block: undefined, outcome: 'nothing' };
    }
    const index = { entries: indexBlock.entryCount, compared, block: { number: left, ...handle } };
    const filter = await askFilter(table, handle.offset, userKey, filterPolicy);
    if (filter.answer === 'no') return { ...base, index, filter, block: undefined, outcome: 'skipped' };
    const number = offsets.findIndex((offset, i) => offset === handle.offset && sizes[i] === handle.size);
    const block = await table.block(number);
    if (block.problem !== undefined) {
      const { code, structure, offset, problem } = block.problem;
      return { ...base, index, filter, block: undefined, outcome: 'nothing', failure: { name: 'CorruptionError', code, structure, offset, message: problem, file: place.file } };
    }
    const search = searchBlock(block, wanted, comparator);
    const found = search.found && decodeInternalKey(search.found.key);
    const isHere = found !== undefined && userComparator.compare(found.userKey, userKey) === 0;
    return {
      ...base,
      index,
      filter,
      block: { restarts: block.restartCount, compared: search.compared, walked: search.walked },
      outcome: !isHere ? 'nothing' : found.type === DELETION ? 'deleted' : 'found',
      sequence: isHere ? found.sequence.toString() : undefined,
      value: isHere && found.type !== DELETION ? search.found!.value : undefined,
    };
  } catch (error) {
    return { ...base, index: noIndex, filter: undefined, block: undefined, outcome: 'nothing', failure: failureFacts(error) };
  }
}

async function askFilter(table: InspectedTable, blockOffset: number, userKey: Uint8Array, policy: FilterPolicy): Promise<NonNullable<TableTrace['filter']>> {
  const { kinds } = table.outline;
  const state = table.facts.filter.state;
  const filterNumber = kinds.indexOf(BLOCK_KINDS.indexOf('filter block'));
  const none = (answer: FilterAnswer): NonNullable<TableTrace['filter']> => ({ answer, number: 0, from: 0, to: 0, byteLength: 0 });
  if (state !== 'used' || filterNumber < 0) return none(state === 'corrupt' ? 'damaged' : 'no filter');
  const { contents, problem } = await table.block(filterNumber);
  if (contents === undefined || problem !== undefined) return none('damaged');
  const reader = new FilterBlockReader(policy, contents);
  const number = Math.floor(blockOffset / reader.base);
  return {
    answer: reader.keyMayMatch(blockOffset, userKey) ? 'maybe' : 'no',
    number,
    from: number * reader.base,
    to: (number + 1) * reader.base,
    byteLength: reader.filterAt(number)?.length ?? 0,
  };
}

/** Halving over the restarts, then a walk: as a block is searched. */
function searchBlock(block: InspectedBlock, wanted: Uint8Array, comparator: Comparator) {
  const restartEntries: number[] = [];
  const all = block.entries(0, block.entryCount);
  for (const [i, { restart }] of all.entries()) if (restart !== undefined) restartEntries[restart] = i;
  const compared: { restart: number; key: Clipped; order: 'before' | 'at or after' }[] = [];
  let left = 0;
  let right = Math.max(0, block.restartCount - 1);
  while (left < right) {
    const middle = (left + right + 1) >>> 1;
    const entry = all[restartEntries[middle] ?? all.length];
    if (entry === undefined) break;
    const isBefore = comparator.compare(entry.key, wanted) < 0;
    compared.push({ restart: middle, key: clippedUserKey(entry.key), order: isBefore ? 'before' : 'at or after' });
    if (isBefore) left = middle;
    else right = middle - 1;
  }
  const walked: Clipped[] = [];
  for (const entry of all.slice(restartEntries[left] ?? 0)) {
    walked.push(clippedUserKey(entry.key));
    if (comparator.compare(entry.key, wanted) >= 0) return { compared, walked, found: entry };
  }
  return { compared, walked, found: undefined };
}

/** The policy that a database's filters are asked with. */
export const bloomPolicy = new BloomFilterPolicy();
