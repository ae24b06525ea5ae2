import { RangeCopier } from '@bloom/bytes/internal';
import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import { compareRangeOf, type CompareRange } from '@bloom/sstable/internal';
import type { EntryBatch } from '../formats/entry-batch.js';

/** The size of a page in bytes. */
const PAGE_BYTES = 4 * 2 ** 20;
/** A larger entry gets a page of its own, so that no more than a quarter of a page stays empty. */
const MAX_SHARED_BYTES = PAGE_BYTES / 4;
/** Bytes per entry for its place. */
const PLACE_BYTES = 16;
/** Bytes per entry during sorting: its prefix, and its place in two orders. */
const SORTING_BYTES = 16;
/** The number of bytes of a key that are sorted as digits, half of them in each of two numbers. */
const PREFIX_BYTES = 8;
const HALF_PREFIX_BYTES = PREFIX_BYTES / 2;

/** Added entries, as arrays that can be transferred to another thread. */
export interface PackedEntries {
  readonly length: number;
  readonly pages: readonly Uint8Array<ArrayBuffer>[];
  readonly page: Uint32Array<ArrayBuffer>;
  readonly offset: Uint32Array<ArrayBuffer>;
  readonly keyLength: Uint32Array<ArrayBuffer>;
  readonly valueLength: Uint32Array<ArrayBuffer>;
}

/** The buffers to transfer with them. */
export function buffersOfEntries({ pages, page, offset, keyLength, valueLength }: PackedEntries): ArrayBuffer[] {
  return [...pages, page, offset, keyLength, valueLength].map(({ buffer }) => buffer);
}

/** Memory for entries. */
interface Page {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Copies entries from it. Each page has its own copier, because successive sorted entries are in different pages. */
  readonly copier: RangeCopier;
}

/**
 * Sorts entries by key, and keeps the last entry of each key.
 *
 * Entries are stored in pages and flat arrays instead of objects: besides its own bytes, an entry takes 16 to 32 bytes, as
 * the arrays double, and 16 more for sorting.
 */
export class SortedEntries {
  /** The number of entries added. */
  length = 0;
  /** The order of the keys; undefined for bytewise order. */
  readonly #compare: CompareRange | undefined;
  #pages: Page[] = [];
  #pageBytes = 0;
  /** Copies entries to pages. */
  readonly #copier = new RangeCopier();
  /** Pages of entries that were removed. */
  #spare: Page[] = [];
  /** The page that is being filled, and the bytes used in it. */
  #filled = -1;
  #filledLength = Infinity;
  /** The place of each entry: its page, and the offset of its key there. The value follows the key. */
  #page = new Uint32Array(1024);
  #offset = new Uint32Array(1024);
  #keyLength = new Uint32Array(1024);
  #valueLength = new Uint32Array(1024);
  /** The number of bytes that all keys have in common at their start. */
  #common = 0;
  /** The bytes of each key after those, as two numbers with the same order. */
  #high = new Uint32Array(0);
  #low = new Uint32Array(0);
  #order = new Uint32Array(0);

  /**
   * @param comparator the order of the keys. Default: bytewise.
   * @param packed initial entries. Default: none.
   */
  constructor(comparator: Comparator = bytewiseComparator, packed?: PackedEntries) {
    this.#compare = comparator === bytewiseComparator ? undefined : compareRangeOf(comparator);
    if (packed === undefined) return;
    this.length = packed.length;
    this.#pages = packed.pages.map((bytes) => ({ bytes, copier: new RangeCopier() }));
    this.#pageBytes = packed.pages.reduce((sum, { length }) => sum + length, 0);
    this.#page = packed.page;
    this.#offset = packed.offset;
    this.#keyLength = packed.keyLength;
    this.#valueLength = packed.valueLength;
  }

  /** The approximate number of bytes in use, including those needed for sorting. */
  get memoryBytes(): number {
    return this.#pageBytes + this.#page.length * PLACE_BYTES + this.length * SORTING_BYTES;
  }

