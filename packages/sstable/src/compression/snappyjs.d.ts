// The two halves of snappyjs, which its types leave out.
declare module 'snappyjs/snappy_decompressor.js' {
  export class SnappyDecompressor {
    constructor(compressed: Uint8Array);
    /** Bytes of the contents; -1 when they cannot be read. */
    readUncompressedLength(): number;
    /** Whether it worked. */
    uncompressToBuffer(contents: Uint8Array): boolean;
  }
}

declare module 'snappyjs/snappy_compressor.js' {
  export class SnappyCompressor {
    constructor(contents: Uint8Array);
    maxCompressedLength(): number;
    /** Bytes that were written. */
    compressToBuffer(compressed: Uint8Array): number;
  }
}
