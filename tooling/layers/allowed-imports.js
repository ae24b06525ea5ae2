/**
 * Which packages a package may import. Examples and apps may import any package. A package that is not listed may import
 * none.
 *
 * @type {Record<string, string[]>}
 */
export const arrows = {
  bytes: [],
  crc32c: ['bytes'],
  hash: ['bytes'],
  policy: ['hash', 'bytes'],
  'policy-blocked': ['policy', 'hash'],
  'policy-ribbon': ['policy', 'hash', 'bytes'],
  'policy-fuse': ['policy', 'hash', 'bytes'],
  'filter-block': ['policy', 'bytes'],
  log: ['bytes', 'crc32c'],
  sstable: ['filter-block', 'policy', 'bytes', 'crc32c'],
  leveldb: ['sstable', 'log', 'policy', 'hash', 'crc32c', 'bytes'],
  level: ['leveldb', 'bytes'],
  bulk: ['leveldb', 'sstable', 'log', 'policy', 'bytes'],
  codecs: ['sstable'],
  'web-storage': ['leveldb', 'sstable', 'bytes'],
  // Private: the apps include it in their bundles.
  report: ['sstable', 'policy', 'hash', 'bytes'],
};

/**
 * Which folders of a package's `src` each of these folders may import. Entry points, the files in `src` itself, may import any folder.
 *
 * @type {Record<string, Record<string, string[]>>}
 */
export const folders = {
  sstable: {
    format: [],
    compression: ['format'],
    read: ['format', 'compression'],
    write: ['format', 'compression'],
    inspect: ['format', 'compression', 'read'],
    database: ['format', 'read'],
    node: ['read', 'write'],
    http: ['read'],
    contract: ['format'],
  },
  leveldb: {
    format: [],
    folder: ['format'],
    cursor: ['format', 'folder'],
    memtable: ['format', 'folder', 'cursor'],
    table: ['format', 'folder', 'cursor', 'memtable'],
    read: ['format', 'folder', 'cursor', 'memtable', 'table'],
    compact: ['format', 'folder', 'cursor', 'memtable', 'table'],
    write: ['format', 'folder', 'cursor', 'memtable', 'table', 'read', 'compact'],
    inspect: ['format', 'folder', 'cursor', 'memtable', 'table', 'read'],
    node: ['format', 'folder', 'cursor', 'compact', 'write'],
    opfs: ['format', 'folder'],
    http: ['format', 'folder'],
    contract: ['format', 'folder'],
  },
  bulk: {
    part: [],
    store: ['part'],
    run: ['part', 'store'],
    publication: ['part', 'store', 'run'],
    s3: ['part', 'store'],
    r2: ['part', 'store'],
    node: ['part', 'store'],
  },
};

/** The example in `packages` that the explorer shows in its story. */
export const exampleOfExplorer = 'example-trailing-space-policy';
