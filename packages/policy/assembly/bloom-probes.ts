// AssemblyScript. The positions of four keys' probes at a time, one in each lane of a vector, for the kernels of Bloom filters.
// `src/bloom-filter.ts` explains them. TypeScript does not allow AssemblyScript's decorators on functions: hence each @ts-ignore.

/**
 * Four numbers modulo `bits`, by the reciprocal floor(2^32 / bits): the quotient is at most one too small. The smaller
 * of remainder and remainder - bits, which wraps round when negative, is correct.
 */
// @ts-ignore: decorator
@inline
export function modulo(numbers: v128, bits: v128, reciprocal: v128): v128 {
  const low = i64x2.extmul_low_i32x4_u(numbers, reciprocal);
  const high = i64x2.extmul_high_i32x4_u(numbers, reciprocal);
  const quotients = v128.shuffle<i32>(low, high, 1, 3, 5, 7);
  const remainders = i32x4.sub(numbers, i32x4.mul(quotients, bits));
  return i32x4.min_u(remainders, i32x4.sub(remainders, bits));
}

/** The deltas of four hashes: each is added from probe to probe. */
// @ts-ignore: decorator
@inline
export function deltaOf(hashes: v128): v128 {
  return v128.or(i32x4.shr_u(hashes, 17), i32x4.shl(hashes, 15));
}
