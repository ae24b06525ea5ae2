/** The consequence of a finding for the rest of the file, and what to do. */
const REMEDIES: Readonly<Record<string, string>> = {
  BLOOM_NOT_A_TABLE:
    'The end of the file is not that of a table: the file was truncated, or is something else. “bloom salvage FILE” looks for whole blocks by their checksums and keeps their entries.',
  BLOOM_TRUNCATED: 'The file ends early. “bloom salvage FILE” keeps every block that is whole; a better copy is the only way to the rest.',
  BLOOM_BAD_HANDLE: 'What it pointed to cannot be found this way. “bloom salvage FILE” finds blocks by their checksums, without handles.',
  BLOOM_BAD_CHECKSUM:
    'Bytes of this block changed after it was written, so nothing in it is to be trusted. All other blocks can be read. “bloom salvage FILE” writes a table without it.',
  BLOOM_BAD_BLOCK: 'The block was written like this: the program that wrote it is at fault, or its memory. The entries before the damage are shown.',
  BLOOM_BAD_COMPRESSION: 'The checksum is right and the contents cannot be unpacked: the block was compressed wrongly. Other blocks are not affected.',
  BLOOM_BAD_INTERNAL_KEY: 'A database’s key ends in eight bytes of sequence and type. This one is shorter: the table may not be a database’s.',
  BLOOM_TOO_LARGE: 'It would take more memory than this page gives to one block. It may be a bomb, and is left alone.',
  BLOOM_UNSUPPORTED_FORMAT: 'It belongs to another program, and is not damaged. Only that program and its tools can read it.',
  BLOOM_UNSUPPORTED_CODEC: 'The block is whole, and this page has no way to unpack it. Other blocks are not affected.',
  BLOOM_OVERLAP: 'Two handles claim the same bytes. A table that was written in one go has no such thing.',
  BLOOM_OUT_OF_ORDER: 'Lookups by halving can miss this key or its neighbours; a scan still finds them. It may also be a table of another comparator.',
  BLOOM_BAD_SEPARATOR: 'A lookup may search the wrong block. A scan still finds every key. It may also be a table of another comparator.',
  BLOOM_BAD_RESTART: 'A search inside this block may start at the wrong place. A scan still finds every key.',
  BLOOM_FILTER_MISS: 'The filter denies a key that is there: a get misses it, a scan finds it. Write the table again to get a right filter.',
};

/** A damaged filter is not used, whatever the damage. */
const FILTER_REMEDY = 'No key is lost with it: lookups do without this filter, and read the blocks that it would have saved them.';

export function remedyOf(code: string, structure?: string): string | undefined {
  // A filter that denies its keys is not damaged, so it is used.
  if (structure === 'filter block' && code !== 'BLOOM_FILTER_MISS') return FILTER_REMEDY;
  return REMEDIES[code];
}
