/**
 * Park and Miller's minimal standard generator: seed · 16807 mod 2^31 - 1. LevelDB makes its choices with this generator, so its files can be
 * predicted.
 *
 * Source: LevelDB, util/random.h.
 */
export class ParkMiller {
  #seed: number;

  constructor(seed: number) {
    this.#seed = seed & 0x7fffffff;
    // The generator would repeat these two forever.
    if (this.#seed === 0 || this.#seed === 0x7fffffff) this.#seed = 1;
  }

  /** The next number, from 1 to 2^31 - 2. The product is exact below 2^53. */
  next(): number {
    const product = this.#seed * 16_807;
    // 2^31 is 1 modulo 2^31 - 1, so the high bits are added to the low ones: `%` takes more than twice as long above 2^31 (Node 20).
    const high = Math.floor(product / 2 ** 31);
    const sum = product - high * 2 ** 31 + high;
    this.#seed = sum > 0x7fffffff ? sum - 0x7fffffff : sum;
    return this.#seed;
  }
}
