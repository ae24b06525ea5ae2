import { INTERNAL_KEY_TRAILER_LENGTH } from '@bloom/sstable/database';
import type { KeyOrder } from '../format/version.js';
import { WriteBatchReader } from '../format/write-batch.js';
import { Memtable } from './memtable.js';

/**
 * Compares the keys of a batch with those of the memtable to which it will be added, and with each other. A comparator that cannot order
 * them fails here, before the batch is in the log: a log with such a batch could not be replayed.
 *
 * With this, puts into a folder in memory take 1.5 times as long, and batches of 100 entries 1.9 times (Node 20). If different keys may be
 * equal, each key is only compared with itself, because comparing it with others would find almost nothing.
 */
export class BatchOrder {
  /** Undefined where different keys may be equal. */
  readonly #memtable: Memtable | undefined;
  readonly #order: KeyOrder;
  readonly #reader: WriteBatchReader;
  /** The previous keys of the batch; undefined for a batch of one. */
  readonly #own: Memtable | undefined;
  /** A user key with the trailer that sorts before all its versions. */
  #key = new Uint8Array(64).fill(0xff);

  constructor(memtable: Memtable | undefined, order: KeyOrder, record: Uint8Array) {
    this.#memtable = memtable;
    this.#order = order;
    this.#reader = new WriteBatchReader(record);
    this.#own = memtable !== undefined && this.#reader.count > 1 ? new Memtable(order.compareInternalKeys) : undefined;
  }

  /** Checks the next key, if there is one. @throws what the comparator throws. */
  next(): boolean {
    const reader = this.#reader;
    if (!reader.next()) return false;
    const { type, bytes, keyStart, keyEnd } = reader;
    const memtable = this.#memtable;
    // Nothing else compares the first key of a memtable. This detects a comparator that never returns 0, with which no key would be found.
    if (memtable === undefined || memtable.count === 0) this.#order.compareUserKeys(bytes, keyStart, keyEnd, bytes, keyStart, keyEnd);
    else memtable.seek(this.#keyBeforeVersions(bytes, keyStart, keyEnd));
    this.#own?.add(BigInt(reader.found), type, bytes, keyStart, keyEnd, keyEnd, keyEnd);
    return true;
  }

  #keyBeforeVersions(bytes: Uint8Array, start: number, end: number): Uint8Array {
    const length = end - start;
    const whole = length + INTERNAL_KEY_TRAILER_LENGTH;
    if (whole > this.#key.length) this.#key = new Uint8Array(whole * 2);
    this.#key.set(bytes.subarray(start, end));
    this.#key.fill(0xff, length, whole);
    return this.#key.subarray(0, whole);
  }
}
