import { FilterBlockReader } from '@bloom/filter-block';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { databaseKeys, type FilterTrial, filterTrialSteps, KeyEvidence, minecraftKey, plainKeys, WatchedPolicy } from '@bloom/report';
import { indexedDbKey } from '@bloom/web-storage';
import { bytewiseComparator, type Comparator, MemorySource, type Source, SyncTable } from '@bloom/sstable';
import { allCodecs } from '@bloom/codecs';
import { decodeInternalKey, internalKeyComparator, internalKeyPolicy, SyncDatabaseTable } from '@bloom/sstable/database';
import {
  BLOCK_KINDS,
  type Finding,
  handleInValue,
  inspectBlock,
  type InspectedBlock,
  outlineTable,
  profileTable,
  type TableOutline,
  type VerifyReport,
  verifyTable,
} from '@bloom/sstable/inspect';
import type { Work } from '../worker/calls.js';
import { breather } from '../worker/serve-calls.js';
import { FilterTrials } from '../trial/filter-trials.js';
import { tableTrial } from '../trial/table-trial.js';
import { clipped } from './clipped.js';
import type { BlockFacts, CheckFacts, EntryRow, FilterBlockFacts, FilterRow, FilterState, StoredFilter, TableFacts } from './table-facts.js';

const codecs = allCodecs;
/** The number of decoded blocks that are kept. */
const KEPT_BLOCKS = 12;
/** The number of bytes of a key or value that a list shows. */
const CLIPPED_BYTES = 400;
/** The number of bytes that the view of one entry shows. */
const WHOLE_BYTES = 64 * 1024;
/** Filter blocks up to this size are read when a table is opened. */
const EAGER_FILTER_BYTES = 64 * 2 ** 20;
const FILTER_PREFIX = 'filter.';
const FOREIGN_FILTERS = /^(full|partitioned)filter\./;
/** The most keys of a filter that are sent to the page. */
const MOST_FILTER_KEYS = 5000;
const MOST_FILTER_KEY_BYTES = 2 ** 20;
/** At most this many findings are reported. */
const MAX_FINDINGS = 1000;

/** A table that is inspected block by block. Only requested blocks are read. */
export class InspectedTable {
  readonly source: Source;
  readonly outline: TableOutline;
  readonly facts: TableFacts;
  readonly #blocks = new Map<number, InspectedBlock>();
  readonly #filterBlock: InspectedBlock | undefined;
  /** Filters that the table could have. */
  readonly trials: FilterTrials;

  private constructor(source: Source, outline: TableOutline, facts: TableFacts, filterBlock: InspectedBlock | undefined) {
    this.source = source;
    this.outline = outline;
    this.facts = facts;
    this.#filterBlock = filterBlock;
    this.trials = new FilterTrials(tableTrial(source, facts, (signal) => this.storedFilters(signal)));
  }

  /** @param isOfDatabase whether the table is known to be in a database, so that its keys are internal keys. */
  static async open(source: Source, { signal, isOfDatabase = false }: { readonly signal?: AbortSignal | undefined; readonly isOfDatabase?: boolean | undefined } = {}): Promise<InspectedTable> {
    const outline = await outlineTable(source, { codecs, signal });
    const { kinds, offsets, sizes } = outline;
    const firstData = kinds.indexOf(0);
    const first = firstData < 0 ? undefined : await inspectBlock(source, 'data block', { offset: offsets[firstData]!, size: sizes[firstData]! }, { codecs, signal });
    const keys = first?.entries(0, 200).map(({ key }) => key) ?? [];
    const { filter, filterBlock } = await readFilter(source, outline, signal);
    const evidence = new KeyEvidence();
    const filters = filtersOf(filter, filterBlock, offsets[firstData]);
    for (const key of keys) evidence.add(key, filters);
    const isDatabase = isOfDatabase || evidence.isForInternal;
    const userKeys = isDatabase ? keys.map((key) => decodeInternalKey(key)?.userKey ?? key) : keys;
    const facts: TableFacts = {
      name: source.name ?? 'table',
      byteLength: outline.byteLength,
      kinds,
      offsets,
      sizes,
      footerBytes: outline.footerBytes,
      footerLayout: outline.footerLayout,
      findings: outline.findings,
      filter,
      isIndexRead: firstData >= 0 || (kinds.includes(BLOCK_KINDS.indexOf('index block')) && !outline.findings.some(({ structure }) => structure === 'index block')),
      isDatabase,
      isIndexedDb: keys.length > 0 && userKeys.every((key) => indexedDbKey(key) !== undefined),
      isMinecraft: keys.length > 0 && userKeys.filter((key) => minecraftKey(key) !== undefined).length > keys.length / 2,
      codecName: first?.codecName,
    };
    return new InspectedTable(source, outline, facts, filterBlock);
  }

