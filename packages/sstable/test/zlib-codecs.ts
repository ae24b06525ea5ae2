import { deflateRawSync, deflateSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { Codec } from '@bloom/sstable';

/** zlib, type 2 in Mojang's LevelDB. */
export const zlibCodec: Codec = {
  type: 2,
  name: 'zlib',
  compress: (contents) => new Uint8Array(deflateSync(contents)),
  decompress: (compressed, maxBytes) => new Uint8Array(inflateSync(compressed, { maxOutputLength: maxBytes })),
};

/** Raw deflate, type 4 in Mojang's LevelDB. */
export const deflateCodec: Codec = {
  type: 4,
  name: 'deflate',
  compress: (contents) => new Uint8Array(deflateRawSync(contents)),
  decompress: (compressed, maxBytes) => new Uint8Array(inflateRawSync(compressed, { maxOutputLength: maxBytes })),
};

/** Codecs other than Snappy. Those of @bloom/codecs are tested in that package. */
export const zlibCodecs: readonly Codec[] = [zlibCodec, deflateCodec];
