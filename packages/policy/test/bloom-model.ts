/**
 * LevelDB's Bloom filter in plain integer arithmetic, to compare the fast one with.
 *
 * Source: LevelDB, util/bloom.cc.
 */
import { bloomHash } from '@bloom/hash';

export function modelProbes(bitsPerKey: number): number {
  const probes = Number((BigInt(bitsPerKey) * 69n) / 100n);
  return probes < 1 ? 1 : probes > 30 ? 30 : probes;
}

export function modelByteLength(keys: number, bitsPerKey: number): bigint {
  const bits = BigInt(keys) * BigInt(bitsPerKey);
  return ((bits < 64n ? 64n : bits) + 7n) / 8n + 1n;
}

/** The positions of the bits that a key sets in a filter of `byteLength` bytes. */
export function modelBits(key: Uint8Array, byteLength: number, probes: number): bigint[] {
  const bits = BigInt(byteLength - 1) * 8n;
  const h = BigInt(bloomHash(key));
  const delta = uint32((h << 15n) | (h >> 17n));
  return Array.from({ length: probes }, (_, i) => uint32(h + BigInt(i) * delta) % bits);
}

export function modelFilter(keys: readonly Uint8Array[], bitsPerKey: number): Uint8Array {
  const filter = new Uint8Array(Number(modelByteLength(keys.length, bitsPerKey)));
  const probes = modelProbes(bitsPerKey);
  for (const key of keys) {
    for (const bit of modelBits(key, filter.length, probes)) {
      const at = Number(bit / 8n);
      filter[at] = filter[at]! | (2 ** Number(bit % 8n));
    }
  }
  filter[filter.length - 1] = probes;
  return filter;
}

export function modelMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
  if (filter.length < 2) return false;
  const probes = filter.at(-1)!;
  if (probes > 30) return true;
  return modelBits(key, filter.length, probes).every((bit) => {
    const byte = filter[Number(bit / 8n)]!;
    return Math.floor(byte / 2 ** Number(bit % 8n)) % 2 === 1;
  });
}

function uint32(value: bigint): bigint {
  return value % 2n ** 32n;
}
