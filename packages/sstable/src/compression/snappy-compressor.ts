import { putVarint } from '@bloom/bytes';
import { instantiateKernel, type Kernel } from '@bloom/bytes/internal';
import { SNAPPY_COMPRESSOR } from './snappy-compressor.wasm.js';

/** Contents are compressed in independent fragments of 64 KiB, so that an offset fits in two bytes. */
const FRAGMENT_BYTES = 2 ** 16;

/** A varint32 has at most five bytes. */
const MAX_HEADER_BYTES = 5;

/** The hash table has about as many slots as the fragment has bytes, within these bounds. */
const MIN_TABLE_BITS = 8;
const MAX_TABLE_BITS = 14;

/** The kernel's copies read and write up to 15 bytes past their ends. */
const SLACK = 16;

// The kernel's memory, in bytes. The hash table is at its start, two bytes per slot.
const INPUT_AT = 2 ** (MAX_TABLE_BITS + 1);
const OUTPUT_AT = INPUT_AT + FRAGMENT_BYTES + SLACK;

/** The most bytes that the elements for `length` bytes of contents can take. Source: Snappy, `MaxCompressedLength`. */
function maxElementBytes(length: number): number {
  return 32 + length + Math.floor(length / 6);
}

function tableBitsFor(length: number): number {
  return Math.min(MAX_TABLE_BITS, Math.max(MIN_TABLE_BITS, 31 - Math.clz32(length)));
}

/** Compresses one fragment at a time. */
export interface FragmentCompressor {
  /** The array that elements are written to. */
  readonly output: Uint8Array;
  /** The first position in `output` that may be written. */
  readonly outputStart: number;
  /** Writes the elements of contents[start, end), at most 64 KiB, to `output`. @returns the position after them. */
  compress(contents: Uint8Array, start: number, end: number, position: number): number;
}

interface CompressorKernel extends Kernel {
  compress(from: number, length: number, to: number, tableBits: number): number;
}

/**
 * Compresses in WebAssembly, `assembly/snappy-compressor.ts`: text in 0.35 of the time of plain TypeScript, random bytes in 0.53, zeros in 0.13
 * (Node 20).
 */
export class SnappyCompressorKernel implements FragmentCompressor {
  readonly output: Uint8Array;
  readonly outputStart = OUTPUT_AT;
  readonly #kernel: CompressorKernel;

  private constructor(kernel: CompressorKernel) {
    this.#kernel = kernel;
    this.output = new Uint8Array(kernel.memory.buffer);
  }

  /** A new kernel, or undefined where the host does not allow one. */
  static create(): SnappyCompressorKernel | undefined {
    const kernel = instantiateKernel<CompressorKernel>(SNAPPY_COMPRESSOR);
    return kernel && new SnappyCompressorKernel(kernel);
  }

  compress(contents: Uint8Array, start: number, end: number, position: number): number {
    const length = end - start;
    this.output.set(length === contents.length ? contents : contents.subarray(start, end), INPUT_AT);
    return this.#kernel.compress(INPUT_AT, length, position, tableBitsFor(length));
  }
}

/** Compresses in plain TypeScript, step for step as the kernel does, so that the bytes are the same. */
export class PlainSnappyCompressor implements FragmentCompressor {
  readonly output = new Uint8Array(MAX_HEADER_BYTES + maxElementBytes(FRAGMENT_BYTES));
  readonly outputStart = 0;
  /** For the hash of four bytes, the last position in the fragment that had it. */
  readonly #table = new Uint16Array(2 ** MAX_TABLE_BITS);