  async block(number: number, signal?: AbortSignal): Promise<InspectedBlock> {
    let block = this.#blocks.get(number);
    if (block !== undefined) {
      this.#blocks.delete(number);
    } else {
      const { kinds, offsets, sizes } = this.outline;
      const offset = offsets[number]!;
      const isFilter = offset === this.#filterBlock?.handle.offset;
      block = isFilter ? this.#filterBlock : await inspectBlock(this.source, BLOCK_KINDS[kinds[number]!]!, { offset, size: sizes[number]! }, { codecs, signal });
    }
    this.#blocks.set(number, block);
    if (this.#blocks.size > KEPT_BLOCKS) this.#blocks.delete(this.#blocks.keys().next().value!);
    return block;
  }

  async blockFacts(number: number, signal: AbortSignal): Promise<BlockFacts> {
    const block = await this.block(number, signal);
    const { structure, handle, compressionType, codecName, contents, entryCount, restartCount, problem, entryProblem } = block;
    return { number, kind: structure, ...handle, compressionType, codecName, contentBytes: contents?.length, entryCount, restartCount, problem, entryProblem };
  }

  async entries(number: number, start: number, end: number, isWhole: boolean, signal: AbortSignal): Promise<EntryRow[]> {
    const block = await this.block(number, signal);
    const limit = isWhole ? WHOLE_BYTES : CLIPPED_BYTES;
    return block.entries(start, end).map(({ offset, restart, shared, key, value }, i) => {
      const internal = this.facts.isDatabase && block.structure !== 'metaindex block' ? decodeInternalKey(key) : undefined;
      return {
        number: start + i,
        offset,
        restart,
        shared,
        key: clipped(internal?.userKey ?? key, limit),
        keyByteLength: key.length,
        sequence: internal?.sequence.toString(),
        type: internal?.type,
        value: clipped(value, limit),
        handle: block.structure === 'data block' ? undefined : handleInValue(value),
      };
    });
  }

  async filterBlockFacts(number: number, signal: AbortSignal): Promise<FilterBlockFacts> {
    const reader = await this.#filterReader(number, signal);
    let emptyCount = 0;
    let damagedCount = 0;
    for (let i = 0; i < reader.filterCount; i++) {
      const filter = reader.filterAt(i);
      if (filter === undefined) damagedCount++;
      else if (filter.length === 0) emptyCount++;
    }
    const { filter } = this.facts;
    return { filterCount: reader.filterCount, base: reader.base, emptyCount, damagedCount, policyName: filter.state === 'used' ? filter.policyName : undefined };
  }

  async filters(number: number, start: number, end: number, signal: AbortSignal): Promise<FilterRow[]> {
    const block = await this.block(number, signal);
    const reader = await this.#filterReader(number, signal);
    const isBloom = this.facts.filter.state === 'used';
    const rows: FilterRow[] = [];
    for (let i = start; i < Math.min(end, reader.filterCount); i++) {
      const filter = reader.filterAt(i);
      const from = i * reader.base;
      const to = from + reader.base;
      let setBits: number | undefined;
      if (isBloom && filter !== undefined && filter.length > 1) {
        setBits = 0;
        for (let at = 0; at < filter.length - 1; at++) for (let byte = filter[at]!; byte !== 0; byte &= byte - 1) setBits++;
      }
      rows.push({
        number: i,
        state: filter === undefined ? 'damaged' : filter.length === 0 ? 'empty' : 'filter',
        offset: filter === undefined ? 0 : filter.byteOffset - block.contents!.byteOffset,
        byteLength: filter?.length ?? 0,
        from,
        blocks: this.#dataBlocksFrom(to) - this.#dataBlocksFrom(from),
        probes: isBloom && filter !== undefined && filter.length > 1 ? filter[filter.length - 1] : undefined,
        setBits,
      });
    }
    return rows;
  }

  /** One filter of the block in use, and the keys that it was made from. */
  async storedFilter(number: number, signal?: AbortSignal): Promise<StoredFilter> {
    const reader = await this.#filterReader(this.#filterBlockNumber(), signal);
    const from = number * reader.base;
    const to = from + reader.base;
    const { kinds, offsets } = this.outline;
    const keys: Uint8Array[] = [];
    let keyCount = 0;
    let keyBytes = 0;
    let isEveryKey = true;
    for (let i = 0; i < kinds.length; i++) {
      if (kinds[i] !== 0 || offsets[i]! < from || offsets[i]! >= to) continue;
      const block = await this.block(i, signal);
      if (block.problem !== undefined || block.entryProblem !== undefined) isEveryKey = false;
      for (const { key: stored } of block.entries(0, block.entryCount)) {
        const key = this.facts.isDatabase ? (decodeInternalKey(stored)?.userKey ?? stored) : stored;
        // Versions of a key are adjacent and set the same bits.
        const last = keys.at(-1);
        if (last !== undefined && bytewiseComparator.compare(last, key) === 0) continue;
        keyCount++;
        keyBytes += key.length;
        if (keys.length < MOST_FILTER_KEYS && keyBytes <= MOST_FILTER_KEY_BYTES) keys.push(key.slice());
        else isEveryKey = false;
      }
    }
    return { number, bytes: reader.filterAt(number)?.slice(), keys, keyCount, isEveryKey };
  }

  /** The size of the filters in use. */
  async storedFilters(signal?: AbortSignal): Promise<{ filterBytes: number; filters: number }> {
    const number = this.#filterBlockNumber();
    if (this.facts.filter.state !== 'used' || number < 0) return { filterBytes: 0, filters: 0 };
    const { contents } = await this.block(number, signal);
    return { filterBytes: contents?.length ?? 0, filters: (await this.#filterReader(number, signal)).filterCount };
  }

  #filterBlockNumber(): number {
    return this.outline.kinds.indexOf(BLOCK_KINDS.indexOf('filter block'));
  }

  /** Raw bytes of the file. */
  async bytes(offset: number, length: number, signal: AbortSignal): Promise<Uint8Array> {
    const end = Math.min(offset + length, this.outline.byteLength);
    return end <= offset ? new Uint8Array(0) : (await this.source.read(offset, end - offset, signal)).slice();
  }

  /** Verifies every byte of the table and counts its contents. */
  async check(work: Work): Promise<CheckFacts> {
    const { byteLength } = this.outline;
    const { isDatabase, isIndexedDb } = this.facts;
    let done = 0;
    let isProfiling = false;
    const total = 2 * byteLength;
    const source: Source = {
      byteLength,
      name: this.source.name,
      read: (offset, length, signal) => {
        done = Math.min(byteLength, done + length);
        work.progress(isProfiling ? byteLength + done : done, total);
        return this.source.read(offset, length, signal);
      },
    };
    const verifyAs = (userComparator: Comparator, filterPolicy: FilterPolicy): Promise<VerifyReport> =>
      verifyTable(source, {
        codecs,
        comparator: isDatabase ? internalKeyComparator(userComparator) : userComparator,
        filterPolicies: [isDatabase ? internalKeyPolicy(filterPolicy) : filterPolicy],
        signal: work.signal,
        maxFindings: MAX_FINDINGS,
      });
    let order: Comparator = isIndexedDb ? idbComparator : bytewiseComparator;
    let verification = await verifyAs(order, isIndexedDb ? idbFilterPolicy : new BloomFilterPolicy());
    // The file does not name its order. Some repair tools write keys of IndexedDB in bytewise order.
    if (isIndexedDb && verification.findings.some(isOfOrder)) {
      done = 0;
      const bytewise = await verifyAs(bytewiseComparator, new BloomFilterPolicy());
      if (!bytewise.findings.some(isOfOrder)) {
        order = bytewiseComparator;
        verification = bytewise;
      }
    }
    const { findings, moreFindings, unchecked } = verification;
    done = 0;
    isProfiling = true;
    const userPolicy = order === idbComparator ? idbFilterPolicy : new BloomFilterPolicy();
    const profile = await profileTable(source, {
      codecs,
      comparator: isDatabase ? internalKeyComparator(order) : order,
      filterPolicies: [isDatabase ? internalKeyPolicy(userPolicy) : userPolicy],
      damage: 'skip',
      signal: work.signal,
    });
    return {
      profile,
      isSound: findings.length === 0,
      findings,
      moreFindings,
      unchecked: unchecked.map(({ part, reason }) => `${part}: ${reason}`),
      order: order.name,
      isOrderUnusual: isIndexedDb && order === bytewiseComparator,
    };
  }

  /** How often absent keys match the filters, as `bloom stat` measures it. @param entries of the table. */
  async measureFilters(work: Work, entries: number): Promise<FilterTrial> {
    const { byteLength } = this.outline;
    const policy = new WatchedPolicy();
    const memory = new MemorySource(await this.source.read(0, byteLength, work.signal), this.source.name);
    const options = { codecs, filterPolicies: [policy] };
    const { isDatabase } = this.facts;
    const table = isDatabase ? SyncDatabaseTable.open(memory, options).table : SyncTable.open(memory, options);
    const steps = filterTrialSteps({ table, policy, entries, keys: isDatabase ? databaseKeys : plainKeys });
    const breathe = breather();
    for (;;) {
      const { done: isDone, value } = steps.next();
      if (isDone === true) return value;
      work.progress(value.done, value.total);
      await breathe();
      work.signal.throwIfAborted();
    }
  }

  async #filterReader(number: number, signal?: AbortSignal): Promise<FilterBlockReader> {
    const { contents } = await this.block(number, signal);
    return new FilterBlockReader(new BloomFilterPolicy(), contents ?? new Uint8Array(0));
  }

  /** The number of data blocks that start before `offset`. */
  #dataBlocksFrom(offset: number): number {
    const { kinds, offsets } = this.outline;
    let left = 0;
    let right = offsets.length;
    while (left < right) {
      const middle = (left + right) >>> 1;
      if (offsets[middle]! < offset) left = middle + 1;
      else right = middle;
    }
    // The other blocks come last, except in files of some other programs.
    let others = 0;
    for (let i = left - 1; i >= 0 && kinds[i] !== 0; i--) others++;
    return left - others;
  }
}

