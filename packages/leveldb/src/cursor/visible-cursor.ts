/**
 * The entries of a database that are visible at a sequence: for each user key, the newest version at or below it, unless that version is a
 * deletion.
 *
 * Source: LevelDB, db/db_iter.cc.
 */
import { type Bytes, CorruptionError } from '@bloom/bytes';
import { mustBeBytes } from '@bloom/bytes/internal';
import { DELETION, INTERNAL_KEY_TRAILER_LENGTH, VALUE } from '@bloom/sstable/database';
import { type ByteCopier, compareInternalBytes, type ManyEntries, type Side } from '@bloom/sstable/internal';
import type { DamagePolicy } from '../folder/damage.js';
import { afterVersions, beforeVersions, SequenceBound, typeOf } from '../format/database-key.js';
import type { Entry } from './entry-cursor.js';
import { type FolderReading, othersTurn } from '../folder/folder-reading.js';
import type { KeyOrder } from '../format/version.js';
import type { MergeCursor } from './merge-cursor.js';
import type { PackedRun } from './packed-run.js';
import type { PackedWalk } from './packed-walk.js';
import { packedWalk } from './load-packed-walk.js';
import { type ReadSampler, ReadSamples } from './read-samples.js';

const NO_BYTES = new Uint8Array(0);

/** Neither `VALUE` nor `DELETION`: an entry that is skipped. */
const PASSED_OVER = -1;

/** A walk gets a kernel after it has moved by this many entries in one direction. For shorter walks a kernel does not pay off. */
const MOVES_BEFORE_KERNEL = 16;
/** The most moves between two attempts to get one. */
const MOST_MOVES_BEFORE_KERNEL = 2 ** 12;

/** The entries that moves pass over before they let other work run, such as deletions: passing them over takes about a millisecond. */
const PASSED_AT_ONCE = 2 ** 12;

/** Moves over visible entries, as {@link EntryCursor} moves over stored ones: a move that returns false is completed by `settle`. */
export class VisibleCursor {
  /** Whether the cursor is on an entry. */
  valid = false;
  /** The user key of the entry is `keyLength` of `keyBytes`, from `keyStart` on. */
  keyBytes: Uint8Array = new Uint8Array(128);
  keyStart = 0;
  keyLength = 0;
  /** The value of the entry is `valueBytes[valueStart, valueEnd)`. */
  valueBytes: Uint8Array = new Uint8Array(0);
  valueStart = 0;
  valueEnd = 0;

  private readonly entries: MergeCursor;
  private readonly order: KeyOrder;
  private readonly isBytewise: boolean;
  private readonly sequence: bigint;
  private readonly bound: SequenceBound;
  private readonly damage: DamagePolicy;
  private reverse = false;
  /** Forward: whether the versions of the key that is kept are hidden. */
  private hiding = false;
  /** Forward, while `hiding`: a lower bound of how many bytes the entry's key has in common with the kept key at its start. */
  private common = 0;
  /** Backward: whether the kept key has a value, so far. */
  private found = false;

  /** How many more entries may be passed over before other work runs; a move stops at 0. */
  private passesLeft = PASSED_AT_ONCE;

  private readonly samples: ReadSamples | undefined;

  /** Memory for the key that is kept, entry by entry. */
  private kept = this.keyBytes;
  /** The walk in a kernel, and the place in its run. */
  private packed: PackedWalk | undefined;
  private run: PackedRun | undefined;
  private place = 0;
  /** The number of moves until the next attempt to get a kernel. */
  private movesLeft = MOVES_BEFORE_KERNEL;
  private movesBefore = MOVES_BEFORE_KERNEL;

  /** @param entries all versions; closed with this cursor. */
  constructor(entries: MergeCursor, order: KeyOrder, sequence: bigint, damage: DamagePolicy, sampler?: ReadSampler) {
    this.entries = entries;
    this.order = order;
    this.isBytewise = order.compareInternalKeys === compareInternalBytes;
    this.sequence = sequence;
    this.bound = new SequenceBound(sequence);
    this.damage = damage;
    this.samples = sampler && new ReadSamples(sampler);
  }

