import { type Comparator, DatabaseReader, type Folder, type DatabaseDescription } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { bytewiseComparator } from '@bloom/sstable';
import { allCodecs } from '@bloom/codecs';
import { minecraftKey } from '../bytes/minecraft-key.js';
import { InspectedTable } from '../table/inspected-table.js';
import type { Work } from '../worker/calls.js';
import { failureFacts } from '../worker/failure.js';
import { breathe } from '../worker/serve-calls.js';
import type {
  AbsentLookups,
  DatabaseFacts,
  DatabasePage,
  EntryRange,
  LookupTrace,
  TraceStep,
  VersionFacts,
} from './database-facts.js';
import { bloomPolicy, clipped, traceTable } from './traced-lookup.js';

/** What a list shows of a value. */
const ROW_VALUE_BYTES = 300;
const VALUE_BYTES = 64 * 1024;
/** Tables whose index and filter are kept open for traces. */
const KEPT_TABLES = 32;
const ABSENT_LOOKUPS = 10_000;
/** Lookups between two looks at messages. */
const PORTION = 250;

/** A database that is looked at from all sides. */
export class InspectedDatabase {
  readonly facts: DatabaseFacts;
  readonly #folder: Folder;
  readonly #reader: DatabaseReader;
  readonly #comparator: Comparator;
  readonly #options: Parameters<typeof DatabaseReader.open>[1];
  readonly #tables = new Map<string, Promise<InspectedTable>>();

  private constructor(folder: Folder, reader: DatabaseReader, facts: DatabaseFacts, options: Parameters<typeof DatabaseReader.open>[1]) {
    this.facts = facts;
    this.#folder = folder;
    this.#reader = reader;
    this.#options = options;
    this.#comparator = facts.comparator === idbComparator.name ? idbComparator : bytewiseComparator;
  }

  static async open(folder: Folder, name: string, { signal }: Work, insistOnBytewise: boolean): Promise<InspectedDatabase> {
    const options = { codecs: allCodecs, comparators: [idbComparator], damage: 'skip', insistOnBytewise } as const;
    const reader = await DatabaseReader.open(folder, { ...options, signal });
    const description = reader.describe();
    let seen = 0;
    let minecraft = 0;
    try {
      for await (const key of reader.keys({ limit: 60 })) {
        seen++;
        if (minecraftKey(key) !== undefined) minecraft++;
      }
    } catch {
      // What is damaged is said by those who read it on purpose.
    }
    return new InspectedDatabase(folder, reader, factsOf(name, description, seen > 0 && minecraft > seen / 2), options);
  }

