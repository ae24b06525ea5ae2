/**
 * The entries of a database that are visible at a sequence: for each user key, the newest version at or below it, unless that version is a
 * deletion.
 *
 * Source: LevelDB, db/db_iter.cc.
 */
import { mustBeBytes } from '@bloom/bytes/internal';
import { DELETION, INTERNAL_KEY_TRAILER_LENGTH, VALUE } from '@bloom/sstable/database';
import { compareInternalBytes, type Side } from '@bloom/sstable/internal';
import type { DamagePolicy } from '../folder/damage.js';
import { afterVersions, beforeVersions, SequenceBound, typeOf } from '../format/database-key.js';
import type { Entry, EntryCursor } from './entry-cursor.js';
import type { FolderReading } from '../folder/folder-reading.js';
import type { KeyOrder } from '../format/version.js';

/** Neither `VALUE` nor `DELETION`: an entry that is skipped. */
const PASSED_OVER = -1;

/** Receives samples of the entries that a cursor reads. */
export interface ReadSampler {
  /** The number of bytes of keys and values to read before the next sample; called at the start, and after each sample. */
  period(): number;
  /** @param internalKey a view that is valid only during the call. */
  take(internalKey: Uint8Array): void;
}

/** Moves over visible entries, as {@link EntryCursor} moves over stored ones: a move that returns false is completed by `settle`. */
export class VisibleCursor {
  /** Whether the cursor is on an entry. */
  valid = false;
  /** The user key of the entry is `keyBytes[0, keyLength)`. */
  keyBytes: Uint8Array = new Uint8Array(128);
  keyLength = 0;
  /** The value of the entry is `valueBytes[valueStart, valueEnd)`. */
  valueBytes: Uint8Array = new Uint8Array(0);
  valueStart = 0;
  valueEnd = 0;

  private readonly entries: EntryCursor;
  private readonly order: KeyOrder;
  private readonly isBytewise: boolean;
  private readonly bound: SequenceBound;
  private readonly damage: DamagePolicy;
  private reverse = false;
  /** Forward: whether the versions of the key that is kept are hidden. */
  private hiding = false;
  /** Forward, while `hiding`: a lower bound of how many bytes the entry's key has in common with the kept key at its start. */
  private common = 0;
  /** Backward: whether the kept key has a value, so far. */
  private found = false;

  private readonly sampler: ReadSampler | undefined;
  /** Bytes until the next sample. */
  private unsampled: number;

  /** @param entries all versions; closed with this cursor. */
  constructor(entries: EntryCursor, order: KeyOrder, sequence: bigint, damage: DamagePolicy, sampler?: ReadSampler) {
    this.entries = entries;
    this.order = order;
    this.isBytewise = order.compareInternalKeys === compareInternalBytes;
    this.bound = new SequenceBound(sequence);
    this.damage = damage;
    this.sampler = sampler;
    this.unsampled = sampler?.period() ?? 0;
  }

  seekToFirst(): boolean {
    this.valid = false;
    return this.#start(false, this.entries.seekToFirst());
  }

  seekToLast(): boolean {
    this.valid = false;
    return this.#start(true, this.entries.seekToLast());
  }

  seek(userKey: Uint8Array, side: Side): boolean {
    mustBeBytes('key', userKey);
    this.valid = false;
    const reverse = side === 'before' || side === 'at-or-before';
    const bound = side === 'at-or-after' || side === 'before' ? beforeVersions(userKey) : afterVersions(userKey);
    return this.#start(reverse, this.entries.seek(bound, side));
  }

  next(): boolean {
    if (!this.valid) return true;
    if (this.reverse) return this.seek(this.keyBytes.slice(0, this.keyLength), 'after');
    this.valid = false;
    return this.entries.next() && this.#go();
  }

  prev(): boolean {
    if (!this.valid) return true;
    if (!this.reverse) return this.seek(this.keyBytes.slice(0, this.keyLength), 'before');
    this.valid = false;
    // The entries are already before the versions of this key.
    this.found = false;
    return this.#go();
  }

