import { deflate, inflate } from '#deflate';
import type { Codec } from '@bloom/sstable';
import { isRocksDbDeflate, isRocksDbLz4, otherFormat } from './rocksdb-formats.js';

/**
 * zlib: type 2 in Mojang's LevelDB.
 *
 * Accepts what zlib accepts: the header and the Adler-32 are checked, preset dictionaries are refused, and bytes after the
 * end of the stream are ignored, as in Mojang's LevelDB. Uses node:zlib in Node, and pako, a port of zlib, elsewhere.
 *
 * Source: RFC 1950; Mojang's LevelDB, db/zlib_compressor.cc.
 */
export const zlibCodec: Codec = {
  type: 2,
  name: 'zlib',
  compress: (contents) => deflate(contents, false),
  decompress(compressed, maxBytes) {
    try {
      return inflate(compressed, false, maxBytes);
    } catch (error) {
      if (isRocksDbDeflate(compressed, maxBytes)) throw otherFormat('raw deflate', 2);
      throw error;
    }
  },
};

/**
 * Raw deflate: type 4 in Mojang's LevelDB. The same as `zlibCodec`, except that the format has no header and no checksum.
 *
 * Source: RFC 1951.
 */
export const deflateCodec: Codec = {
  type: 4,
  name: 'deflate',
  compress: (contents) => deflate(contents, true),
  decompress(compressed, maxBytes) {
    // Read as deflate, some streams of LZ4 are whole, with contents of a few bytes.
    if (isRocksDbLz4(compressed)) throw otherFormat('LZ4', 4);
    return inflate(compressed, true, maxBytes);
  },
};
