/**
 * The problems of data that a browser stored. The codes are stable.
 *
 * - `BLOOM_BAD_KEY`: a key does not have the form that its folder gives to keys.
 * - `BLOOM_BAD_VALUE`: the bytes of a value are not what Chromium writes, or the file of a blob has another size than its record says.
 * - `BLOOM_BAD_METADATA`: the folder's description of its databases, stores or origins, or the record that undoes the changes of a
 *   transaction that has not been committed, cannot be decoded.
 * - `BLOOM_TOO_DEEP`: objects are nested more deeply than this reader follows.
 * - `BLOOM_TOO_LARGE`: a compressed value, or the objects of a key or value, would take more memory than the caller's limit, an array has more
 *   than 2^26 elements, an object more than 2^24 properties, the JSON of a value is longer than the host's longest string, or
 *   the file of a blob is too long to be read at once.
 * - `BLOOM_UNSUPPORTED_VALUE`: the value has a newer version than this reader knows, or one from before Chromium 57.
 * - `BLOOM_MISSING_BLOB`: a value or a blob is in a file that does not exist or cannot be read.
 */
export type WebStorageErrorCode =
  | 'BLOOM_BAD_KEY'
  | 'BLOOM_BAD_VALUE'
  | 'BLOOM_BAD_METADATA'
  | 'BLOOM_TOO_DEEP'
  | 'BLOOM_TOO_LARGE'
  | 'BLOOM_UNSUPPORTED_VALUE'
  | 'BLOOM_MISSING_BLOB';

/** The structures that an error can be about. */
export type StoredStructure = 'key' | 'value' | 'metadata' | 'blob entry' | 'blob';

/** A key, a value or a blob cannot be read; the LevelDB folder around it is sound. */
export class WebStorageError extends Error {
  override readonly name = 'WebStorageError';
  readonly code: WebStorageErrorCode;
  readonly structure: StoredStructure;
  /** The offset of the problem from the start of the structure, in bytes. */
  readonly offset: number;
  /** The problem, without its place. */
  readonly problem: string;

  constructor(code: WebStorageErrorCode, structure: StoredStructure, offset: number, problem: string, options?: { readonly cause?: unknown }) {
    super(`${structure} at offset ${offset}: ${problem}`, options);
    this.code = code;
    this.structure = structure;
    this.offset = offset;
    this.problem = problem;
  }
}
