import type { Folder, WritableFolder } from '@bloom/leveldb';
import type { AbstractBatchOperation, AbstractChainedBatch, AbstractDatabaseHooks, AbstractIterator, AbstractKeyIterator, AbstractValueIterator, Transcoder } from 'abstract-level';
import { mustBeLevelOptions, mustBeOpenOptions } from './call-options.js';
import { CheckedLevel, mustNotThrow, noted, openFailure } from './checked-level.js';
import { LevelBatch } from './level-batch.js';
import { levelErrorOf, notOpen } from './level-error.js';
import type { LevelHost, StoreOpener } from './level-host.js';
import { EntryIterator, type IteratorOptions as GivenIteratorOptions, KeyIterator, ValueIterator } from './level-iterator.js';
import {
  type BatchOptions,
  type DelOptions,
  type GetManyOptions,
  type GetOptions,
  type HasManyOptions,
  type HasOptions,
  isFolder,
  type IteratorOptions,
  type KeyIteratorOptions,
  type LevelOptions,
  type OpenOptions,
  type PutOptions,
  type StartEndOptions,
  type ValueIteratorOptions,
} from './level-options.js';
import { LevelSnapshot } from './level-snapshot.js';
import type { ItemForm, LevelStore, Signal, StoreSnapshot, StoreWalk } from './level-store.js';
import type { ByteRange } from './range-walk.js';
import { boundOf, type Stored, type EncodingFormat } from './encoding-formats.js';

/** What abstract-level hands over with a read. */
interface ReadOptions {
  readonly keyEncoding: EncodingFormat;
  readonly valueEncoding: EncodingFormat;
  readonly snapshot?: unknown;
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
  readonly signal?: Signal | null;
  readonly keys?: boolean;
  readonly values?: boolean;
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
const REMOTE_MANIFEST = { ...MANIFEST, getSync: false };
const READ_ONLY_MANIFEST = { ...COMMON_MANIFEST, explicitSnapshots: false, getSync: false, additionalMethods: { refresh: true } };

/** The part of abstract-level's classes that is used here: the core has no types of Node's `EventEmitter`. */
interface Emitter {
  on(event: 'closing', listener: () => void): void;
}

/** abstract-level's methods, with the options that they take here. */
export interface BaseBloomLevel<KDefault, VDefault> {
  /**
   * abstract-level's hooks, for operations of any type of level. If the type were `this`, TypeScript would reject a level where a library
   * expects an `AbstractLevel`.
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
  hooks: AbstractDatabaseHooks<any>;

  get(key: KDefault): Promise<VDefault | undefined>;
  get<K = KDefault, V = VDefault>(key: K, options: GetOptions<K, V>): Promise<V | undefined>;

  getSync(key: KDefault): VDefault | undefined;
  getSync<K = KDefault, V = VDefault>(key: K, options: GetOptions<K, V>): V | undefined;

  getMany(keys: KDefault[]): Promise<(VDefault | undefined)[]>;
  getMany<K = KDefault, V = VDefault>(keys: K[], options: GetManyOptions<K, V>): Promise<(V | undefined)[]>;

  has(key: KDefault): Promise<boolean>;
  has<K = KDefault>(key: K, options: HasOptions<K>): Promise<boolean>;

  hasMany(keys: KDefault[]): Promise<boolean[]>;
  hasMany<K = KDefault>(keys: K[], options: HasManyOptions<K>): Promise<boolean[]>;

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

/** A level, without what only one host has. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging -- the methods are those of CheckedLevel
export abstract class BaseBloomLevel<KDefault = string, VDefault = string> extends CheckedLevel<Stored, KDefault, VDefault> {
  readonly #location: string;
  readonly #host: LevelHost;
  readonly #openStore: StoreOpener;
  readonly #options: LevelOptions<KDefault, VDefault>;
  /** What is open; undefined while nothing is. */
  #opened: LevelStore | undefined;

