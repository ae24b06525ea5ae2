export { type CorruptionCode, CorruptionError, type Structure, type UnsupportedCode, UnsupportedError } from '@bloom/bytes';
export { BlockCache, type Comparator, ComparatorError, bytewiseComparator } from '@bloom/sstable';
export type { Dropped } from './folder/damage.js';
export type { AsyncDatabaseKeyRange, AsyncReadOptions } from './read/async-base-reader.js';
export type { CursorEntry } from './read/base-database-cursor.js';
export type { DatabaseCursor } from './read/database-cursor.js';
export { DatabaseReader } from './read/database-reader.js';
export type { DatabaseDescription, LevelFilters, LogDescription, TableDescription } from './read/description.js';
export { type FileName, parseFileName } from './format/file-name.js';
export { type Folder, FolderError, type FolderErrorCode, type FolderFile, type SyncFolder, type SyncFolderFile } from './folder/folder.js';
export type {
  AskedMemtable,
  AskedTable,
  FoundVersion,
  LookupExplanation,
  LookupOutcome,
  LookupStep,
  NotAsked,
  PassedLevel,
  PassedMemtable,
  PassedTable,
} from './read/lookup-explanation.js';
export { ClosedError } from './read/open-state.js';
export { MemoryFolder } from './folder/memory-folder.js';
export type { DatabaseCursorOptions, MakeOfBytes, StoredEntry, StoredVersion } from './read/read-path.js';
export type { DatabaseFilterStatus, ReaderStats } from './read/base-reader.js';
export type { AsyncReaderOptions, ReaderOptions, SyncReaderOptions } from './read/reader-options.js';
export { foreignEngine } from './inspect/foreign-engine.js';
export type { ForeignEngine, ForeignEngineName } from './format/engine-evidence.js';
export type { DatabaseKeyRange } from './read/database-range.js';
export type { SyncDatabaseCursor } from './read/sync-database-cursor.js';
export { SyncDatabaseReader } from './read/sync-database-reader.js';
export { decodeVersionEdit, encodeVersionEdit, type FileMetadata, type VersionEdit } from './format/version-edit.js';
export { type BatchProblem, WriteBatch, WriteBatchReader } from './format/write-batch.js';
export { DatabaseError, type DatabaseErrorCode, type LockHolder } from './folder/database-error.js';
export type { FolderLock, PinnedFolder, WritableFile, WritableFolder } from './folder/writable-folder.js';
export { WritableMemoryFolder } from './folder/writable-memory-folder.js';
export type { ClearRange } from './write/clear-range.js';
export { Database, type WriteOptions } from './write/database.js';
export type { DatabaseEvent, TableInLevel, TableMade } from './write/database-event.js';
export type { BitsByLevel } from './write/bits-by-level.js';
export type { DatabaseOptions } from './write/database-options.js';
export type { RefilterDatabaseOptions, RefilterProgress, RefilterReport } from './write/refilter.js';
export type { RepairOptions } from './write/repair/repair.js';
export type { RepairReport, SetAside, SetAsideReason } from './write/repair/repair-report.js';
export type { DatabaseSnapshot } from './write/snapshot.js';
