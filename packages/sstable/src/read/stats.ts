/** What lookups have done so far. All counts except `bytesRead` start at 0 when the table is opened. */
export interface TableStats {
  /** Lookups that a filter ended without a read: the key is certainly absent. */
  readonly filterNegatives: number;
  /** Lookups for which the filter answered "maybe", and whose key was present. */
  readonly filterTruePositives: number;
  /** Lookups for which the filter answered "maybe", and whose key was absent. */
  readonly filterFalsePositives: number;
  /** Lookups that searched a block, read or cached, while the filters of the table were not read: see `filterStatus`. */
  readonly filtersUnread: number;
  /** Data blocks read from the source. */
  readonly blockReads: number;
  /** Data blocks found in the cache. */
  readonly cacheHits: number;
  /** Bytes of the blocks and filters that were read from the source, and of what was read to open the table. */
  readonly bytesRead: number;
}

/** The counts, to be incremented. */
export type MutableTableStats = { -readonly [Name in keyof TableStats]: TableStats[Name] };

/** Counts that are all 0, except for the bytes that opening has read. */
export function newTableStats(bytesRead: number): MutableTableStats {
  return { filterNegatives: 0, filterTruePositives: 0, filterFalsePositives: 0, filtersUnread: 0, blockReads: 0, cacheHits: 0, bytesRead };
}
