import { AbstractIterator, AbstractKeyIterator, AbstractValueIterator } from 'abstract-level';
import type { HostFormats } from './host-formats.js';
import type { Item, Signal, StoreWalk } from './level-store.js';
import { ReadAheadLoop } from './read-ahead-loop.js';
import { boundOf, type Stored } from './encoding-formats.js';

/** The most entries that `next` reads ahead, so that a loop over `next` lets other work run. */
const MAX_READ_AHEAD = 1000;

/** The options that abstract-level passes to an iterator besides its range. */
export interface IteratorOptions {
  readonly highWaterMarkBytes?: unknown;
  readonly signal?: Signal | null;
  readonly snapshot?: unknown;
}

/** Decodes stored bytes. */
interface Decoder {
  decode(stored: Stored): unknown;
}

/** The names of the options in which abstract-level passes the decoders of keys and values. */
const { keyEncoding: KEY_DECODER, valueEncoding: VALUE_DECODER } = AbstractIterator as unknown as { readonly keyEncoding: symbol; readonly valueEncoding: symbol };

function decoderIn(options: IteratorOptions, name: symbol): Decoder | undefined {
  return (options as Readonly<Record<symbol, Decoder | undefined>>)[name];
}

/** An iterator: the number of items that it has returned and may return, and how to close it. */
interface Counted {
  readonly count: number;
  readonly limit: number;
  close(): Promise<void>;
}

/** The methods that return single items. */
interface Stepping {
  readonly next: unknown;
  readonly _next: unknown;
}

/** Whether the methods of an iterator are those of its class, and not replaced by a program that wants to see or change each item. */
function isUnchanged(iterator: object, prototype: object): boolean {
  const [given, own] = [iterator as Stepping, prototype as Stepping];
  return given.next === own.next && given._next === own._next;
}

/** In place of the walk of an iterator that is closed. */
const ENDED: StoreWalk = { readAheadBytes: 0, seek: () => undefined, read: () => Promise.resolve([]), close: () => undefined };

/** The items of a walk in the order of their keys: entries, keys or values, some of them read ahead. */
class ItemReader<T extends Item> {
  #walk: StoreWalk;
  readonly #formats: HostFormats;
  readonly #highWaterMark: number;
  readonly #signal: Signal | undefined;
  /** Whether the iterator uses a snapshot of the caller's: abstract-level checks with each item that it is still open. */
  readonly #hasSnapshot: boolean;
  /** The items that were read ahead, from `#position` on. */
  #ahead: T[] = [];
  #position = 0;
  #looped = 0;
  /** Whether the next read is the first since the beginning or a `seek`: usually only one entry is needed then. */
  #isFirst = true;

  constructor(walk: StoreWalk, formats: HostFormats, options: IteratorOptions) {
    this.#walk = walk;
    this.#formats = formats;
    const { highWaterMarkBytes, signal, snapshot } = options;
    if (typeof highWaterMarkBytes !== 'number') this.#highWaterMark = walk.readAheadBytes;
    // As in classic-level, Infinity counts as 0, and -1 as the most.
    else this.#highWaterMark = highWaterMarkBytes >>> 0;
    this.#signal = signal ?? undefined;
    this.#hasSnapshot = snapshot !== undefined && snapshot !== null;
  }

  get cached(): number {
    return this.#ahead.length - this.#position;
  }

  /** The number of items that loops have returned, which abstract-level does not count. */
  get looped(): number {
    return this.#looped;
  }

  seek(target: Stored): void {
    this.forget();
    this.#isFirst = true;
    this.#walk.seek(boundOf(this.#formats, target));
  }

  /** The next item, without a promise if it was read ahead. */
  next(counted: Counted): T | undefined | Promise<T | undefined> {
    return this.#position < this.#ahead.length ? this.#ahead[this.#position++] : this.#nextRead(counted);
  }

  nextv(size: number, { count, limit }: Counted): Promise<T[]> {
    this.#isFirst = false;
    if (this.cached === 0) return this.#read(Math.min(size, limit - count));
    const items = this.#ahead.slice(this.#position, this.#position + size);
    this.#position += items.length;
    return Promise.resolve(items);
  }

  /**
   * All remaining items. abstract-level's own `_all` does not count the items that loops have returned, and would exceed the limit.
   *
   * @param nextv of the iterator, which a program may have replaced.
   */
  async all(counted: Counted, nextv: (size: number) => Promise<T[]>): Promise<T[]> {
    const items: T[] = [];
    for (;;) {
      const left = counted.limit - counted.count - items.length;
      const some = left > 0 ? await nextv(Math.min(MAX_READ_AHEAD, left)) : [];
      if (some.length === 0) return items;
      for (const item of some) items.push(item);
    }
  }