  /** @param options of the constructor of `BloomLevel`. */
  constructor(host: LevelHost, location: string | Folder, options: LevelOptions<KDefault, VDefault> | undefined) {
    mustBeLevelOptions(options);
    const readOnly = options?.readOnly === true;
    const place = placeOf(host, location, readOnly);
    super(readOnly ? READ_ONLY_MANIFEST : typeof place === 'function' ? REMOTE_MANIFEST : MANIFEST, options);
    this.#location = isFolder(location) ? (location.name ?? '') : location;
    this.#options = options ?? {};
    this.#host = host;
    // As in classic-level, a relative path belongs to the directory that is current when the level is opened.
    const folder = (): Folder => placeOf(host, location, readOnly) as Folder;
    const openToRead: StoreOpener = (given) => host.openFolderToRead(folder(), given);
    const openToWrite: StoreOpener = async (given) => {
      if (given.multithreading === true && typeof location === 'string' && host.openShared !== undefined) return host.openShared(location, given);
      return host.openFolder(folder() as WritableFolder, given);
    };
    if (typeof place === 'function') this.#openStore = place;
    else this.#openStore = readOnly ? openToRead : openToWrite;
    (this as unknown as Emitter).on('closing', () => this.#opened?.willClose?.());
  }

  override open(options?: OpenOptions): Promise<void>;
  override open(...given: unknown[]): Promise<void> {
    try {
      mustBeOpenOptions(given, { ...this.#options });
    } catch (error) {
      return Promise.reject(error);
    }
    const options = given[0] as OpenOptions;
    // Not always: with a further promise, `close` would run before the calls that wait for `open`.
    return this.status === 'closing' || this.#hasFailedToClose ? this.#openAfterClose(options) : super.open(options);
  }

  /** Opens the level even if `close` fails, after which abstract-level takes it for open. */
  async #openAfterClose(options: OpenOptions): Promise<void> {
    await super.open(options);
    if (!this.#hasFailedToClose) return;
    await super.close();
    await super.open(options);
  }

  get #hasFailedToClose(): boolean {
    return this.status === 'open' && this.#opened === undefined;
  }

  /** The path that the constructor was given, or the name of the folder; an empty string if the folder has no name. */
  get location(): string {
    return this.#location;
  }

  /**
   * The approximate number of bytes that the keys from `start` up to, but not including, `end` take in tables. Recent writes are not
   * counted.
   */
  async approximateSize<K = KDefault>(start: K, end: K, options?: StartEndOptions<K>): Promise<number> {
    mustHaveEnds(arguments.length);
    if (this.status !== 'opening') this.#store('approximateSize()');
    // Copied now, because the caller may change the keys before the level is open.
    const ends = this.#ends(start, end, options);
    return this.#whenOpen(async () => this.#store('approximateSize()').approximateSize(...ends));
  }

  /** Merges the tables of the keys from `start` to `end`, so that deleted and overwritten entries no longer take space. */
  async compactRange<K = KDefault>(start: K, end: K, options?: StartEndOptions<K>): Promise<void> {
    mustHaveEnds(arguments.length);
    if (this.status !== 'opening') this.#store('compactRange()');
    // Copied now, because the caller may change the keys before the level is open.
    const ends = this.#ends(start, end, options);
    return this.#whenOpen(async () => this.#store('compactRange()').compactRange(...ends));
  }

  /** A property in LevelDB's text form, such as `leveldb.stats`; an empty string for an unknown name. */
  getProperty(property: string): string {
    if (typeof property !== 'string') throw new TypeError("The first argument 'property' must be a string");
    return this.#store().property(property);
  }

  /**
   * Makes visible what others have written since the level was opened with `readOnly`, or since the last refresh. Iterators that were
   * begun earlier still show the earlier state.
   *
   * @returns whether anything was written.
   */
  async refresh(): Promise<boolean> {
    return this.#whenOpen(async () => this.#store('refresh()').refresh());
  }

  #whenOpen<T>(operation: () => Promise<T>): Promise<T> {
    return this.status === 'opening' ? this.deferAsync(operation) : operation();
  }

  protected _open(options: OpenOptions): Promise<void> {
    return noted(this, this.#openWith(options));
  }

  protected async _close(): Promise<void> {
    const opened = this.#opened?.successor ?? this.#opened;
    // Closed whatever happens: a second call must not fail as the first.
    this.#opened = undefined;
    await opened?.close();
  }

  /** Without a promise where the value is at hand, as abstract-level waits for it anyway. */
  protected _get(key: Stored, options: ReadOptions): Stored | undefined | Promise<Stored | undefined> {
    const store = this.#store();
    return store.get(key, options.valueEncoding, this.#snapshotIn(store, options));
  }

  protected _getSync(key: Stored, options: ReadOptions): Stored | undefined {
    const store = this.#store();
    return store.getSync(key, options.valueEncoding, this.#snapshotIn(store, options));
  }

  protected _getMany(keys: Stored[], options: ReadOptions): Promise<(Stored | undefined)[]> {
    const store = this.#store();
    return store.getMany(keys, options.valueEncoding, this.#snapshotIn(store, options));
  }

  protected _has(key: Stored, options: ReadOptions): Promise<boolean> {
    const store = this.#store();
    return store.has(key, this.#snapshotIn(store, options));
  }

  protected _hasMany(keys: Stored[], options: ReadOptions): Promise<boolean[]> {
    const store = this.#store();
    return store.hasMany(keys, this.#snapshotIn(store, options));
  }

  protected _put(key: Stored, value: Stored, options: PutOptions<unknown, unknown>): Promise<void> {
    return this.#store().put(key, value, options.sync === true);
  }

  protected _del(key: Stored, options: DelOptions<unknown>): Promise<void> {
    return this.#store().delete(key, options.sync === true);
  }

  protected async _batch(operations: Operation[], options: BatchOptions<unknown, unknown>): Promise<void> {
    const batch = this.#store().batch();
    for (const { type, key, value } of operations) {
      if (type === 'put') batch.put(key, value);
      else batch.delete(key);
    }
    await batch.write(options.sync === true);
  }

  protected _chainedBatch(): AbstractChainedBatch<this, KDefault, VDefault> {
    return new LevelBatch(this, this.#store().batch());
  }

  protected async _clear(options: RangeOptions): Promise<void> {
    const store = this.#store();
    await store.clear(this.#rangeOf(options), this.#snapshotIn(store, options), options.limit < 0 ? Infinity : options.limit);
  }

  protected _iterator(options: RangeOptions & GivenIteratorOptions): EntryIterator<this, KDefault, VDefault> {
    return new EntryIterator(this, this.#walk('entries', options), this.#host, options);
  }

  protected _keys(options: RangeOptions & GivenIteratorOptions): AbstractKeyIterator<this, KDefault> {
    // A subclass that changes what iterators return changes keys and values too, as with classic-level.
    if (this._iterator !== BaseBloomLevel.prototype._iterator) return fromEntries(this, '_keys', options) as AbstractKeyIterator<this, KDefault>;
    return new KeyIterator(this, this.#walk('keys', options), this.#host, options);
  }

  protected _values(options: RangeOptions & GivenIteratorOptions): AbstractValueIterator<this, KDefault, VDefault> {
    if (this._iterator !== BaseBloomLevel.prototype._iterator) return fromEntries(this, '_values', options) as AbstractValueIterator<this, KDefault, VDefault>;
    return new ValueIterator(this, this.#walk('values', options), this.#host, options);
  }

  protected _snapshot(options: unknown): LevelSnapshot {
    const store = this.#store();
    return new LevelSnapshot(this, store, store.snapshot(), options);
  }

  async #openWith(options: OpenOptions): Promise<void> {
    try {
      this.#opened = await this.#openStore(options);
    } catch (error) {
      throw levelErrorOf(error);
    }
  }

  /** @throws LevelError `LEVEL_DATABASE_NOT_OPEN`. */
  #store(call?: string): LevelStore {
    if (this.#opened !== undefined && this.status === 'open') return (this.#opened = this.#opened.successor ?? this.#opened);
    throw notOpen(openFailure(this), call);
  }

  #walk(kind: ItemForm['kind'], options: RangeOptions): StoreWalk {
    try {
      return this.#walkIn(kind, options);
    } catch (error) {
      if (mustNotThrow() || (error as { readonly code?: unknown }).code === 'LEVEL_SNAPSHOT_LOST') return failedWalk(error);
      throw error;
    }
  }

  #walkIn(kind: ItemForm['kind'], options: RangeOptions): StoreWalk {
    const store = this.#store();
    const { keyEncoding: keyFormat, valueEncoding: valueFormat, keys = true, values = true, fillCache, signal } = options;
    return store.walk({
      range: this.#rangeOf(options),
      form: { kind, keyFormat, valueFormat, withKeys: keys, withValues: values },
      fillCache: fillCache !== false,
      snapshot: this.#snapshotIn(store, options),
      signal: signal ?? undefined,
    });
  }

  #snapshotIn(store: LevelStore, { snapshot }: ReadOptions): StoreSnapshot | undefined {
    // Null is none, as in abstract-level.
    if (snapshot === undefined || snapshot === null) return undefined;
    if (!(snapshot instanceof LevelSnapshot)) throw new TypeError('snapshot must be a snapshot of this database');
    return snapshot.snapshotOf(this, store);
  }

  #rangeOf(options: RangeOptions): ByteRange {
    const bound = (name: 'gt' | 'gte' | 'lt' | 'lte'): Uint8Array | undefined => (name in options ? boundOf(this.#host, options[name]) : undefined);
    return { gt: bound('gt'), gte: bound('gte'), lt: bound('lt'), lte: bound('lte'), reverse: options.reverse };
  }

  #ends<K>(start: K, end: K, options: StartEndOptions<K> | undefined): [Uint8Array, Uint8Array] {
    const encoding = this.keyEncoding(options?.keyEncoding as Transcoder.MixedEncoding<unknown, Stored, unknown>);
    return [boundOf(this.#host, encoding.encode(start)), boundOf(this.#host, encoding.encode(end))];
  }
}

/** A walk that could not begin: every read fails. */
function failedWalk(error: unknown): StoreWalk {
  return { readAheadBytes: 0, seek: () => undefined, read: () => Promise.reject(error), close: () => undefined };
}

/** Keys or values made of what iterators return, by methods of abstract-level that its types do not have. */
function fromEntries(level: unknown, method: '_keys' | '_values', options: RangeOptions): unknown {
  const { [method]: make } = CheckedLevel.prototype as unknown as Record<typeof method, (this: unknown, options: RangeOptions) => unknown>;
  return make.call(level, options);
}

/** @throws TypeError for what is neither a folder nor text. */
function placeOf(host: LevelHost, location: unknown, readOnly: boolean): Folder | StoreOpener {
  if (isFolder(location)) return location;
  mustBeText(location);
  return readOnly ? host.readOnlyFolderAt(location) : host.writableAt(location);
}

/** @throws TypeError for what is not the text of a location. */
export function mustBeText(location: unknown): asserts location is string {
  if (typeof location !== 'string' || location === '') throw new TypeError("The first argument 'location' must be a non-empty string");
}

/** Counts them, as classic-level does: a program may pass the undefined first key of a level without entries. */
function mustHaveEnds(argumentCount: number): void {
  if (argumentCount < 2) throw new TypeError("The arguments 'start' and 'end' are required");
}
