import { AbstractIterator, AbstractKeyIterator, AbstractValueIterator } from 'abstract-level';
import type { ByteFormats } from './byte-formats.js';
import type { Item, StoreWalk } from './level-store.js';
import { boundOf, type Stored } from './stored-format.js';

/** How many entries `next` reads ahead at most, so that a loop over `next` gives others their turn. */
const MAX_READ_AHEAD = 1000;

/** What an iterator is told by abstract-level, beside its range. */
export interface IteratorOptions {
  readonly highWaterMarkBytes?: unknown;
}

/** How many items an iterator has given, and how many it may give. */
interface Counted {
  readonly count: number;
  readonly limit: number;
}

/** The items of a walk in the order of their keys: entries, keys or values, some of them read ahead. */
class ItemReader<T extends Item> {
  readonly #walk: StoreWalk;
  readonly #formats: ByteFormats;
  readonly #highWaterMark: number;
  /** What was read ahead, from `#position` on. */
  #ahead: T[] = [];
  #position = 0;
  /** Whether the next read is the first since the beginning or a `seek`: mostly only one entry is wanted then. */
  #isFirst = true;

  constructor(walk: StoreWalk, formats: ByteFormats, options: IteratorOptions) {
    this.#walk = walk;
    this.#formats = formats;
    const { highWaterMarkBytes } = options;
    if (typeof highWaterMarkBytes !== 'number') this.#highWaterMark = walk.readAheadBytes;
    // As in classic-level, Infinity counts as 0.
    else this.#highWaterMark = Number.isFinite(highWaterMarkBytes) ? highWaterMarkBytes : 0;
  }

  get cached(): number {
    return this.#ahead.length - this.#position;
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

  async nextv(size: number): Promise<T[]> {
    this.#isFirst = false;
    if (this.cached > 0) {
      const items = this.#ahead.slice(this.#position, this.#position + size);
      this.#position += items.length;
      return items;
    }
    return this.#read(size);
  }

  close(): void {
    this.forget();
    this.#walk.close();
  }

  forget(): void {
    this.#ahead = [];
    this.#position = 0;
  }

  async #nextRead({ count, limit }: Counted): Promise<T | undefined> {
    const size = this.#isFirst ? 1 : Math.min(MAX_READ_AHEAD, limit - count);
    this.#isFirst = false;
    this.#ahead = await this.#read(size);
    this.#position = 0;
    return this.cached > 0 ? this.#ahead[this.#position++] : undefined;
  }

  #read(size: number): Promise<T[]> {
    return this.#walk.read(size, this.#highWaterMark) as Promise<T[]>;
  }
}

type Entry = [key: Stored | undefined, value: Stored | undefined];

/** The iterator of `BloomLevel.iterator`. */
export class EntryIterator<Database, K, V> extends AbstractIterator<Database, K, V> {
  readonly #items: ItemReader<Entry>;

  constructor(db: Database, walk: StoreWalk, formats: ByteFormats, options: IteratorOptions) {
    super(db, options as object);
    this.#items = new ItemReader(walk, formats, options);
  }

  /** How many entries were read ahead. */
  get cached(): number {
    return this.#items.cached;
  }

  protected _seek(target: Stored): void {
    this.#items.seek(target);
  }

  protected _next(): Entry | undefined | Promise<Entry | undefined> {
    return this.#items.next(this);
  }

  protected _nextv(size: number): Promise<Entry[]> {
    return this.#items.nextv(size);
  }

  protected _close(): void {
    this.#items.close();
  }
}

/** The iterator of `BloomLevel.keys`. */
export class KeyIterator<Database, K> extends AbstractKeyIterator<Database, K> {
  readonly #items: ItemReader<Stored>;

  constructor(db: Database, walk: StoreWalk, formats: ByteFormats, options: IteratorOptions) {
    super(db, options as object);
    this.#items = new ItemReader(walk, formats, options);
  }

  /** How many keys were read ahead. */
  get cached(): number {
    return this.#items.cached;
  }

  protected _seek(target: Stored): void {
    this.#items.seek(target);
  }

  protected _next(): Stored | undefined | Promise<Stored | undefined> {
    return this.#items.next(this);
  }

  protected _nextv(size: number): Promise<Stored[]> {
    return this.#items.nextv(size);
  }

  protected _close(): void {
    this.#items.close();
  }
}

/** The iterator of `BloomLevel.values`. */
export class ValueIterator<Database, K, V> extends AbstractValueIterator<Database, K, V> {
  readonly #items: ItemReader<Stored>;

  constructor(db: Database, walk: StoreWalk, formats: ByteFormats, options: IteratorOptions) {
    super(db, options as object);
    this.#items = new ItemReader(walk, formats, options);
  }

  /** How many values were read ahead. */
  get cached(): number {
    return this.#items.cached;
  }

  protected _seek(target: Stored): void {
    this.#items.seek(target);
  }

  protected _next(): Stored | undefined | Promise<Stored | undefined> {
    return this.#items.next(this);
  }

  protected _nextv(size: number): Promise<Stored[]> {
    return this.#items.nextv(size);
  }

  protected _close(): void {
    this.#items.close();
  }
}
