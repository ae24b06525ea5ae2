import { deflate, inflate } from '#deflate';
import type { Codec } from '@bloom/sstable';

/**
 * zlib: type 2 in Mojang's LevelDB.
 *
 * Reads what zlib reads: header and Adler-32 are checked, a preset dictionary is refused, and bytes after the end of the
 * stream are not looked at, as Mojang's LevelDB does not look at them either. In Node it is zlib, by node:zlib; elsewhere
 * it is pako, which is zlib in JavaScript.
 *
 * Source: RFC 1950; Mojang's LevelDB, db/zlib_compressor.cc.
 */
export const zlibCodec: Codec = {
  type: 2,
  name: 'zlib',
  compress: (contents) => deflate(contents, false),
  decompress: (compressed, maxBytes) => inflate(compressed, false, maxBytes),
};

/**
 * Raw deflate: type 4 in Mojang's LevelDB. Otherwise as `zlibCodec`; there is no checksum to be checked.
 *
 * Source: RFC 1951.
 */
export const deflateCodec: Codec = {
  type: 4,
  name: 'deflate',
  compress: (contents) => deflate(contents, true),
  decompress: (compressed, maxBytes) => inflate(compressed, true, maxBytes),
};
