import { mustBeBoolean, mustBeOptions } from '@bloom/bytes/internal';
import { CursorBounds, KeyBounds, mustBeSequence } from '@bloom/sstable/internal';
import { runAsync } from '../folder/folder-reading.js';
import { Pacer, READS_PER_LOOK } from '../folder/pacer.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { WriteBatch } from '../format/write-batch.js';
import type { KeyOrder } from '../format/version.js';
import { CursorState } from '../read/cursor-state.js';
import { DatabaseCursor } from '../read/database-cursor.js';
import { inBytes } from '../read/database-range.js';
import { OpenState } from '../read/open-state.js';
import type { View } from '../read/view.js';
import type { BatchWriter } from './write-queue.js';

/**
 * Which entries `Database.clear` deletes. An option whose value is undefined is a TypeError, because ignoring it could delete more
 * than the caller meant: leave the option out instead.
 */
export interface ClearRange {
  /** Only keys after this one. */
  readonly gt?: Uint8Array | string;
  /** Only this key and keys after it. */
  readonly gte?: Uint8Array | string;
  /** Only keys before this one. */
  readonly lt?: Uint8Array | string;
  /** Only this key and keys before it. */
  readonly lte?: Uint8Array | string;
  /** Only keys that begin with these bytes, for keys in bytewise order. */
  readonly prefix?: Uint8Array | string;
  /** The most entries to delete, counted from the first. Default: no limit. */
  readonly limit?: number;
  /** Whether `limit` counts from the last entry. Default: false. */
  readonly reverse?: boolean;
  /** Only keys that have a value at this sequence, such as that of a snapshot, even if they were overwritten since. Default: the present state. */
  readonly sequence?: bigint;
  /**
   * Waits until the deletions survive a power failure. Default: false for a range, true for the whole database. With false, a clear of the
   * whole database waits nevertheless if it changes the MANIFEST, which it does unless all entries are in a small memtable.
   */
  readonly sync?: boolean;
}

const CLEAR_RANGE: Record<keyof ClearRange, true> = { gt: true, gte: true, lt: true, lte: true, prefix: true, limit: true, reverse: true, sequence: true, sync: true };

/**
 * For ranges whose `sequence` is that of a snapshot which is taken once the earlier writes are visible: a function that is called after these
 * writes, and must not wait for later ones.
 */
export const laterSequences = /* @__PURE__ */ new WeakMap<object, () => Promise<bigint>>();

/** Bytes of the keys that are deleted with one write. */
const DELETED_BYTES = 64 * 2 ** 10;

/** A call of `Database.clear`: deletes the entries of a range. */
export class RangeClearing {
  /** Whether it is of all entries of the database. */
  readonly isOfAll: boolean;
  /** Whether it need not survive a power failure when it has ended. */
  readonly mayBeUnsynced: boolean;
  readonly #bounds: CursorBounds | undefined;
  readonly #prefix: Uint8Array | undefined;
  readonly #limit: number;
  readonly #reverse: boolean;
  #sequence: bigint | undefined;
  readonly #laterSequence: (() => Promise<bigint>) | undefined;
  readonly #sync: boolean;

  /**
   * @param range is copied.
   * @throws TypeError or RangeError, which names the option that is wrong.
   */
  constructor(given: ClearRange, order: KeyOrder) {
    mustBeOptions('Database.clear', given, CLEAR_RANGE);
    const range = inBytes(given);
    for (const name of new Set([...Object.keys(range), ...Object.keys(CLEAR_RANGE)])) {
      if (name in range && range[name as keyof ClearRange] === undefined) throw new TypeError(`${name} of Database.clear is undefined, so more entries might be deleted than intended: leave it out`);
    }
    const { gt, gte, lt, lte, prefix, sequence, sync } = range;
    this.mayBeUnsynced = range.sync === false;
    const { limit, reverse } = new KeyBounds(range, order.compareUserKeys);
    if (sequence !== undefined) mustBeSequence(sequence);
    if (sync !== undefined) mustBeBoolean('sync', sync);
    this.#bounds = CursorBounds.of({ gt, gte, lt, lte, prefix }, order.compareUserKeys);
    this.#prefix = prefix && new Uint8Array(prefix);
    this.#limit = limit;
    this.#reverse = reverse;
    this.#sequence = sequence;
    this.#laterSequence = laterSequences.get(given);
    this.isOfAll = this.#bounds === undefined && limit === Infinity && sequence === undefined && this.#laterSequence === undefined;
    this.#sync = sync ?? this.isOfAll;
  }

  /** Called once the earlier writes are visible, before `run`. */
  async settle(): Promise<void> {
    if (this.#laterSequence !== undefined) this.#sequence = await this.#laterSequence();
  }

  /** Deletes the entries that are visible in a view, with one write after another. @param maxBytes bytes of the keys that are deleted with one write. */
  async run(view: View, folder: WritableFolder, write: BatchWriter, maxBytes = DELETED_BYTES): Promise<void> {
    let left = this.#limit;
    if (left === 0) return;
    const cursor = this.#cursor(view, folder);
    const batch = new WriteBatch();
    const take = ({ key }: { readonly key: Uint8Array }): boolean => {
      if (left === 0 || batch.byteLength >= maxBytes) return false;
      batch.delete(key);
      left--;
      return true;
    };
    try {
      let isOnEntry = await (this.#reverse ? cursor.seekToLast() : cursor.seekToFirst());
      // Earlier deletions, which left no entry, may not be synced yet: an empty record syncs them.
      if (!isOnEntry && this.#sync) await write(batch, true);
      while (isOnEntry && left > 0) {
        batch.clear();
        take(cursor);
        isOnEntry = await (this.#reverse ? cursor.prevWhile(take) : cursor.nextWhile(take));
        // The log is written in order, so the last write syncs those before it.
        await write(batch, this.#sync && (!isOnEntry || left === 0));
      }
    } finally {
      cursor.close();
    }
  }

  #cursor(view: View, folder: WritableFolder): DatabaseCursor {
    const { lastSequence } = view;
    const sequence = this.#sequence !== undefined && this.#sequence < lastSequence ? this.#sequence : lastSequence;
    const cursor = view.cursor(sequence, false, undefined, this.#prefix, this.#bounds);
    // With a state of its own: closing the database waits for the writes.
    const state = new CursorState(view, cursor, new OpenState('database'));
    return new DatabaseCursor(state, (reading, signal) => runAsync(folder, reading, signal), new Pacer(READS_PER_LOOK));
  }
}
