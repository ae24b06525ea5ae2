import { type AsyncReadOptions, Database, type DatabaseCursor, DatabaseReader, type Folder, type RepairOptions, type RepairReport, type WritableFolder, WriteBatch } from '@bloom/leveldb';
import { type AbstractBatchOperation, type AbstractChainedBatch, type AbstractIterator, type AbstractKeyIterator, AbstractLevel, type AbstractValueIterator, type Transcoder } from 'abstract-level';
import { LevelBatch } from './level-batch.js';
import { LevelError, levelErrorOf } from './level-error.js';
import type { ByteFormats, LevelHost } from './level-host.js';
import { EntryIterator, type IteratorOptions as GivenIteratorOptions, type IteratorSource, KeyIterator, ValueIterator } from './level-iterator.js';
import {
  type BatchOptions,
  databaseOptionsOf,
  type DelOptions,
  isFolder,
  type IteratorOptions,
  type KeyIteratorOptions,
  type LevelOptions,
  type OpenOptions,
  type PutOptions,
  readerOptionsOf,
  type StartEndOptions,
  type ValueIteratorOptions,
} from './level-options.js';
import { LevelSnapshot } from './level-snapshot.js';
import { RangeWalk } from './range-walk.js';
import { boundOf, bytesOf, type Stored, type StoredFormat, storedOf } from './stored-format.js';

/** What abstract-level hands over with a read. */
interface ReadOptions {
  readonly keyEncoding: StoredFormat;
  readonly valueEncoding: StoredFormat;
  readonly snapshot?: LevelSnapshot;
}

/** What abstract-level hands over with a range. */
interface RangeOptions extends ReadOptions {
  readonly gt?: unknown;
  readonly gte?: unknown;
  readonly lt?: unknown;
  readonly lte?: unknown;
  readonly reverse: boolean;
  /** -1 for no limit. */
  readonly limit: number;
  readonly signal?: AsyncReadOptions['signal'] | null;
  readonly fillCache?: unknown;
}

interface Operation {
  readonly type: 'put' | 'del';
  readonly key: Stored;
  readonly value: Stored;
}

/** What abstract-level is told that a level can do. */
const COMMON_MANIFEST = {
  encodings: { buffer: true, utf8: true, view: true },
  has: true,
  createIfMissing: true,
  errorIfExists: true,
  signals: { iterators: true },
};
const MANIFEST = { ...COMMON_MANIFEST, explicitSnapshots: true, getSync: true, additionalMethods: { approximateSize: true, compactRange: true } };
const READ_ONLY_MANIFEST = { ...COMMON_MANIFEST, explicitSnapshots: false, getSync: false, additionalMethods: { refresh: true } };

/** Bytes of the keys that `clear` deletes with one write. */
const CLEARED_BYTES = 64 * 2 ** 10;

/** abstract-level's methods, with the options that they take here. */
export interface FolderLevel<KDefault, VDefault> {
  open(options?: OpenOptions): Promise<void>;

  put(key: KDefault, value: VDefault): Promise<void>;
  put<K = KDefault, V = VDefault>(key: K, value: V, options: PutOptions<K, V>): Promise<void>;

  del(key: KDefault): Promise<void>;
  del<K = KDefault>(key: K, options: DelOptions<K>): Promise<void>;

  batch(operations: AbstractBatchOperation<this, KDefault, VDefault>[]): Promise<void>;
  batch<K = KDefault, V = VDefault>(operations: AbstractBatchOperation<this, K, V>[], options: BatchOptions<K, V>): Promise<void>;
  batch(): LevelBatch<this, KDefault, VDefault>;

  iterator(): AbstractIterator<this, KDefault, VDefault>;
  iterator<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): AbstractIterator<this, K, V>;

  keys(): AbstractKeyIterator<this, KDefault>;
  keys<K = KDefault>(options: KeyIteratorOptions<K>): AbstractKeyIterator<this, K>;

  values(): AbstractValueIterator<this, KDefault, VDefault>;
  values<K = KDefault, V = VDefault>(options: ValueIteratorOptions<K, V>): AbstractValueIterator<this, K, V>;
}

