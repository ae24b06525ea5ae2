export {
  type DatabaseEntry,
  DatabaseTable,
  SyncDatabaseTable,
  type VersionOptions,
} from './database-table.js';
export {
  decodeInternalKey,
  DELETION,
  encodeInternalKey,
  type InternalKey,
  internalKeyComparator,
  internalKeyPolicy,
  MAX_SEQUENCE,
  VALUE,
} from './internal-key.js';
