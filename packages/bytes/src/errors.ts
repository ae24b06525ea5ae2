/**
 * What can be wrong with a file or a database folder. The codes are stable; compare them rather than classes or messages.
 *
 * - `BLOOM_NOT_A_TABLE`: the file is too short or does not end in LevelDB's magic number.
 * - `BLOOM_TRUNCATED`: the file ends inside a structure, or a source returned fewer bytes than requested.
 * - `BLOOM_BAD_HANDLE`: a handle cannot be decoded, or points outside the file.
 * - `BLOOM_BAD_CHECKSUM`: the bytes of a block have changed since they were written.
 * - `BLOOM_BAD_BLOCK`: a block's checksum is right, but its contents are not a block.
 * - `BLOOM_BAD_COMPRESSION`: a block cannot be decompressed.
 * - `BLOOM_BAD_INTERNAL_KEY`: a key in a table that was opened as part of a database is too short to be an internal key.
 * - `BLOOM_TOO_LARGE`: a block would take more memory than the caller's limit.
 * - `BLOOM_BAD_LOG`: the records of a log or a MANIFEST have changed since they were written.
 * - `BLOOM_BAD_WRITE_BATCH`: a log record's checksum is right, but its contents are not a write batch.
 * - `BLOOM_BAD_VERSION_EDIT`: a MANIFEST record's checksum is right, but its contents are not a version edit.
 * - `BLOOM_BAD_VERSION`: the version edits of a MANIFEST contradict each other or are incomplete, or a published MANIFEST or table is not the one that was published.
 * - `BLOOM_BAD_CURRENT`: CURRENT does not name a file in the folder.
 * - `BLOOM_NOT_A_DATABASE`: the folder has no CURRENT.
 * - `BLOOM_MISSING_FILE`: the MANIFEST lists tables that are missing from the folder.
 */
export type CorruptionCode =
  | 'BLOOM_NOT_A_TABLE'
  | 'BLOOM_TRUNCATED'
  | 'BLOOM_BAD_HANDLE'
  | 'BLOOM_BAD_CHECKSUM'
  | 'BLOOM_BAD_BLOCK'
  | 'BLOOM_BAD_COMPRESSION'
  | 'BLOOM_BAD_INTERNAL_KEY'
  | 'BLOOM_TOO_LARGE'
  | 'BLOOM_BAD_LOG'
  | 'BLOOM_BAD_WRITE_BATCH'
  | 'BLOOM_BAD_VERSION_EDIT'
  | 'BLOOM_BAD_VERSION'
  | 'BLOOM_BAD_CURRENT'
  | 'BLOOM_NOT_A_DATABASE'
  | 'BLOOM_MISSING_FILE';

/**
 * What can be valid and yet not supported.
 *
 * - `BLOOM_UNSUPPORTED_FORMAT`: the file is another program's kind of table, or the folder another program's kind of database.
 * - `BLOOM_UNSUPPORTED_CODEC`: a block is compressed with a codec that the caller did not pass.
 * - `BLOOM_UNKNOWN_COMPARATOR`: a database is sorted by a comparator that the caller did not pass.
 */
export type UnsupportedCode = 'BLOOM_UNSUPPORTED_FORMAT' | 'BLOOM_UNSUPPORTED_CODEC' | 'BLOOM_UNKNOWN_COMPARATOR';

/** The parts of a file or a database folder that an error can be about. */
export type Structure =
  | 'file'
  | 'footer'
  | 'metaindex block'
  | 'index block'
  | 'filter block'
  | 'meta block'
  | 'data block'
  | 'log record'
  | 'write batch'
  | 'version edit'
  | 'MANIFEST'
  | 'CURRENT'
  | 'folder';

/** Structures that have no offset: they are not part of a larger one. */
const WHOLE: ReadonlySet<Structure> = new Set<Structure>(['file', 'MANIFEST', 'CURRENT', 'folder']);

/** Where a structure is. */
export interface Place {
  readonly structure: Structure;
  /** Bytes from the start of the file to the start of the structure. */
  readonly offset: number;
  /** The file's name, if the source has one. */
  readonly file?: string | undefined;
}

function describe({ structure, offset, file }: Place, problem: string): string {
  const inFile = file === undefined ? '' : ` of ${file}`;
  return `${structure}${WHOLE.has(structure) ? '' : ` at offset ${offset}`}${inFile}: ${problem}`;
}

/** A file or a database folder is damaged. */
export class CorruptionError extends Error {
  override readonly name = 'CorruptionError';
  readonly code: CorruptionCode;
  readonly structure: Structure;
  /** Bytes from the start of the file to the start of the structure. */
  readonly offset: number;
  /** The file's name, if the source has one. */
  readonly file: string | undefined;
  /** What is wrong, without the place. */
  readonly problem: string;

  constructor(code: CorruptionCode, place: Place, problem: string, options?: { readonly cause?: unknown }) {
    super(describe(place, problem), options);
    this.code = code;
    this.structure = place.structure;
    this.offset = place.offset;
    this.file = place.file;
    this.problem = problem;
  }
}

/** The file may be valid, but this library, or this call with its options, does not support it. */
export class UnsupportedError extends Error {
  override readonly name = 'UnsupportedError';
  readonly code: UnsupportedCode;
  readonly structure: Structure;
  /** Bytes from the start of the file to the start of the structure. */
  readonly offset: number;
  /** The file's name, if the source has one. */
  readonly file: string | undefined;
  /** What is not supported, without the place. */
  readonly problem: string;

  constructor(code: UnsupportedCode, place: Place, problem: string) {
    super(describe(place, problem));
    this.code = code;
    this.structure = place.structure;
    this.offset = place.offset;
    this.file = place.file;
    this.problem = problem;
  }
}
