import { CorruptionError } from '@bloom/bytes';
import type { BlockHandle } from '../format/block-handle.js';
import type { IndexBlock } from '../format/index-block.js';
import { storedEnd } from '../format/stored-block.js';
import { BlockList } from './block-list.js';

/**
 * The handles of the data blocks that an index lists, in its order. Without these checks, an index of a few hundred bytes could list a
 * block a million times.
 *
 * @throws CorruptionError `BLOOM_BAD_HANDLE` when a handle is damaged, or two blocks share bytes of the file.
 */
export function soundHandles(index: IndexBlock, file: string | undefined): BlockHandle[] {
  const blocks = new BlockList();
  const bad = (i: number, problem: string): CorruptionError =>
    new CorruptionError('BLOOM_BAD_HANDLE', { structure: 'data block', offset: index.offsetOf(i), file }, `its handle, entry ${i} of the index, ${problem}`);
  for (let i = 0; i < index.length; i++) {
    if (index.sizeOf(i) < 0) throw bad(i, 'is damaged');
    blocks.push({ offset: index.offsetOf(i), size: index.sizeOf(i) });
  }
  let end = 0;
  for (const i of blocks.inFileOrder()) {
    if (blocks.offsetOf(i) < end) throw bad(i, 'makes it overlap another block');
    end = storedEnd(blocks.at(i));
  }
  return Array.from({ length: blocks.length }, (_, i) => blocks.at(i));
}
