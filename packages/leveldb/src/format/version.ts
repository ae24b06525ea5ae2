/**
 * A version: the tables of a database at one moment, by level.
 *
 * Level 0 holds flushed memtables, which may overlap; of two tables, the newer one has the higher number and higher sequences. After a repair by LevelDB it
 * holds all tables, and the sequences alone tell which is newer. The tables of each deeper level are sorted and do not overlap by internal keys, though two
 * of them may share a user key: its newer versions end one table, and its older ones begin the next.
 *
 * Source: LevelDB, db/version_set.cc.
 */
import { CorruptionError, type Place } from '@bloom/bytes';
import { INTERNAL_KEY_TRAILER_LENGTH } from '@bloom/sstable/database';
import type { CompareRange } from '@bloom/sstable/internal';
import { SequenceRange } from './sequence-range.js';
import { compareBigints, type FileMetadata, LEVEL_COUNT, type VersionEdit } from './version-edit.js';

/** The orders of a database's keys. */
export interface KeyOrder {
  readonly compareInternalKeys: CompareRange;
  readonly compareUserKeys: CompareRange;
}

/** How two internal keys compare. */
export function compareInternal({ compareInternalKeys }: KeyOrder, a: Uint8Array, b: Uint8Array): number {
  return compareInternalKeys(a, 0, a.length, b, 0, b.length);
}

/** How the user keys of two internal keys compare. */
export function compareUser({ compareUserKeys }: KeyOrder, a: Uint8Array, b: Uint8Array): number {
  return compareUserKeys(a, 0, a.length - INTERNAL_KEY_TRAILER_LENGTH, b, 0, b.length - INTERNAL_KEY_TRAILER_LENGTH);
}

/** The tables of a database. Never changes. */
export class Version {
  /** By smallest key, then by number. In level 0 this is not the order of age. */
  readonly levels: readonly (readonly FileMetadata[])[];
  /** Level 0 from the newest table to the oldest, by the sequences of their first and last keys. */
  readonly newestFirst: readonly FileMetadata[];
  /** All tables, the upper levels first. */
  readonly files: readonly FileMetadata[];
  readonly #order: KeyOrder;
  #levelBytes: readonly number[] | undefined;

  /**
   * @param isOrdered whether `order` is the order of the database; if not, the order of its tables is not checked.
   * @throws CorruptionError `BLOOM_BAD_VERSION` when the tables cannot be those of one database.
   */
  constructor(levels: readonly (readonly FileMetadata[])[], order: KeyOrder, place: Place, isOrdered = true) {
    // Keys without a trailer cannot be compared, so tables that have one are not sorted. `versionProblems` reports them.
    const isComparable = levels.every((files) => files.every(({ smallest, largest }) => Math.min(smallest.length, largest.length) >= INTERNAL_KEY_TRAILER_LENGTH));
    this.levels = isComparable ? levels.map((files) => sorted(files, order)) : levels;
    const [problem] = versionProblems(this.levels, order, isOrdered);
    if (problem !== undefined) throw new CorruptionError('BLOOM_BAD_VERSION', place, problem);
    this.#order = order;
    this.files = this.levels.flat();
    this.newestFirst = newestFirst(this.levels[0]!);
  }

  static empty(order: KeyOrder): Version {
    return new Version(Array.from({ length: LEVEL_COUNT }, () => []), order, { structure: 'MANIFEST', offset: 0 });
  }

