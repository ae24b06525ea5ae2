export { type IndexedDbKey, encodeKey } from './indexed-db/key.js';
export type { DatabaseInformation, IndexDescription, KeyPath, StoreDescription } from './indexed-db/metadata.js';
export { type BlobFolder, type IndexedDbOptions, IndexedDbReader, type RecordRange, type StoredRecord, type StoredRecordVersion } from './indexed-db/indexed-db-reader.js';
export { LocalStorageReader, type StorageItem, type StorageItemVersion, type StoredOrigin } from './storage/local-storage-reader.js';
export { type SessionItem, type SessionItemVersion, type SessionNamespace, SessionStorageReader } from './storage/session-storage-reader.js';
export { type DecodedValue, decodeValue, type ValueContext } from './value/blink-value.js';
export { type ExternalObject, HostObject, StoredBlob } from './value/host-object.js';
export { type StoredStructure, WebStorageError, type WebStorageErrorCode } from './web-storage-error.js';
