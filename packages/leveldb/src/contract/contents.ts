import { seeded } from '@bloom/bytes/internal';

/** `byteLength` bytes that differ for each `seed`, and in which no part repeats. */
export function contents(seed: number, byteLength: number): Uint8Array {
  return seeded(seed).bytes(byteLength);
}
