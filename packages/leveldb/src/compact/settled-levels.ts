/**
 * The levels of a database as they will be when no compaction is due: entries that a level cannot hold have moved to deeper levels.
 *
 * While many entries are written, the upper levels hold far more than they do afterwards. Filters that are chosen for that moment
 * stay for long in the tables of the lower levels, so they are chosen for the levels that will be.
 */
import { fitsInLevel, maxBytesOf } from './level-scores.js';
import type { FilteredTable, NewTables } from './new-table-bits.js';

/**
 * How many times as large the next level must be as what comes down to it from the level that is written to. Into a smaller one most
 * tables move as they are, with the filters that they have: these must not be as rich as those of the few that stay. With once
 * instead of three times, 2.1% of absent keys cost a read after 8.6 million entries were loaded, in place of 1.8%.
 */
const LEAST_BELOW = 3;

/** A table, its filters, and the bytes of its file. */
export interface SizedTable extends FilteredTable {
  readonly bytes: number;
}

export interface SizedTables extends NewTables {
  readonly bytes: number;
}

/** @param kept the tables of each level that stay when `added` are written. */
export function settledLevels(
  kept: readonly (readonly SizedTable[])[],
  added: SizedTables,
): {
  /** What each level will hold in addition to the added tables. The filters of tables that come down are unknown, as those are rewritten. */
  readonly levels: SizedTable[][];
  /** How many keys of the added tables stay in their level. */
  readonly addedKeys: number;
} {
  let staying = 1;
  let falling: SizedTable[] = [];
  const levels = kept.map((tables, level) => {
    const present = [...tables, ...falling];
    falling = [];
    // Levels below that of the added tables have compactions of their own later.
    if (level > added.level) return present;
    const isTheirs = level === added.level;
    if (isTheirs && level > 0) {
      const excess = added.bytes + bytesOf(present) - maxBytesOf(level);
      if (LEAST_BELOW * excess > bytesOf(kept[level + 1] ?? [])) return present;
      staying = Math.min(1, maxBytesOf(level) / added.bytes);
    }
    let count = isTheirs ? 1 : 0;
    let bytes = isTheirs ? added.bytes * staying : 0;
    const firstTooMuch = present.findIndex((table) => !fitsInLevel(level, ++count, (bytes += table.bytes)));
    if (firstTooMuch >= 0) falling = present.splice(firstTooMuch).map((table) => ({ ...table, filterBits: undefined }));
    if (staying < 1) falling.push({ keys: added.keys * (1 - staying), bytes: added.bytes * (1 - staying), filterBits: undefined });
    return present;
  });
  return { levels, addedKeys: added.keys * staying };
}

function bytesOf(tables: readonly SizedTable[]): number {
  return tables.reduce((sum, { bytes }) => sum + bytes, 0);
}
