export { FileSource, SyncFileSource } from './node/file-source.js';
export { type FileTable, openTable, openTableSync, type SyncFileTable } from './node/file-table.js';
export { FolderSyncError } from './node/replacement.js';
export { type EntryInput, writeTable, type WriteTableOptions } from './node/write-table.js';
