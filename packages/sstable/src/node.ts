export { FileSource, SyncFileSource } from './node/file-source.js';
export { type EntryInput, writeTable, type WriteTableOptions } from './node/write-table.js';
