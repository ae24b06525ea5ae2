/**
 * Why parts cannot be assembled or a database cannot be published. The codes are stable.
 *
 * - `BLOOM_BAD_PART`: a line is not the description of a part.
 * - `BLOOM_MISSING_PART`: the store does not have a part.
 * - `BLOOM_OTHER_BYTES`: the bytes of an object in the store do not match its name.
 * - `BLOOM_OVERLAP`: two parts of one level overlap, or one is given twice or already published.
 * - `BLOOM_OTHER_COMPARATOR`: parts, or a delivery and the publication, have different comparators.
 * - `BLOOM_OLD_SEQUENCE`: a delivery's sequence is not higher than those of the levels below it, or not lower than those above.
 * - `BLOOM_OLD_MERGE`: the parts that were merged are no longer levels of the publication.
 * - `BLOOM_NO_LEVEL`: each level above the lowest has parts: merge two levels first.
 * - `BLOOM_CONFLICT`: another publication came first: read it, and assemble the parts on it.
 * - `BLOOM_NOT_PUBLISHED`: the store has no CURRENT, or a database that this package did not publish, or CURRENT or the MANIFEST is damaged.
 * - `BLOOM_STORE_FAILED`: the store refused or failed a call; `status` is the status of its response, if there was one.
 */
export type BulkErrorCode =
  | 'BLOOM_BAD_PART'
  | 'BLOOM_MISSING_PART'
  | 'BLOOM_OTHER_BYTES'
  | 'BLOOM_OVERLAP'
  | 'BLOOM_OTHER_COMPARATOR'
  | 'BLOOM_OLD_SEQUENCE'
  | 'BLOOM_OLD_MERGE'
  | 'BLOOM_NO_LEVEL'
  | 'BLOOM_CONFLICT'
  | 'BLOOM_NOT_PUBLISHED'
  | 'BLOOM_STORE_FAILED';

/** Parts do not fit together, or a store failed. */
export class BulkError extends Error {
  override readonly name = 'BulkError';
  readonly code: BulkErrorCode;
  /** The object that the error is about, if there is one. */
  readonly file: string | undefined;
  /** The HTTP status of the store's response, if there was one. */
  readonly status: number | undefined;

  constructor(code: BulkErrorCode, problem: string, options: { readonly cause?: unknown; readonly file?: string | undefined; readonly status?: number | undefined } = {}) {
    super(problem, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.file = options.file;
    this.status = options.status;
  }
}
