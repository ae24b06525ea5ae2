/**
 * Snappy: raw, not framed. hysnappy is small and fast, has no dependencies and refuses damaged input; where a
 * Content-Security-Policy forbids its WebAssembly, snappyjs does the same in plain JavaScript: by its halves, without
 * what it does for buffers of other kinds.
 */
// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- the types of a package that has none
/// <reference path="./snappyjs.d.ts" />
import { snappyUncompressor } from 'hysnappy';
import { SnappyDecompressor } from 'snappyjs/snappy_decompressor.js';
import type { Codec } from '../format/codec.js';
import { compressSnappy } from './snappy-compressor.js';
import { VarintReader } from '@bloom/bytes';

/** The most bytes that one byte of Snappy stands for: three bytes copy up to 64. */
const MAX_EXPANSION = 22;

// Made at first use: nothing is compiled at import.
let uncompress: ((compressed: Uint8Array, byteLength: number) => Uint8Array) | undefined;

/** Snappy, LevelDB's default. */
export const snappyCodec: Codec = { type: 1, name: 'snappy', compress: compressSnappy, decompress };

/** Snappy without its compressor. */
export const snappyDecoder: Codec = { type: 1, name: 'snappy', decompress };

function decompress(compressed: Uint8Array, maxBytes: number): Uint8Array {
  const byteLength = new VarintReader(compressed).varint32();
  if (byteLength < 0) throw new Error('the length of the contents cannot be read');
  if (byteLength > compressed.length * MAX_EXPANSION) {
    throw new Error(`${compressed.length} bytes cannot stand for ${byteLength}`);
  }
  if (byteLength > maxBytes) throw new RangeError(`the contents have ${byteLength} bytes, the limit is ${maxBytes}`);
  uncompress ??= newUncompressor();
  return uncompress(compressed, byteLength);
}

function newUncompressor(): (compressed: Uint8Array, byteLength: number) => Uint8Array {
  try {
    return snappyUncompressor();
  } catch {
    return uncompressInJavaScript;
  }
}

function uncompressInJavaScript(compressed: Uint8Array, byteLength: number): Uint8Array {
  const contents = new Uint8Array(byteLength);
  const decompressor = new SnappyDecompressor(compressed);
  if (decompressor.readUncompressedLength() !== byteLength || !decompressor.uncompressToBuffer(contents)) {
    throw new Error('not a Snappy stream');
  }
  return contents;
}
