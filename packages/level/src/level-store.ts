import type { AsyncReadOptions } from '@bloom/leveldb';
import type { ByteRange } from './range-walk.js';
import type { Stored, EncodingFormat } from './encoding-formats.js';

export type Signal = NonNullable<AsyncReadOptions['signal']>;

/** An entry, of which an iterator may omit a part; or a key, or a value. */
export type Item = Stored | [key: Stored | undefined, value: Stored | undefined];

/** The parts of each entry that a walk returns, and their formats. */
export interface ItemForm {
  readonly kind: 'entries' | 'keys' | 'values';
  readonly keyFormat: EncodingFormat;
  readonly valueFormat: EncodingFormat;
  /** Whether entries have their keys, and their values. */
  readonly withKeys: boolean;
  readonly withValues: boolean;
}

/** A state of a store that is kept. */
export interface StoreSnapshot {
  release(): void;
}

/** How a store is walked through. */
export interface WalkOptions {
  readonly range: ByteRange;
  readonly form: ItemForm;
  readonly fillCache: boolean;
  readonly snapshot: StoreSnapshot | undefined;
  readonly signal: Signal | undefined;
}

/** A walk through the items of a range, in their state when it began. */
export interface StoreWalk {
  /** The number of bytes to read at once, unless the caller sets it. */
  readonly readAheadBytes: number;
  /** Makes the item of `key`, or the next one after it in the walk's direction, the next item. Outside of the range there is none. */
  seek(key: Uint8Array): void;
  /** The next items: up to `size`, and no further one once they have more than `highWaterMark` bytes. Empty at the end. */
  read(size: number, highWaterMark: number): Promise<Item[]>;
  close(): void;
}

/** Writes that are made atomically. */
export interface StoreBatch {
  put(key: Stored, value: Stored): void;
  delete(key: Stored): void;
  clear(): void;
  write(sync: boolean): Promise<void>;
}

/** The data of a level while it is open: a database in this thread, or one in a worker. Its errors have the codes of levels. */
export interface LevelStore {
  /** Returns no promise if the value is in memory. */
  get(key: Stored, format: EncodingFormat, snapshot: StoreSnapshot | undefined): Stored | undefined | Promise<Stored | undefined>;
  getSync(key: Stored, format: EncodingFormat, snapshot: StoreSnapshot | undefined): Stored | undefined;
  getMany(keys: readonly Stored[], format: EncodingFormat, snapshot: StoreSnapshot | undefined): Promise<(Stored | undefined)[]>;
  has(key: Stored, snapshot: StoreSnapshot | undefined): Promise<boolean>;
  hasMany(keys: readonly Stored[], snapshot: StoreSnapshot | undefined): Promise<boolean[]>;
  put(key: Stored, value: Stored, sync: boolean): Promise<void>;
  delete(key: Stored, sync: boolean): Promise<void>;
  batch(): StoreBatch;
  /** @param limit the number of entries to delete. */
  clear(range: ByteRange, snapshot: StoreSnapshot | undefined, limit: number): Promise<void>;
  walk(options: WalkOptions): StoreWalk;
  snapshot(): StoreSnapshot;
  approximateSize(start: Uint8Array, end: Uint8Array): Promise<number>;
  compactRange(start: Uint8Array, end: Uint8Array): Promise<void>;
  property(name: string): string;
  refresh(): Promise<boolean>;
  /** The store that continues in place of this one. */
  readonly successor?: LevelStore | undefined;
  /** Called when the level begins to close, which waits for its iterators before it calls `close`. */
  willClose?(): void;
  /** Waits for pending calls. */
  close(): Promise<void>;
}
