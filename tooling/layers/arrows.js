/**
 * Which packages a package may import. Examples and apps may import any; what is not here may import none.
 *
 * @type {Record<string, string[]>}
 */
export const arrows = {
  bytes: [],
  crc32c: [],
  hash: [],
  policy: ['hash', 'bytes'],
  'policy-blocked': ['policy', 'hash'],
  'filter-block': ['policy', 'bytes'],
  sstable: ['filter-block', 'policy', 'bytes', 'crc32c'],
};