  /** The bytes of the tables of each level, computed once. */
  get levelBytes(): readonly number[] {
    return (this.#levelBytes ??= this.levels.map((files) => files.reduce((sum, { size }) => sum + size, 0)));
  }

  /** The only table of a level below 0 that may hold what a search for `internalKey` finds. */
  fileFor(level: number, internalKey: Uint8Array): FileMetadata | undefined {
    const files = this.levels[level]!;
    const file = files[firstAtOrAfter(files, internalKey, this.#order)];
    return file !== undefined && this.#startsAtOrBefore(file, internalKey) ? file : undefined;
  }

  /** Whether the user key of `internalKey` lies within the table's range. */
  mayHold(file: FileMetadata, internalKey: Uint8Array): boolean {
    return compareUser(this.#order, file.largest, internalKey) >= 0 && this.#startsAtOrBefore(file, internalKey);
  }

  /** Whether the table's first user key is at or before that of `internalKey`. */
  #startsAtOrBefore({ smallest }: FileMetadata, internalKey: Uint8Array): boolean {
    return compareUser(this.#order, smallest, internalKey) <= 0;
  }
}

/** The tables of level 0 in the order of a search. LevelDB goes by their numbers alone, so after a repair its `get` can return an old value. */
function newestFirst(files: readonly FileMetadata[]): readonly FileMetadata[] {
  const latest = new Map(files.map((file) => [file, latestOf(file)]));
  return [...files].sort((a, b) => compareBigints(latest.get(b)!, latest.get(a)!) || compareBigints(b.number, a.number));
}

/**
 * The tables of level 0 that have later writes than an overlapping table with a higher number. LevelDB writes none, except in a repair.
 *
 * @param files with keys that can be compared.
 */
export function misnumbered(files: readonly FileMetadata[], order: KeyOrder): FileMetadata[] {
  const byAge = newestFirst(files);
  return byAge.filter((file, i) => byAge.slice(i + 1).some((older) => older.number > file.number && overlap(file, older, order)));
}

/** A range of internal keys, both ends included. */
export type KeyRangeOfTable = Pick<FileMetadata, 'smallest' | 'largest'>;

/** Whether the ranges of two tables share a user key. */
export function overlap(a: KeyRangeOfTable, b: KeyRangeOfTable, order: KeyOrder): boolean {
  return compareUser(order, a.smallest, b.largest) <= 0 && compareUser(order, b.smallest, a.largest) <= 0;
}

/** The higher sequence of a table's first and last keys. */
function latestOf({ smallest, largest }: FileMetadata): bigint {
  const sequences = new SequenceRange();
  for (const key of [smallest, largest]) sequences.add(key, key.length);
  return sequences.bounds.newest;
}

/** The position of the first of sorted tables whose largest key is at or after `internalKey`; their number for none. */
export function firstAtOrAfter(files: readonly FileMetadata[], internalKey: Uint8Array, order: KeyOrder): number {
  let left = 0;
  let right = files.length;
  while (left < right) {
    const middle = (left + right) >>> 1;
    if (compareInternal(order, files[middle]!.largest, internalKey) < 0) left = middle + 1;
    else right = middle;
  }
  return left;
}

/**
 * Yields the reasons why tables cannot be those of one database.
 *
 * @param isOrdered whether `order` is the order of the database.
 */
export function* versionProblems(
  levels: readonly (readonly FileMetadata[])[],
  order: KeyOrder,
  isOrdered: boolean,
): Generator<string, void, undefined> {
  const compare = (a: Uint8Array, b: Uint8Array): number => compareInternal(order, a, b);
  const numbers = new Set<bigint>();
  let isComparable = isOrdered;
  for (const { number, smallest, largest } of levels.flat()) {
    if (numbers.has(number)) yield `table ${number} is listed twice`;
    numbers.add(number);
    if (Math.min(smallest.length, largest.length) < INTERNAL_KEY_TRAILER_LENGTH) {
      yield `the smallest or largest key of table ${number} is too short for an internal key`;
      isComparable = false;
    } else if (isOrdered && compare(smallest, largest) > 0) {
      yield `the smallest key of table ${number} is after its largest key`;
    }
  }
  if (!isComparable) return;
  for (const [level, unsorted] of levels.entries()) {
    if (level === 0) continue;
    // This holds for most levels: disjoint tables whose smallest keys come first are also sorted.
    if (unsorted.every(({ smallest }, i) => i === 0 || compare(unsorted[i - 1]!.largest, smallest) < 0)) continue;
    const files = sorted(unsorted, order);
    for (let i = 1; i < files.length; i++) {
      if (compare(files[i - 1]!.largest, files[i]!.smallest) < 0) continue;
      yield `tables ${files[i - 1]!.number} and ${files[i]!.number} overlap at level ${level}`;
    }
  }
}

/** The tables of a level by smallest key, then by number. */
function sorted(files: readonly FileMetadata[], order: KeyOrder): readonly FileMetadata[] {
  const isSorted = files.every((file, i) => i === 0 || compareInternal(order, files[i - 1]!.smallest, file.smallest) < 0);
  if (isSorted) return files;
  return [...files].sort((a, b) => compareInternal(order, a.smallest, b.smallest) || compareBigints(a.number, b.number));
}

/** Applies version edits one after another. */
export class VersionBuilder {
  readonly #levels: Map<bigint, FileMetadata>[];

  constructor(levels?: readonly ReadonlyMap<bigint, FileMetadata>[]) {
    this.#levels = Array.from({ length: LEVEL_COUNT }, (_, level) => new Map(levels?.[level]));
  }

  copy(): VersionBuilder {
    return new VersionBuilder(this.#levels);
  }

  /** Deletes first, then adds: a table that moves down a level is both in one edit. */
  apply({ deletedFiles = [], newFiles = [] }: VersionEdit): void {
    for (const { level, number } of deletedFiles) this.#levels[level]!.delete(number);
    for (const { level, file } of newFiles) this.#levels[level]!.set(file.number, file);
  }

  /** The remaining tables, by level. */
  get levels(): FileMetadata[][] {
    return this.#levels.map((files) => [...files.values()]);
  }

  /** The remaining tables, as a version. Parameters as those of {@link Version}. */
  build(order: KeyOrder, place: Place, isOrdered = true): Version {
    return new Version(this.levels, order, place, isOrdered);
  }
}
