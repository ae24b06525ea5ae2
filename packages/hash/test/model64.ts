/** The 64-bit hash of `src/hash64.ts` in plain integer arithmetic, to compare the fast one with. */
export function modelHash64(data: Uint8Array, seed: number): bigint {
  const uint32 = (value: bigint): bigint => BigInt.asUintN(32, value);
  const rotated = (value: bigint, by: bigint): bigint => uint32(value << by) | (value >> (32n - by));
  const wordAt = (at: number): bigint => Array.from(data.subarray(at, at + 4)).reduceRight((word, byte) => word * 256n + BigInt(byte), 0n);
  let a = uint32(BigInt(seed) + 0x9e3779b1n);
  let b = BigInt(seed) ^ uint32(BigInt(data.length) * 0x165667b1n);
  for (let at = 0; at < data.length; at += 8) {
    b = rotated(uint32(b + wordAt(at + 4) * 0xc2b2ae3dn), 13n);
    a = uint32(rotated(uint32(a + wordAt(at) * 0xcc9e2d51n), 15n) + b);
    b = uint32(b * 0x27d4eb2fn) ^ rotated(a, 7n);
  }
  const end = (lane: bigint, first: bigint, by: bigint, then: bigint): bigint => {
    const once = uint32((lane ^ (lane >> first)) * by);
    const twice = uint32((once ^ (once >> 13n)) * then);
    return twice ^ (twice >> 16n);
  };
  return (end(b, 16n, 0x85ebca6bn, 0xc2b2ae35n) << 32n) | end(a, 15n, 0x85ebca77n, 0xc2b2ae3dn);
}