  /** Adds a copy of the entry whose key is `bytes[start, keyEnd)`, and whose value follows it. */
  add(bytes: Uint8Array, start: number, keyEnd: number, end: number): void {
    const i = this.length;
    if (i === this.#page.length) this.#grow();
    const byteLength = end - start;
    const isShared = byteLength <= MAX_SHARED_BYTES;
    const number = isShared ? this.#pageWithRoom(byteLength) : this.#addPage(byteLength);
    const offset = isShared ? this.#filledLength : 0;
    if (isShared) this.#filledLength += byteLength;
    this.#copier.copy(bytes, start, end, this.#pages[number]!.bytes, offset);
    this.#page[i] = number;
    this.#offset[i] = offset;
    this.#keyLength[i] = keyEnd - start;
    this.#valueLength[i] = end - keyEnd;
    this.length++;
  }

  /** The entries for a transfer, after which this object must not be used. */
  packed(): PackedEntries {
    const pages = this.#pages.map(({ bytes }) => bytes);
    return { length: this.length, pages, page: this.#page, offset: this.#offset, keyLength: this.#keyLength, valueLength: this.#valueLength };
  }

  /** Removes all entries, and keeps the memory for new ones. */
  clear(): void {
    this.length = 0;
    for (const page of this.#pages) if (page.bytes.length === PAGE_BYTES) this.#spare.push(page);
    this.#pages = [];
    this.#pageBytes = 0;
    this.#filledLength = PAGE_BYTES;
    this.#high = this.#low = this.#order = new Uint32Array(0);
  }

  /** Removes all entries, and releases their memory. */
  release(): void {
    this.clear();
    this.#spare = [];
    this.#page = this.#offset = this.#keyLength = this.#valueLength = new Uint32Array(0);
  }

  /** Sorts the entries. @returns the number of entries that were replaced by a later one with the same key. */
  sort(): number {
    const { order, compare } = this.#compare === undefined ? this.#inBytewiseOrder() : this.#inOrderOf(this.#compare);
    let kept = 0;
    for (let start = 0, end: number; start < order.length; start = end) {
      end = start + 1;
      while (end < order.length && this.#isOfRun(order[start]!, order[end]!)) end++;
      if (end - start > 1) sortRun(order, start, end, compare);
      for (let i = start; i < end; i++) {
        if (i + 1 < end && compare(order[i]!, order[i + 1]!) === 0) continue;
        order[kept++] = order[i]!;
      }
    }
    this.#order = order.subarray(0, kept);
    return this.length - kept;
  }

  /** The places of the entries in the order of the first bytes of their keys, and how to compare those whose bytes are equal. */
  #inBytewiseOrder(): { order: Uint32Array<ArrayBuffer>; compare: (a: number, b: number) => number } {
    this.#takePrefixes();
    return { order: orderOf(this.#high, this.#low), compare: (a, b) => this.#compareRests(a, b) };
  }

  #inOrderOf(compareRange: CompareRange): { order: Uint32Array<ArrayBuffer>; compare: (a: number, b: number) => number } {
    const order = new Uint32Array(this.length);
    for (let i = 0; i < order.length; i++) order[i] = i;
    const compare = (a: number, b: number): number => {
      const [aStart, bStart] = [this.#offset[a]!, this.#offset[b]!];
      return compareRange(this.#bytesOf(a), aStart, aStart + this.#keyLength[a]!, this.#bytesOf(b), bStart, bStart + this.#keyLength[b]!);
    };
    return { order, compare };
  }

  /**
   * Takes the prefixes after the bytes that all keys share, so that few comparisons remain after sorting by prefixes, even for keys such
   * as `user:…`.
   */
  #takePrefixes(): void {
    let common = this.length === 0 ? 0 : this.#keyLength[0]!;
    for (let i = 1; i < this.length && common > 0; i++) common = this.#commonWithFirst(i, common);
    this.#common = common;
    this.#high = new Uint32Array(this.length);
    this.#low = new Uint32Array(this.length);
    for (let i = 0; i < this.length; i++) {
      const bytes = this.#bytesOf(i);
      const start = this.#offset[i]! + common;
      const end = this.#offset[i]! + this.#keyLength[i]!;
      this.#high[i] = numberAt(bytes, start, end);
      this.#low[i] = numberAt(bytes, start + HALF_PREFIX_BYTES, end);
    }
  }

  /** Whether two entries still have to be compared: in bytewise order, only those with the same prefix. */
  #isOfRun(a: number, b: number): boolean {
    return this.#compare !== undefined || this.#sameDigits(a, b);
  }

  #sameDigits(a: number, b: number): boolean {
    return this.#high[a] === this.#high[b] && this.#low[a] === this.#low[b];
  }

  /** The number of bytes, at most `most`, that key `i` shares with the first key at its start. */
  #commonWithFirst(i: number, most: number): number {
    const [first, firstStart] = [this.#bytesOf(0), this.#offset[0]!];
    const [bytes, start] = [this.#bytesOf(i), this.#offset[i]!];
    const length = Math.min(most, this.#keyLength[i]!);
    let common = 0;
    while (common < length && first[firstStart + common] === bytes[start + common]) common++;
    return common;
  }

  /** The page of entry `i`. */
  #bytesOf(i: number): Uint8Array {
    return this.#pages[this.#page[i]!]!.bytes;
  }

  /** The number of entries after `sort`. */
  get sortedLength(): number {
    return this.#order.length;
  }

  /**
   * After `sort`, adds the entries from number `first` to `batch`, until it has `maxBytes`.
   *
   * @returns the number of the next entry.
   */
  fill(batch: EntryBatch, first: number, maxBytes: number): number {
    let n = first;
    for (; n < this.#order.length && batch.end < maxBytes; n++) {
      const i = this.#order[n]!;
      const { bytes, copier } = this.#pages[this.#page[i]!]!;
      const start = this.#offset[i]!;
      const keyEnd = batch.end + this.#keyLength[i]!;
      batch.put(bytes, start, start + this.#keyLength[i]! + this.#valueLength[i]!, copier);
      batch.push(keyEnd, batch.end, 0);
    }
    return n;
  }

  /** Compares two keys whose prefixes are equal. If that is because of padding, the lengths decide. */
  #compareRests(a: number, b: number): number {
    const pageA = this.#bytesOf(a);
    const pageB = this.#bytesOf(b);
    const offsetA = this.#offset[a]!;
    const offsetB = this.#offset[b]!;
    const lengthA = this.#keyLength[a]!;
    const lengthB = this.#keyLength[b]!;
    const common = Math.min(lengthA, lengthB);
    for (let i = this.#common + PREFIX_BYTES; i < common; i++) {
      const difference = pageA[offsetA + i]! - pageB[offsetB + i]!;
      if (difference !== 0) return difference;
    }
    return lengthA - lengthB;
  }

  /** The number of a page with enough room: the current one, or a new one. */
  #pageWithRoom(byteLength: number): number {
    if (this.#filledLength + byteLength > PAGE_BYTES) {
      this.#filled = this.#addPage(PAGE_BYTES);
      this.#filledLength = 0;
    }
    return this.#filled;
  }

  /** @returns the number of a new page. */
  #addPage(byteLength: number): number {
    const spare = byteLength === PAGE_BYTES ? this.#spare.pop() : undefined;
    this.#pageBytes += byteLength;
    return this.#pages.push(spare ?? { bytes: new Uint8Array(byteLength), copier: new RangeCopier() }) - 1;
  }

  #grow(): void {
    const length = this.#page.length * 2;
    this.#page = grown(this.#page, new Uint32Array(length));
    this.#offset = grown(this.#offset, new Uint32Array(length));
    this.#keyLength = grown(this.#keyLength, new Uint32Array(length));
    this.#valueLength = grown(this.#valueLength, new Uint32Array(length));
  }
}

function grown(from: Uint32Array<ArrayBuffer>, to: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  to.set(from);
  return to;
}

/** The first bytes of `bytes[start, end)` as a number, padded with zeros. */
function numberAt(bytes: Uint8Array, start: number, end: number): number {
  let number = 0;
  for (let i = start; i < start + HALF_PREFIX_BYTES; i++) number = (number << 8) | (i < end ? bytes[i]! : 0);
  return number >>> 0;
}

/** Bits of a digit, of which a number has three. */
const DIGIT_BITS = 11;
const DIGITS = 2 ** DIGIT_BITS;

/**
 * The places in `high` and `low` in the order of the numbers there: `high` decides before `low`. Equal numbers keep the
 * order of their places.
 *
 * A radix sort: two million numbers take half the time of a merge sort that compares them.
 */
function orderOf(high: Uint32Array, low: Uint32Array): Uint32Array<ArrayBuffer> {
  const { length } = high;
  let from = new Uint32Array(length);
  for (let i = 0; i < length; i++) from[i] = i;
  let to = new Uint32Array(length);
  const ends = new Uint32Array(DIGITS);
  for (const numbers of [low, high]) {
    for (let shift = 0; shift < 32; shift += DIGIT_BITS) {
      ends.fill(0);
      for (let i = 0; i < length; i++) ends[(numbers[i]! >>> shift) & (DIGITS - 1)]!++;
      for (let digit = 1; digit < DIGITS; digit++) ends[digit]! += ends[digit - 1]!;
      for (let i = length - 1; i >= 0; i--) {
        const place = from[i]!;
        to[--ends[(numbers[place]! >>> shift) & (DIGITS - 1)]!] = place;
      }
      [from, to] = [to, from];
    }
  }
  return from;
}

/** Up to this many numbers are sorted by insertion. */
const FEW = 16;

/** Sorts `numbers[start, end)` by `compare`. The sort is stable. */
function sortRun(numbers: Uint32Array<ArrayBuffer>, start: number, end: number, compare: (a: number, b: number) => number): void {
  if (end - start > FEW) {
    numbers.set(mergeSort(numbers.slice(start, end), compare), start);
    return;
  }
  for (let i = start + 1; i < end; i++) {
    const number = numbers[i]!;
    let at = i;
    for (; at > start && compare(numbers[at - 1]!, number) > 0; at--) numbers[at] = numbers[at - 1]!;
    numbers[at] = number;
  }
}

/**
 * Sorts `numbers`, which are overwritten, by `compare`. The sort is stable.
 *
 * A bottom-up merge sort in two flat arrays: the sort of typed arrays takes a third longer, and copies the numbers
 * into larger plain arrays.
 */
function mergeSort(numbers: Uint32Array<ArrayBuffer>, compare: (a: number, b: number) => number): Uint32Array<ArrayBuffer> {
  const { length } = numbers;
  let from = numbers;
  let to = new Uint32Array(length);
  for (let width = 1; width < length; width *= 2) {
    for (let start = 0; start < length; start += 2 * width) {
      const middle = Math.min(start + width, length);
      const end = Math.min(start + 2 * width, length);
      let left = start;
      let right = middle;
      // Runs that are already in order are copied.
      if (middle === end || compare(from[middle - 1]!, from[middle]!) <= 0) {
        to.set(from.subarray(start, end), start);
        continue;
      }
      for (let i = start; i < end; i++) {
        to[i] =
          right === end || (left < middle && compare(from[left]!, from[right]!) <= 0) ? from[left++]! : from[right++]!;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}