/** A level on a folder, without what only one host has. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging -- the methods are those of AbstractLevel
export abstract class FolderLevel<KDefault = string, VDefault = string> extends AbstractLevel<Stored, KDefault, VDefault> {
  readonly #location: string | Folder;
  readonly #folder: Folder;
  readonly #readOnly: boolean;
  readonly #iterators: IteratorSource;
  /** What is open: a database, or the reader of one; undefined while nothing is. */
  #opened: Database | DatabaseReader | undefined;
  /** Reads that are under way, for which `close` waits. */
  #reading = 0;
  #onIdle: (() => void) | undefined;

  /** @param options of the constructor of `BloomLevel`. */
  constructor(host: LevelHost, location: string | Folder, options: LevelOptions<KDefault, VDefault> | undefined) {
    const readOnly = options?.readOnly === true;
    const folder = folderOf(host, location, readOnly);
    super(readOnly ? READ_ONLY_MANIFEST : MANIFEST, options);
    this.#location = location;
    this.#folder = folder;
    this.#readOnly = readOnly;
    this.#iterators = { formats: host, during: (reading) => this.#during(reading) };
  }

  /** What the constructor was given. */
  get location(): string | Folder {
    return this.#location;
  }

  /**
   * The approximate number of bytes that the keys from `start` up to, but not including, `end` take in tables. What was written of late
   * does not count.
   */
  async approximateSize<K = KDefault>(start: K, end: K, options?: StartEndOptions<K>): Promise<number> {
    mustHaveEnds(start, end);
    if (this.status === 'opening') return this.deferAsync(() => this.approximateSize(start, end, options));
    const database = this.#writable('approximateSize()', 'LEVEL_NOT_SUPPORTED');
    return this.#during(database.approximateSize(...this.#ends(start, end, options)));
  }

  /** Merges the tables of the keys from `start` to `end`, so that deleted and overwritten entries take no more space. */
  async compactRange<K = KDefault>(start: K, end: K, options?: StartEndOptions<K>): Promise<void> {
    mustHaveEnds(start, end);
    if (this.status === 'opening') return this.deferAsync(() => this.compactRange(start, end, options));
    const database = this.#writable('compactRange()', 'LEVEL_NOT_SUPPORTED');
    return this.#during(database.compactRange(...this.#ends(start, end, options)));
  }

  /** A property in LevelDB's text form, such as `leveldb.stats`; an empty string for an unknown name. */
  getProperty(property: string): string {
    if (typeof property !== 'string') throw new TypeError("The first argument 'property' must be a string");
    return this.#writable('getProperty()', 'LEVEL_NOT_SUPPORTED').property(property) ?? '';
  }

  /**
   * Sees what was written by others since the level was opened with `readOnly`, or since the last refresh. Iterators that were begun go
   * on to see what they saw.
   *
   * @returns whether anything was written.
   */
  async refresh(): Promise<boolean> {
    if (this.status === 'opening') return this.deferAsync(() => this.refresh());
    const reader = this.#open('refresh()');
    if (reader instanceof Database) {
      throw new LevelError('LEVEL_NOT_SUPPORTED', 'refresh() is for levels that were opened with readOnly: nobody else writes to this one');
    }
    return this.#during(reader.refresh());
  }

  protected async _open(options: OpenOptions): Promise<void> {
    try {
      if (this.#readOnly) this.#opened = await this.#openReader(options);
      else this.#opened = await Database.open(this.#folder as WritableFolder, databaseOptionsOf(options));
    } catch (error) {
      throw levelErrorOf(error);
    }
  }

  async #openReader(options: OpenOptions): Promise<DatabaseReader> {
    if (options.errorIfExists === true) throw new TypeError('errorIfExists must be false with readOnly, which opens a database that exists');
    return DatabaseReader.open(this.#folder, readerOptionsOf(options));
  }

  protected async _close(): Promise<void> {
    const opened = this.#opened;
    // Closed whatever happens: a second call must not fail as the first.
    this.#opened = undefined;
    if (this.#reading > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    try {
      await opened?.close();
    } catch (error) {
      throw levelErrorOf(error);
    }
  }

  protected async _get(key: Stored, options: ReadOptions): Promise<Stored | undefined> {
    const opened = this.#open();
    const value = await this.#during(opened.get(bytesOf(this.#formats, key), this.#readingOf(opened, options)));
    return value && storedOf(this.#formats, options.valueEncoding, value, 0, value.length);
  }

  protected _getSync(key: Stored, options: ReadOptions): Stored | undefined {
    const opened = this.#writable('getSync()', 'LEVEL_NOT_SUPPORTED');
    try {
      const value = opened.getSync(bytesOf(this.#formats, key), this.#readingOf(opened, options));
      return value && storedOf(this.#formats, options.valueEncoding, value, 0, value.length);
    } catch (error) {
      throw levelErrorOf(error);
    }
  }

  protected async _getMany(keys: Stored[], options: ReadOptions): Promise<(Stored | undefined)[]> {
    const opened = this.#open();
    const wanted = keys.map((key) => bytesOf(this.#formats, key));
    const values = await this.#during(opened.getMany(wanted, this.#readingOf(opened, options)));
    return values.map((value) => value && storedOf(this.#formats, options.valueEncoding, value, 0, value.length));
  }

  protected async _has(key: Stored, options: ReadOptions): Promise<boolean> {
    const opened = this.#open();
    return this.#during(opened.has(bytesOf(this.#formats, key), this.#readingOf(opened, options)));
  }

  protected async _hasMany(keys: Stored[], options: ReadOptions): Promise<boolean[]> {
    const opened = this.#open();
    const wanted = keys.map((key) => bytesOf(this.#formats, key));
    return this.#during(opened.hasMany(wanted, this.#readingOf(opened, options)));
  }

  protected async _put(key: Stored, value: Stored, options: PutOptions<unknown, unknown>): Promise<void> {
    const database = this.#writable();
    try {
      await database.put(bytesOf(this.#formats, key), bytesOf(this.#formats, value), syncOf(options));
    } catch (error) {
      throw levelErrorOf(error);
    }
  }

  protected async _del(key: Stored, options: DelOptions<unknown>): Promise<void> {
    const database = this.#writable();
    try {
      await database.delete(bytesOf(this.#formats, key), syncOf(options));
    } catch (error) {
      throw levelErrorOf(error);
    }
  }

  protected async _batch(operations: Operation[], options: BatchOptions<unknown, unknown>): Promise<void> {
    const database = this.#writable();
    try {
      const batch = new WriteBatch();
      for (const { type, key, value } of operations) {
        if (type === 'put') batch.put(bytesOf(this.#formats, key), bytesOf(this.#formats, value));
        else batch.delete(bytesOf(this.#formats, key));
      }
      await database.write(batch, syncOf(options));
    } catch (error) {
      throw levelErrorOf(error);
    }
  }

  protected _chainedBatch(): AbstractChainedBatch<this, KDefault, VDefault> {
    this.#writable();
    return new LevelBatch(this, () => this.#writable(), this.#formats);
  }

  protected async _clear(options: RangeOptions): Promise<void> {
    const database = this.#writable();
    const walk = this.#walk(database, { ...options, fillCache: false });
    try {
      await this.#during(this.#deleteAll(database, walk, options.limit));
    } finally {
      walk.cursor.close();
    }
  }

  async #deleteAll(database: Database, walk: RangeWalk, limit: number): Promise<void> {
    let left = limit < 0 ? Infinity : limit;
    const batch = new WriteBatch();
    do {
      await walk.run((cursor) => {
        batch.delete(cursor.key);
        return --left > 0 && batch.byteLength < CLEARED_BYTES;
      });
      if (batch.count > 0) await database.write(batch);
      batch.clear();
    } while (left > 0 && !walk.isOver);
  }

  protected _iterator(options: RangeOptions & GivenIteratorOptions): EntryIterator<this, KDefault, VDefault> {
    return new EntryIterator(this, this.#iterators, this.#walk(this.#open(), options), options);
  }

  protected _keys(options: RangeOptions & GivenIteratorOptions): KeyIterator<this, KDefault> {
    return new KeyIterator(this, this.#iterators, this.#walk(this.#open(), options), options);
  }

  protected _values(options: RangeOptions & GivenIteratorOptions): ValueIterator<this, KDefault, VDefault> {
    return new ValueIterator(this, this.#iterators, this.#walk(this.#open(), options), options);
  }

  protected _snapshot(options: unknown): LevelSnapshot {
    const database = this.#writable('snapshot()', 'LEVEL_NOT_SUPPORTED');
    return new LevelSnapshot(database.snapshot(), database, options);
  }

  get #formats(): ByteFormats {
    return this.#iterators.formats;
  }

  /** @throws LevelError `LEVEL_DATABASE_NOT_OPEN`. */
  #open(call?: string): Database | DatabaseReader {
    if (this.#opened !== undefined && this.status === 'open') return this.#opened;
    throw new LevelError('LEVEL_DATABASE_NOT_OPEN', call === undefined ? 'Database is not open' : `Database is not open: cannot call ${call}`);
  }

  /** What is open, for what only a database that is written can do. @throws LevelError otherwise. */
  #writable(call = 'a write', code: 'LEVEL_READONLY' | 'LEVEL_NOT_SUPPORTED' = 'LEVEL_READONLY'): Database {
    const opened = this.#open(code === 'LEVEL_READONLY' ? undefined : call);
    if (opened instanceof Database) return opened;
    throw new LevelError(code, `Database was opened with readOnly: it does not support ${call}`);
  }

  /** Waits for a read, which `close` waits for too. */
  async #during<T>(reading: Promise<T>): Promise<T> {
    this.#reading++;
    try {
      return await reading;
    } catch (error) {
      throw levelErrorOf(error);
    } finally {
      if (--this.#reading === 0) this.#onIdle?.();
    }
  }

  #readingOf(opened: object, { snapshot }: ReadOptions): { readonly sequence: bigint } | undefined {
    return snapshot && { sequence: snapshot.sequenceIn(opened) };
  }

  #walk(opened: Database | DatabaseReader, options: RangeOptions): RangeWalk {
    const bound = (name: 'gt' | 'gte' | 'lt' | 'lte'): Uint8Array | undefined => (name in options ? boundOf(this.#formats, options[name]) : undefined);
    const range = { gt: bound('gt'), gte: bound('gte'), lt: bound('lt'), lte: bound('lte'), reverse: options.reverse };
    const cursor: DatabaseCursor = opened.cursor({ ...this.#readingOf(opened, options), fillCache: options.fillCache !== false });
    return new RangeWalk(cursor, (a, b) => opened.compare(a, b), range, options.signal ?? undefined);
  }

  #ends<K>(start: K, end: K, options: StartEndOptions<K> | undefined): [Uint8Array, Uint8Array] {
    const encoding = this.keyEncoding(options?.keyEncoding as Transcoder.MixedEncoding<unknown, Stored, unknown>);
    return [boundOf(this.#formats, encoding.encode(start)), boundOf(this.#formats, encoding.encode(end))];
  }
}

/** Deletes the database of a location. */
export async function destroyLevel(host: LevelHost, location: string | WritableFolder): Promise<void> {
  try {
    await Database.destroy(folderOf(host, location, false) as WritableFolder);
  } catch (error) {
    throw levelErrorOf(error);
  }
}

/** Repairs the database of a location. */
export async function repairLevel(host: LevelHost, location: string | WritableFolder, options: RepairOptions | undefined): Promise<RepairReport> {
  try {
    return await Database.repair(folderOf(host, location, false) as WritableFolder, options);
  } catch (error) {
    throw levelErrorOf(error);
  }
}

function folderOf(host: LevelHost, location: unknown, readOnly: boolean): Folder {
  if (isFolder(location)) return location;
  if (typeof location !== 'string' || location === '') throw new TypeError("The first argument 'location' must be a non-empty string");
  return readOnly ? host.readOnlyFolderAt(location) : host.folderAt(location);
}

function mustHaveEnds(start: unknown, end: unknown): void {
  if (start === undefined || end === undefined) throw new TypeError("The arguments 'start' and 'end' are required");
}

function syncOf(options: { readonly sync?: boolean | undefined }): { readonly sync: true } | undefined {
  return options.sync === true ? SYNCED : undefined;
}

const SYNCED = { sync: true } as const;