  seekToFirst(): boolean {
    this.#leave();
    return this.#start(false, this.entries.seekToFirst());
  }

  seekToLast(): boolean {
    this.#leave();
    return this.#start(true, this.entries.seekToLast());
  }

  seek(userKey: Uint8Array, side: Side): boolean {
    mustBeBytes('key', userKey);
    this.#leave();
    const reverse = side === 'before' || side === 'at-or-before';
    const bound = side === 'at-or-after' || side === 'before' ? beforeVersions(userKey) : afterVersions(userKey);
    return this.#start(reverse, this.entries.seek(bound, side));
  }

  next(): boolean {
    if (!this.valid) return true;
    if (this.reverse) return this.seek(new Uint8Array(this.key), 'after');
    if (this.packed !== undefined) return this.#nextPacked(this.packed);
    this.valid = false;
    if (--this.movesLeft === 0 && this.#pack()) return this.#go();
    return this.entries.next() && this.#go();
  }

  prev(): boolean {
    if (!this.valid) return true;
    if (!this.reverse) return this.seek(new Uint8Array(this.key), 'before');
    if (this.packed !== undefined) return this.#nextPacked(this.packed);
    this.valid = false;
    // The entries are already before the versions of this key.
    this.found = false;
    if (--this.movesLeft === 0) this.#pack();
    return this.#go();
  }

  /** The user key: a view that is valid until the next move. */
  get key(): Uint8Array {
    return this.keyBytes.subarray(this.keyStart, this.keyStart + this.keyLength);
  }

  /** Completes a move that returned false. */
  *settle(): FolderReading<void> {
    do {
      const { packed } = this;
      if (this.passesLeft === 0) {
        this.passesLeft = PASSED_AT_ONCE;
        yield* othersTurn();
      } else if (packed === undefined) yield* this.entries.settle();
      // It may have been closed meanwhile.
      else if (!(yield* packed.settle()) && this.packed !== undefined) this.#unpack(packed);
    } while (!this.#go());
  }

  close(): void {
    this.#leave();
    this.entries.close();
  }

  #leave(): void {
    this.valid = false;
    this.movesLeft = this.movesBefore = MOVES_BEFORE_KERNEL;
    if (this.packed === undefined) return;
    this.packed.abandon();
    this.packed = undefined;
    this.keyLength = 0;
    this.keyBytes = this.kept;
    this.keyStart = 0;
  }

  pair(copier: ByteCopier): [Bytes, Bytes] {
    const { keyStart } = this;
    return (
      this.packed?.run.pairAt(this.place - 2, keyStart) ?? [
        copier.copyRange(this.keyBytes, keyStart, keyStart + this.keyLength),
        copier.copyRange(this.valueBytes, this.valueStart, this.valueEnd),
      ]
    );
  }

  /** Passes the entry to `many`, which copies it. @returns whether it did. */
  passTo(many: ManyEntries): boolean {
    if (!many.admits(this.keyBytes, this.keyStart, this.keyStart + this.keyLength)) return false;
    many.add(this.pair(many.copier));
    return true;
  }

  #start(reverse: boolean, settled: boolean): boolean {
    this.reverse = reverse;
    this.hiding = false;
    this.found = false;
    return settled && this.#go();
  }

