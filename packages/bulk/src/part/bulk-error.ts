/**
 * Why parts cannot be assembled, or a database not be published. The codes are stable.
 *
 * - `BLOOM_BAD_PART`: a line is not the description of a part.
 * - `BLOOM_MISSING_PART`: a part is not in the store.
 * - `BLOOM_OTHER_BYTES`: the store has other bytes under a name than those that the name stands for.
 * - `BLOOM_OVERLAP`: two parts of one level overlap, or one is given twice.
 * - `BLOOM_OTHER_COMPARATOR`: parts, or a delivery and what is published, have different orders of keys.
 * - `BLOOM_OLD_SEQUENCE`: a delivery's sequence is not higher than those of the levels below it, or not lower than those above.
 * - `BLOOM_NO_LEVEL`: there is no level left above what is published: merge two levels first.
 * - `BLOOM_CONFLICT`: another publication came first. Read it, and go on from there.
 * - `BLOOM_NOT_PUBLISHED`: there is a database, and it is none that was published by this package.
 * - `BLOOM_STORE_FAILED`: the store refuses or fails to do something; `status` is that of its answer, where there is one.
 */
export type BulkErrorCode =
  | 'BLOOM_BAD_PART'
  | 'BLOOM_MISSING_PART'
  | 'BLOOM_OTHER_BYTES'
  | 'BLOOM_OVERLAP'
  | 'BLOOM_OTHER_COMPARATOR'
  | 'BLOOM_OLD_SEQUENCE'
  | 'BLOOM_NO_LEVEL'
  | 'BLOOM_CONFLICT'
  | 'BLOOM_NOT_PUBLISHED'
  | 'BLOOM_STORE_FAILED';

/** Parts do not fit together, or a store does not do what it should. */
export class BulkError extends Error {
  override readonly name = 'BulkError';
  readonly code: BulkErrorCode;
  /** The object that it is about, where it is one. */
  readonly file: string | undefined;
  /** The HTTP status of a store's answer, where there is one. */
  readonly status: number | undefined;

  constructor(code: BulkErrorCode, problem: string, options: ErrorOptions & { readonly file?: string | undefined; readonly status?: number | undefined } = {}) {
    super(problem, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.file = options.file;
    this.status = options.status;
  }
}