  compress(contents: Uint8Array, start: number, end: number, position: number): number {
    const { output } = this;
    if (end - start < 16) return putRest(output, position, contents, start, end);
    const table = this.#table;
    const tableBits = tableBitsFor(end - start);
    const shift = 32 - tableBits;
    table.fill(0, 0, 2 ** tableBits);
    // No match starts in the last 15 bytes, so that the kernel can read 8 bytes at a time.
    const limit = end - 15;
    let emitted = start;
    let at = start + 1;
    let word = wordAt(contents, at);
    while (true) {
      // Without matches the search speeds up: the step grows by one after every 32 bytes of `skip`.
      let skip = 32;
      let candidate: number;
      while (true) {
        const slot = hashOf(word, shift);
        const step = skip >>> 5;
        skip += step;
        const next = at + step;
        if (next > limit) return putRest(output, position, contents, emitted, end);
        candidate = start + table[slot]!;
        table[slot] = at - start;
        if (wordAt(contents, candidate) === word) break;
        at = next;
        word = wordAt(contents, at);
      }
      position = putLiteral(output, position, contents, emitted, at);
      while (true) {
        const matchStart = at;
        at = endOfMatch(contents, candidate + 4, at + 4, end);
        position = putCopy(output, position, matchStart - candidate, at - matchStart);
        emitted = at;
        if (at >= limit) return putRest(output, position, contents, emitted, end);
        table[hashOf(wordAt(contents, at - 1), shift)] = at - 1 - start;
        word = wordAt(contents, at);
        const slot = hashOf(word, shift);
        candidate = start + table[slot]!;
        table[slot] = at - start;
        if (wordAt(contents, candidate) !== word) {
          at++;
          word = wordAt(contents, at);
          break;
        }
      }
    }
  }
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/** The multiplier of Google's Snappy. */
function hashOf(word: number, shift: number): number {
  return Math.imul(word, 0x1e35a7bd) >>> shift;
}

/** The position from `later` on at which the bytes first differ from those at `earlier`, or `end`. */
function endOfMatch(bytes: Uint8Array, earlier: number, later: number, end: number): number {
  while (later < end && bytes[earlier] === bytes[later]) {
    earlier++;
    later++;
  }
  return later;
}

function putRest(to: Uint8Array, position: number, contents: Uint8Array, start: number, end: number): number {
  return start < end ? putLiteral(to, position, contents, start, end) : position;
}

/** Up to this many bytes, a loop is faster than `set` with a view. */
const MAX_LOOPED = 64;

function putLiteral(to: Uint8Array, position: number, contents: Uint8Array, start: number, end: number): number {
  const rest = end - start - 1;
  if (rest < 60) {
    to[position++] = rest << 2;
  } else if (rest < 256) {
    to[position++] = 60 << 2;
    to[position++] = rest;
  } else {
    to[position++] = 61 << 2;
    to[position++] = rest;
    to[position++] = rest >>> 8;
  }
  if (rest < MAX_LOOPED) {
    while (start < end) to[position++] = contents[start++]!;
    return position;
  }
  to.set(contents.subarray(start, end), position);
  return position + rest + 1;
}

function putCopy(to: Uint8Array, position: number, offset: number, length: number): number {
  // At least four bytes are left for the last copy, the minimum of the short form.
  for (; length >= 68; length -= 64) position = putLongCopy(to, position, offset, 64);
  if (length > 64) {
    position = putLongCopy(to, position, offset, 60);
    length -= 60;
  }
  if (length >= 12 || offset >= 2048) return putLongCopy(to, position, offset, length);
  to[position] = 1 | ((length - 4) << 2) | ((offset >>> 8) << 5);
  to[position + 1] = offset;
  return position + 2;
}

function putLongCopy(to: Uint8Array, position: number, offset: number, length: number): number {
  to[position] = 2 | ((length - 1) << 2);
  to[position + 1] = offset;
  to[position + 2] = offset >>> 8;
  return position + 3;
}

// Created at first use, so that nothing is compiled at import.
let shared: FragmentCompressor | undefined;

/** Compresses `contents` to a Snappy stream: the same bytes with WebAssembly and without. */
export function compressSnappy(contents: Uint8Array, scratch?: Uint8Array): Uint8Array {
  shared ??= SnappyCompressorKernel.create() ?? new PlainSnappyCompressor();
  return compressBy(shared, contents, scratch);
}

/** Compresses `contents` to a Snappy stream, in `scratch` if it is long enough. */
export function compressBy(compressor: FragmentCompressor, contents: Uint8Array, scratch?: Uint8Array): Uint8Array {
  const { length } = contents;
  if (length >= 2 ** 32) throw new RangeError(`contents must have fewer than 2^32 bytes, got ${length}`);
  const { output, outputStart } = compressor;
  const elementsStart = putVarint(output, outputStart, length);
  if (length <= FRAGMENT_BYTES) {
    const end = length === 0 ? elementsStart : compressor.compress(contents, 0, length, elementsStart);
    if (scratch === undefined || scratch.length < end - outputStart) return output.slice(outputStart, end);
    scratch.set(output.subarray(outputStart, end));
    return scratch.subarray(0, end - outputStart);
  }
  const stream = new Uint8Array(MAX_HEADER_BYTES + maxElementBytes(length));
  stream.set(output.subarray(outputStart, elementsStart));
  let position = elementsStart - outputStart;
  for (let start = 0; start < length; start += FRAGMENT_BYTES) {
    const end = compressor.compress(contents, start, Math.min(start + FRAGMENT_BYTES, length), outputStart);
    stream.set(output.subarray(outputStart, end), position);
    position += end - outputStart;
  }
  return stream.slice(0, position);
}