  /**
   * @param generator of abstract-level.
   * @param decode decodes as abstract-level does; undefined if each item must pass through its methods, or its decoders are not known.
   */
  loop<U>(counted: Counted, generator: AsyncGenerator<U, void, unknown>, decode: ((item: T) => U) | undefined): AsyncGenerator<U, void, unknown> {
    if (this.#hasSnapshot || decode === undefined) return generator;
    const takeAhead = (): U | undefined => {
      if (this.#position === this.#ahead.length || this.#signal?.aborted === true) return undefined;
      try {
        const decoded = decode(this.#ahead[this.#position]!);
        if (decoded !== undefined) {
          this.#position++;
          this.#looped++;
        }
        return decoded;
      } catch {
        // The item stays: abstract-level takes it next, and fails with its own error.
        return undefined;
      }
    };
    return new ReadAheadLoop(takeAhead, generator, () => counted.close());
  }

  close(): void {
    this.forget();
    this.#walk.close();
    // abstract-level keeps a closed iterator in V8's old generation, which is collected late, and with it the walk's view of the database.
    this.#walk = ENDED;
  }

  forget(): void {
    this.#ahead = [];
    this.#position = 0;
  }

  async #nextRead({ count, limit }: Counted): Promise<T | undefined> {
    const size = Math.min(this.#isFirst ? 1 : MAX_READ_AHEAD, limit - count);
    this.#isFirst = false;
    this.#ahead = await this.#read(size);
    this.#position = 0;
    return this.cached > 0 ? this.#ahead[this.#position++] : undefined;
  }

  #read(size: number): Promise<T[]> {
    return size > 0 ? (this.#walk.read(size, this.#highWaterMark) as Promise<T[]>) : Promise.resolve([]);
  }
}

type Entry = [key: Stored | undefined, value: Stored | undefined];

/** The iterator of `BloomLevel.iterator`. */
export class EntryIterator<Database, K, V> extends AbstractIterator<Database, K, V> {
  readonly #items: ItemReader<Entry>;
  readonly #decode: ((entry: Entry) => [K, V]) | undefined;

  constructor(db: Database, walk: StoreWalk, formats: HostFormats, options: IteratorOptions) {
    super(db, options as object);
    this.#items = new ItemReader(walk, formats, options);
    const [keys, values] = [decoderIn(options, KEY_DECODER), decoderIn(options, VALUE_DECODER)];
    if (keys === undefined || values === undefined) return;
    const decode = ([key, value]: Entry): [K, V] => [(key === undefined ? key : keys.decode(key)) as K, (value === undefined ? value : values.decode(value)) as V];
    this.#decode = decode;
  }

  override get count(): number {
    return super.count + this.#items.looped;
  }

  /** The number of entries that were read ahead. */
  get cached(): number {
    return this.#items.cached;
  }

  override [Symbol.asyncIterator](): AsyncGenerator<[K, V], void, unknown> {
    return this.#items.loop(this, super[Symbol.asyncIterator](), isUnchanged(this, EntryIterator.prototype) ? this.#decode : undefined);
  }

  protected _seek(target: Stored): void {
    this.#items.seek(target);
  }

  protected _next(): Entry | undefined | Promise<Entry | undefined> {
    return this.#items.next(this);
  }

  protected _nextv(size: number): Promise<Entry[]> {
    return this.#items.nextv(size, this);
  }

  protected _all(): Promise<Entry[]> {
    return this.#items.all(this, (size) => this._nextv(size));
  }

  protected _close(): void {
    this.#items.close();
  }
}

/** The iterator of `BloomLevel.keys`. */
export class KeyIterator<Database, K> extends AbstractKeyIterator<Database, K> {
  readonly #items: ItemReader<Stored>;
  readonly #decode: ((key: Stored) => K) | undefined;

  constructor(db: Database, walk: StoreWalk, formats: HostFormats, options: IteratorOptions) {
    super(db, options as object);
    this.#items = new ItemReader(walk, formats, options);
    const keys = decoderIn(options, KEY_DECODER);
    this.#decode = keys && ((key) => keys.decode(key) as K);
  }

  override get count(): number {
    return super.count + this.#items.looped;
  }

  /** The number of keys that were read ahead. */
  get cached(): number {
    return this.#items.cached;
  }

  override [Symbol.asyncIterator](): AsyncGenerator<K, void, unknown> {
    return this.#items.loop(this, super[Symbol.asyncIterator](), isUnchanged(this, KeyIterator.prototype) ? this.#decode : undefined);
  }

  protected _seek(target: Stored): void {
    this.#items.seek(target);
  }

  protected _next(): Stored | undefined | Promise<Stored | undefined> {
    return this.#items.next(this);
  }

  protected _nextv(size: number): Promise<Stored[]> {
    return this.#items.nextv(size, this);
  }

  protected _all(): Promise<Stored[]> {
    return this.#items.all(this, (size) => this._nextv(size));
  }

  protected _close(): void {
    this.#items.close();
  }
}

/** The iterator of `BloomLevel.values`. */
export class ValueIterator<Database, K, V> extends AbstractValueIterator<Database, K, V> {
  readonly #items: ItemReader<Stored>;
  readonly #decode: ((value: Stored) => V) | undefined;

  constructor(db: Database, walk: StoreWalk, formats: HostFormats, options: IteratorOptions) {
    super(db, options as object);
    this.#items = new ItemReader(walk, formats, options);
    const values = decoderIn(options, VALUE_DECODER);
    this.#decode = values && ((value) => values.decode(value) as V);
  }

  override get count(): number {
    return super.count + this.#items.looped;
  }

  /** The number of values that were read ahead. */
  get cached(): number {
    return this.#items.cached;
  }

  override [Symbol.asyncIterator](): AsyncGenerator<V, void, unknown> {
    return this.#items.loop(this, super[Symbol.asyncIterator](), isUnchanged(this, ValueIterator.prototype) ? this.#decode : undefined);
  }

  protected _seek(target: Stored): void {
    this.#items.seek(target);
  }

  protected _next(): Stored | undefined | Promise<Stored | undefined> {
    return this.#items.next(this);
  }

  protected _nextv(size: number): Promise<Stored[]> {
    return this.#items.nextv(size, this);
  }

  protected _all(): Promise<Stored[]> {
    return this.#items.all(this, (size) => this._nextv(size));
  }

  protected _close(): void {
    this.#items.close();
  }
}
