/**
 * Which tables to merge into the next level, and where to split the output.
 *
 * Source: LevelDB, db/version_set.cc.
 */
import { INTERNAL_KEY_TRAILER_LENGTH } from '@bloom/sstable/database';
import { beforeVersions, afterVersions } from '../format/database-key.js';
import type { Entry } from '../cursor/entry-cursor.js';
import type { CompactionPlan } from '../folder/table-thread.js';
import type { FileMetadata } from '../format/version-edit.js';
import { LEVEL_COUNT } from '../format/version-edit.js';
import type { KeyOrder, Version } from '../format/version.js';
import { boundsOf, compareInternal, compareUser, type KeyBounds, overlappingFiles, overlapsLevel, sizeOf } from './overlap.js';

/** The number of tables in level 0 that makes a compaction due. */
const LEVEL_0_TRIGGER = 4;
/** The deepest level into which a memtable is flushed when no table overlaps it. */
const MAX_FLUSH_LEVEL = 2;
/** The most bytes, in units of `maxFileSize`, that an output may overlap in the grandparent level. */
const MAX_GRANDPARENT_FILES = 10;
/** The most bytes, in units of `maxFileSize`, up to which a compaction is enlarged. */
const MAX_EXPANDED_FILES = 25;

/** The size limit of a level from 1 on, in bytes: 10 MiB at level 1, and ten times as much at each next level; the last has none. */
export function maxBytesOf(level: number): number {
  return level === LEVEL_COUNT - 1 ? Infinity : 10 * 2 ** 20 * 10 ** (level - 1);
}

/** The level that is fullest in relation to its limit; a score of 1 makes a compaction due. Source: `VersionSet::Finalize`. */
export function fullestLevel({ levels, levelBytes }: Version): { readonly level: number; readonly score: number } {
  let fullest = { level: 0, score: levels[0]!.length / LEVEL_0_TRIGGER };
  for (let level = 1; level < LEVEL_COUNT - 1; level++) {
    const score = levelBytes[level]! / maxBytesOf(level);
    if (score > fullest.score) fullest = { level, score };
  }
  return fullest;
}

/** Whether a level can hold `count` tables of `bytes` bytes without a compaction becoming due. */
export function fitsInLevel(level: number, count: number, bytes: number): boolean {
  if (level === 0) return count < LEVEL_0_TRIGGER;
  return bytes < maxBytesOf(level);
}

/** Whether a level is so full that a compaction is due. */
export function isTooFull(version: Version): boolean {
  return fullestLevel(version).score >= 1;
}

/** The level for a flushed memtable. Source: `Version::PickLevelForMemTableOutput`. */
export function levelForFlush(version: Version, order: KeyOrder, { smallest: begin, largest: end }: Pick<FileMetadata, 'smallest' | 'largest'>, maxFileSize: number): number {
  const bounds: KeyBounds = { begin, end };
  if (overlapsLevel(version, 0, order, bounds)) return 0;
  let level = 0;
  while (level < MAX_FLUSH_LEVEL && !overlapsLevel(version, level + 1, order, bounds)) {
    if (sizeOf(overlappingFiles(version, level + 2, order, bounds)) > MAX_GRANDPARENT_FILES * maxFileSize) break;
    level++;
  }
  return level;
}

/** Tables of a level that are merged with those of the next. */
export class Compaction implements CompactionPlan {
  readonly level: number;
  readonly inputs: readonly [readonly FileMetadata[], readonly FileMetadata[]];
  readonly below: readonly (readonly FileMetadata[])[];
  readonly grandparents: readonly FileMetadata[];
  /** Where the next compaction of the level starts. */
  readonly pointer: Uint8Array;
  readonly #maxFileSize: number;

