export { FileSource, SyncFileSource } from './node/file-source.js';
export { FolderSyncError } from './node/replacement.js';
export { type EntryInput, writeTable, type WriteTableOptions } from './node/write-table.js';
