/**
 * A block of sorted entries: data, index or metaindex.
 *
 *     entry | entry | … | offset of restart 0 (u32) | offset of restart 1 (u32) | … | number of restarts (u32)
 *
 *     entry:  shared (varint32) | unshared (varint32) | value length (varint32) | unshared key bytes | value
 *
 * A key is the first `shared` bytes of the previous key followed by its own unshared bytes. At a restart nothing is
 * shared, so that a search can start there. All integers are little-endian.
 *
 * `block-builder.ts` writes blocks, `block-walk.ts` goes through their entries, `block-search.ts` looks for a key.
 *
 * Source: LevelDB, table/block_builder.cc and table/block.cc.
 */
import { CorruptionError, type LabelledRange } from '@bloom/bytes';
import { BlockWalk } from './block-walk.js';

/**
 * Labels the contents of a block at `offset` of a file: every byte once, in order. A generator, because all ranges
 * together take many times the memory of the block.
 *
 * @param describe describes an entry's value where it is more than plain bytes.
 */
export function* blockLayout(
  contents: Uint8Array,
  offset: number,
  describe?: (value: Uint8Array) => string | undefined,
): Generator<LabelledRange, void, undefined> {
  const walk = new BlockWalk('data block');
  let position = 0;
  const range = (byteLength: number, label: string, value?: string): LabelledRange => {
    position += byteLength;
    return { offset: offset + position - byteLength, byteLength, label, ...(value !== undefined && { value }) };
  };
  const showBytes = (bytes: Uint8Array): string => {
    const text = Array.from(bytes.subarray(0, 24), (byte) =>
      byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c
        ? String.fromCharCode(byte)
        : `\\x${byte.toString(16).padStart(2, '0')}`,
    ).join('');
    return `"${text}"${bytes.length > 24 ? `… ${bytes.length} bytes` : ''}`;
  };
  try {
    walk.reset(contents, offset);
    let i = 0;
    for (let more = walk.seekToFirst(); more; more = walk.next(), i++) {
      const unshared = walk.keyLength - walk.shared;
      const valueLength = walk.valueEnd - walk.valueStart;
      const header = walk.valueStart - unshared - position;
      yield range(header, `entry ${i}: lengths`, `shared ${walk.shared}, unshared ${unshared}, value ${valueLength}`);
      if (unshared > 0) yield range(unshared, `entry ${i}: ${walk.shared === 0 ? 'key' : 'end of key'}`, showBytes(walk.key));
      if (valueLength > 0) yield range(valueLength, `entry ${i}: value`, describe?.(walk.value) ?? showBytes(walk.value));
    }
    for (let r = 0; r < walk.restartCount; r++) yield range(4, `offset of restart ${r}`, String(walk.restartOffset(r)));
    const others = contents.length - 4 - position;
    if (others > 0) yield range(others, walk.restartCount === 0 ? 'bytes before the restarts' : 'hash index of RocksDB');
    yield range(4, 'number of restarts', String(walk.restartCount));
  } catch (error) {
    if (!(error instanceof CorruptionError)) throw error;
    if (position < contents.length) yield range(contents.length - position, 'damaged', error.problem);
  }
}
