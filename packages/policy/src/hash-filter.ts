import { mustBeBytes, numberOf } from '@bloom/bytes/internal';
import { distinctHashes } from './distinct-hashes.js';
import { encodeHashBloomFilter, hashBloomFilterByteLength, hashBloomFilterMayMatchEach } from './hash-bloom-filter.js';
import type { HashFilterKernel } from './hash-filter-kernel.js';
import type { KeptKernel } from './kept-kernel.js';
import { mustBeKeyList } from './key-list.js';
import { mustBeKeyRange } from './key-range.js';
import type { FilterSink, KeyList } from './policy.js';

/** The last byte of a Bloom filter of a few keys: with a seed before it, it follows the filter of `hash-bloom-filter.ts`. */
export const BLOOM_FORM = 1;
/** The bytes after such a filter: the seed and the form. */
export const BLOOM_TRAILER_BYTES = 2;

/** With this many seeds, none gives a filter less than once in 10^12 times, where at most half of them fail. */
const MAX_SEEDS = 48;

/** A filter of 64-bit hashes that takes the place of a Bloom filter of the same rate where it is not larger. */
export interface HashFilterForm<Shape> {
  /** The share of absent keys, 0 to 1, that match. */
  readonly rate: number;
  /** The shape of a filter of `count` hashes with a seed; undefined where there is none. */
  shapeFor(count: number, seed: number): Shape | undefined;
  /** The length of its array, trailer included. */
  byteLength(shape: Shape): number;
  /** What writes the array of a filter; undefined when these hashes have none. */
  solve(hashes: Uint32Array, shape: Shape): ((filter: Uint8Array) => void) | undefined;
  /** Writes the bytes behind the array. */
  writeTrailer(filter: Uint8Array, shape: Shape, seed: number): void;
}

/** Appends to `dst` the filter of `keys`; the kernel, where there is one and it has room, makes the same bytes. */
export function encodeHashFilter<Shape>(keys: KeyList, form: HashFilterForm<Shape>, dst: FilterSink, kept: KeptKernel<HashFilterKernel<Shape>>): void {
  mustBeKeyList('keys', keys);
  if (keys.length === 0) return;
  const kernel = kept.for(keys.length);
  if (kernel !== undefined && encodeInKernel(keys, form, dst, kernel.forKeys(keys.length))) return;
  for (let seed = 0; seed < MAX_SEEDS; seed++) {
    const hashes = distinctHashes(keys, seed);
    const shape = smallShape(form, hashes.length / 2, seed);
    if (shape === undefined) {
      if (seed > 0) break;
      encodeFewKeys(hashes, form.rate, dst);
      return;
    }
    const write = form.solve(hashes, shape);
    if (write === undefined) continue;
    const filter = dst.extend(form.byteLength(shape));
    write(filter);
    form.writeTrailer(filter, shape, seed);
    return;
  }
  encodeFewKeys(distinctHashes(keys, 0), form.rate, dst);
}

/** @returns whether the kernel made the filter. */
function encodeInKernel<Shape>(keys: KeyList, form: HashFilterForm<Shape>, dst: FilterSink, kernel: HashFilterKernel<Shape>): boolean {
  for (let seed = 0; seed < MAX_SEEDS; seed++) {
    const count = kernel.hash(keys, seed);
    if (count === undefined) return false;
    const shape = smallShape(form, count, seed);
    if (shape === undefined && seed === 0) {
      encodeFewKeys(kernel.hashes(count), form.rate, dst);
      return true;
    }
    if (shape === undefined || !kernel.hasRoomFor(count, shape)) return false;
    const array = kernel.build(count, shape);
    if (array === undefined) continue;
    const filter = dst.extend(form.byteLength(shape));
    filter.set(array);
    form.writeTrailer(filter, shape, seed);
    return true;
  }
  return false;
}

/** The shape of the filter of `count` hashes; undefined where a Bloom filter is smaller. */
function smallShape<Shape>(form: HashFilterForm<Shape>, count: number, seed: number): Shape | undefined {
  const shape = form.shapeFor(count, seed);
  if (shape === undefined) return undefined;
  return form.byteLength(shape) <= hashBloomFilterByteLength(count, form.rate) + BLOOM_TRAILER_BYTES ? shape : undefined;
}

/** Appends a Bloom filter with the rate of the others. Its seed is 0. */
function encodeFewKeys(hashes: Uint32Array, rate: number, dst: FilterSink): void {
  const byteLength = hashBloomFilterByteLength(hashes.length / 2, rate);
  const filter = dst.extend(byteLength + BLOOM_TRAILER_BYTES);
  encodeHashBloomFilter(hashes, rate, filter.subarray(0, byteLength));
  filter[filter.length - 1] = BLOOM_FORM;
}

/** How a policy tests its filters. */
export interface HashFilterTest<Shape> {
  /** Tests many keys at once. */
  readonly kernel: KeptKernel<HashFilterKernel<Shape>>;
  /** How far from the end of a filter its seed is. */
  readonly seedFromEnd: number;
  /** The shape of the filter `bytes[start, end)`; undefined where it is not well-formed, or a Bloom filter. */
  readonly shapeOf: (bytes: Uint8Array, start: number, end: number) => Shape | undefined;
  /** Whether a filter may hold the key `keyBytes[keyStart, keyEnd)`. */
  readonly mayMatch: (keyBytes: Uint8Array, keyStart: number, keyEnd: number, bytes: Uint8Array, start: number, end: number, lanes: Uint32Array) => boolean;
}

/** `keysMayMatch` of a policy of 64-bit hashes: see `FilterPolicy`. */
export function hashFilterMayMatchEach<Shape>(
  keys: KeyList,
  filter: Uint8Array,
  answers: Uint8Array,
  { kernel: kept, seedFromEnd, shapeOf, mayMatch }: HashFilterTest<Shape>,
): Uint8Array {
  mustBeKeyList('keys', keys);
  mustBeBytes('filter', filter);
  mustBeBytes('answers', answers);
  const { length, bytes, offsets } = keys;
  if (answers.length < length) throw new RangeError(`answers must have at least ${numberOf(length, 'byte')}, one per key, got ${answers.length}`);
  const shape = shapeOf(filter, 0, filter.length);
  const kernel = shape && kept.for(length);
  if (kernel?.takes(filter.length, length)) {
    kernel.test(filter, keys, filter[filter.length - seedFromEnd]!, shape!, answers);
    return answers;
  }
  if (shape === undefined && filter[filter.length - 1] === BLOOM_FORM && filter.length > BLOOM_TRAILER_BYTES) {
    hashBloomFilterMayMatchEach(keys, filter[filter.length - 2]!, filter.subarray(0, -BLOOM_TRAILER_BYTES), answers);
    return answers;
  }
  const lanes = new Uint32Array(2);
  for (let i = 0; i < length; i++) {
    mustBeKeyRange(bytes, offsets[i]!, offsets[i + 1]!);
    answers[i] = mayMatch(bytes, offsets[i]!, offsets[i + 1]!, filter, 0, filter.length, lanes) ? 1 : 0;
  }
  return answers;
}
