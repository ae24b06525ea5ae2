/**
 * A sequence of zstd frames.
 *
 *     magic (4) | descriptor (u8) | window (0 or 1) | dictionary id (0 to 4) | content size (0 to 8) | blocks | checksum (0 or 4)
 *
 * A block starts with a header of three bytes, little-endian: last (1 bit) | kind (2) | size (21). It is followed by, for a
 * raw block (0), `size` bytes; for a repeated byte (1), that byte; for a compressed block (2), literals and sequences.
 *
 * There may be skippable frames before and after any frame: magic (4) | size (u32) | bytes.
 *
 * Source: RFC 8878, section 3.1, and ZSTD_decompress of the reference implementation, version 1.5.6. For the differences, see
 * `zstdCodec`.
 */
import { GrowingOutput } from '../growing-output.js';
import { padded, type PaddedStream, streamFrom } from './bits.js';
import type { HuffmanTable } from './huffman-table.js';
import { readLiterals } from './literals.js';
import { executeSequences, type SequenceState } from './sequences.js';
import { xxh64Low } from './xxh64.js';

const MAGIC = 0xfd2fb528;
const SKIPPED_MAGIC = 0x184d2a50;
const MIN_FRAME_BYTES = 5;
const SKIPPED_HEADER_BYTES = 8;
const BLOCK_HEADER_BYTES = 3;
/** The headers before a block have at least this many bytes. Bits that are looked up before the start of a short stream of bits are in them. */
const BYTES_BEFORE_BLOCK = MIN_FRAME_BYTES + BLOCK_HEADER_BYTES;
const CHECKSUM_BYTES = 4;
const MAX_BLOCK_BYTES = 2 ** 17;
const MAX_WINDOW_LOG = 31;

/** A frame's size is trusted for this much memory. More is allocated only as contents are produced. */
const MIN_EXPECTED_BYTES = 2 ** 16;
const EXPECTED_EXPANSION = 16;
/** Above this, a frame's size is trusted only for as much memory as the stream has. */
const MAX_EXPANDED_BYTES = 2 ** 18;

/** Whether a stream starts with the magic number of a frame or of a skippable frame. */
export function isZstd(stream: Uint8Array): boolean {
  if (stream.length < 4) return false;
  const magic = (stream[0]! | (stream[1]! << 8) | (stream[2]! << 16) | (stream[3]! << 24)) >>> 0;
  return magic === MAGIC || isSkipped(magic);
}

function isSkipped(magic: number): boolean {
  return (magic & 0xffff_fff0) === SKIPPED_MAGIC;
}

interface FrameHeader {
  /** The size of the contents, if the header has it. */
  readonly contentBytes: number | undefined;
  /** The most bytes of contents of a compressed block. */
  readonly maxBlockBytes: number;
  readonly hasChecksum: boolean;
  /** The position of the first block. */
  readonly position: number;
}

function readFrameHeader({ bytes, view }: PaddedStream, position: number, end: number): FrameHeader {
  const descriptor = bytes[position + 4]!;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeLength = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >>> 6]!;
  const idLength = [0, 1, 2, 4][descriptor & 3]!;
  position += 5;
  if (position + (isSingleSegment ? 0 : 1) + idLength + sizeLength > end) throw new Error('the frame header is truncated');
  if ((descriptor & 8) !== 0) throw new Error('a reserved bit of the frame header is set');
  let windowBytes = 0;
  if (!isSingleSegment) {
    const descriptor = bytes[position++]!;
    const log = 10 + (descriptor >>> 3);
    if (log > MAX_WINDOW_LOG) throw new Error(`the window has 2^${log} bytes, the maximum is 2^${MAX_WINDOW_LOG}`);
    windowBytes = 2 ** log + 2 ** (log - 3) * (descriptor & 7);
  }
  for (let i = 0; i < idLength; i++) {
    if (bytes[position++] !== 0) throw new Error('the frame needs a dictionary');
  }
  let contentBytes: number | undefined;
  if (sizeLength === 1) contentBytes = bytes[position]!;
  else if (sizeLength === 2) contentBytes = view.getUint16(position, true) + 256;
  else if (sizeLength === 4) contentBytes = view.getUint32(position, true);
  else if (sizeLength === 8) contentBytes = view.getUint32(position, true) + view.getUint32(position + 4, true) * 2 ** 32;
  if (isSingleSegment) windowBytes = contentBytes!;
  return {
    contentBytes,
    maxBlockBytes: Math.min(windowBytes, MAX_BLOCK_BYTES),
    hasChecksum: (descriptor & 4) !== 0,
    position: position + sizeLength,
  };
}

interface BlockHeader {
  readonly isLast: boolean;
  readonly kind: number;
  /** Bytes of contents; of a compressed block, bytes in the stream. */
  readonly size: number;
  /** The position of its bytes in the stream. */
  readonly start: number;
  readonly end: number;
}

