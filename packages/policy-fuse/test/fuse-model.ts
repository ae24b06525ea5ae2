import { hash64 } from '@bloom/hash';

/** The positions of a hash, by the description in src/fuse-filter.ts. */
export function modelPositions(hash: bigint, segment: number, length: number): number[] {
  const first = (hash * BigInt(length - 2 * segment)) >> 64n;
  const mask = BigInt(segment - 1);
  const second = (first + BigInt(segment)) ^ ((hash >> 18n) & mask);
  const third = (first + 2n * BigInt(segment)) ^ (hash & mask);
  return [first, second, third].map(Number);
}

/** Whether a key matches, in whole numbers of 64 bits. */
export function modelMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
  if (filter.length === 0) return false;
  const bits = filter.at(-1)!;
  if (bits === 1 && filter.length > 1) return modelBloomMayMatch(key, filter);
  const log = filter.at(-2) ?? 0;
  const length = ((filter.length - 3) * 8) / bits;
  const segment = 2 ** log;
  if ((bits !== 8 && bits !== 16) || log < 2 || log > 18 || length < 3 * segment || length % segment !== 0) return true;
  const hash = hash64(key, filter.at(-3)!);
  const printAt = (position: number): number => (bits === 8 ? filter[position]! : filter[2 * position]! + 256 * filter[2 * position + 1]!);
  const together = modelPositions(hash, segment, length).reduce((sum, position) => sum ^ printAt(position), 0);
  return BigInt(together) === BigInt.asUintN(bits, hash ^ (hash >> 32n));
}

function modelBloomMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
  const bits = BigInt((filter.length - 3) * 8);
  const probes = filter.at(-3) ?? 0;
  if (bits <= 0n || probes < 1 || probes > 32) return true;
  const hash = hash64(key, filter.at(-2)!);
  let x = BigInt.asUintN(32, hash);
  for (let probe = 0; probe < probes; probe++) {
    x = BigInt.asUintN(32, x * 0x9e3779b1n + (hash >> 32n));
    const bit = Number((x * bits) >> 32n);
    if ((filter[bit >> 3]! >> (bit & 7)) % 2 === 0) return false;
  }
  return true;
}
