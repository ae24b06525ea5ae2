export { fileIdentity, FileSource, type FileSourceOptions, SyncFileSource } from './node/file-source.js';
export { type FileTableOptions, openTable, openTableSync } from './node/file-table.js';
export { ReadPace } from './node/read-pace.js';
export { FolderSyncError } from './node/replacement.js';
export { TableWriter } from './node/table-writer.js';
export { type EntryInput, writeTable, type WriteTableOptions } from './node/write-table.js';
export { writeTableFile } from './node/write-table-file.js';
