/**
 * Which tables to merge into the next level.
 *
 * Source: LevelDB, db/version_set.cc.
 */
import { beforeVersions, afterVersions } from '../format/database-key.js';
import type { CompactionPlan } from '../folder/table-thread.js';
import type { FileMetadata } from '../format/version-edit.js';
import { LEVEL_COUNT } from '../format/version-edit.js';
import { compareInternal, compareUser, type KeyOrder, type Version } from '../format/version.js';
import { fullLevels } from './level-scores.js';
import { boundsOf, type KeyBounds, MAX_GRANDPARENT_FILES, overlappingFiles, sizeOf } from './overlap.js';

/** The most bytes, in units of `maxFileSize`, up to which a compaction is enlarged. */
const MAX_EXPANDED_FILES = 25;

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
 * @param mayBeDone whether a compaction can be done. LevelDB picks only the first that is due, and stops if it cannot be done.
 *
 * Source: `VersionSet::PickCompaction`.
 */
export function pickCompaction(state: CompactionState, sought: FileMetadata | undefined, mayBeDone: (compaction: Compaction) => boolean = () => true): Compaction | undefined {
  const { version, order, compactPointers } = state;
  for (const level of fullLevels(version)) {
    const files = version.levels[level]!;
    const pointer = compactPointers.get(level);
    const first = pointer === undefined ? 0 : Math.max(0, files.findIndex(({ largest }) => compareInternal(order, largest, pointer) > 0));
    for (let i = 0; i < files.length; i++) {
      const compaction = compactionFrom(state, level, files[(first + i) % files.length]!);
      if (mayBeDone(compaction)) return compaction;
    }
  }
  if (sought === undefined) return undefined;
  const level = version.levels.findIndex((files) => files.includes(sought));
  if (level < 0) return undefined;
  const compaction = compactionFrom(state, level, sought);
  return mayBeDone(compaction) ? compaction : undefined;
}

function compactionFrom({ version, order, maxFileSize }: CompactionState, level: number, file: FileMetadata): Compaction {
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
