/** BigInts as V8 serializes them: sign (the lowest bit) and length in bytes (varint), digits, little-endian. */
import type { ByteReader } from './byte-reader.js';

/** How many bytes of a long BigInt to join at once: V8 keeps 32 bytes for each `+=` until a string is read. Most BigInts are shorter. */
const BYTES_AT_ONCE = 4096;

/** Reads a BigInt. @throws WebStorageError BLOOM_BAD_VALUE. */
export function readBigInt(reader: ByteReader): bigint {
  const start = reader.position;
  const bitfield = reader.varint32();
  const digits = reader.take(bitfield >>> 1);
  let text = '0x0';
  for (let end = digits.length; end > 0; end -= BYTES_AT_ONCE) text += hexadecimal(digits.subarray(Math.max(0, end - BYTES_AT_ONCE), end));
  let value: bigint;
  try {
    value = BigInt(text);
  } catch {
    throw reader.bad(`a BigInt has ${digits.length} bytes, more than this host allows`, start);
  }
  return (bitfield & 1) === 1 ? -value : value;
}

/** The digits of little-endian bytes. */
function hexadecimal(bytes: Uint8Array): string {
  const isShort = bytes.length < BYTES_AT_ONCE;
  const pairs: string[] = [];
  let text = '';
  for (let i = bytes.length - 1; i >= 0; i--) {
    const pair = bytes[i]!.toString(16).padStart(2, '0');
    if (isShort) text += pair;
    else pairs.push(pair);
  }
  return isShort ? text : pairs.join('');
}
