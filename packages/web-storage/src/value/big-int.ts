/** BigInts as V8 serializes them: sign (the lowest bit) and length in bytes (varint), digits, little-endian. */
import type { ByteReader } from './byte-reader.js';

/** Reads a BigInt. @throws WebStorageError BLOOM_BAD_VALUE. */
export function readBigInt(reader: ByteReader): bigint {
  const start = reader.position;
  const bitfield = reader.varint32();
  const digits = reader.take(bitfield >>> 1);
  let text = '0x0';
  for (let i = digits.length - 1; i >= 0; i--) text += digits[i]!.toString(16).padStart(2, '0');
  let value: bigint;
  try {
    value = BigInt(text);
  } catch {
    throw reader.bad(`a BigInt of ${digits.length} bytes, more than this host allows`, start);
  }
  return (bitfield & 1) === 1 ? -value : value;
}
