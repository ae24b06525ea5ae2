/**
 * The storage of a published database's objects.
 *
 * Objects are written whole, and all but CURRENT only once. A store needs one more ability: to replace
 * CURRENT only if it is still the one that the caller has read.
 */
import type { Bytes, Signal } from '@bloom/bytes';
import { mustHaveAtMost } from '@bloom/bytes/internal';
import type { Folder } from '@bloom/leveldb';

/** What a store reports about an object. */
export interface StoredObject {
  readonly name: string;
  readonly byteLength: number;
  /** When it was last written, in milliseconds since 1970, by the store's clock. */
  readonly modifiedMs: number;
  /** The SHA-256 that its writer passed, in hexadecimal, if the store keeps it. */
  readonly sha256?: string | undefined;
  /** Identifies the state of the object, if the store can tell without reading it. */
  readonly etag?: string | undefined;
  /** The store's clock when it reported this, in milliseconds since 1970. If omitted, the clock of this machine is used. */
  readonly nowMs?: number | undefined;
}

/** An object that was read. */
export interface ReadObject {
  readonly bytes: Bytes;
  /** Identifies the state of the object. */
  readonly etag: string;
}

/** An object to write. */
export interface NewObject {
  readonly name: string;
  /** Must not change until the call's promise settles: stores that send them need not copy them. */
  readonly bytes: Uint8Array;
  /** The SHA-256 of the bytes in hexadecimal, with which the store verifies that all bytes have arrived. */
  readonly sha256: string;
}

/**
 * The result of a replacement. `'unknown'`: a failed request may have taken effect, and a later one was refused.
 */
export type Replacement = 'replaced' | 'refused' | 'unknown';

/** A store of objects, such as a folder or a bucket. A store does its own retries: the errors that it throws are final. */
export interface Store {
  /** The name of the store in error messages. */
  readonly name: string;

  /** Reads a whole object; undefined if there is none. */
  get(name: string, signal?: Signal): Promise<ReadObject | undefined>;

  /** What the store reports about an object; undefined if there is none. */
  head(name: string, signal?: Signal): Promise<StoredObject | undefined>;

  /** Writes an object, unless there is one of that name. @returns whether it was written, by this or an earlier attempt of the same call. */
  create(object: NewObject, signal?: Signal): Promise<boolean>;

  /** Writes an object, whether or not it exists: only for objects whose bytes never change. */
  put(object: NewObject, signal?: Signal): Promise<void>;

  /**
   * Replaces an object if its state is still the one that the caller has read.
   *
   * @param etag from {@link get}; undefined if the object must not exist.
   */
  replace(object: NewObject, etag: string | undefined, signal?: Signal): Promise<Replacement>;

  /** All objects, in any order. */
  list(signal?: Signal): AsyncIterable<StoredObject>;

  /**
   * Deletes an object, if there is one.
   *
   * @param seen what {@link head} reported: the object is deleted only if it was not written since. Stores whose services cannot compare
   *   and delete in one step compare before each retry.
   * @returns false if the object was written since.
   */
  delete(name: string, seen?: StoredObject, signal?: Signal): Promise<boolean>;

  /** A folder from which a `DatabaseReader` reads the database in place. */
  folder(): Folder;
}

/** Milliseconds since an object was written, by the store's clock if it is known. NaN if the time is unknown. */
export function ageMsOf({ modifiedMs, nowMs }: StoredObject): number {
  return (nowMs ?? Date.now()) - modifiedMs;
}

/** Whether an object was not written between two reports. */
export function isUnchanged(seen: StoredObject, now: StoredObject): boolean {
  return seen.etag === now.etag && seen.modifiedMs === now.modifiedMs;
}

/**
 * Checks the arguments with which an object is deleted: without a name, some services would delete the whole bucket.
 *
 * @param given how many arguments there are.
 * @throws TypeError that names the call.
 */
export function mustNameOne(call: string, name: unknown, given: number): void {
  mustHaveAtMost(call, 'a name, an object and a signal', 3, given);
  if (typeof name !== 'string' || name === '') throw new TypeError(`name of ${call} must be the name of an object, got ${name === '' ? "''" : typeof name}`);
}
