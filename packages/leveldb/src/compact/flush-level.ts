/**
 * Which level the table of a flushed memtable goes to.
 *
 * Source: LevelDB, db/version_set.cc, `Version::PickLevelForMemTableOutput`.
 */
import { type KeyOrder, type KeyRangeOfTable, overlap, type Version } from '../format/version.js';
import { type KeyBounds, MAX_GRANDPARENT_FILES, overlappingFiles, overlapsLevel, sizeOf } from './overlap.js';

/** The deepest level into which a memtable is flushed when no table overlaps it. */
const MAX_FLUSH_LEVEL = 2;

/** The level that a merge in progress writes to, and the range of its inputs, within which its tables will be. */
export interface MergeTarget extends KeyRangeOfTable {
  readonly level: number;
}

/**
 * The level for a flushed memtable.
 *
 * @param target of the merge during which the memtable is flushed. The table must not be where the merge's tables will be: the inputs of a
 *   merge that a caller asked for can have gaps between them. LevelDB 1.23 does not look at this, and ends up with overlapping tables.
 */
export function levelForFlush(
  version: Version,
  order: KeyOrder,
  range: KeyRangeOfTable,
  maxFileSize: number,
  target?: MergeTarget,
): number {
  const bounds: KeyBounds = { begin: range.smallest, end: range.largest };
  const isTaken = (level: number): boolean => overlapsLevel(version, level, order, bounds) || (target?.level === level && overlap(target, range, order));
  if (isTaken(0)) return 0;
  let level = 0;
  while (level < MAX_FLUSH_LEVEL && !isTaken(level + 1)) {
    if (sizeOf(overlappingFiles(version, level + 2, order, bounds)) > MAX_GRANDPARENT_FILES * maxFileSize) break;
    level++;
  }
  return level;
}
