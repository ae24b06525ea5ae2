/**
 * How large a block may be. Readers check it before they read or allocate, builders before they write: see
 * `maxBlockBytes` in `read/options.ts` and `write/options.ts`.
 */
import { mustBeWhole } from '@bloom/bytes/internal';

/**
 * The largest limit that can be set, in bytes of contents: 1 GiB. Keys and values are smaller than their block, so that
 * positions in a block, and sums of two of them, fit into an int32.
 */
export const MAX_BLOCK_BYTES = 2 ** 30;

/** The limit of readers and builders that are given none: 256 MiB. */
const DEFAULT_MAX_BLOCK_BYTES = 2 ** 28;

/** The limit that the option `maxBlockBytes` sets. @throws RangeError unless it is a whole number up to 1 GiB. */
export function maxBlockBytesFor({ maxBlockBytes = DEFAULT_MAX_BLOCK_BYTES }: { readonly maxBlockBytes?: number | undefined }): number {
  return mustBeWhole('maxBlockBytes', maxBlockBytes, 1, MAX_BLOCK_BYTES);
}

/** The refusal to build a block that a reader with the same limit would refuse. */
export function tooLarge(what: string, byteLength: number | string, maxBlockBytes: number): RangeError {
  return new RangeError(`${what} would have ${byteLength} bytes, maxBlockBytes is ${maxBlockBytes}`);
}

/** {@link tooLarge} for filters, which are refused before all of them are made. */
export function filtersTooLarge(byteLength: number, maxBlockBytes: number): RangeError {
  return tooLarge('the filter block', `at least ${byteLength}`, maxBlockBytes);
}

/** {@link tooLarge} for a metaindex, which grows with the name of the policy. */
export function metaindexTooLarge(byteLength: number, maxBlockBytes: number): RangeError {
  return tooLarge('the metaindex block', byteLength, maxBlockBytes);
}
