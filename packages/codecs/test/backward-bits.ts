/** Numbers of so many bits each, in the order in which they are read. */
export type Bits = readonly (readonly [value: number, count: number])[];

/** A zstd stream of bits that is read backwards: the end mark is the highest set bit of its last byte. */
export function backwardBits(bits: Bits): number[] {
  const digits = `1${bits.map(([value, count]) => (count === 0 ? '' : value.toString(2).padStart(count, '0'))).join('')}`;
  const whole = digits.padStart(Math.ceil(digits.length / 8) * 8, '0');
  return Array.from({ length: whole.length / 8 }, (_, i) => parseInt(whole.slice(8 * i, 8 * i + 8), 2)).reverse();
}
