/**
 * How full a level may be.
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
