// pako is a port of zlib to JavaScript with all of its checks.
import { deflate as deflateWithHeader, deflateRaw, Z_BUF_ERROR, Z_NO_FLUSH, Z_OK, Z_STREAM_END, zlibInflate, zlibInflateInit2, ZStream } from 'pako';
import { GrowingOutput } from './growing-output.js';

/** The largest window, which can read every stream. The negative value means raw deflate. */
const WINDOW_BITS = 15;

/** Blocks are rarely compressed to less than a quarter. */
const EXPECTED_EXPANSION = 4;
const MIN_EXPECTED_BYTES = 1024;
/** The first allocation is at most this, or the length of the stream if that is more. Further memory is allocated as contents are produced. */
const TRUSTED_BYTES = 2 ** 18;

/** Decompresses a zlib stream, or raw deflate. Bytes after the end of the stream are ignored. */
export function inflate(compressed: Uint8Array, isRaw: boolean, maxBytes: number): Uint8Array {
  const stream = new ZStream();
  zlibInflateInit2(stream, isRaw ? -WINDOW_BITS : WINDOW_BITS);
  stream.input = compressed;
  stream.avail_in = compressed.length;
  const expected = Math.max(MIN_EXPECTED_BYTES, EXPECTED_EXPANSION * compressed.length);
  // Room for one byte more than the limit distinguishes contents of exactly the limit from longer ones, even if the stream is truncated.
  const output = new GrowingOutput(Math.min(expected, Math.max(TRUSTED_BYTES, compressed.length)), maxBytes + 1);
  while (true) {
    stream.output = output.bytes;
    stream.avail_out = output.bytes.length - output.length;
    const status = zlibInflate(stream, Z_NO_FLUSH);
    output.length = stream.next_out;
    if (output.length > maxBytes) throw new RangeError(`the contents exceed the limit of ${maxBytes} bytes`);
    if (status === Z_STREAM_END) return output.toBytes();
    if (status !== Z_OK && status !== Z_BUF_ERROR) throw new Error(stream.msg || 'a dictionary is needed');
    if (stream.avail_out > 0) throw new Error('the stream is truncated');
    output.reserve(1);
  }
}

/** Compresses `contents` to a zlib stream, or to raw deflate. */
export function deflate(contents: Uint8Array, isRaw: boolean): Uint8Array {
  return isRaw ? deflateRaw(contents) : deflateWithHeader(contents);
}
