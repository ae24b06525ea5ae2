// For the packages, the tests and the tools of this repository. It promises nothing: any release may change it.
export { isCanonicalName } from './format/file-name.js';
export { isNamedByBytes } from './format/published-name.js';
export { mustBePlainName } from './folder/folder.js';
export { turn } from './folder/pacer.js';
export { laterSequences } from './write/clear-range.js';
export { announceLastWork } from './write/folder-hold.js';
export type { CompactedTables, CompactionRequest, MemtableArrays, NeededPlugins, TableThread, TableThreadSettings, WrittenTable } from './folder/table-thread.js';
