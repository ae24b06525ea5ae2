/** A source of numbers that gives the same ones for the same seed. */
export interface Random {
  /** A uint32. */
  next(): number;
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
}

/** xoshiro128** by Blackman and Vigna, its state drawn from the seed by SplitMix32. */
export function seeded(seed: number): Random {
  let mixer = seed | 0;
  const mix = (): number => {
    mixer = (mixer + 0x9e3779b9) | 0;
    let z = Math.imul(mixer ^ (mixer >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return z ^ (z >>> 16);
  };
  let [a, b, c, d] = [mix(), mix(), mix(), mix()];
  const next = (): number => {
    const scrambled = Math.imul(b, 5);
    const result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9);
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result >>> 0;
  };
  return { next, below: (limit) => Math.floor((next() / 2 ** 32) * limit) };
}
