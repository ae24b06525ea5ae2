export {
  type DatabaseEntry,
  DatabaseTable,
  internalTableOptions,
  SyncDatabaseTable,
  type VersionOptions,
} from './database/database-table.js';
export { INTERNAL_KEY_TRAILER_LENGTH } from './format/bytewise-order.js';
export {
  decodeInternalKey,
  DELETION,
  encodeInternalKey,
  type InternalKey,
  internalKeyComparator,
  internalKeyPolicy,
  MAX_SEQUENCE,
  VALUE,
} from './format/internal-key.js';

// For @bloom/leveldb, which assembles whole databases: tables that say which block they need next, and both ways of
// reading it.
export { BlockSearch } from './format/block-search.js';
export { SAME, UNKNOWN } from './format/entry-search.js';
export { compareInternalBytes, type CompareRange } from './format/bytewise-order.js';
export { copyBytes } from './format/copy-bytes.js';
export { compareRangeOf } from './format/comparator.js';
export { BlockReader } from './read/block-reader.js';
export { ByteCopier } from './read/byte-copier.js';
export { DataBlocks } from './read/data-blocks.js';
export { KEY_RANGE, mustBeKeyRange } from './read/key-range.js';
export { ABSENT, Lookup } from './read/lookup.js';
export { onAbort } from './read/on-abort.js';
export { type OpenTable, readOpenTable } from './read/open.js';
export { decodingFor, DEFAULT_CACHE_BYTES, mustBeReading, mustNotBeAborted, readingFor, signalOf } from './read/options.js';
export { ReadAhead } from './read/read-ahead.js';
export { type ByteRange, type Reading, readRange, readRangeSync } from './read/reading.js';
export { type MutableTableStats, newTableStats } from './read/stats.js';
export { SyncReadAhead } from './read/sync-read-ahead.js';
export { SETTLED, type Side, TableCursor } from './read/table-cursor.js';
export { untilAborted } from './read/until-aborted.js';
