export {
  type DatabaseEntry,
  DatabaseTable,
  internalTableOptions,
  SyncDatabaseTable,
} from './database/database-table.js';
export type { SequenceOptions } from './database/sequence.js';
export { INTERNAL_KEY_TRAILER_LENGTH } from './format/bytewise-order.js';
export {
  decodeInternalKey,
  DELETION,
  encodeInternalKey,
  type EntryKind,
  type InternalKey,
  internalKeyComparator,
  internalKeyPolicy,
  kindOfType,
  MAX_SEQUENCE,
  typeOfKind,
  VALUE,
} from './format/internal-key.js';

// For programs that look into tables: the command line and the explorer.
export { isLikelyInternalKey, MAX_TYPE } from './format/internal-key.js';
