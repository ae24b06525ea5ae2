/**
 * Where a compaction splits its output, and which deletions it may drop.
 *
 * Source: LevelDB, db/version_set.cc: `Compaction::ShouldStopBefore` and `Compaction::IsBaseLevelForKey`.
 */
import { INTERNAL_KEY_TRAILER_LENGTH } from '@bloom/sstable/database';
import type { Entry } from '../cursor/entry-cursor.js';
import type { CompactionPlan } from '../folder/table-thread.js';
import type { FileMetadata } from '../format/version-edit.js';
import type { KeyOrder } from '../format/version.js';
import { MAX_GRANDPARENT_FILES } from './overlap.js';

type EntryKey = Pick<Entry, 'keyBytes' | 'keyStart' | 'keyEnd'>;

/** Follows the keys of a compaction in ascending order. */
export class CompactionWalk {
  readonly #order: KeyOrder;
  readonly #maxFileSize: number;
  readonly #grandparents: readonly FileMetadata[];
  readonly #below: readonly (readonly FileMetadata[])[];
  #grandparent = 0;
  #hasSeenKey = false;
  /** Bytes of grandparents that the current output has passed. */
  #overlappedBytes = 0;
  /** Of each level below the outputs, the first table that may hold the keys to come. */
  readonly #positions: number[];

  constructor({ grandparents, below }: CompactionPlan, order: KeyOrder, maxFileSize: number) {
    this.#order = order;
    this.#maxFileSize = maxFileSize;
    this.#grandparents = grandparents;
    this.#below = below;
    this.#positions = below.map(() => 0);
  }

  /** Up to this internal key, `stopsBefore` returns false for all keys after the first; undefined when it always does. */
  get bound(): Uint8Array | undefined {
    return this.#grandparents[this.#grandparent]?.largest;
  }

  /** Whether tables below the outputs may hold older versions of keys, so that `isBaseLevelFor` must be asked. */
  get hasTablesBelow(): boolean {
    return this.#below.some(({ length }) => length > 0);
  }

  /** Whether the output ends before the entry's key. Keys must be passed in ascending order. */
  stopsBefore({ keyBytes, keyStart, keyEnd }: EntryKey): boolean {
    const grandparents = this.#grandparents;
    for (; this.#grandparent < grandparents.length; this.#grandparent++) {
      const { largest, size } = grandparents[this.#grandparent]!;
      if (this.#order.compareInternalKeys(keyBytes, keyStart, keyEnd, largest, 0, largest.length) <= 0) break;
      if (this.#hasSeenKey) this.#overlappedBytes += size;
    }
    this.#hasSeenKey = true;
    if (this.#overlappedBytes <= MAX_GRANDPARENT_FILES * this.#maxFileSize) return false;
    this.#overlappedBytes = 0;
    return true;
  }

  /** Whether no table but the inputs can hold an older version of the entry's user key. Keys must be passed in ascending order. */
  isBaseLevelFor({ keyBytes, keyStart, keyEnd }: EntryKey): boolean {
    const userKeyEnd = keyEnd - INTERNAL_KEY_TRAILER_LENGTH;
    const compare = (key: Uint8Array): number =>
      this.#order.compareUserKeys(keyBytes, keyStart, userKeyEnd, key, 0, key.length - INTERNAL_KEY_TRAILER_LENGTH);
    for (const [i, files] of this.#below.entries()) {
      for (; this.#positions[i]! < files.length; this.#positions[i]!++) {
        const { smallest, largest } = files[this.#positions[i]!]!;
        if (compare(largest) > 0) continue;
        if (compare(smallest) >= 0) return false;
        break;
      }
    }
    return true;
  }
}
