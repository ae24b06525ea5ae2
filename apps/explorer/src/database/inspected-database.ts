import { type AsyncReaderOptions, CorruptionError, type DatabaseDescription, DatabaseReader, type Folder, type StoredVersion, UnsupportedError } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { allCodecs } from '@bloom/codecs';
import { counted, minecraftKey } from '@bloom/report';
import { clipped } from '../table/clipped.js';
import { InspectedTable } from '../table/inspected-table.js';
import type { Work } from '../worker/calls.js';
import { absentKeys, PORTION } from '../trial/absent-keys.js';
import { databaseTrial } from '../trial/database-trial.js';
import { FilterTrials } from '../trial/filter-trials.js';
import type { Clipped, StoredFilter } from '../table/table-facts.js';
import { breather } from '../worker/serve-calls.js';
import type {
  AbsentLookups,
  DatabaseFacts,
  DatabasePage,
  EntryRange,
  LookupTrace,
  VersionFacts,
} from './database-facts.js';
import { lookupTrace } from './traced-lookup.js';

/** The number of bytes of a value that a list shows. */
const ROW_VALUE_BYTES = 300;
const VALUE_BYTES = 64 * 1024;
/** The number of tables whose index and filter are kept in memory for traces. */
const KEPT_TABLES = 32;

/** An open database and everything that the page shows of it. */
export class InspectedDatabase {
  readonly facts: DatabaseFacts;
  readonly #folder: Folder;
  readonly #reader: DatabaseReader;
  readonly #options: AsyncReaderOptions;
  readonly #tables = new Map<string, Promise<InspectedTable>>();
  #trials: Promise<FilterTrials> | undefined;

  private constructor(folder: Folder, reader: DatabaseReader, facts: DatabaseFacts, options: AsyncReaderOptions) {
    this.facts = facts;
    this.#folder = folder;
    this.#reader = reader;
    this.#options = options;
  }

  static async open(folder: Folder, name: string, { signal }: Work, insistOnBytewise: boolean): Promise<InspectedDatabase> {
    const { reader, options } = await openReader(folder, insistOnBytewise, signal);
    const description = reader.describe();
    let seen = 0;
    let minecraft = 0;
    let firstKey: Uint8Array | undefined;
    let lastKey: Uint8Array | undefined;
    try {
      for await (const key of reader.keys({ limit: 60 })) {
        seen++;
        firstKey ??= key.slice();
        if (minecraftKey(key) !== undefined) minecraft++;
      }
      for await (const key of reader.keys({ limit: 1, reverse: true })) lastKey = key.slice();
    } catch {
      // Damage is reported when the user reads it.
    }
    return new InspectedDatabase(folder, reader, factsOf(name, description, [firstKey, lastKey], seen > 0 && minecraft > seen / 2), options);
  }

  /** The damage skipped so far. It grows with what is read. */
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
    return versionFacts(await this.#reader.versions(key));
  }

