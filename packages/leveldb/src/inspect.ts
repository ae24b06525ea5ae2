export { type DatabaseFinding, type DatabaseVerification, type UncheckedInFile, verifyDatabase, type VerifyDatabaseOptions } from './verify-database.js';
export { versionEditLayout } from './version-edit.js';
export { writeBatchLayout } from './write-batch.js';
