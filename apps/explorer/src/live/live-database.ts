import { Database, type DatabaseEvent, type DatabaseSnapshot, type TableMade } from '@bloom/leveldb';
import { BLOCK_KINDS } from '@bloom/sstable/inspect';
import type { VersionFacts } from '../database/database-facts.js';
import { lookupTrace } from '../database/traced-lookup.js';
import { clipped } from '../table/clipped.js';
import { factsOf, versionFacts } from '../database/inspected-database.js';
import { InspectedTable } from '../table/inspected-table.js';
import type { Crash, FilterFill, LiveEvent, LiveLookup, LiveSeek, LiveState, LiveTable, Making, NumberedEvent } from './live-facts.js';
import { LiveFolder } from './live-folder.js';
import { LostWrites } from './lost-writes.js';
import { Pace, type PaceName } from './pace.js';
import { visits } from './sample-writes.js';

/** The smallest size that LevelDB allows, so that a few hundred writes fill a memtable. */
const WRITE_BUFFER_SIZE = 64 * 1024;
const KEPT_EVENTS = 400;
const SEEK_ROWS = 8;
const FILL_LIMIT = 400;

/** One opening of the database, from a folder's files to the crash that ends it. */
class Opening {
  readonly pace: Pace;
  readonly folder: LiveFolder;
  readonly snapshots = new Map<number, DatabaseSnapshot>();
  database: Database | undefined;
  hasEnded = false;

  constructor(files: Iterable<readonly [string, Uint8Array]>, pace: PaceName, changed: () => void) {
    this.pace = new Pace(pace, changed);
    this.folder = new LiveFolder(files, this.pace);
  }
}

/** A database in memory that can be watched while it works, and can be crashed. */
export class LiveDatabase {
  #opening: Opening;
  #pace: PaceName;
  #number = 0;
  #listener: (() => void) | undefined;
  #events: NumberedEvent[] = [];
  #lastEvent = 0;
  #lastSnapshot = 0;
  #rounds = 0;
  #running = 0;
  #versions = 0;
  #problem: string | undefined;
  /** The bytes of the last memtable that was switched. */
  #switchedBytes = 0;
  #making: Making | undefined;
  readonly #tables = new Map<string, LiveTable>();
  #watchedKey = new Uint8Array(0);
  #watched: readonly VersionFacts[] = [];
  #isWatching = false;
  #mustWatchAgain = false;

  constructor(pace: PaceName) {
    this.#pace = pace;
    // A new database is created without pauses, because its first files are not part of the demonstration.
    this.#opening = this.#newOpening([], 'at-once');
    void this.#open(this.#opening, undefined).then(() => this.setPace(this.#pace));
  }

