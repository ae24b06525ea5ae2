import { constants } from 'node:buffer';
import type * as Zlib from 'node:zlib';

let loaded: typeof Zlib | undefined;

/** Node's zlib takes more than a millisecond to load (Node 20), and few databases need it. */
function zlib(): typeof Zlib {
  return (loaded ??= process.getBuiltinModule('node:zlib'));
}

/** Decompresses a zlib stream, or raw deflate. Bytes after the end of the stream are ignored. */
export function inflate(compressed: Uint8Array, isRaw: boolean, maxBytes: number): Uint8Array {
  // Node refuses a limit of 0.
  const options = { maxOutputLength: Math.min(Math.max(1, maxBytes), constants.MAX_LENGTH) };
  let contents: Uint8Array;
  try {
    contents = isRaw ? zlib().inflateRawSync(compressed, options) : zlib().inflateSync(compressed, options);
  } catch (error) {
    // In a test sandbox, Node's errors are of another realm.
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLong(maxBytes);
    throw error;
  }
  if (contents.length > maxBytes) throw tooLong(maxBytes);
  // A copy, because Node's result keeps a buffer of 16 KiB alive even for short contents.
  return new Uint8Array(contents);
}

function tooLong(maxBytes: number): RangeError {
  return new RangeError(`the contents exceed the limit of ${maxBytes} bytes`);
}

/** Compresses `contents` to a zlib stream, or to raw deflate. */
export function deflate(contents: Uint8Array, isRaw: boolean): Uint8Array {
  return new Uint8Array(isRaw ? zlib().deflateRawSync(contents) : zlib().deflateSync(contents));
}