  /** Completes a move that returned false. */
  *settle(): FolderReading<void> {
    do yield* this.entries.settle();
    while (!this.#go());
  }

  close(): void {
    this.valid = false;
    this.entries.close();
  }

  #start(reverse: boolean, settled: boolean): boolean {
    this.reverse = reverse;
    this.hiding = false;
    this.found = false;
    return settled && this.#go();
  }

  #go(): boolean {
    return this.reverse ? this.#backward() : this.#forward();
  }

  #forward(): boolean {
    const entries = this.entries;
    while (entries.valid) {
      const { entry } = entries;
      this.common = this.hiding ? Math.min(this.common, entry.shared) : 0;
      const type = this.#type(entry);
      if (type !== PASSED_OVER && !(this.hiding && this.#compareKept(entry, this.common) <= 0)) {
        this.#keepKey(entry, this.common);
        this.hiding = true;
        if (type === VALUE) {
          this.#keepValue(entry);
          return (this.valid = true);
        }
      }
      if (!entries.next()) return false;
    }
    return true;
  }

  #backward(): boolean {
    const entries = this.entries;
    while (entries.valid) {
      const { entry } = entries;
      const type = this.#type(entry);
      if (type !== PASSED_OVER) {
        if (this.found && this.#compareKept(entry, 0) < 0) break;
        this.found = type !== DELETION;
        if (this.found) {
          this.#keepKey(entry, 0);
          this.#keepValue(entry);
        }
      }
      if (!entries.prev()) return false;
    }
    this.valid = this.found;
    return true;
  }

  /** The type of the entry, or the mark of an entry to skip, because it is newer than the sequence or damaged. */
  #type(entry: Entry): number {
    const { keyBytes, keyStart, keyEnd } = entry;
    if (this.sampler !== undefined) this.#sample(this.sampler, entry);
    let type: number;
    try {
      type = typeOf(keyBytes, keyStart, keyEnd, undefined);
    } catch (error) {
      this.damage.pass(error);
      return PASSED_OVER;
    }
    return this.bound.admits(keyBytes, keyEnd) ? type : PASSED_OVER;
  }

  #sample(sampler: ReadSampler, { keyBytes, keyStart, keyEnd, valueStart, valueEnd }: Entry): void {
    const byteLength = keyEnd - keyStart + valueEnd - valueStart;
    while (byteLength > this.unsampled) {
      this.unsampled += sampler.period();
      sampler.take(keyBytes.subarray(keyStart, keyEnd));
    }
    this.unsampled -= byteLength;
  }

  /** How the entry's user key compares with the one that is kept. @param common bytes at the start of which both have the same. */
  #compareKept({ keyBytes, keyStart, keyEnd }: Entry, common: number): number {
    const end = keyEnd - INTERNAL_KEY_TRAILER_LENGTH;
    const from = this.isBytewise ? Math.min(common, end - keyStart) : 0;
    return this.order.compareUserKeys(keyBytes, keyStart + from, end, this.keyBytes, from, this.keyLength);
  }

  /** @param common bytes at the start of the key that are kept already. */
  #keepKey({ keyBytes, keyStart, keyEnd }: Entry, common: number): void {
    const length = keyEnd - INTERNAL_KEY_TRAILER_LENGTH - keyStart;
    let from = common;
    if (length > this.keyBytes.length) {
      this.keyBytes = new Uint8Array(length * 2);
      from = 0;
    }
    const kept = this.keyBytes;
    if (length - from > 32) kept.set(keyBytes.subarray(keyStart + from, keyStart + length), from);
    else for (let i = from; i < length; i++) kept[i] = keyBytes[keyStart + i]!;
    this.keyLength = this.common = length;
  }

  #keepValue({ valueBytes, valueStart, valueEnd }: Entry): void {
    if (this.valueBytes !== valueBytes) this.valueBytes = valueBytes;
    this.valueStart = valueStart;
    this.valueEnd = valueEnd;
  }
}
