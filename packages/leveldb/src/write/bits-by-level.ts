import { shownValue } from '@bloom/bytes/internal';
import { type FilteredTable, bitsOfNewTables } from '../compact/new-table-bits.js';
import { settledLevels, type SizedTable, type SizedTables } from '../compact/settled-levels.js';
import type { CompactionPlan } from '../folder/table-thread.js';
import { type FileMetadata, LEVEL_COUNT } from '../format/version-edit.js';
import type { Version } from '../format/version.js';
import type { Memtable } from '../memtable/memtable.js';

/**
 * Bits per key of LevelDB's Bloom filter by the level of a table.
 *
 * - an array: the bits of level 0, of level 1, and so on; the last element also applies to all deeper levels.
 * - a function of the level, from 0 to 6; it is called once for each, when the database is opened.
 * - `'auto'`, or `{ average }`: the bits with which a lookup of an absent key reads the fewest blocks, for filters of the same total size
 *   as with `average` bits for every key; 10 for `'auto'`. Upper levels have few keys, so giving them many bits costs little.
 *
 * Bits are whole numbers; 0 means tables without filters. `average` is above 0 and at most 64.
 */
export type BitsByLevel = readonly number[] | ((level: number) => number) | 'auto' | { readonly average: number };

/** The bits of each level, or their average. */
export type LevelBits = readonly number[] | { readonly average: number };

const DEFAULT_AVERAGE = 10;
/** More bits do not make LevelDB's filter better. */
const MAX_AVERAGE = 64;
const MAX_BITS = 2 ** 31 - 1;

/** @throws TypeError or RangeError for a wrong option. */
export function levelBitsOf(given: BitsByLevel): LevelBits {
  // The caller may not be checked by a compiler.
  const option = given as BitsByLevel | null;
  if (option === 'auto') return { average: DEFAULT_AVERAGE };
  if (Array.isArray(option) || typeof option === 'function') {
    if (typeof option !== 'function' && (option.length === 0 || option.length > LEVEL_COUNT)) {
      throw new RangeError(`bitsPerKey must have from 1 to ${LEVEL_COUNT} elements, one for each level, got ${option.length}`);
    }
    const perLevel = option as readonly number[] | ((level: number) => number);
    return Array.from({ length: LEVEL_COUNT }, (_, level) => {
      const bits: unknown = typeof perLevel === 'function' ? perLevel(level) : perLevel[Math.min(level, perLevel.length - 1)];
      if (typeof bits === 'number' && Number.isInteger(bits) && bits >= 0 && bits <= MAX_BITS) return bits;
      throw new RangeError(`bitsPerKey of level ${level} must be a whole number from 0 to 2^31 - 1, got ${shownValue(bits)}`);
    });
  }
  if (typeof option !== 'object' || option === null || !('average' in option)) {
    throw new TypeError("bitsPerKey must be an array with an element for each level, a function of the level, 'auto', or { average }");
  }
  const { average } = option;
  if (!(typeof average === 'number' && average > 0 && average <= MAX_AVERAGE)) {
    throw new RangeError(`bitsPerKey.average must be above 0 and at most ${MAX_AVERAGE}, got ${shownValue(average)}`);
  }
  return { average };
}

/** Finds the number of keys and the filters of tables, in their order; undefined for a table that cannot be read. */
export type FilterLook = (files: readonly FileMetadata[]) => Promise<readonly (FilteredTable | undefined)[]>;

/** Chooses the bits per key of tables that are about to be written. */
export class BitsChoice {
  readonly #bits: LevelBits;
  readonly #look: FilterLook | undefined;
  /** The tables at the last choice, by their numbers. */
  #known = new Map<bigint, FilteredTable | undefined>();

  /** @param look if undefined, the filters are assumed to have the bits that they should have. */
  constructor(bits: LevelBits, look?: FilterLook) {
    this.#bits = bits;
    this.#look = look;
  }

  /** The bits for a memtable's table in a level of `version`. */
  async ofMemtable(level: number, { count, memoryUsage }: Memtable, version: Version): Promise<number> {
    const bits = this.#bits;
    if (!('average' in bits)) return bits[level]!;
    const levels = await this.#levelsOf(version, memoryUsage / Math.max(1, count));
    return averageBits(levels, { level, keys: count, bytes: memoryUsage }, bits.average);
  }

  /** The bits for the tables that a compaction makes. */
  async ofCompaction({ level, inputs }: CompactionPlan, version: Version): Promise<number> {
    const bits = this.#bits;
    if (!('average' in bits)) return bits[level + 1]!;
    const merged = new Set(inputs.flat());
    const added = { level: level + 1, keys: 0, bytes: 0 };
    const levels = await this.#levelsOf(version, 1);
    const kept = levels.map((tables, i) =>
      tables.filter((table, j) => {
        if (!merged.has(version.levels[i]![j]!)) return true;
        added.keys += table.keys;
        added.bytes += table.bytes;
        return false;
      }),
    );
    return averageBits(kept, added, bits.average);
  }

  /** @param usualBytesPerKey is used when no table's number of keys is known. */
  async #levelsOf({ levels, files }: Version, usualBytesPerKey: number): Promise<SizedTable[][]> {
    const unknown = this.#look === undefined ? [] : files.filter(({ number }) => !this.#known.has(number));
    const looked = unknown.length === 0 ? [] : await this.#look!(unknown);
    const known = new Map(files.map(({ number }) => [number, this.#known.get(number)]));
    for (const [i, { number }] of unknown.entries()) known.set(number, looked[i]);
    this.#known = known;
    let bytes = 0;
    let keys = 0;
    for (const { number, size } of files) {
      const table = known.get(number);
      if (table === undefined) continue;
      bytes += size;
      keys += table.keys;
    }
    const bytesPerKey = keys > 0 ? bytes / keys : usualBytesPerKey;
    return levels.map((some) => some.map(({ number, size }) => ({ bytes: size, ...(known.get(number) ?? { keys: size / bytesPerKey, filterBits: undefined }) })));
  }
}

function averageBits(kept: readonly (readonly SizedTable[])[], added: SizedTables, average: number): number {
  const { levels, addedKeys } = settledLevels(kept, added);
  return bitsOfNewTables(levels, { level: added.level, keys: addedKeys }, average);
}
