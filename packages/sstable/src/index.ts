export { BlockCache } from './block-cache.js';
export type { ReadingOptions } from './block-reader.js';
export type { BlockHandle } from './block-handle.js';
export type { Codec } from './codec.js';
export { bytewiseComparator, type Comparator } from './comparator.js';
export { CorruptionError, type CorruptionCode, type Structure, UnsupportedError, type UnsupportedCode } from './errors.js';
export type { FilterStatus } from './filter-status.js';
export type { KeyRange } from './key-range.js';
export type { TableStats } from './open-table.js';
export type { LayoutOptions } from './layout.js';
export type { LostRange, SalvageOptions, SalvageReport } from './salvage.js';
export type { Finding, FindingCode } from './survey.js';
export type { VerifyOptions } from './verify.js';
export { snappyCodec } from './snappy.js';
export { MemorySource, type Source, type SyncSource } from './source.js';
export { type SyncCursor, SyncTable } from './sync-table.js';
export { MemorySink, TableBuilder, type TableInfo } from './table-builder.js';
export type { TableSink } from './table-output.js';
export type { TableProfile } from './table-profile.js';
export type { TableBuilderOptions, TableOptions } from './table-options.js';
export {
  type AsyncKeyRange,
  type AsyncTableOptions,
  type Cursor,
  salvagedEntries,
  salvageTable,
  Table,
  tableLayout,
  verifyTable,
} from './table.js';
