import { type ClearRange, ClosedError, type CursorEntry, Database, DatabaseError, type DatabaseReader, type DatabaseSnapshot, type WritableFolder, WriteBatch } from '@bloom/leveldb';
import { announceLastWork, laterSequences, turn } from '@bloom/leveldb/internal';
import { LevelError, levelErrorOf, lost } from './level-error.js';
import type { HostFormats } from './host-formats.js';
import { LentKeys } from './lent-keys.js';
import type { Item, ItemForm, LevelStore, StoreBatch, StoreSnapshot, StoreWalk, WalkOptions } from './level-store.js';
import { type ByteRange, RangeWalk } from './range-walk.js';
import { bytesIn, bytesOf, makerOf, type Stored, type EncodingFormat } from './encoding-formats.js';

const SYNCED = { sync: true } as const;
/** A written batch of at most this many bytes is cleared and used again, so that its memory need not grow for each batch. */
const MAX_SPARE_BYTES = 256 * 2 ** 10;

/** What a store does for a database that others use too. */
export interface Sharing {
  /** Called before all entries are deleted. */
  readonly beforeClear?: () => void;
  /** Ends the use of the database in place of closing it. */
  readonly end?: () => Promise<void>;
}

/** What all stores on a database have in common. */
interface Common {
  /** The number of calls of `clear` that have not ended. */
  clearings: number;
  hasWritingEnded: boolean;
}

/** How a walk reports its reads to its store, whose `close` waits until each of them has ended. */
interface WalkCalls {
  readonly begun: () => void;
  readonly ended: () => void;
  /** Converts the error of a read to the one that is thrown. */
  readonly errorOf: (error: unknown) => unknown;
}

