import type { AsyncReadOptions } from '@bloom/leveldb';
import type { ByteRange } from './range-walk.js';
import type { Stored, StoredFormat } from './stored-format.js';

export type Signal = NonNullable<AsyncReadOptions['signal']>;

/** An entry, of which an iterator may leave out a part; or a key, or a value. */
export type Item = Stored | [key: Stored | undefined, value: Stored | undefined];

/** What of each entry a walk gives, and in which formats. */
export interface ItemForm {
  readonly kind: 'entries' | 'keys' | 'values';
  readonly keyFormat: StoredFormat;
  readonly valueFormat: StoredFormat;
  /** Whether entries have their keys, and their values. */
  readonly withKeys: boolean;
  readonly withValues: boolean;
}

/** A state of a store that is held. */
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

/** A walk through the items of a range, as they were when it began. */
export interface StoreWalk {
  /** How many bytes to read at once, unless the caller says so. */
  readonly readAheadBytes: number;
  /** Makes the next item the one of `key`, or the next one after it in the walk's direction. Outside of the range there is none. */
  seek(key: Uint8Array): void;
  /** The next items: up to `size`, and none after those that have more than `highWaterMark` bytes. None are there at the end. */
  read(size: number, highWaterMark: number): Promise<Item[]>;
  close(): void;
}

/** Writes that are made at once. */
export interface StoreBatch {
  put(key: Stored, value: Stored): void;
  delete(key: Stored): void;
  clear(): void;
  write(sync: boolean): Promise<void>;
}

/** What a level reads and writes while it is open: a database here, or one in a worker. What it throws has the codes of levels. */
export interface LevelStore {
  /** Without a promise where the value is at hand. */
  get(key: Stored, format: StoredFormat, snapshot: StoreSnapshot | undefined): Stored | undefined | Promise<Stored | undefined>;
  getSync(key: Stored, format: StoredFormat, snapshot: StoreSnapshot | undefined): Stored | undefined;
  getMany(keys: readonly Stored[], format: StoredFormat, snapshot: StoreSnapshot | undefined): Promise<(Stored | undefined)[]>;
  has(key: Stored, snapshot: StoreSnapshot | undefined): Promise<boolean>;
  hasMany(keys: readonly Stored[], snapshot: StoreSnapshot | undefined): Promise<boolean[]>;
  put(key: Stored, value: Stored, sync: boolean): Promise<void>;
  delete(key: Stored, sync: boolean): Promise<void>;
  batch(): StoreBatch;
  /** @param limit how many entries to delete. */
  clear(range: ByteRange, snapshot: StoreSnapshot | undefined, limit: number): Promise<void>;
  walk(options: WalkOptions): StoreWalk;
  snapshot(): StoreSnapshot;
  approximateSize(start: Uint8Array, end: Uint8Array): Promise<number>;
  compactRange(start: Uint8Array, end: Uint8Array): Promise<void>;
  property(name: string): string;
  refresh(): Promise<boolean>;
  /** Waits for the calls that are under way. */
  close(): Promise<void>;
}