  /** The state, as soon as its number differs from `number`. @param lastEvent the last event that the caller has. */
  async state(number: number, lastEvent: number): Promise<LiveState> {
    if (number === this.#number) await new Promise<void>((resolve) => (this.#listener = resolve));
    // Other changes in the same turn are part of the same state.
    await new Promise((resolve) => setTimeout(resolve, 15));
    const { database, folder, pace, snapshots } = this.#opening;
    const facts = database && factsOf('the live database', database.describe(), [undefined, undefined], false);
    const logs = facts?.logs ?? [];
    const memory = Number(database?.property('leveldb.approximate-memory-usage') ?? 0);
    const flushingBytes = logs.length === 2 ? this.#switchedBytes : 0;
    const inUse = new Set(folder.list());
    for (const name of this.#tables.keys()) if (!inUse.has(name)) this.#tables.delete(name);
    return {
      number: this.#number,
      facts,
      problem: this.#problem,
      memtables: logs.map(({ name, entries }, i) => {
        const isFlushing = i < logs.length - 1;
        return { log: name, entries, isFlushing, memoryUsage: isFlushing ? flushingBytes : memory - flushingBytes };
      }),
      writeBufferSize: WRITE_BUFFER_SIZE,
      files: folder.states(),
      tables: [...this.#tables.values()],
      making: this.#making,
      snapshots: [...snapshots].map(([id, { sequence }]) => ({ id, sequence: sequence.toString() })),
      events: this.#events.filter(({ id }) => id > lastEvent),
      pace: this.#pace,
      waiting: pace.waiting,
      running: this.#running,
      versions: this.#versions,
      watched: this.#watched,
    };
  }

  setPace(name: PaceName): void {
    this.#pace = name;
    this.#opening.pace.set(name);
    this.#changed();
  }

  step(): void {
    this.#opening.pace.step();
  }

  put(key: Uint8Array, value: Uint8Array, sync: boolean): Promise<void> {
    return this.#run((database) => database.put(key, value, { sync }));
  }

  delete(key: Uint8Array, sync: boolean): Promise<void> {
    return this.#run((database) => database.delete(key, { sync }));
  }

  writeMany(sync: boolean): Promise<void> {
    return this.#run(async (database) => {
      for (const batch of visits(this.#rounds++)) await database.write(batch, { sync });
    });
  }

  flush(): Promise<void> {
    return this.#run((database) => database.flush());
  }

  compact(): Promise<void> {
    return this.#run((database) => database.compactRange());
  }

  hold(): void {
    this.#opening.snapshots.set(++this.#lastSnapshot, this.#database.snapshot());
    this.#changed();
  }

  release(id: number): void {
    this.#opening.snapshots.get(id)?.release();
    this.#opening.snapshots.delete(id);
    this.#changed();
  }

  /** Ends the database as in a crash, and opens it from the files that survive. */
  async crash(how: Crash): Promise<void> {
    const before = this.#opening;
    const { database } = before;
    const lastSequence = database?.lastSequence;
    const lost = database && new LostWrites(database.describe(), this.#making);
    const files = how === 'power' ? before.folder.afterPowerFailure() : before.folder.afterCrash();
    this.#end(before, new Error(how === 'power' ? 'the power failed' : 'the program crashed'));
    if (database !== undefined) this.#take({ kind: 'crashed', how, lastSequence: lastSequence!.toString() });
    this.#opening = this.#newOpening(files, this.#pace);
    await this.#open(this.#opening, lost);
  }

  async startOver(): Promise<void> {
    this.#end(this.#opening, new Error('the database was thrown away'));
    this.#events = [];
    this.#tables.clear();
    this.#rounds = 0;
    this.#opening = this.#newOpening([], 'at-once');
    await this.#open(this.#opening, undefined);
    this.setPace(this.#pace);
  }

  async lookup(key: Uint8Array, sequence: string | undefined): Promise<LiveLookup> {
    const explanation = await this.#database.explain(key, { sequence: sequence === undefined ? undefined : BigInt(sequence) });
    const versions = this.#versions;
    return { key, sequence, trace: await lookupTrace(explanation, (name) => this.#openTable(name)), versions };
  }

  /** The entries from `key` on, found by a cursor. */
  async seek(key: Uint8Array, sequence: string | undefined): Promise<LiveSeek> {
    const rows: LiveSeek['rows'][number][] = [];
    const cursor = this.#database.cursor({ sequence: sequence === undefined ? undefined : BigInt(sequence) });
    try {
      for (let isMore = await cursor.seek(key); isMore; isMore = await cursor.next()) {
        if (rows.length === SEEK_ROWS) return { rows, hasMore: true };
        rows.push({ key: clipped(cursor.key), value: clipped(cursor.value) });
      }
      return { rows, hasMore: false };
    } finally {
      // An open cursor would prevent the deletion of the files of its version.
      cursor.close();
    }
  }

  /** Follows the stored versions of a key. */
  watch(key: Uint8Array): void {
    this.#watchedKey = key.slice();
    this.#watched = [];
    this.#watchAgain();
  }

  async file(name: string): Promise<Uint8Array> {
    const file = this.#opening.folder.open(name);
    if (file === undefined) throw new Error(`${name} is gone`);
    return (await file.read(0, file.byteLength)).slice();
  }

  get #database(): Database {
    const { database } = this.#opening;
    if (database === undefined) throw new Error('the database is being opened');
    return database;
  }

  #newOpening(files: Iterable<readonly [string, Uint8Array]>, pace: PaceName): Opening {
    return new Opening(files, pace, () => this.#changed());
  }

  /** @param lost counts the writes that the previous crash lost. */
  async #open(opening: Opening, lost: LostWrites | undefined): Promise<void> {
    this.#problem = undefined;
    this.#making = undefined;
    this.#watched = [];
    this.#changed();
    try {
      opening.database = await Database.open(opening.folder, {
        writeBufferSize: WRITE_BUFFER_SIZE,
        // Without caches, the database's memory is only its memtables.
        cache: null,
        onEvent: (event) => {
          if (opening.hasEnded) return;
          lost?.take(event);
          this.#take(event);
        },
      });
    } catch (error) {
      if (!opening.hasEnded) this.#problem = String(error);
    }
    if (opening.hasEnded) return;
    if (lost !== undefined && opening.database !== undefined) this.#take({ kind: 'reopened', lost: lost.count(opening.database.describe()) });
    this.#watchAgain();
  }

  #end(opening: Opening, error: Error): void {
    opening.hasEnded = true;
    opening.pace.end(error);
    // Its calls fail, and their failures are ignored.
    opening.database?.close().catch(() => undefined);
    opening.database = undefined;
  }

  async #run(work: (database: Database) => Promise<void>): Promise<void> {
    const opening = this.#opening;
    this.#running++;
    this.#changed();
    try {
      await work(this.#database);
    } catch (error) {
      // A crash was requested.
      if (!opening.hasEnded) throw error;
    } finally {
      this.#running--;
      this.#watchAgain();
    }
  }

  #take(event: LiveEvent): void {
    this.#events.push({ id: ++this.#lastEvent, event });
    if (this.#events.length > KEPT_EVENTS) this.#events.shift();
    if (event.kind !== 'crashed' && event.kind !== 'reopened') this.#follow(event);
    this.#changed();
  }

  #follow(event: DatabaseEvent): void {
    switch (event.kind) {
      case 'log-replayed':
        for (const table of event.tables) this.#addTable(table);
        return;
      case 'memtable-switched':
        this.#switchedBytes = event.memoryUsage;
        return;
      case 'flush-began':
        this.#making = { kind: 'flush', log: event.log, table: event.table };
        return;
      case 'flush-ended':
        if (event.table !== undefined) this.#addTable(event.table);
        return;
      case 'compaction-chosen':
        this.#making = { kind: 'compaction', level: event.level, inputs: event.inputs.flat(), outputs: [] };
        return;
      case 'compaction-output':
        this.#addTable(event.table);
        if (this.#making?.kind === 'compaction') this.#making = { ...this.#making, outputs: [...this.#making.outputs, event.table.table] };
        return;
      case 'version-installed':
        this.#versions++;
        this.#making = undefined;
        this.#watchAgain();
        return;
      case 'write-logged':
        this.#watchAgain();
        return;
      case 'writing-ended':
        this.#problem = event.message;
        return;
      default:
    }
  }

  #addTable(table: TableMade): void {
    this.#tables.set(table.table, { ...table, fills: [] });
    void this.#fillsOf(table.table).then(
      (fills) => {
        if (this.#tables.has(table.table)) this.#tables.set(table.table, { ...table, fills });
        this.#changed();
      },
      // The table was already deleted, or the power failed.
      () => undefined,
    );
  }

  async #fillsOf(name: string): Promise<FilterFill[]> {
    const table = await this.#openTable(name);
    const block = table.outline.kinds.indexOf(BLOCK_KINDS.indexOf('filter block'));
    if (block < 0) return [];
    const rows = await table.filters(block, 0, FILL_LIMIT, new AbortController().signal);
    return rows.map(({ byteLength, setBits = 0 }) => ({ byteLength, setBits }));
  }

  async #openTable(name: string): Promise<InspectedTable> {
    const file = this.#opening.folder.open(name);
    if (file === undefined) throw new Error(`${name} is gone`);
    return InspectedTable.open(file, { isOfDatabase: true });
  }

  /** Reads the stored versions of the watched key again, after the work in progress. */
  #watchAgain(): void {
    this.#mustWatchAgain = true;
    if (!this.#isWatching) void this.#watchOn();
  }

  async #watchOn(): Promise<void> {
    this.#isWatching = true;
    while (this.#mustWatchAgain) {
      // At that time, a logged write is in the memtable.
      await new Promise((resolve) => setTimeout(resolve, 0));
      this.#mustWatchAgain = false;
      const { database } = this.#opening;
      if (database === undefined) break;
      try {
        this.#watched = versionFacts(await database.versions(this.#watchedKey));
      } catch {
        // The database crashed.
      }
      this.#changed();
    }
    this.#isWatching = false;
  }

  #changed(): void {
    this.#number++;
    this.#listener?.();
    this.#listener = undefined;
  }
}
