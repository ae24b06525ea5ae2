/** The files of the sample database, listed so that the page does not request logs that do not exist. */
export const SAMPLE_DATABASE_FILES: readonly string[] = [
  'CURRENT',
  'MANIFEST-000002',
  '000003.ldb',
  '000004.ldb',
  '000005.ldb',
  '000006.ldb',
  '000007.ldb',
  '000008.ldb',
  '000009.ldb',
  '000010.ldb',
  '000011.ldb',
  '000012.ldb',
  '000013.log',
];

/** The files of the sample of a browser's profile. */
export const STORED_SAMPLE_FILES: readonly string[] = [
  'IndexedDB/https_notes.example_0.indexeddb.blob/1/00/2',
  'IndexedDB/https_notes.example_0.indexeddb.blob/1/00/3',
  'IndexedDB/https_notes.example_0.indexeddb.leveldb/000003.log',
  'IndexedDB/https_notes.example_0.indexeddb.leveldb/CURRENT',
  'IndexedDB/https_notes.example_0.indexeddb.leveldb/MANIFEST-000001',
  'Local Storage/leveldb/000003.log',
  'Local Storage/leveldb/CURRENT',
  'Local Storage/leveldb/MANIFEST-000001',
  'Session Storage/000003.log',
  'Session Storage/CURRENT',
  'Session Storage/MANIFEST-000001',
];

/** The URL of a sample, by its path below `samples/`. */
export function sampleUrl(path: string): string {
  return new URL(`samples/${path}`, document.baseURI).href;
}
