/**
 * How full a level is: its score, the ratio to its limit, from 1 on which a compaction is due.
 *
 * Source: LevelDB, db/version_set.cc.
 */
import { LEVEL_COUNT } from '../format/version-edit.js';
import type { Version } from '../format/version.js';

/** The number of tables in level 0 that makes a compaction due. */
const LEVEL_0_TRIGGER = 4;

/** The size limit of a level from 1 on, in bytes: 10 MiB at level 1, and ten times as much at each next level; the last has none. */
export function maxBytesOf(level: number): number {
  return level === LEVEL_COUNT - 1 ? Infinity : 10 * 2 ** 20 * 10 ** (level - 1);
}

/** The levels in which a compaction is due, the fullest in relation to its limit first. Source: `VersionSet::Finalize`, which wants the first. */
export function fullLevels({ levels, levelBytes }: Version): number[] {
  const scores = levelBytes.map((bytes, level) => (level === 0 ? levels[0]!.length / LEVEL_0_TRIGGER : bytes / maxBytesOf(level)));
  // Of two levels that are as full, the upper one stays first.
  return [...scores.keys()].filter((level) => scores[level]! >= 1).sort((a, b) => scores[b]! - scores[a]!);
}

/** Whether a level can hold `count` tables of `bytes` bytes without a compaction becoming due. */
export function fitsInLevel(level: number, count: number, bytes: number): boolean {
  if (level === 0) return count < LEVEL_0_TRIGGER;
  return bytes < maxBytesOf(level);
}

/** Whether a level is so full that a compaction is due. */
export function isTooFull(version: Version): boolean {
  return fullLevels(version).length > 0;
}