  /** Counts the visible entries. */
  async count(work: Work): Promise<number> {
    let entries = 0;
    const before = this.#reader.stats.bytesRead;
    const breathe = breather();
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
    return lookupTrace(await this.#reader.explain(key), (name) => this.#table(name));
  }

  /** Looks up many absent keys, with filters and without. @param seed a different seed gives different keys. */
  async absentLookups(work: Work, seed: number): Promise<AbsentLookups> {
    const { signal } = work;
    const withFilters = this.#reader;
    const keys = await absentKeys(withFilters.keys({ signal }), (key) => has(withFilters, key), seed, signal);
    const withoutFilters = await DatabaseReader.open(this.#folder, { ...this.#options, filterPolicies: [], signal });
    let failuresWithFilters = 0;
    let failuresWithoutFilters = 0;
    const breathe = breather();
    try {
      const before = withFilters.stats;
      for (let i = 0; i < keys.length; i += PORTION) {
        signal.throwIfAborted();
        const portion = keys.slice(i, i + PORTION);
        for (const key of portion) if ((await has(withFilters, key)) === undefined) failuresWithFilters++;
        for (const key of portion) if ((await has(withoutFilters, key)) === undefined) failuresWithoutFilters++;
        work.progress(i, keys.length);
        await breathe();
      }
      const after = withFilters.stats;
      const without = withoutFilters.stats;
      return {
        lookups: keys.length,
        readsWithFilters: after.blockReads + after.cacheHits - before.blockReads - before.cacheHits,
        readsWithoutFilters: without.blockReads + without.cacheHits,
        falsePositives: after.filterFalsePositives - before.filterFalsePositives,
        failuresWithFilters,
        failuresWithoutFilters,
        example: keys[0] && clipped(keys[0]),
      };
    } finally {
      await withoutFilters.close();
    }
  }

  /** One filter of a table. */
  async storedFilter(file: string, number: number): Promise<StoredFilter> {
    return (await this.#table(file)).storedFilter(number);
  }

  /** Filters that its tables could have. */
  trials(): Promise<FilterTrials> {
    this.#trials ??= databaseTrial(this.#folder, this.#reader.describe(), this.#options, this.facts.isIndexedDb, async () => {
      const sums = { filterBytes: 0, filters: 0 };
      for (const { name } of this.facts.levels.flat()) {
        const { filterBytes, filters } = await (await this.#table(name)).storedFilters();
        sums.filterBytes += filterBytes;
        sums.filters += filters;
      }
      return sums;
    }).then((subject) => new FilterTrials(subject));
    return this.#trials;
  }

  async close(): Promise<void> {
    await this.#reader.close();
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
    return InspectedTable.open(file, { isOfDatabase: true });
  }
}

/** Opens a database with the comparator that it names. Each comparator needs its own filter policies. */
async function openReader(folder: Folder, insistOnBytewise: boolean, signal: AbortSignal): Promise<{ reader: DatabaseReader; options: AsyncReaderOptions }> {
  const common = { codecs: allCodecs, damage: 'skip', openTables: 'at-opening', filters: 'at-opening' } as const;
  const attempts: AsyncReaderOptions[] = [common, { ...common, comparators: [idbComparator], filterPolicies: [idbFilterPolicy] }];
  if (insistOnBytewise) attempts.push({ ...common, insistOnBytewise });
  let unknown: unknown;
  for (const options of attempts) {
    try {
      return { reader: await DatabaseReader.open(folder, { ...options, signal }), options };
    } catch (error) {
      if (!(error instanceof UnsupportedError && error.code === 'BLOOM_UNKNOWN_COMPARATOR')) throw error;
      unknown = error;
    }
  }
  throw unknown;
}

/** Whether the database has the key; undefined if damage may hide it. */
async function has(reader: DatabaseReader, key: Uint8Array): Promise<boolean | undefined> {
  try {
    return await reader.has(key);
  } catch (error) {
    if (error instanceof CorruptionError) return undefined;
    throw error;
  }
}

function droppedOf({ dropped }: DatabaseDescription): DatabaseFacts['dropped'] {
  return dropped.map(({ file, offset, byteLength, reason, code }) => ({ file, offset, byteLength, reason, code }));
}

/** The stored versions of a key as the page shows them. */
export function versionFacts(versions: readonly StoredVersion[]): VersionFacts[] {
  return versions.map(({ kind, sequence, value, file, level }) => ({ kind, sequence: sequence.toString(), value: clipped(value, ROW_VALUE_BYTES), file, level }));
}

export function factsOf(name: string, description: DatabaseDescription, [firstKey, lastKey]: readonly (Uint8Array | undefined)[], isMinecraft: boolean): DatabaseFacts {
  const { comparator, lastSequence, manifest, nextFileNumber, levels, logs } = description;
  // Bounds are compared with keys, so they are not clipped.
  const bound = ({ userKey }: { userKey: Uint8Array }): Clipped => clipped(userKey, Infinity);
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
        filter: filterStatus.state === 'unopened' ? 'not open' : filterStatus.state,
      })),
    ),
    logs: logs.map(({ name: file, byteLength, entries, tail }) => ({ name: file, byteLength, entries, tail: tail === undefined ? undefined : describeTail(tail) })),
    dropped: droppedOf(description),
    byteLength: [...levels.flat(), ...logs].reduce((sum, { byteLength }) => sum + byteLength, 0),
    firstKey: firstKey && clipped(firstKey, Infinity),
    lastKey: lastKey && clipped(lastKey, Infinity),
    isIndexedDb: comparator === idbComparator.name,
    isMinecraft,
  };
}

function describeTail({ problem, offset, byteLength }: NonNullable<DatabaseDescription['logs'][number]['tail']>): string {
  return `${problem} at ${offset}, ${counted(byteLength, 'byte')}`;
}
