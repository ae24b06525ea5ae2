export { BlockCache } from './read/block-cache.js';
export type { ReadingOptions } from './read/block-reader.js';
export type { BlockHandle } from './format/block-handle.js';
export type { Codec } from './format/codec.js';
export { bytewiseComparator, type Comparator } from './format/comparator.js';
export { CorruptionError, type CorruptionCode, type Structure, UnsupportedError, type UnsupportedCode } from '@bloom/bytes';
export type { FilterStatus } from './read/filter-status.js';
export type { KeyRange } from './read/key-range.js';
export type { TableStats } from './read/open-table.js';
export type { LayoutOptions } from './inspect/layout.js';
export type { LostRange, SalvageOptions, SalvageReport } from './inspect/salvage.js';
export type { Finding, FindingCode } from './inspect/survey.js';
export type { VerifyOptions } from './inspect/verify.js';
export { snappyCodec } from './compression/snappy.js';
export { MemorySource, type Source, type SyncSource } from './read/source.js';
export { type SyncCursor, SyncTable } from './read/sync-table.js';
export { MemorySink, type TableSink } from './write/sink.js';
export { TableBuilder, type TableInfo } from './write/table-builder.js';
export type { TableProfile } from './inspect/profile.js';
export type { TableOptions } from './read/table-options.js';
export type { TableBuilderOptions } from './write/options.js';
export {
  type AsyncKeyRange,
  type AsyncTableOptions,
  type Cursor,
  salvagedEntries,
  salvageTable,
  Table,
  tableLayout,
  verifyTable,
} from './read/table.js';
