/**
 * Codecs in addition to Snappy, for a table's options `codecs` and `compression`.
 *
 * @example
 * ```ts
 * import { allCodecs } from '@bloom/codecs';
 * import { Table } from '@bloom/sstable';
 *
 * const table = await Table.open(source, { codecs: allCodecs });
 * ```
 */
import type { Codec } from '@bloom/sstable';
import { deflateCodec, zlibCodec } from './zlib.js';
import { zstdCodec } from './zstd.js';
import { isZstd } from './zstd/frame.js';

export { deflateCodec, zlibCodec, zstdCodec };

/** Type 2, which is zstd in Google's LevelDB and zlib in Mojang's. Reads both, which it distinguishes by the first bytes; writes zlib. */
export const zstdOrZlibCodec: Codec = {
  type: 2,
  name: 'zstd or zlib',
  compress: (contents) => zlibCodec.compress!(contents),
  decompress: (compressed, maxBytes) => (isZstd(compressed) ? zstdCodec : zlibCodec).decompress(compressed, maxBytes),
};

/** The codecs of Minecraft's Bedrock Edition: zlib, type 2, and raw deflate, type 4. */
export const mojangCodecs: readonly Codec[] = [zlibCodec, deflateCodec];

/** Codecs for the tables of any known LevelDB. */
export const allCodecs: readonly Codec[] = [zstdOrZlibCodec, deflateCodec];
