/**
 * The messages between a page and the worker that has its database open.
 *
 *     page → worker      first { path, client }, with the port for all else; then, through the port, arrays of requests
 *     request            [id, call, ...arguments]
 *     worker → page      arrays of answers; the first is empty, and says that the worker holds the lock `@bloom/level client CLIENT`
 *     answer             [id, 0, result], or [id, 1, error]
 *
 * Requests of one page are begun in order, and answered in any order; those for a snapshot or walk after the request that made it. Arrays hold the requests or answers of one turn.
 */
import type { RepairReport } from '@bloom/leveldb';
import type { OpenOptions } from '../level-options.js';
import type { Item, ItemForm } from '../level-store.js';
import type { ByteRange } from '../range-walk.js';
import type { Stored, EncodingFormat } from '../encoding-formats.js';

/** A snapshot, or a walk: numbers that the page assigns. */
export type Held = number;

/** The operations of a worker for a page, by the names of requests. */
export interface LevelCalls {
  open(options: OpenOptions): Promise<void>;
  close(): Promise<void>;
  destroy(): Promise<void>;
  repair(): Promise<RepairReport>;
  get(key: Stored, format: EncodingFormat, snapshot: Held | undefined): Promise<Stored | undefined>;
  getMany(keys: readonly Stored[], format: EncodingFormat, snapshot: Held | undefined): Promise<(Stored | undefined)[]>;
  has(key: Stored, snapshot: Held | undefined): Promise<boolean>;
  hasMany(keys: readonly Stored[], snapshot: Held | undefined): Promise<boolean[]>;
  put(key: Stored, value: Stored, sync: boolean): Promise<void>;
  delete(key: Stored, sync: boolean): Promise<void>;
  /** @param operations key and value of one operation after another; the value is undefined for a deletion. */
  write(operations: readonly (Stored | undefined)[], sync: boolean): Promise<void>;
  clear(range: ByteRange, snapshot: Held | undefined, limit: number): Promise<void>;
  /**
   * @param sequence of a snapshot in another worker, to keep the same state.
   * @returns the sequence of its state.
   */
  snapshot(id: Held, sequence?: bigint): Promise<bigint>;
  release(id: Held): Promise<void>;
  /** As `snapshot`, but it keeps the state itself. */
  walk(id: Held, range: ByteRange, form: ItemForm, fillCache: boolean, snapshot: Held | undefined, sequence?: bigint): Promise<bigint>;
  seek(id: Held, key: Uint8Array): Promise<void>;
  /** Makes the item after a position, which another worker returned, the next one. */
  goOn(id: Held, position: Uint8Array | undefined): void;
  read(id: Held, size: number, highWaterMark: number): Promise<ReadItems>;
  endWalk(id: Held): Promise<void>;
  approximateSize(start: Uint8Array, end: Uint8Array): Promise<number>;
  compactRange(start: Uint8Array, end: Uint8Array): Promise<void>;
  property(name: string): string;
}

/** The items that were read, and the key of the last one, unless there are no more. */
export type ReadItems = readonly [items: Item[], position: Uint8Array | undefined];

export type LevelCall = keyof LevelCalls;

export type Request = readonly [id: number, call: LevelCall, ...values: unknown[]];

export type Answer = readonly [id: number, failed: 0, result: unknown] | readonly [id: number, failed: 1, error: SentError];

/** An error in a message. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly code: unknown;
  readonly cause: SentError | undefined;
}

/** The first message to a worker. It comes with a port. */
export interface Greeting {
  readonly path: string;
  /** Identifies the page among all that use the path. */
  readonly client: string;
}

/** The lock that a worker holds as long as it exists, and the channel to it. */
export const lockOfClient = (client: string): string => `@bloom/level client ${client}`;
