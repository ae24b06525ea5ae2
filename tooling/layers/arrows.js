/**
 * Which packages a package may import. Examples and apps may import any; what is not here may import none.
 *
 * @type {Record<string, string[]>}
 */
export const arrows = {
  hash: [],
  policy: ['hash'],
  'policy-blocked': ['policy', 'hash'],
  'filter-block': ['policy'],
  sstable: ['filter-block', 'policy'],
};
