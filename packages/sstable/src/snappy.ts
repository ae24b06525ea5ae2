/**
 * Snappy: raw, not framed. hysnappy is small and fast, has no dependencies and refuses damaged input; where a
 * Content-Security-Policy forbids its WebAssembly, snappyjs does the same in plain JavaScript.
 */
/// <reference path="./snappyjs.d.ts" />
import { snappyCompressor, snappyUncompressor } from 'hysnappy';
import { SnappyCompressor } from 'snappyjs/snappy_compressor.js';
import { SnappyDecompressor } from 'snappyjs/snappy_decompressor.js';
import type { Codec } from './codec.js';
import { VarintReader } from './varint.js';

/** The most bytes that one byte of Snappy stands for: three bytes copy up to 64. */
const MAX_EXPANSION = 22;

// Made at first use: nothing is compiled at import.
let compressor: ((contents: Uint8Array) => Uint8Array) | undefined;
let uncompressor: ((compressed: Uint8Array, byteLength: number) => Uint8Array) | undefined;

/** Snappy without its compressor, which a page that only reads tables need not load. */
export const snappyDecoder: Codec = { type: 1, name: 'snappy', decompress };

/** Snappy, LevelDB's default. */
export const snappyCodec: Codec = { type: 1, name: 'snappy', compress, decompress };

function compress(contents: Uint8Array): Uint8Array {
  compressor ??= orElse(snappyCompressor, () => compressInJavaScript);
  return compressor(contents);
}

function decompress(compressed: Uint8Array, maxBytes: number): Uint8Array {
  const byteLength = new VarintReader(compressed).varint32();
  if (byteLength < 0) throw new Error('the length of the contents cannot be read');
  if (byteLength > compressed.length * MAX_EXPANSION) {
    throw new Error(`${compressed.length} bytes cannot stand for ${byteLength}`);
  }
  if (byteLength > maxBytes) throw new RangeError(`the contents have ${byteLength} bytes, the limit is ${maxBytes}`);
  uncompressor ??= orElse(snappyUncompressor, () => uncompressInJavaScript);
  return uncompressor(compressed, byteLength);
}

// By halves: the whole of snappyjs is more, for buffers of other kinds.

function compressInJavaScript(contents: Uint8Array): Uint8Array {
  const compressor = new SnappyCompressor(contents);
  const compressed = new Uint8Array(compressor.maxCompressedLength());
  return compressed.subarray(0, compressor.compressToBuffer(compressed));
}

function uncompressInJavaScript(compressed: Uint8Array, byteLength: number): Uint8Array {
  const contents = new Uint8Array(byteLength);
  const decompressor = new SnappyDecompressor(compressed);
  if (decompressor.readUncompressedLength() !== byteLength || !decompressor.uncompressToBuffer(contents)) {
    throw new Error('not a Snappy stream');
  }
  return contents;
}

function orElse<T>(make: () => T, makeOther: () => T): T {
  try {
    return make();
  } catch {
    return makeOther();
  }
}
