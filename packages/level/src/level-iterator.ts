import type { DatabaseCursor } from '@bloom/leveldb';
import { AbstractIterator, AbstractKeyIterator, AbstractValueIterator } from 'abstract-level';
import type { ByteFormats } from './level-host.js';
import type { RangeWalk } from './range-walk.js';
import { boundOf, type Stored, type StoredFormat, storedOf } from './stored-format.js';

/** How many entries `next` reads ahead at most, so that a loop over `next` gives others their turn. */
const MAX_READ_AHEAD = 1000;

const DEFAULT_HIGH_WATER_MARK = 16 * 2 ** 10;

/** What an iterator is told by abstract-level, beside its range. */
export interface IteratorOptions {
  readonly keyEncoding: StoredFormat;
  readonly valueEncoding: StoredFormat;
  readonly keys?: boolean;
  readonly values?: boolean;
  readonly highWaterMarkBytes?: unknown;
}

/** Where iterators read from. */
export interface IteratorSource {
  readonly formats: ByteFormats;
  /** Counts a read that `close` waits for. @throws LevelError of what it throws. */
  during<T>(reading: Promise<T>): Promise<T>;
}

/** The items of a walk in the order of their keys: entries, keys or values, some of them read ahead. */
class ItemReader<Item> {
  readonly #source: IteratorSource;
  readonly #walk: RangeWalk;
  readonly #highWaterMark: number;
  /** Makes an item of the entry that the cursor is on. */
  readonly #itemOf: (cursor: DatabaseCursor) => Item;
  /** Bytes of that item. */
  readonly #byteLengthOf: (cursor: DatabaseCursor) => number;
  /** What was read ahead, from `#position` on. */
  #ahead: Item[] = [];
  #position = 0;
  /** Whether the next read is the first since the beginning or a `seek`: mostly only one entry is wanted then. */
  #isFirst = true;

  constructor(source: IteratorSource, walk: RangeWalk, options: IteratorOptions, itemOf: (cursor: DatabaseCursor) => Item, byteLengthOf: (cursor: DatabaseCursor) => number) {
    this.#source = source;
    this.#walk = walk;
    this.#itemOf = itemOf;
    this.#byteLengthOf = byteLengthOf;
    const { highWaterMarkBytes = DEFAULT_HIGH_WATER_MARK } = options;
    // As in classic-level, Infinity counts as 0.
    this.#highWaterMark = typeof highWaterMarkBytes === 'number' && Number.isFinite(highWaterMarkBytes) ? highWaterMarkBytes : 0;
  }

  get cached(): number {
    return this.#ahead.length - this.#position;
  }

  seek(target: Stored): void {
    this.forget();
    this.#isFirst = true;
    this.#walk.seek(boundOf(this.#source.formats, target));
  }

  /** The next item, without a promise if it was read ahead. */
  next(): Item | undefined | Promise<Item | undefined> {
    return this.#position < this.#ahead.length ? this.#ahead[this.#position++] : this.#nextRead();
  }

  async nextv(size: number): Promise<Item[]> {
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
    this.#walk.cursor.close();
  }

  forget(): void {
    this.#ahead = [];
    this.#position = 0;
  }

  async #nextRead(): Promise<Item | undefined> {
    const size = this.#isFirst ? 1 : MAX_READ_AHEAD;
    this.#isFirst = false;
    this.#ahead = await this.#read(size);
    this.#position = 0;
    return this.#ahead[this.#position++];
  }

  /** Reads up to `size` items, and no more after those that have more bytes than the high-water mark. */
  async #read(size: number): Promise<Item[]> {
    const items: Item[] = [];
    if (this.#walk.isOver) return items;
    let byteLength = 0;
    await this.#source.during(
      this.#walk.run((cursor) => {
        items.push(this.#itemOf(cursor));
        byteLength += this.#byteLengthOf(cursor);
        return items.length < size && byteLength <= this.#highWaterMark;
      }),
    );
    return items;
  }
}

type Entry = [key: Stored | undefined, value: Stored | undefined];

/** The iterator of `BloomLevel.iterator`. */
export class EntryIterator<Database, K, V> extends AbstractIterator<Database, K, V> {
  readonly #items: ItemReader<Entry>;

  constructor(db: Database, source: IteratorSource, walk: RangeWalk, options: IteratorOptions) {
    super(db, options);
    const { formats } = source;
    const { keys = true, values = true } = options;
    const itemOf = (cursor: DatabaseCursor): Entry => [
      keys ? keyOf(formats, options, cursor) : undefined,
      values ? valueOf(formats, options, cursor) : undefined,
    ];
    this.#items = new ItemReader(source, walk, options, itemOf, (cursor) => (keys ? cursor.keyLength : 0) + (values ? cursor.valueLength : 0));
  }

  /** How many entries were read ahead. */
  get cached(): number {
    return this.#items.cached;
  }

  protected _seek(target: Stored): void {
    this.#items.seek(target);
  }

  protected _next(): Entry | undefined | Promise<Entry | undefined> {
    return this.#items.next();
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

  constructor(db: Database, source: IteratorSource, walk: RangeWalk, options: IteratorOptions) {
    super(db, options);
    this.#items = new ItemReader(source, walk, options, (cursor) => keyOf(source.formats, options, cursor), (cursor) => cursor.keyLength);
  }

  /** How many keys were read ahead. */
  get cached(): number {
    return this.#items.cached;
  }

  protected _seek(target: Stored): void {
    this.#items.seek(target);
  }

  protected _next(): Stored | undefined | Promise<Stored | undefined> {
    return this.#items.next();
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

  constructor(db: Database, source: IteratorSource, walk: RangeWalk, options: IteratorOptions) {
    super(db, options);
    this.#items = new ItemReader(source, walk, options, (cursor) => valueOf(source.formats, options, cursor), (cursor) => cursor.valueLength);
  }

  /** How many values were read ahead. */
  get cached(): number {
    return this.#items.cached;
  }

  protected _seek(target: Stored): void {
    this.#items.seek(target);
  }

  protected _next(): Stored | undefined | Promise<Stored | undefined> {
    return this.#items.next();
  }

  protected _nextv(size: number): Promise<Stored[]> {
    return this.#items.nextv(size);
  }

  protected _close(): void {
    this.#items.close();
  }
}

function keyOf(formats: ByteFormats, { keyEncoding }: IteratorOptions, { keyBytes, keyLength }: DatabaseCursor): Stored {
  return storedOf(formats, keyEncoding, keyBytes, 0, keyLength);
}

function valueOf(formats: ByteFormats, { valueEncoding }: IteratorOptions, { valueBytes, valueStart, valueLength }: DatabaseCursor): Stored {
  return storedOf(formats, valueEncoding, valueBytes, valueStart, valueStart + valueLength);
}
