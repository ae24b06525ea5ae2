// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- the types of a package that has none
/// <reference path="./snappyjs.d.ts" />
import { snappyCompressor } from 'hysnappy';
import { SnappyCompressor } from 'snappyjs/snappy_compressor.js';

// Made at first use: nothing is compiled at import.
let compress: ((contents: Uint8Array) => Uint8Array) | undefined;

/** By itself, so that a page that only reads tables does not load it. */
export function compressSnappy(contents: Uint8Array): Uint8Array {
  compress ??= newCompressor();
  return compress(contents);
}

function newCompressor(): (contents: Uint8Array) => Uint8Array {
  try {
    return snappyCompressor();
  } catch {
    return compressInJavaScript;
  }
}

function compressInJavaScript(contents: Uint8Array): Uint8Array {
  const compressor = new SnappyCompressor(contents);
  const compressed = new Uint8Array(compressor.maxCompressedLength());
  return compressed.subarray(0, compressor.compressToBuffer(compressed));
}