/** The store of a level: a database, or a reader of a database that others write. */
export class DatabaseStore implements LevelStore {
  readonly #opened: Database | DatabaseReader;
  readonly #formats: HostFormats;
  readonly #keys: LentKeys;
  /** Pending reads, and writes to a shared database, for which `close` waits. */
  #reading = 0;
  #onIdle: (() => void)[] = [];
  readonly #common: Common;
  /** Set before the database is closed to be opened again. */
  successor: LevelStore | undefined;
  /** An empty batch with the memory of one that was written. */
  #spareBatch: WriteBatch | undefined;
  readonly #folder: WritableFolder | undefined;
  readonly #sharing: Sharing;
  /** Separate calls, because a function that wraps the promise of a read would make two more promises for each. */
  readonly #walkCalls: WalkCalls = {
    begun: () => {
      this.#reading++;
    },
    ended: () => this.#hasRead(),
    errorOf: (error) => this.#errorOf(error),
  };

  /** @param folder of a database whose folder may be deleted while it is open. */
  constructor(opened: Database | DatabaseReader, formats: HostFormats, folder?: WritableFolder, sharing: Sharing = {}, common: Common = { clearings: 0, hasWritingEnded: false }) {
    this.#sharing = sharing;
    this.#common = common;
    this.#folder = folder;
    this.#opened = opened;
    this.#formats = formats;
    this.#keys = new LentKeys(formats);
  }

  /** Another store on the same database, which others use too. @param end is called in `close` instead of closing the database. */
  lent(end: () => Promise<void>): DatabaseStore {
    return new DatabaseStore(this.#opened, this.#formats, this.#folder, { ...this.#sharing, end }, this.#common);
  }

  get(key: Stored, format: EncodingFormat, snapshot: StoreSnapshot | undefined): Stored | undefined | Promise<Stored | undefined> {
    const coming = comingOf(snapshot);
    if (coming !== undefined) {
      const own = ownKey(key);
      return this.#during(coming.then(() => this.get(own, format, snapshot)));
    }
    let value: Stored | undefined | Promise<Stored | undefined>;
    try {
      value = this.#opened.getAs(this.#keys.bytesOf(key), makerOf(this.#formats, format), readingOf(snapshot));
    } catch (error) {
      throw levelErrorOf(error);
    }
    return value instanceof Promise ? this.#during(value) : value;
  }

  getSync(key: Stored, format: EncodingFormat, snapshot: StoreSnapshot | undefined): Stored | undefined {
    const database = this.#writable('getSync()', 'LEVEL_NOT_SUPPORTED');
    try {
      return database.getAsSync(this.#keys.bytesOf(key), makerOf(this.#formats, format), readingOf(snapshot));
    } catch (error) {
      throw levelErrorOf(error);
    }
  }

  getMany(keys: readonly Stored[], format: EncodingFormat, snapshot: StoreSnapshot | undefined): Promise<(Stored | undefined)[]> {
    const coming = comingOf(snapshot);
    if (coming !== undefined) {
      const own = keys.map(ownKey);
      return this.#during(coming.then(() => this.getMany(own, format, snapshot)));
    }
    return this.#during(this.#opened.getManyAs(this.#keys.each(keys), makerOf(this.#formats, format), readingOf(snapshot)));
  }

  has(key: Stored, snapshot: StoreSnapshot | undefined): Promise<boolean> {
    const coming = comingOf(snapshot);
    if (coming !== undefined) {
      const own = ownKey(key);
      return this.#during(coming.then(() => this.has(own, snapshot)));
    }
    return this.#during(this.#opened.has(this.#keys.bytesOf(key), readingOf(snapshot)));
  }

  hasMany(keys: readonly Stored[], snapshot: StoreSnapshot | undefined): Promise<boolean[]> {
    const coming = comingOf(snapshot);
    if (coming !== undefined) {
      const own = keys.map(ownKey);
      return this.#during(coming.then(() => this.hasMany(own, snapshot)));
    }
    return this.#during(this.#opened.hasMany(this.#keys.each(keys), readingOf(snapshot)));
  }

  put(key: Stored, value: Stored, sync: boolean): Promise<void> {
    return this.#writing(this.#writable().put(bytesOf(this.#formats, key), bytesOf(this.#formats, value), sync ? SYNCED : undefined));
  }

  delete(key: Stored, sync: boolean): Promise<void> {
    return this.#writing(this.#writable().delete(bytesOf(this.#formats, key), sync ? SYNCED : undefined));
  }

  batch(): StoreBatch {
    const database = this.#writable();
    const batch = this.#spareBatch ?? new WriteBatch();
    this.#spareBatch = undefined;
    const write = (sync: boolean): Promise<void> => {
      // It copies the batch.
      const writing = database.write(batch, sync ? SYNCED : undefined);
      if (batch.byteLength <= MAX_SPARE_BYTES) this.#spareBatch = batch.clear();
      return this.#writing(writing);
    };
    return new DatabaseBatch(batch, this.#formats, write);
  }

  async clear(range: ByteRange, snapshot: StoreSnapshot | undefined, limit: number): Promise<void> {
    if (isOfAll(range, snapshot, limit)) this.#sharing.beforeClear?.();
    this.#common.clearings++;
    try {
      await this.#writing(this.#clear(range, snapshot, limit));
    } catch (error) {
      if (!(await this.#isGone(error, false))) throw error;
    } finally {
      this.#common.clearings--;
    }
  }

  #clear(range: ByteRange, snapshot: StoreSnapshot | undefined, limit: number): Promise<void> {
    const database = this.#writable();
    const coming = comingOf(snapshot);
    // With a sequence, it is not taken for a clear of the whole database.
    const given = coming === undefined ? clearRangeOf(range, snapshot, limit) : { ...clearRangeOf(range, undefined, limit), sequence: database.lastSequence };
    // The call is not delayed until the snapshot has come, because later writes would then overtake it.
    if (coming !== undefined) laterSequences.set(given, () => coming.then(() => (snapshot as SequenceSnapshot).sequence));
    return database.clear(given);
  }

  walk(options: WalkOptions): DatabaseWalk {
    const coming = comingOf(options.snapshot);
    const walk = coming === undefined ? this.#rangeWalk(options) : coming.then(() => this.#rangeWalk(options));
    return new DatabaseWalk(walk, this.#formats, options.form, this.#walkCalls);
  }

  snapshot(): SequenceSnapshot {
    const database = this.#writable('snapshot()', 'LEVEL_NOT_SUPPORTED');
    return this.#common.clearings === 0 ? database.snapshot() : new ComingSnapshot(database);
  }

  /** Waits until the writes that were issued before are visible. @returns the sequence of the last of them. */
  written(): Promise<bigint> {
    return this.#during(this.#writable().written());
  }

  async approximateSize(start: Uint8Array, end: Uint8Array): Promise<number> {
    return this.#during(this.#writable('approximateSize()', 'LEVEL_NOT_SUPPORTED').approximateSize(start, end));
  }

  async compactRange(start: Uint8Array, end: Uint8Array): Promise<void> {
    return this.#during(this.#writable('compactRange()', 'LEVEL_NOT_SUPPORTED').compactRange(start, end));
  }

  property(name: string): string {
    return this.#writable('getProperty()', 'LEVEL_NOT_SUPPORTED').property(name) ?? '';
  }

  async refresh(): Promise<boolean> {
    // Without DatabaseReader, which a worker need not load.
    if (!(this.#opened instanceof Database)) return this.#during(this.#opened.refresh());
    throw new LevelError('LEVEL_NOT_SUPPORTED', 'refresh() is for levels that were opened with readOnly: nobody else writes to this one');
  }

  /** Waits for pending calls. */
  async idle(): Promise<void> {
    if (this.#reading > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  willClose(): void {
    // The end of one of several uses does not close the database.
    if (this.#reading > 0 && this.#folder !== undefined && this.#sharing.end === undefined) announceLastWork(this.#folder, this.#quiet());
  }

  /** Waits until an iterator that reads several times has ended too: it begins the next read at once. */
  async #quiet(): Promise<void> {
    while (this.#reading > 0) {
      await this.idle();
      await turn();
    }
  }

  async close(): Promise<void> {
    if (this.#reading > 0) await this.idle();
    try {
      await (this.#sharing.end?.() ?? this.#opened.close());
    } catch (error) {
      if (!(await this.#isGone(error, true))) throw levelErrorOf(error);
    }
  }

  /**
   * Whether a call failed because the database was deleted, as cleanup code does. There is nothing left to clear or to keep then.
   *
   * @param orReplaced whether it is enough that another folder has its name. The database may have been moved: it then has all that was written.
   */
  async #isGone(error: unknown, orReplaced: boolean): Promise<boolean> {
    const change = folderChangeIn(error);
    if (this.#folder === undefined || change === undefined) return false;
    // Without a file, it is the folder that was deleted, moved or replaced.
    const isOtherFolder = change.file === undefined;
    if (isOtherFolder && orReplaced) return true;
    try {
      const names = await this.#folder.list();
      return !isOtherFolder && !names.includes('CURRENT');
    } catch (missing) {
      return (missing as { readonly code?: unknown }).code === 'ENOENT';
    }
  }

  /** The open database, for calls that only a writable database supports. @throws LevelError otherwise. */
  #writable(call = 'a write', code: 'LEVEL_READONLY' | 'LEVEL_NOT_SUPPORTED' = 'LEVEL_READONLY'): Database {
    if (this.#opened instanceof Database) return this.#opened;
    throw new LevelError(code, `Database was opened with readOnly: it does not support ${call}`);
  }

  /** Whether a write has failed, so that nothing more is written until the database is opened again. */
  get hasWritingEnded(): boolean {
    return this.#common.hasWritingEnded;
  }

  /** Waits for a write. Not async: that would make more garbage. */
  #writing(write: Promise<void>): Promise<void> {
    const writing = write.catch(this.#onWritingError);
    // Closing the database waits for its writes, but not the end of one use.
    return this.#sharing.end === undefined ? writing : this.#during(writing);
  }

  readonly #onWritingError = (error: unknown): never => {
    this.#common.hasWritingEnded ||= error instanceof DatabaseError && error.code === 'BLOOM_WRITING_ENDED';
    if (this.successor !== undefined && error instanceof ClosedError) throw new LevelError('LEVEL_IO_ERROR', 'the database was opened again after a failed write: begin the batch again', { cause: error });
    throw levelErrorOf(error);
  };

  /** Waits for a call, for which `close` waits too. */
  async #during<T>(call: Promise<T>): Promise<T> {
    this.#reading++;
    try {
      return await call;
    } catch (error) {
      throw this.#errorOf(error);
    } finally {
      this.#hasRead();
    }
  }

  /** The error of a call. That of a walk is lost if the database has been opened again. */
  #errorOf(error: unknown): unknown {
    return this.successor !== undefined && error instanceof ClosedError ? lost() : levelErrorOf(error);
  }

  #hasRead(): void {
    if (--this.#reading > 0) return;
    const waiting = this.#onIdle;
    this.#onIdle = [];
    for (const resolve of waiting) resolve();
  }

  #rangeWalk({ range, snapshot, fillCache, signal }: Omit<WalkOptions, 'form'>): RangeWalk {
    const opened = this.#opened;
    return new RangeWalk(opened.cursor({ ...readingOf(snapshot), fillCache }), (a, b) => opened.compare(a, b), range, signal);
  }
}

/** The `FolderError` `BLOOM_FOLDER_CHANGED` among an error and its causes. */
function folderChangeIn(error: unknown): { readonly file?: unknown } | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, file } = error as { readonly code?: unknown; readonly file?: unknown };
  return code === 'BLOOM_FOLDER_CHANGED' ? { file } : folderChangeIn(error.cause);
}

/** A snapshot of a database that is open here. */
export interface SequenceSnapshot extends StoreSnapshot {
  /** Changes when it is no longer `coming`. */
  readonly sequence: bigint;
  /** Settles when the state exists; undefined from then on. */
  readonly coming?: Promise<void> | undefined;
}

/** A snapshot that is taken while `clear` is running. Asynchronous reads wait until the state exists, and synchronous ones read the present one. */
class ComingSnapshot implements SequenceSnapshot {
  coming: Promise<void> | undefined;
  #taken: DatabaseSnapshot;
  #isReleased = false;

  constructor(database: Database) {
    this.#taken = database.snapshot();
    this.coming = this.#take(database);
    // The reads that wait for it report a failure.
    this.coming.catch(() => undefined);
  }

  get sequence(): bigint {
    return this.#taken.sequence;
  }

  release(): void {
    this.#isReleased = true;
    this.#taken.release();
  }

  async #take(database: Database): Promise<void> {
    const taken = await database.writtenSnapshot();
    this.#taken.release();
    this.#taken = taken;
    this.coming = undefined;
    if (this.#isReleased) taken.release();
  }
}

function comingOf(snapshot: StoreSnapshot | undefined): Promise<void> | undefined {
  return (snapshot as SequenceSnapshot | undefined)?.coming;
}

/** A key for later: the caller may change its own. */
function ownKey(key: Stored): Stored {
  return ArrayBuffer.isView(key) ? bytesIn(key).slice() : key;
}

/** @param snapshot of the same database. */
function readingOf(snapshot: StoreSnapshot | undefined): { readonly sequence: bigint } | undefined {
  return snapshot && { sequence: (snapshot as SequenceSnapshot).sequence };
}

function isOfAll({ gt, gte, lt, lte }: ByteRange, snapshot: StoreSnapshot | undefined, limit: number): boolean {
  return gt === undefined && gte === undefined && lt === undefined && lte === undefined && snapshot === undefined && limit === Infinity;
}

/** Of two bounds at one end, the inclusive one counts, as in classic-level. */
function clearRangeOf({ gt, gte, lt, lte, reverse }: ByteRange, snapshot: StoreSnapshot | undefined, limit: number): ClearRange {
  return {
    ...(gte === undefined ? gt && { gt } : { gte }),
    ...(lte === undefined ? lt && { lt } : { lte }),
    ...readingOf(snapshot),
    reverse,
    limit,
    // As in classic-level, and much faster for a few entries.
    sync: false,
  };
}

class DatabaseBatch implements StoreBatch {
  #batch: WriteBatch;
  readonly #formats: HostFormats;
  readonly #write: (sync: boolean) => Promise<void>;

  /** @param write writes the batch, which then belongs to someone else. */
  constructor(batch: WriteBatch, formats: HostFormats, write: (sync: boolean) => Promise<void>) {
    this.#batch = batch;
    this.#formats = formats;
    this.#write = write;
  }

  put(key: Stored, value: Stored): void {
    this.#batch.put(bytesOf(this.#formats, key), bytesOf(this.#formats, value));
  }

  delete(key: Stored): void {
    this.#batch.delete(bytesOf(this.#formats, key));
  }

  clear(): void {
    this.#batch.clear();
  }

  write(sync: boolean): Promise<void> {
    this.#batch = new WriteBatch();
    return this.#write(sync);
  }
}

/**
 * Not an array literal. When many arrays of one literal survive, V8 creates the next ones in its old generation, where they keep everything
 * alive that they refer to until the whole heap is collected. Garbage collection was a fifth of a walk through 100,000 entries, and is now a
 * hundredth.
 */
const entryOf = (...entry: [key: Stored | undefined, value: Stored | undefined]): Item => entry;

/** As in classic-level. */
const READ_AHEAD_BYTES = 16 * 2 ** 10;

/** A walk through a database that is open here. */
export class DatabaseWalk implements StoreWalk {
  readonly readAheadBytes = READ_AHEAD_BYTES;
  /** A promise until its snapshot is taken. */
  #walk: RangeWalk | Promise<RangeWalk>;
  readonly #calls: WalkCalls;
  /** Makes an item of the entry that the cursor is on. */
  readonly #itemOf: (entry: CursorEntry) => Item;
  readonly #countsKeys: boolean;
  readonly #countsValues: boolean;

  constructor(walk: RangeWalk | Promise<RangeWalk>, formats: HostFormats, form: ItemForm, calls: WalkCalls) {
    const { kind, keyFormat, valueFormat, withKeys, withValues } = form;
    const makeKey = makerOf(formats, keyFormat);
    const makeValue = makerOf(formats, valueFormat);
    const keyOf = ({ keyBytes, keyLength }: CursorEntry): Stored => makeKey(keyBytes, 0, keyLength);
    const valueOf = ({ valueBytes, valueStart, valueLength }: CursorEntry): Stored => makeValue(valueBytes, valueStart, valueStart + valueLength);
    const pairOf = (cursor: CursorEntry): Item => entryOf(withKeys ? keyOf(cursor) : undefined, withValues ? valueOf(cursor) : undefined);
    this.#walk = walk;
    // The first read reports a failure.
    if (walk instanceof Promise) walk.catch(() => undefined);
    this.#calls = calls;
    if (kind === 'keys') this.#itemOf = keyOf;
    else if (kind === 'values') this.#itemOf = valueOf;
    else this.#itemOf = pairOf;
    this.#countsKeys = kind === 'keys' || (kind === 'entries' && withKeys);
    this.#countsValues = kind === 'values' || (kind === 'entries' && withValues);
  }

  seek(key: Uint8Array): void {
    this.#move((walk) => walk.seek(key));
  }

  /** The key of the last item that was read; undefined when there are no more items. */
  get position(): Uint8Array | undefined {
    return this.#walk instanceof Promise ? undefined : this.#walk.position?.slice();
  }

  /** Makes the item after a `position` of a walk through the same range the next one. */
  goOn(position: Uint8Array | undefined): void {
    this.#move((walk) => walk.goOn(position));
  }

  async read(size: number, highWaterMark: number): Promise<Item[]> {
    const items: Item[] = [];
    const walk = this.#walk instanceof Promise ? await this.#walk : this.#walk;
    this.#walk = walk;
    if (walk.isOver) return items;
    let byteLength = 0;
    this.#calls.begun();
    try {
      await walk.run((cursor) => {
        items.push(this.#itemOf(cursor));
        byteLength += (this.#countsKeys ? cursor.keyLength : 0) + (this.#countsValues ? cursor.valueLength : 0);
        return items.length < size && byteLength <= highWaterMark;
      });
    } catch (error) {
      throw this.#calls.errorOf(error);
    } finally {
      this.#calls.ended();
    }
    return items;
  }

  close(): void {
    this.#move((walk) => walk.cursor.close());
  }

  #move(move: (walk: RangeWalk) => void): void {
    if (!(this.#walk instanceof Promise)) {
      move(this.#walk);
      return;
    }
    this.#walk = this.#walk.then((walk) => {
      move(walk);
      return walk;
    });
    this.#walk.catch(() => undefined);
  }
}
