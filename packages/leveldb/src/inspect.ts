export { comparatorName, comparatorNameSync } from './inspect/comparator-name.js';
export { isForeignName } from './format/engine-evidence.js';
export { type StoredEntriesOptions, storedEntries, storedEntriesSync } from './inspect/stored-entries.js';
export { type DatabaseFinding, type UncheckedInFile, verifyDatabase, type VerifyDatabaseOptions, type VerifyDatabaseReport } from './inspect/verify-database.js';
export { versionEditLayout } from './format/version-edit.js';
export { writeBatchLayout } from './format/write-batch.js';
export { storedCompression, type StoredCompression } from './inspect/stored-compression.js';
