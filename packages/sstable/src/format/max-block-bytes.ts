/**
 * How large a block may be. Readers check it before they read or allocate, builders before they write: see
 * `maxBlockBytes` in `read/options.ts` and `write/options.ts`.
 */

/**
 * The largest limit that can be set, in bytes of contents: 1 GiB. Keys and values are smaller than their block, so that
 * positions in a block, and sums of two of them, fit into an int32.
 */
export const MAX_BLOCK_BYTES = 2 ** 30;

/** The limit of readers and builders that are given none: 256 MiB. */
export const DEFAULT_MAX_BLOCK_BYTES = 2 ** 28;
