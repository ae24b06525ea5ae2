import { constants } from 'node:buffer';
import { deflateRawSync, deflateSync, inflateRawSync, inflateSync } from 'node:zlib';

/** The contents of a zlib stream, or of raw deflate. Bytes after its end are not looked at. */
export function inflate(compressed: Uint8Array, isRaw: boolean, maxBytes: number): Uint8Array {
  // Node takes no limit of 0.
  const options = { maxOutputLength: Math.min(Math.max(1, maxBytes), constants.MAX_LENGTH) };
  let contents: Uint8Array;
  try {
    contents = isRaw ? inflateRawSync(compressed, options) : inflateSync(compressed, options);
  } catch (error) {
    if (error instanceof RangeError) throw tooLong(maxBytes);
    throw error;
  }
  if (contents.length > maxBytes) throw tooLong(maxBytes);
  // In a buffer of its own length: Node's has 16 KiB, however short the contents are.
  return new Uint8Array(contents);
}

function tooLong(maxBytes: number): RangeError {
  return new RangeError(`the contents have more than ${maxBytes} bytes, the limit`);
}

/** `contents` as a zlib stream, or as raw deflate. */
export function deflate(contents: Uint8Array, isRaw: boolean): Uint8Array {
  return new Uint8Array(isRaw ? deflateRawSync(contents) : deflateSync(contents));
}
