/**
 * Where to go on reading a block after damage. LevelDB drops the rest of the block, because the length of a damaged fragment cannot be trusted.
 *
 * A value can hold the bytes of another log, whose fragments are no fragments of this one. So a checksum that is right is believed only where
 * the damaged fragment says that it ends, or where whole fragments follow up to the end of the block, which those of a value hardly ever do.
 */
import { isZeroFrom, mayBeTruncated } from './log-end.js';
import { FragmentReader, FULL, LAST, LOG_BLOCK_LENGTH, LOG_HEADER_LENGTH } from './log-format.js';

/** The most bytes of a block whose checksums are computed, counting each as often as that happens: some blocks have fragments everywhere. */
const MAX_CHECKED_BYTES = 64 * LOG_BLOCK_LENGTH;

/**
 * @param position of the damaged fragment.
 * @param damaged the fragment, as it was read.
 * @param offset of `block` in the file.
 * @param isCut whether the file ends before the block is full.
 * @returns the position of the first fragment that follows; undefined if there is none.
 */
export function resumePosition(block: Uint8Array, position: number, { end }: FragmentReader, offset: number, isCut: boolean): number | undefined {
  const fragment = new FragmentReader();
  let left = MAX_CHECKED_BYTES;
  const isWhole = (start: number): boolean => {
    const type = block[start + LOG_HEADER_LENGTH - 1]!;
    if (type < FULL || type > LAST) return false;
    const isRight = fragment.read(block, start, block.length) === 'fragment';
    if (fragment.end <= block.length) left -= fragment.end - start;
    return isRight;
  };
  /** Whether whole fragments, of which the one at `start` is one, reach the end of the block. */
  const reachesEnd = (start: number): boolean => {
    let at = start;
    while (block.length - at >= LOG_HEADER_LENGTH && isWhole(at)) at = fragment.end;
    if (at === start) return false;
    if (isZeroFrom(block, at)) return true;
    return isCut && (block.length - at < LOG_HEADER_LENGTH || (fragment.read(block, at, block.length) === 'bad length' && mayBeTruncated(block, at, fragment, offset, true)));
  };
  const last = block.length - LOG_HEADER_LENGTH;
  if (end <= last && isWhole(end)) return end;
  for (let start = position + LOG_HEADER_LENGTH; start <= last && left > 0; start++) if (reachesEnd(start)) return start;
  return undefined;
}