function readBlockHeader({ bytes }: PaddedStream, position: number, end: number): BlockHeader {
  if (position + BLOCK_HEADER_BYTES > end) throw new Error('a block header is truncated');
  const header = bytes[position]! | (bytes[position + 1]! << 8) | (bytes[position + 2]! << 16);
  const kind = (header >>> 1) & 3;
  const size = header >>> 3;
  const start = position + BLOCK_HEADER_BYTES;
  const blockEnd = start + (kind === 1 ? 1 : size);
  if (kind === 3) throw new Error('a block has the reserved type');
  if (blockEnd > end) throw new Error('a block is truncated');
  return { isLast: (header & 1) !== 0, kind, size, start, end: blockEnd };
}

/** The most bytes of contents that the blocks from `position` on can have. */
function mostContentBytes(stream: PaddedStream, position: number, end: number, maxBlockBytes: number): number {
  let most = 0;
  let isLast = false;
  while (!isLast) {
    const block = readBlockHeader(stream, position, end);
    most += block.kind === 2 ? maxBlockBytes : block.size;
    ({ isLast, end: position } = block);
  }
  return most;
}

/**
 * Decompresses all frames of a stream.
 *
 * @throws RangeError when the contents are longer than `maxBytes`; Error when a frame is damaged.
 */
export function decodeZstd(compressed: Uint8Array, maxBytes: number): Uint8Array {
  const stream = padded(compressed);
  const end = compressed.length;
  let output: GrowingOutput | undefined;
  let position = 0;
  while (position < end) {
    if (end - position < MIN_FRAME_BYTES) throw new Error(`the last frame is followed by too few bytes for another one: ${end - position}`);
    const magic = stream.view.getUint32(position, true);
    if (isSkipped(magic)) {
      // A truncated size is read from the padding. The check below fails then, because the header ends after the stream.
      position += SKIPPED_HEADER_BYTES + stream.view.getUint32(position + 4, true);
      if (position > end) throw new Error('a skippable frame is truncated');
      continue;
    }
    if (magic !== MAGIC) throw new Error('not a zstd frame');
    const header = readFrameHeader(stream, position, end);
    const { contentBytes } = header;
    const most = mostContentBytes(stream, header.position, end, header.maxBlockBytes);
    if (contentBytes !== undefined && contentBytes > most) throw new Error(`the frame claims a length of ${contentBytes}, but its blocks can hold at most ${most}`);
    if (contentBytes !== undefined && contentBytes > maxBytes) throw new RangeError(`the contents have ${contentBytes} bytes, the limit is ${maxBytes}`);
    const trusted = Math.max(MIN_EXPECTED_BYTES, Math.min(EXPECTED_EXPANSION * end, MAX_EXPANDED_BYTES), end);
    const expected = Math.min(contentBytes ?? most, trusted);
    output ??= new GrowingOutput(expected, maxBytes);
    position = decodeBlocks(stream, header, end, output);
  }
  return output === undefined ? new Uint8Array(0) : output.toBytes();
}

/** @returns the position after the frame. */
function decodeBlocks(stream: PaddedStream, { contentBytes, maxBlockBytes, hasChecksum, position }: FrameHeader, end: number, output: GrowingOutput): number {
  const frameStart = output.length;
  const state: SequenceState = { tables: undefined, offsets: [1, 4, 8] };
  let huffman: HuffmanTable | undefined;
  let isLast = false;
  while (!isLast) {
    const block = readBlockHeader(stream, position, end);
    const { kind, size, start } = block;
    if (kind === 2) {
      if (size > maxBlockBytes) throw new Error(`a block has ${size} bytes, the maximum is ${maxBlockBytes}`);
      const from = start - BYTES_BEFORE_BLOCK;
      const part = streamFrom(stream, from);
      const literals = readLiterals(part, BYTES_BEFORE_BLOCK, block.end - from, maxBlockBytes, huffman);
      huffman = literals.table;
      executeSequences(part, literals.position, block.end - from, literals, state, output, frameStart, maxBlockBytes);
    } else {
      output.reserve(size);
      if (kind === 0) output.bytes.set(stream.bytes.subarray(start, block.end), output.length);
      else output.bytes.fill(stream.bytes[start]!, output.length, output.length + size);
      output.length += size;
    }
    ({ isLast, end: position } = block);
  }
  const made = output.length - frameStart;
  if (contentBytes !== undefined && made !== contentBytes) throw new Error(`the length of the contents is ${made}, the frame claims ${contentBytes}`);
  if (!hasChecksum) return position;
  if (position + CHECKSUM_BYTES > end) throw new Error('the checksum of the contents is truncated');
  const stored = stream.view.getUint32(position, true);
  const actual = xxh64Low(output.bytes, frameStart, output.length);
  if (stored !== actual) throw new Error(`the checksum of the contents is ${actual}, but ${stored} is stored`);
  return position + CHECKSUM_BYTES;
}
