export {
  type DatabaseEntry,
  DatabaseTable,
  internalTableOptions,
  SyncDatabaseTable,
} from './database/database-table.js';
export type { SequenceOptions } from './database/sequence.js';
export { INTERNAL_KEY_TRAILER_LENGTH } from './format/bytewise-order.js';
export {
  decodeInternalKey,
  DELETION,
  encodeInternalKey,
  type EntryKind,
  type InternalKey,
  internalKeyComparator,
  internalKeyPolicy,
  kindOfType,
  MAX_SEQUENCE,
  typeOfKind,
  VALUE,
} from './format/internal-key.js';

// For programs that look into tables: the command line and the explorer.
export { isLikelyInternalKey, MAX_TYPE } from './format/internal-key.js';

// For @bloom/leveldb, which assembles whole databases: tables that say which block they need next, and both ways of
// reading it.
export { mustBeSequence } from './database/sequence.js';
export { BlockSearch, dataBlockSearches } from './format/block-search.js';
export { SAME, UNKNOWN } from './format/entry-search.js';
export { compareBytes, compareInternalBytes, type CompareRange } from './format/bytewise-order.js';
export { checkedComparator, comparatorOf, compareRangeOf, mustBeComparator } from './format/checked-comparator.js';
export { BlockReader } from './read/block-reader.js';
export { ByteCopier } from './read/byte-copier.js';
export { DataBlocks } from './read/data-blocks.js';
export { CursorBounds } from './read/cursor-bounds.js';
export { type Bound, KeyBounds } from './read/key-bounds.js';
export { afterPrefix, mayHavePrefix, mustHavePrefixes } from './read/key-prefix.js';
export { CURSOR_OPTIONS, fillsCache, KEY_RANGE, mustBeKeyRange } from './read/key-range.js';
export { ManyEntries } from './read/many-entries.js';
export { lookupFailureOf, TableTrace } from './read/table-explanation.js';
export { ABSENT, TableLookup } from './read/table-lookup.js';
export { onAbort } from './read/on-abort.js';
export { type BlockCompression, compressionName, findCompressedBlock, readCompression, readCompressionName } from './read/block-compression.js';
export { type OpenTable, readOpenTable } from './read/open.js';
export { NO_COMPRESSION } from './format/codec.js';
export { missingCodec } from './format/stored-block.js';
export { encryptedContentId, encryptedText, ENCRYPTION_HEADER_LENGTH } from './format/encrypted-file.js';
export { engineOfTable, type ForeignTable, TABLE_MAGIC_LENGTH } from './format/footer.js';
export { decodingFor, DEFAULT_CACHE_BYTES, mustBeReading, mustNotBeAborted, readingFor, signalOf } from './read/options.js';
export { ReadAhead } from './read/read-ahead.js';
export { ReadGate } from './read/read-gate.js';
export { type ByteRange, type Reading, readRange, readRangeAtOnce, readRangeSync } from './read/reading.js';
export { isRequestBound } from './read/request-bound.js';
export { type MutableTableStats, newTableStats } from './read/stats.js';
export { StoredScratch } from './read/stored-scratch.js';
export { SyncReadAhead } from './read/sync-read-ahead.js';
export { SETTLED, type Side, TableCursor } from './read/table-cursor.js';
export { untilAborted } from './read/until-aborted.js';
