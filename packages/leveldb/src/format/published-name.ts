/**
 * The names of a published database: the number of a file is the first 62 bits of the SHA-256 of its bytes, as `@bloom/bulk` sets it.
 *
 * A published copy of another database has the numbers that LevelDB counted, which are far lower. When LevelDB writes to a copy of a database
 * with such names, its new files have numbers above all of them.
 */

/** Above the file numbers that any database reaches by counting. */
const MIN_NUMBER = 2n ** 32n;
/** Above the numbers of all files of published databases. Their MANIFESTs have it as the log number, and there is no such log. */
export const NUMBER_LIMIT = 2n ** 62n;

/** Whether a file of a published database with this number is named after its bytes. */
export function isNamedByBytes(number: bigint): boolean {
  return number >= MIN_NUMBER && number < NUMBER_LIMIT;
}

/** The number of a file whose bytes have this SHA-256. */
export function numberOfDigest(sha256: ArrayBuffer): bigint {
  return new DataView(sha256).getBigUint64(0) >> 2n;
}