  /** Source: `VersionSet::SetupOtherInputs`. */
  constructor(version: Version, order: KeyOrder, maxFileSize: number, level: number, files: readonly FileMetadata[]) {
    this.level = level;
    this.#maxFileSize = maxFileSize;
    let upper = withBoundaryFiles(version, level, order, files);
    let bounds = boundsOf(upper, order);
    let lower = overlappingFiles(version, level + 1, order, bounds);
    if (lower.length > 0) {
      const larger = withBoundaryFiles(version, level, order, overlappingFiles(version, level, order, boundsOf([...upper, ...lower], order)));
      if (larger.length > upper.length && sizeOf(lower) + sizeOf(larger) < MAX_EXPANDED_FILES * maxFileSize) {
        const largerBounds = boundsOf(larger, order);
        const largerLower = overlappingFiles(version, level + 1, order, largerBounds);
        if (largerLower.length === lower.length) {
          upper = larger;
          lower = largerLower;
          bounds = largerBounds;
        }
      }
    }
    this.inputs = [upper, lower];
    this.pointer = bounds.end;
    const all = boundsOf([...upper, ...lower], order);
    this.grandparents = level + 2 < LEVEL_COUNT ? overlappingFiles(version, level + 2, order, all) : [];
    // A table of the next level may continue the user key with which the last input ends. Its versions are older, and would be
    // visible again if the key's deletion were dropped. LevelDB 1.23 drops it; later sources make that table an input.
    const behind = lower.length === 0 ? [] : withBoundaryFiles(version, level + 1, order, lower).slice(lower.length);
    this.below = [behind, ...version.levels.slice(level + 2).map((_, i) => overlappingFiles(version, level + 2 + i, order, all))];
  }

  /** Whether a single table can be moved down a level unchanged. */
  get isTrivialMove(): boolean {
    const [upper, lower] = this.inputs;
    return upper.length === 1 && lower.length === 0 && sizeOf(this.grandparents) <= MAX_GRANDPARENT_FILES * this.#maxFileSize;
  }
}

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

/** The state from which a compaction is picked. */
export interface CompactionState {
  readonly version: Version;
  readonly order: KeyOrder;
  readonly maxFileSize: number;
  readonly compactPointers: ReadonlyMap<number, Uint8Array>;
}

/**
 * The compaction that is due, if one is.
 *
 * @param sought a table whose allowed seeks ran out.
 *
 * Source: `VersionSet::PickCompaction`.
 */
export function pickCompaction({ version, order, maxFileSize, compactPointers }: CompactionState, sought: FileMetadata | undefined): Compaction | undefined {
  const fullest = fullestLevel(version);
  let { level } = fullest;
  let file: FileMetadata;
  if (fullest.score >= 1) {
    const files = version.levels[level]!;
    const pointer = compactPointers.get(level);
    file = (pointer && files.find(({ largest }) => compareInternal(order, largest, pointer) > 0)) ?? files[0]!;
  } else {
    if (sought === undefined) return undefined;
    level = version.levels.findIndex((files) => files.includes(sought));
    if (level < 0) return undefined;
    file = sought;
  }
  const files = level === 0 ? overlappingFiles(version, 0, order, boundsOf([file], order)) : [file];
  return new Compaction(version, order, maxFileSize, level, files);
}

/** The compaction of a range of a level, or, in levels below 0, of its first part. Source: `VersionSet::CompactRange`. */
export function compactionOf({ version, order, maxFileSize }: CompactionState, level: number, bounds: KeyBounds): Compaction | undefined {
  let files = overlappingFiles(version, level, order, bounds);
  if (files.length === 0) return undefined;
  if (level > 0) {
    let size = 0;
    const last = files.findIndex((file) => (size += file.size) >= maxFileSize);
    if (last >= 0) files = files.slice(0, last + 1);
  }
  return new Compaction(version, order, maxFileSize, level, files);
}

/** Bounds of user keys as those of internal keys. */
export function boundsOfUserKeys(begin: Uint8Array | undefined, end: Uint8Array | undefined): KeyBounds {
  return { begin: begin && beforeVersions(begin), end: end && afterVersions(end) };
}

/**
 * `files`, and the tables of the level that continue the last user key of these. Without them, newer versions of that key would
 * end up below older ones. Source: `AddBoundaryInputs`.
 */
function withBoundaryFiles(version: Version, level: number, order: KeyOrder, files: readonly FileMetadata[]): FileMetadata[] {
  const found = [...files];
  let { end } = boundsOf(files, order);
  for (;;) {
    // The first one in the order of the level has the newest of those versions.
    const next = version.levels[level]!.find(({ smallest }) => compareInternal(order, smallest, end) > 0 && compareUser(order, smallest, end) === 0);
    if (next === undefined) return found;
    found.push(next);
    end = next.largest;
  }
}
