export {
  type DatabaseEntry,
  DatabaseTable,
  internalTableOptions,
  SyncDatabaseTable,
  type VersionOptions,
} from './database/database-table.js';
export {
  decodeInternalKey,
  DELETION,
  encodeInternalKey,
  INTERNAL_KEY_TRAILER_LENGTH,
  type InternalKey,
  internalKeyComparator,
  internalKeyPolicy,
  MAX_SEQUENCE,
  VALUE,
} from './database/internal-key.js';

// What a whole database is put together of, for @bloom/leveldb: a table that says which block it needs next, and the two
// ways of reading it.
export type { BlockCursor } from './format/block.js';
export { type CompareRange, compareRangeOf } from './format/comparator.js';
export { BlockReader, DEFAULT_GAP_BYTES, DEFAULT_READ_AHEAD_BYTES, type ReadAhead } from './read/block-reader.js';
export { ABSENT, OpenTable } from './read/open-table.js';
export { type ByteRange, type Reading, readRange, readRangeSync } from './read/reading.js';
export { SETTLED, type Side, TableCursor } from './read/table-cursor.js';
export { ByteCopier } from './read/byte-copier.js';
