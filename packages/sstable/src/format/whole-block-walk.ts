import { CorruptionError, type Place, type Structure } from '@bloom/bytes';
import { BlockWalk } from './block-walk.js';

/** The key bytes that a walk through a whole block may assemble: a multiple of the block's bytes, or at least this many. */
const MAX_KEY_EXPANSION = 16;
const MIN_KEY_BYTES = 64 * 2 ** 20;

/**
 * A {@link BlockWalk} through all entries of a block, from the first to the last, in bounded time.
 *
 * A crafted block can make each of its entries share a key of megabytes: 3 bytes on disk, megabytes in a walk. A block
 * whose keys have more than 64 MiB and more than 16 times its own bytes in total is refused with `BLOOM_TOO_LARGE`.
 */
export class WholeBlockWalk extends BlockWalk {
  private readonly origin: Omit<Place, 'offset'>;
  private offset = 0;
  private maxKeyBytes = 0;
  /** The bytes of the keys so far, including their shared prefixes. */
  totalKeyBytes = 0;

  constructor(structure: Structure, file?: string) {
    super(structure, file);
    this.origin = { structure, file };
  }

  override reset(contents: Uint8Array, blockOffset: number): void {
    super.reset(contents, blockOffset);
    this.offset = blockOffset;
    this.totalKeyBytes = 0;
    this.maxKeyBytes = Math.max(MIN_KEY_BYTES, contents.length * MAX_KEY_EXPANSION);
  }

  override seekToFirst(): boolean {
    return super.seekToFirst() && this.count();
  }

  override seekToRestart(restart: number): boolean {
    return super.seekToRestart(restart) && this.count();
  }

  override next(): boolean {
    return super.next() && this.count();
  }

  private count(): true {
    this.totalKeyBytes += this.keyLength;
    if (this.totalKeyBytes <= this.maxKeyBytes) return true;
    this.valid = false;
    const problem = `its keys, including their shared prefixes, have more than ${this.maxKeyBytes} bytes, the limit`;
    throw new CorruptionError('BLOOM_TOO_LARGE', { ...this.origin, offset: this.offset }, problem);
  }
}