  /** What was left out so far: it grows with what is read. */
  dropped(): DatabaseFacts['dropped'] {
    return droppedOf(this.#reader.describe());
  }

  async page(range: EntryRange, limit: number): Promise<DatabasePage> {
    const rows: DatabasePage['rows'][number][] = [];
    let hasMore = false;
    for await (const [key, value] of this.#reader.entries({ ...range, limit: limit + 1 })) {
      if (rows.length === limit) hasMore = true;
      else rows.push({ key: clipped(key, VALUE_BYTES), value: clipped(value, ROW_VALUE_BYTES) });
    }
    if (range.reverse === true) rows.reverse();
    return { rows, hasMore };
  }

  async value(key: Uint8Array): Promise<{ bytes: Uint8Array; byteLength: number } | undefined> {
    const value = await this.#reader.get(key);
    return value && clipped(value, VALUE_BYTES);
  }

  async versions(key: Uint8Array): Promise<VersionFacts[]> {
    const versions = await this.#reader.versions(key);
    return versions.map(({ kind, sequence, value, file, level }) => ({ kind, sequence: sequence.toString(), value: clipped(value, ROW_VALUE_BYTES), file, level }));
  }

  /** Counts what is visible. */
  async count(work: Work): Promise<number> {
    let entries = 0;
    const before = this.#reader.stats.bytesRead;
    for await (const _ of this.#reader.keys({ signal: work.signal })) {
      entries++;
      if (entries % 2000 === 0) {
        work.progress(this.#reader.stats.bytesRead - before, this.facts.byteLength);
        await breathe();
      }
    }
    return entries;
  }

  async trace(key: Uint8Array): Promise<LookupTrace> {
    const { logs, levels } = this.facts;
    const steps: TraceStep[] = [];
    let reads = 0;
    let saved = 0;
    const end = async (outcome: LookupTrace['outcome'], value?: Uint8Array, rest: readonly string[] = []): Promise<LookupTrace> => {
      if (rest.length > 0) steps.push({ kind: 'rest', sources: rest });
      return Promise.resolve({ steps, outcome, value: value && clipped(value, VALUE_BYTES), reads, saved });
    };
    const levelNames = levels.map((tables, level) => ({ level, tables })).filter(({ tables }) => tables.length > 0);
    const restOf = (level: number): string[] => levelNames.filter((other) => other.level > level).map((other) => `level ${other.level}`);

    const inLogs = logs.length === 0 ? [] : (await this.#reader.versions(key)).filter(({ level }) => level === undefined);
    for (const log of [...logs].reverse()) {
      const newest = inLogs.find(({ file }) => file === log.name);
      const outcome = newest === undefined ? 'nothing' : newest.kind === 'deletion' ? 'deleted' : 'found';
      steps.push({ kind: 'log', file: log.name, entries: log.entries, outcome, sequence: newest?.sequence.toString() });
      if (newest !== undefined) return end(newest.kind === 'deletion' ? 'deleted' : 'found', newest.value, levelNames.map(({ level }) => `level ${level}`));
    }
    let isUnknown = false;
    for (const { level, tables } of levelNames) {
      const mayHold = tables.filter(({ smallest, largest }) => this.#isWithin(key, smallest.userKey, largest.userKey));
      // In level 0 the newest table has the highest number.
      if (level === 0) mayHold.sort((a, b) => Number(BigInt(b.number) - BigInt(a.number)));
      if (mayHold.length === 0) steps.push({ kind: 'level', level, tables: tables.length, outcome: 'no table' });
      for (const [i, { name }] of mayHold.entries()) {
        const { value, ...trace } = await this.#traceTable(name, level, key);
        steps.push({ kind: 'table', ...trace });
        if (trace.outcome === 'skipped') saved++;
        else if (trace.block !== undefined) reads++;
        if (trace.failure !== undefined) isUnknown = true;
        if (trace.outcome === 'found' || trace.outcome === 'deleted') {
          // A newer version may hide in the damage: `get` fails then.
          const rest = [...mayHold.slice(i + 1).map((other) => other.name), ...restOf(level)];
          return isUnknown ? end('unknown', undefined, rest) : end(trace.outcome, value, rest);
        }
      }
    }
    return end(isUnknown ? 'unknown' : 'absent');
  }

  /** Looks up many keys that are not there, with filters and without. */
  async absentLookups(work: Work): Promise<AbsentLookups> {
    const { signal } = work;
    const keys = await this.#absentKeys(signal);
    const withFilters = this.#reader;
    const withoutFilters = await DatabaseReader.open(this.#folder, { ...this.#options, filterPolicies: [], signal });
    try {
      const before = withFilters.stats;
      for (let i = 0; i < keys.length; i += PORTION) {
        signal.throwIfAborted();
        const portion = keys.slice(i, i + PORTION);
        for (const key of portion) await withFilters.get(key);
        for (const key of portion) await withoutFilters.get(key);
        work.progress(i, keys.length);
        await breathe();
      }
      const after = withFilters.stats;
      const without = withoutFilters.stats;
      return {
        lookups: keys.length,
        tablesAsked: after.tablesAsked - before.tablesAsked,
        readsWithFilters: after.blockReads + after.cacheHits - before.blockReads - before.cacheHits,
        readsWithoutFilters: without.blockReads + without.cacheHits,
        falsePositives: after.filterFalsePositives - before.filterFalsePositives,
        filterNegatives: after.filterNegatives - before.filterNegatives,
      };
    } finally {
      await withoutFilters.close();
    }
  }

  async close(): Promise<void> {
    await this.#reader.close();
  }

  /** Keys beside keys that are there: absent ones within the tables' ranges, where only a filter saves the read. */
  async #absentKeys(signal: AbortSignal): Promise<Uint8Array[]> {
    const present: Uint8Array[] = [];
    for await (const key of this.#reader.keys({ limit: 20_000, signal })) present.push(key.slice());
    let state = 0x2545f491;
    const random = (): number => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return state >>> 0;
    };
    const keys: Uint8Array[] = [];
    for (let tries = 0; keys.length < ABSENT_LOOKUPS && tries < 2 * ABSENT_LOOKUPS; tries++) {
      const near = present.length === 0 ? new Uint8Array(0) : present[random() % present.length]!;
      const key = new Uint8Array(near.length + 4);
      key.set(near);
      new DataView(key.buffer).setUint32(near.length, random());
      if (!(await this.#reader.has(key))) keys.push(key);
      if (tries % PORTION === 0) {
        signal.throwIfAborted();
        await breathe();
      }
    }
    return keys;
  }

  #isWithin(key: Uint8Array, smallest: { bytes: Uint8Array; byteLength: number }, largest: { bytes: Uint8Array; byteLength: number }): boolean {
    return this.#comparator.compare(smallest.bytes, key) <= 0 && this.#comparator.compare(key, largest.bytes) <= 0;
  }

  async #traceTable(name: string, level: number, key: Uint8Array) {
    const policy = this.#comparator === idbComparator ? idbFilterPolicy : bloomPolicy;
    let table: InspectedTable;
    try {
      table = await this.#table(name);
    } catch (error) {
      return { file: name, level, index: { entries: 0, compared: [], block: undefined }, filter: undefined, block: undefined, outcome: 'nothing' as const, sequence: undefined, value: undefined, failure: failureFacts(error) };
    }
    return traceTable(table, { file: name, level }, key, this.#comparator, policy);
  }

  #table(name: string): Promise<InspectedTable> {
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = this.#openTable(name);
      this.#tables.set(name, table);
      if (this.#tables.size > KEPT_TABLES) this.#tables.delete(this.#tables.keys().next().value!);
    }
    return table;
  }

  async #openTable(name: string): Promise<InspectedTable> {
    const file = (await this.#folder.open(name)) ?? (await this.#folder.open(name.replace(/\.ldb$/, '.sst')));
    if (file === undefined) throw new Error(`${name} is not in the folder`);
    return InspectedTable.open(file);
  }
}

function droppedOf({ dropped }: DatabaseDescription): DatabaseFacts['dropped'] {
  return dropped.map(({ file, offset, byteLength, reason, code }) => ({ file, offset, byteLength, reason, code }));
}

function factsOf(name: string, description: DatabaseDescription, isMinecraft: boolean): DatabaseFacts {
  const { comparator, lastSequence, manifest, nextFileNumber, levels, logs } = description;
  // Bounds are compared with keys: they go whole.
  const bound = ({ userKey, sequence }: { userKey: Uint8Array; sequence: bigint }) => ({ userKey: clipped(userKey, Infinity), sequence: sequence.toString() });
  return {
    name,
    comparator,
    lastSequence: lastSequence.toString(),
    manifest,
    nextFileNumber: nextFileNumber.toString(),
    levels: levels.map((tables) =>
      tables.map(({ number, name: file, byteLength, smallest, largest, filterStatus }) => ({
        number: number.toString(),
        name: file,
        byteLength,
        smallest: bound(smallest),
        largest: bound(largest),
        filter: filterStatus?.state ?? 'not open',
      })),
    ),
    logs: logs.map(({ name: file, byteLength, entries, tail }) => ({ name: file, byteLength, entries, tail: tail === undefined ? undefined : describeTail(tail) })),
    dropped: droppedOf(description),
    byteLength: [...levels.flat(), ...logs].reduce((sum, { byteLength }) => sum + byteLength, 0),
    isIndexedDb: comparator === idbComparator.name,
    isMinecraft,
  };
}

function describeTail({ problem, offset, byteLength }: NonNullable<DatabaseDescription['logs'][number]['tail']>): string {
  return `${problem} at ${offset}, ${byteLength} bytes`;
}
