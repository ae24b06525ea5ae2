/** Up to this factor, its product with a uint32 is exact. */
const SMALL = 2 ** 21;

/**
 * floor(hash * n / 2^32), exactly: a number below `n`, for a hash that is a uint32, without the division that `hash % n` needs.
 *
 * @param n a whole number up to 2^32.
 * Source: Lemire, "Fast Random Integer Generation in an Interval".
 */
export function scaled(hash: number, n: number): number {
  if (n <= SMALL) return Math.floor(hash * n * 2 ** -32);
  const low = Math.floor(((hash & 0xffff) * n) / 2 ** 16);
  return Math.floor(((hash >>> 16) * n + low) / 2 ** 16);
}
