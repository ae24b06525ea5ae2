/**
 * LevelDB's hash in plain integer arithmetic, to compare the fast one with.
 *
 * Source: LevelDB, util/hash.cc.
 */
export function modelHash(data: Uint8Array, seed: number): number {
  const bytes = Array.from(data, BigInt);
  const multiplier = 0xc6a4a793n;
  let h = BigInt(seed) ^ uint32(BigInt(bytes.length) * multiplier);
  while (bytes.length >= 4) {
    h = uint32((h + littleEndian(bytes.splice(0, 4))) * multiplier);
    h ^= h / 2n ** 16n;
  }
  if (bytes.length > 0) {
    h = uint32((h + littleEndian(bytes)) * multiplier);
    h ^= h / 2n ** 24n;
  }
  return Number(h);
}

function littleEndian(bytes: readonly bigint[]): bigint {
  return bytes.reduceRight((value, byte) => value * 256n + byte, 0n);
}

function uint32(value: bigint): bigint {
  return value % 2n ** 32n;
}
