/**
 * Checks whether the filters of a table were made from the keys that the table stores.
 *
 * In a table of a LevelDB database they were made from user keys: the stored keys without their last eight bytes. Nothing
 * in the file says so, and if it is opened as a plain table, nearly every stored key would seem absent. But a filter
 * that does not match a key of its own block is proof. Therefore, if the index keys look like a database's, opening a
 * table looks up some stored keys in their filters, preferably keys that were read with the tail of the file.
 */
import type { FilterBlockReader } from '@bloom/filter-block';
import type { FilterPolicy } from '@bloom/policy';
import { BlockWalk } from '../format/block-walk.js';
import type { IndexBlock } from '../format/index-block.js';
import { INTERNAL_KEY_TRAILER_LENGTH } from '../format/bytewise-order.js';
import { InternalKeyPolicy, mayBeInternalKey, userKeyOf } from '../format/internal-key.js';
import { isFormatError } from '../format/is-format-error.js';
import type { FilteredKeys } from './filter-status.js';
import type { Reading } from './reading.js';

/** How the sample gets its data blocks. */
export interface SampledBlocks {
  /** The data blocks whose contents are in memory: after an opening, those that were read together with the tail of the file. */
  numbers(): Iterable<number>;
  /** The contents of data block `i`. */
  read(i: number): Reading<Uint8Array>;
}

/** The most index keys to inspect. */
const MAX_INDEX_KEYS = 64;
/** The most stored keys to look up in their filters. By chance, one in a hundred matches, like an absent key. */
const MAX_SAMPLED_KEYS = 64;
/** The most bytes of those keys, and the most blocks that they are taken from. */
const MAX_SAMPLED_BYTES = 2 ** 20;
const MAX_SAMPLED_BLOCKS = 16;

/** The keys that the filters were made from; undefined when nothing contradicts that they are the stored keys. */
export function* findFilteredKeys(
  filter: FilterBlockReader,
  policy: FilterPolicy,
  index: IndexBlock,
  blocks: SampledBlocks,
): Reading<FilteredKeys | undefined> {
  const isOfUserKeys = policy instanceof InternalKeyPolicy;
  if (!isOfUserKeys && !mayHaveInternalKeys(index)) return undefined;
  const { sampled, isAtHand } = sampledBlocks(filter, index, blocks);
  /** The sampled block, if it had to be read for this: it is not read twice. */
  let far: Uint8Array | undefined;
  if (yield* allMatch((key) => key)) return undefined;
  if (!(yield* allMatch(isOfUserKeys ? withTrailer : userKeyOf))) return 'other-keys';
  return isOfUserKeys ? 'whole-keys' : 'user-keys';

  /** Whether all keys of the sample match their filters, each as `formOf` makes it. */
  function* allMatch(formOf: (key: Uint8Array) => Uint8Array): Reading<boolean> {
    const walk = new BlockWalk('data block');
    let keys = 0;
    let keyBytes = 0;
    for (const i of sampled) {
      const offset = index.offsetOf(i);
      try {
        const contents = far ?? (yield* blocks.read(i));
        if (!isAtHand) far = contents;
        walk.reset(contents, offset);
        for (let more = walk.seekToFirst(); more; more = walk.next()) {
          const key = formOf(walk.key);
          if (filter.denies(offset, key, 0, key.length)) return false;
          keys++;
          keyBytes += walk.keyLength;
          if (keys >= MAX_SAMPLED_KEYS || keyBytes >= MAX_SAMPLED_BYTES) return true;
        }
      } catch (error) {
        // A damaged data block costs only that block, and is reported when the block is read.
        if (!isFormatError(error)) throw error;
      }
    }
    return true;
  }
}

/** A stored key with eight more bytes: an `InternalKeyPolicy`, which leaves out the last eight, then asks for the whole stored key. */
function withTrailer(key: Uint8Array): Uint8Array {
  const longer = new Uint8Array(key.length + INTERNAL_KEY_TRAILER_LENGTH);
  longer.set(key);
  return longer;
}

/** Whether all index keys, or a sample of them, look like internal keys. */
export function mayHaveInternalKeys(index: IndexBlock): boolean {
  const { length } = index;
  const count = Math.min(length, MAX_INDEX_KEYS);
  for (let k = 0; k < count; k++) {
    const i = count === length ? k : Math.floor((k * (length - 1)) / (count - 1));
    if (!mayBeInternalKey(index.separatorOf(i))) return false;
  }
  return count > 0;
}

/** Blocks in memory that have a filter; if there are none, the smallest block that has one. */
function sampledBlocks(
  filter: FilterBlockReader,
  index: IndexBlock,
  blocks: SampledBlocks,
): { readonly sampled: number[]; readonly isAtHand: boolean } {
  const sampled: number[] = [];
  for (const i of blocks.numbers()) {
    if (hasFilter(filter, index.offsetOf(i))) sampled.push(i);
    if (sampled.length === MAX_SAMPLED_BLOCKS) break;
  }
  if (sampled.length > 0) return { sampled, isAtHand: true };
  let smallest = -1;
  for (let i = 0; i < index.length; i++) {
    const size = index.sizeOf(i);
    if (size < 0 || (smallest >= 0 && size >= index.sizeOf(smallest))) continue;
    if (hasFilter(filter, index.offsetOf(i))) smallest = i;
  }
  return { sampled: smallest < 0 ? [] : [smallest], isAtHand: false };
}

/** Whether the data block at `offset` has a filter that can exclude keys: one that is damaged, or empty, excludes none. */
function hasFilter(filter: FilterBlockReader, offset: number): boolean {
  return (filter.filterAt(Math.floor(offset / filter.base))?.length ?? 0) > 0;
}
