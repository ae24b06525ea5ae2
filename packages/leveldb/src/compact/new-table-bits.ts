/**
 * Chooses the bits per key of a new table's filters, so that lookups of absent keys read as few blocks as possible for the total size of all
 * filters.
 *
 * Such a lookup asks each table of level 0, and one of each deeper level. A filter with b bits per key lets e^(-b ln²2) of the
 * keys pass, and costs b times the keys of its level, so a level with a tenth of the keys should have 4.8 more bits: bits
 * per key are a sum that all levels share, less the logarithm of a level's keys.
 *
 * Source: Dayan, Athanassoulis, Idreos, "Monkey: Optimal Navigable Key-Value Store" (SIGMOD 2017), section 4.1.
 */

/** A table, as far as its filters matter. */
export interface FilteredTable {
  /** How many keys it has. */
  readonly keys: number;
  /** Bits of its filters; undefined where they are not known. */
  readonly filterBits: number | undefined;
}

/** The tables that are about to be written. */
export interface NewTables {
  readonly level: number;
  /** How many keys they have together. */
  readonly keys: number;
}

/** More bits would not add a probe: LevelDB's filter has at most 30. */
const MOST_BITS = 44;
/**
 * How many bits per key the choice may differ from the value that would be right if all tables were written anew. Tables that were written with
 * other settings, or for another level, stay as they are, and a single new table must not make up for all of them.
 */
const MOST_ABOVE = 1;
const MOST_BELOW = 2;
/** With one more bit per key, e^-0.48 of the absent keys that passed before still pass. */
const PER_BIT = Math.LN2 ** 2;

/**
 * The bits per key of tables that are about to be written.
 *
 * @param kept the tables of each level that stay.
 * @param averageBits per key, over all tables.
 * @returns a whole number; 0 for no filters.
 */
export function bitsOfNewTables(kept: readonly (readonly FilteredTable[])[], { level, keys }: NewTables, averageBits: number): number {
  const levelKeys = kept.map((tables, i) => tables.reduce((sum, table) => sum + table.keys, i === level ? keys : 0));
  const budget = averageBits * levelKeys.reduce((sum, some) => sum + some, 0);
  /** The keys among which a lookup asks one filter. */
  const runKeys = (table: { readonly keys: number }, i: number): number => (i === 0 ? table.keys : levelKeys[i]!);
  const ownRun = runKeys({ keys }, level);
  /** Bits of the new tables and of those in some levels. Tables that are kept have at least `least` of them. */
  const bitsOf = (offset: number, isCounted: (i: number) => boolean, least: (table: FilteredTable) => number): number => {
    let bits = keys * bitsAt(offset, ownRun);
    for (const [i, tables] of kept.entries()) {
      if (isCounted(i)) for (const table of tables) bits += Math.max(least(table), table.keys * bitsAt(offset, runKeys(table, i)));
    }
    return bits;
  };
  const ideal = largestOffset((offset) => bitsOf(offset, () => true, () => 0) <= budget);
  // The levels above will be rewritten soon. The other levels stay as they are for long; where their bits are not known, they are assumed to be
  // right.
  let spent = 0;
  for (const [i, tables] of kept.entries()) {
    if (i >= level) for (const table of tables) spent += table.filterBits ?? table.keys * bitsAt(ideal, runKeys(table, i));
  }
  const affordable = largestOffset((offset) => spent + bitsOf(offset, (i) => i < level, ({ filterBits = 0 }) => filterBits) <= budget);
  const offset = Math.min(Math.max(affordable, ideal - MOST_BELOW * PER_BIT), ideal + MOST_ABOVE * PER_BIT);
  // Rounded down, because the sum is a limit. The remainder goes to the next tables.
  return Math.floor(bitsAt(offset, ownRun) + 1e-6);
}

/** The bits per key among `keys` keys. @param offset what all levels have in common, as a logarithm of the number of keys. */
function bitsAt(offset: number, keys: number): number {
  return Math.min(Math.max((offset - Math.log(Math.max(1, keys))) / PER_BIT, 0), MOST_BITS);
}

/** About the largest offset that is affordable. All offsets below an affordable one are affordable. */
function largestOffset(isAffordable: (offset: number) => boolean): number {
  let low = 0;
  let high = Math.log(Number.MAX_SAFE_INTEGER) + MOST_BITS * PER_BIT;
  for (let i = 0; i < 40; i++) {
    const middle = (low + high) / 2;
    if (isAffordable(middle)) low = middle;
    else high = middle;
  }
  return low;
}
