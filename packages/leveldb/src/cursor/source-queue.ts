import { INTERNAL_KEY_TRAILER_LENGTH } from '@bloom/sstable/database';
import { compareInternalBytes, type CompareRange } from '@bloom/sstable/internal';
import type { Entry, EntryCursor } from './entry-cursor.js';

/**
 * The sources of a merge that are on an entry, in the order of these entries. Of entries with the same internal key that of the newer
 * source comes first.
 *
 * Usually the first source stays first when it moves. In bytewise order and forward, the number of bytes that user keys have in common decides
 * which comes first, without comparing them from the start:
 *
 *     rain/a…   the key that was first
 *     rain/ax   the key that follows it in its source: 6 bytes in common
 *     rain/b…   the key of the second source: 5 bytes in common, so it comes after rain/ax
 *
 * Source: Ng and Kakehi, Merging string sequences by longest common prefixes, IPSJ Digital Courier 4, 2008.
 */
export class SourceQueue {
  readonly #compare: CompareRange;
  /** The age of each source: 0 is the newest. */
  readonly #ages = new Map<EntryCursor, number>();
  readonly #queue: EntryCursor[] = [];
  /**
   * For each source, how many bytes its user key has in common with that of the source before it in the queue. For the first, how many
   * it is known to have in common with the key that was first before. Where they are not counted, those of all but the first are 0.
   */
  readonly #common: number[] = [];
  #countsCommon = false;
  #reverse = false;
  /** Bytes of the first user key. */
  #firstLength = 0;

  /** @param sources the newest first. */
  constructor(sources: readonly EntryCursor[], compareInternalKeys: CompareRange) {
    this.#compare = compareInternalKeys;
    for (const [age, source] of sources.entries()) this.#ages.set(source, age);
  }

  /** The source of the next entry; undefined when there is none. */
  get first(): EntryCursor | undefined {
    return this.#queue[0];
  }

  clear(): void {
    this.#queue.length = 0;
  }

  /** Sorts all sources that are on an entry, for a walk in one direction. */
  line(reverse: boolean): void {
    const queue = this.#queue;
    this.#reverse = reverse;
    this.#countsCommon = !reverse && this.#compare === compareInternalBytes;
    queue.length = this.#common.length = 0;
    for (const source of this.#ages.keys()) if (source.valid) queue.push(source);
    queue.sort((a, b) => (this.#isBefore(a, b, 0) ? -1 : 1));
    for (let i = 0; i < queue.length; i++) this.#common.push(i > 0 && this.#countsCommon ? commonLength(queue[i - 1]!.entry, queue[i]!.entry, 0) : 0);
    this.#lead();
  }

  /** Puts the first source, which moved one entry in the direction of the walk, into its new place. */
  sink(): void {
    const first = this.#queue[0]!;
    if (!first.valid) {
      this.#queue.shift();
      this.#common.shift();
    } else if (this.#countsCommon) {
      this.#sinkByCommon(first);
    } else {
      this.#sinkByOrder(first);
    }
    this.#lead();
  }

  #sinkByCommon(first: EntryCursor): void {
    const queue = this.#queue;
    const commons = this.#common;
    const { entry } = first;
    /**
     * How many bytes the moved key has in common with the key before it in the queue. As long as it is first, it may have more than is
     * known here, as at a restart of a block.
     */
    let common = Math.min(entry.shared, this.#firstLength, userKeyLength(entry));
    let i = 1;
    for (; i < queue.length && common <= commons[i]!; i++) {
      const other = queue[i]!;
      const length = commonLength(entry, other.entry, common);
      if (this.#isBefore(first, other, length)) {
        commons[i] = length;
        break;
      }
      queue[i - 1] = other;
      commons[i - 1] = commons[i]!;
      common = length;
    }
    if (i > 1) queue[i - 1] = first;
    commons[i - 1] = common;
  }

  #sinkByOrder(first: EntryCursor): void {
    const queue = this.#queue;
    let i = 1;
    while (i < queue.length && this.#isBefore(queue[i]!, first, 0)) {
      queue[i - 1] = queue[i]!;
      i++;
    }
    if (i > 1) queue[i - 1] = first;
    this.#common[0] = i > 1 ? 0 : first.entry.shared;
  }

  /** Records what the first entry has in common with the entry that was first before: its source only knows the previous entry of that source. */
  #lead(): void {
    const first = this.#queue[0];
    if (first === undefined) return;
    const { entry } = first;
    entry.shared = this.#common[0]!;
    this.#firstLength = userKeyLength(entry);
  }

  /** @param common bytes at the start that both user keys are known to have in common; 0 where they are not in bytewise order. */
  #isBefore(a: EntryCursor, b: EntryCursor, common: number): boolean {
    const ours = a.entry;
    const theirs = b.entry;
    const order = this.#compare(ours.keyBytes, ours.keyStart + common, ours.keyEnd, theirs.keyBytes, theirs.keyStart + common, theirs.keyEnd);
    const isBefore = order === 0 ? this.#ages.get(a)! < this.#ages.get(b)! : order < 0;
    return isBefore !== this.#reverse;
  }
}

/** 0 for a damaged key, which is too short to be an internal key. */
function userKeyLength({ keyStart, keyEnd }: Entry): number {
  return Math.max(0, keyEnd - keyStart - INTERNAL_KEY_TRAILER_LENGTH);
}

/** How many bytes two user keys have in common. @param from a lower bound. */
function commonLength(a: Entry, b: Entry, from: number): number {
  const length = Math.min(userKeyLength(a), userKeyLength(b));
  const aBytes = a.keyBytes;
  const bBytes = b.keyBytes;
  const aStart = a.keyStart;
  const bStart = b.keyStart;
  let i = from;
  while (i < length && aBytes[aStart + i] === bBytes[bStart + i]) i++;
  return i;
}