  #go(): boolean {
    if (this.packed !== undefined) return this.#fill(this.packed);
    return this.reverse ? this.#backward() : this.#forward();
  }

  /** Continues the walk in a kernel. @returns false when there is none. */
  #pack(): boolean {
    this.movesBefore = Math.min(this.movesBefore * 2, MOST_MOVES_BEFORE_KERNEL);
    this.movesLeft = this.movesBefore;
    const walks = this.isBytewise ? packedWalk() : undefined;
    if (walks === undefined) return false;
    const { entries, sequence, samples, run } = this;
    this.packed = this.reverse ? walks.backward(run, entries, sequence, samples) : walks.forward(run, entries, sequence, this.kept, this.keyLength, samples);
    this.run = this.packed?.run ?? run;
    return this.packed !== undefined;
  }

  /** Continues entry by entry from where the kernel is. */
  #unpack(packed: PackedWalk): void {
    if (this.reverse) {
      const { found } = packed;
      this.found = found !== undefined;
      this.#restoreKey(found?.key ?? NO_BYTES);
      this.valueBytes = found?.value ?? NO_BYTES;
      this.valueStart = 0;
      this.valueEnd = this.valueBytes.length;
    } else {
      this.#restoreKey(packed.hiddenKey);
      this.hiding = true;
      this.common = 0;
    }
    this.packed = undefined;
    packed.end();
  }

  /** Keeps a key of the kernel. */
  #restoreKey(key: Uint8Array): void {
    if (key.length > this.kept.length) this.kept = new Uint8Array(key.length * 2);
    this.kept.set(key);
    this.keyBytes = this.kept;
    this.keyStart = 0;
    this.keyLength = key.length;
  }

  #nextPacked(packed: PackedWalk): boolean {
    const { place } = this;
    const { ends, endsEnd } = packed.run;
    if (place === endsEnd) {
      this.valid = false;
      return this.#fill(packed);
    }
    this.keyStart = this.valueEnd;
    this.valueStart = ends[place]!;
    this.keyLength = this.valueStart - this.keyStart;
    this.valueEnd = ends[place + 1]!;
    this.place = place + 2;
    return true;
  }

  /** Goes to the first entry of the next run. */
  #fill(packed: PackedWalk): boolean {
    switch (packed.fill()) {
      case 'filled':
        this.keyBytes = this.valueBytes = packed.run.bytes;
        this.valueEnd = 0;
        this.place = packed.run.endsStart;
        return (this.valid = this.#nextPacked(packed));
      case 'unsettled':
        return false;
      case 'ended':
        this.#leave();
        return true;
      default:
        this.#unpack(packed);
        return this.#go();
    }
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
      if (--this.passesLeft === 0) return false;
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
      if (--this.passesLeft === 0) return false;
    }
    this.valid = this.found;
    return true;
  }

  /** The type of the entry, or the mark of an entry to skip, because it is newer than the sequence or damaged. */
  #type(entry: Entry): number {
    const { keyBytes, keyStart, keyEnd } = entry;
    this.samples?.count(keyBytes, keyStart, keyEnd, entry.valueEnd - entry.valueStart);
    let type: number;
    try {
      type = typeOf(keyBytes, keyStart, keyEnd, undefined);
    } catch (error) {
      const { code, structure, offset, problem } = error as CorruptionError;
      this.damage.pass(new CorruptionError(code, { structure, offset, file: this.entries.file }, problem));
      return PASSED_OVER;
    }
    return this.bound.admits(keyBytes, keyEnd) ? type : PASSED_OVER;
  }

  /** How the entry's user key compares with the one that is kept. @param common bytes at the start of which both have the same. */
  #compareKept({ keyBytes, keyStart, keyEnd }: Entry, common: number): number {
    const end = keyEnd - INTERNAL_KEY_TRAILER_LENGTH;
    const from = this.isBytewise ? Math.min(common, end - keyStart) : 0;
    return this.order.compareUserKeys(keyBytes, keyStart + from, end, this.kept, from, this.keyLength);
  }

  /** @param common bytes at the start of the key that are kept already. */
  #keepKey({ keyBytes, keyStart, keyEnd }: Entry, common: number): void {
    const length = keyEnd - INTERNAL_KEY_TRAILER_LENGTH - keyStart;
    let from = common;
    if (length > this.kept.length) {
      this.keyBytes = this.kept = new Uint8Array(length * 2);
      from = 0;
    }
    const { kept } = this;
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
