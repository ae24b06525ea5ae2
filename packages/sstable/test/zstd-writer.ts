import { compress } from '@bokuweb/zstd-wasm';
import type { Codec } from '@bloom/sstable';

/**
 * zstd as Google's LevelDB writes it: the reference implementation, level 1, the contents' size in the header. Its
 * `init` is to be awaited first.
 */
export const zstdWriter: Codec = {
  type: 2,
  name: 'zstd writer',
  compress: (contents) => new Uint8Array(compress(contents, 1)),
  decompress: () => {
    throw new Error('only writes');
  },
};
