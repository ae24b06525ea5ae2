/**
 * Which packages a package may import. Examples and apps may import any package. A package that is not listed may import
 * none.
 *
 * @type {Record<string, string[]>}
 */
export const arrows = {
  bytes: [],
  crc32c: [],
  hash: ['bytes'],
  policy: ['hash', 'bytes'],
  'policy-blocked': ['policy', 'hash'],
  'filter-block': ['policy', 'bytes'],
  log: ['bytes', 'crc32c'],
  sstable: ['filter-block', 'policy', 'bytes', 'crc32c'],
  leveldb: ['sstable', 'log', 'policy', 'hash', 'bytes'],
  codecs: ['sstable'],
};

/**
 * Which rooms (folders in a package's `src`) a room may import. Entry points, the files in `src` itself, may import any room.
 *
 * @type {Record<string, Record<string, string[]>>}
 */
export const rooms = {
  sstable: {
    format: [],
    compression: ['format'],
    read: ['format', 'compression'],
    write: ['format', 'compression'],
    inspect: ['format', 'compression', 'read', 'database'],
    database: ['format', 'read'],
    node: ['read', 'write'],
    http: ['read'],
  },
};
