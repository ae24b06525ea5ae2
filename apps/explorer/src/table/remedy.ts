/** The consequence of a finding for the rest of the file, and what to do. */
const REMEDIES: Readonly<Record<string, string>> = {
  BLOOM_NOT_A_TABLE:
    'The file does not end like a table: it was truncated, or is another kind of file. “bloom salvage FILE -o NEW” finds complete blocks by their checksums and keeps their entries.',
  BLOOM_TRUNCATED: 'The file is truncated. “bloom salvage FILE -o NEW” keeps every complete block; the rest can only come from another copy.',
  BLOOM_BAD_HANDLE: 'The handle does not lead to its block. “bloom salvage FILE -o NEW” finds blocks by their checksums, without handles.',
  BLOOM_BAD_CHECKSUM:
    'Bytes of this block changed after it was written, so nothing in it can be trusted. All other blocks can be read. “bloom salvage FILE -o NEW” writes a table without it.',
  BLOOM_BAD_BLOCK: 'The block was already damaged when it was written, because of an error in the program or in memory. The entries before the damage are shown.',
  BLOOM_BAD_COMPRESSION: 'The checksum is right, but the contents cannot be decompressed: the block was compressed wrongly. Other blocks are not affected.',
  BLOOM_BAD_INTERNAL_KEY: 'A key in a database ends with eight bytes for its sequence and type. This one is shorter, so the table may not belong to a database.',
  BLOOM_TOO_LARGE: 'It would need more memory than this page allows for a block. It may be a decompression bomb, so it is not read.',
  BLOOM_UNSUPPORTED_FORMAT: 'The file is not damaged, but belongs to another program. Only that program and its tools can read it.',
  BLOOM_UNSUPPORTED_CODEC: 'The block is intact, but this page has no codec for it. Other blocks are not affected.',
  BLOOM_OVERLAP: 'Two handles include the same bytes. No correct program writes such a table.',
  BLOOM_OUT_OF_ORDER: 'Binary searches can miss this key or its neighbours; a scan still finds them. Or the table has another comparator.',
  BLOOM_BAD_SEPARATOR: 'A lookup may search the wrong block. A scan still finds every key. Or the table has another comparator.',
  BLOOM_BAD_RESTART: 'A search inside this block may start at the wrong place. A scan still finds every key.',
  BLOOM_FILTER_MISS: 'The filter says no for a key that is in the table: a get misses the key, a scan finds it. “bloom refilter FILE -o NEW” writes the table with a correct filter.',
};

/** A damaged filter is not used, whatever the damage. */
const FILTER_REMEDY = 'No key is lost: lookups do not use this filter, and read the blocks that it would have excluded.';

export function remedyOf(code: string, structure?: string): string | undefined {
  // A filter that says no for its own keys is not recognized as damaged, so lookups use it.
  if (structure === 'filter block' && code !== 'BLOOM_FILTER_MISS') return FILTER_REMEDY;
  return REMEDIES[code];
}
