/**
 * What can be wrong with a file or a database folder. The codes are stable; compare them rather than classes or messages.
 *
 * - `BLOOM_NOT_A_TABLE`: the file is too short or does not end in LevelDB's magic number.
 * - `BLOOM_TRUNCATED`: the file ends before a structure does, or a source returned fewer bytes than were asked for.
 * - `BLOOM_BAD_HANDLE`: a handle cannot be decoded, or points outside the file.
 * - `BLOOM_BAD_CHECKSUM`: the bytes of a block are not those that were written.
 * - `BLOOM_BAD_BLOCK`: a block's checksum is right and its contents are not a block.
 * - `BLOOM_BAD_COMPRESSION`: a block cannot be decompressed.
 * - `BLOOM_BAD_INTERNAL_KEY`: a key in a table opened as a database's is too short to be one.
 * - `BLOOM_TOO_LARGE`: a block would take more memory than the limit that the caller set.
 * - `BLOOM_BAD_LOG`: bytes of a log or a MANIFEST are not the records that were written.
 * - `BLOOM_BAD_WRITE_BATCH`: a log record's checksum is right and its contents are not a write batch.
 * - `BLOOM_BAD_VERSION_EDIT`: a MANIFEST record's checksum is right and its contents are not a version edit.
 * - `BLOOM_BAD_VERSION`: the edits of a MANIFEST do not add up to a database.
 * - `BLOOM_BAD_CURRENT`: CURRENT does not name a file of the folder.
 * - `BLOOM_NOT_A_DATABASE`: the folder has no CURRENT.
 * - `BLOOM_MISSING_FILE`: the MANIFEST lists tables that the folder does not have.
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
 * What is valid and not handled.
 *
 * - `BLOOM_UNSUPPORTED_FORMAT`: the file is a table of another program.
 * - `BLOOM_UNSUPPORTED_CODEC`: a block is compressed with a codec that was not given.
 * - `BLOOM_UNKNOWN_COMPARATOR`: a database is ordered by a comparator that was not given.
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

/** Where in which file something is. */
export interface Place {
  readonly structure: Structure;
  /** Bytes from the start of the file to the start of the structure. */
  readonly offset: number;
  /** The file's name, where the source has one. */
  readonly file?: string | undefined;
}

function describe({ structure, offset, file }: Place, problem: string): string {
  const inFile = file === undefined ? '' : ` of ${file}`;
  return `${structure}${WHOLE.has(structure) ? '' : ` at offset ${offset}`}${inFile}: ${problem}`;
}

/** The bytes of a file, or the files of a database folder, are not what they must be. */
export class CorruptionError extends Error {
  override readonly name = 'CorruptionError';
  readonly code: CorruptionCode;
  readonly structure: Structure;
  /** Bytes from the start of the file to the start of the structure. */
  readonly offset: number;
  /** The file's name, where the source has one. */
  readonly file: string | undefined;
  /** What is wrong, without the place. */
  readonly problem: string;

  constructor(code: CorruptionCode, place: Place, problem: string, options?: ErrorOptions) {
    super(describe(place, problem), options);
    this.code = code;
    this.structure = place.structure;
    this.offset = place.offset;
    this.file = place.file;
    this.problem = problem;
  }
}

/** The file is valid, and this program or this call is not made for it. */
export class UnsupportedError extends Error {
  override readonly name = 'UnsupportedError';
  readonly code: UnsupportedCode;
  readonly structure: Structure;
  /** Bytes from the start of the file to the start of the structure. */
  readonly offset: number;
  /** The file's name, where the source has one. */
  readonly file: string | undefined;
  /** What is not handled, without the place. */
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