function isOfOrder({ code }: Finding): boolean {
  return code === 'BLOOM_OUT_OF_ORDER' || code === 'BLOOM_BAD_SEPARATOR';
}

/** The filters as they are used for the data block at `offset`; undefined without filters that were read. */
function filtersOf(filter: FilterState, filterBlock: InspectedBlock | undefined, offset: number | undefined): Parameters<KeyEvidence['add']>[1] {
  if (filter.state !== 'used' || filterBlock?.contents === undefined || offset === undefined) return undefined;
  const reader = new FilterBlockReader(new BloomFilterPolicy(), filterBlock.contents);
  return { filterStatus: filter, mayContain: (key) => reader.keyMayMatch(offset, key as Uint8Array) };
}

async function readFilter(source: Source, outline: TableOutline, signal: AbortSignal | undefined): Promise<{ filter: FilterState; filterBlock?: InspectedBlock }> {
  const metaindexDamage = outline.findings.find(({ structure }) => structure === 'metaindex block');
  if (outline.footer === undefined || !outline.kinds.includes(BLOCK_KINDS.indexOf('metaindex block'))) return { filter: { state: 'unread' } };
  const bloomName = new BloomFilterPolicy().name;
  const names = outline.metaindex.map(({ name }) => name);
  const ours = outline.metaindex.find(({ name }) => name === FILTER_PREFIX + bloomName);
  if (ours === undefined) {
    if (metaindexDamage !== undefined) return { filter: { state: 'corrupt', problem: `the metaindex: ${metaindexDamage.problem}` } };
    const others = names.filter((name) => name.startsWith(FILTER_PREFIX)).map((name) => name.slice(FILTER_PREFIX.length));
    if (others.length > 0) return { filter: { state: 'unknown-policy', names: others } };
    const foreign = names.filter((name) => FOREIGN_FILTERS.test(name));
    return { filter: foreign.length > 0 ? { state: 'unsupported', names: foreign } : { state: 'absent' } };
  }
  const used: FilterState = { state: 'used', policyName: bloomName };
  const handle = ours.handle;
  if (handle === undefined || handle.offset + handle.size + 5 > outline.byteLength) return { filter: { state: 'corrupt', problem: 'its handle points nowhere' } };
  if (handle.size > EAGER_FILTER_BYTES) return { filter: used };
  const filterBlock = await inspectBlock(source, 'filter block', handle, { codecs, signal });
  return { filter: filterBlock.problem === undefined ? used : { state: 'corrupt', problem: filterBlock.problem.problem }, filterBlock };
}
