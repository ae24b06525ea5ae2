export {
  type DatabaseEntry,
  DatabaseTable,
  SyncDatabaseTable,
  type VersionOptions,
} from './database/database-table.js';
export {
  decodeInternalKey,
  DELETION,
  encodeInternalKey,
  type InternalKey,
  internalKeyComparator,
  internalKeyPolicy,
  MAX_SEQUENCE,
  VALUE,
} from './database/internal-key.js';
