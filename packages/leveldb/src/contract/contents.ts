import { seeded } from '@bloom/bytes/internal';

/** `byteLength` bytes that differ for each `seed`, and in which no part repeats. */
export function contents(seed: number, byteLength: number): Uint8Array {
  return seeded(seed).bytes(byteLength);
}

/** The arrays, concatenated. */
export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let end = 0;
  for (const part of parts) {
    whole.set(part, end);
    end += part.length;
  }
  return whole;
}
