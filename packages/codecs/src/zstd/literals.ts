/**
 * The literals of a block.
 *
 *     kind (2 bits) | size format (2) | size of the literals | compressed size, only of kinds 2 and 3
 *
 *     raw (0): the bytes; repeated (1): one byte; compressed (2): Huffman table, streams; treeless (3): streams for the
 *     Huffman table of the previous block
 *
 * There is either one stream, or four, preceded by the lengths of the first three (u16 each).
 *
 * Source: RFC 8878, sections 3.1.1.3.1 and 4.2.2.
 */
import { lastSetBit, type PaddedStream } from './bits.js';
import { type HuffmanTable, readHuffmanTable } from './huffman-table.js';

/** The literals of a block. */
export interface Literals {
  /** An array that contains them, starting at `start`. */
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly length: number;
  /** The Huffman table, which the next block may reuse. */
  readonly table: HuffmanTable | undefined;
  /** The position of the byte after them in the stream. */
  readonly position: number;
}

/**
 * Reads the literals of the block [position, end).
 *
 * @param table the Huffman table of the previous block.
 * @throws Error when they are damaged.
 */
export function readLiterals(
  stream: PaddedStream,
  position: number,
  end: number,
  maxLength: number,
  table: HuffmanTable | undefined,
): Literals {
  const { bytes, view } = stream;
  const size = end - position;
  if (size < 2) throw new Error('a block is too short for literals');
  const kind = bytes[position]! & 3;
  const form = (bytes[position]! >>> 2) & 3;
  const mustFit = (length: number): void => {
    if (length > maxLength) throw new Error(`a block has ${length} literals, the maximum is ${maxLength}`);
  };
  if (kind < 2) {
    const headerBytes = form === 1 ? 2 : form === 3 ? 3 : 1;
    const contentBytes = kind === 1 ? 1 : 0;
    if (headerBytes + contentBytes > size) throw new Error('the literals are truncated');
    const length = (view.getUint32(position, true) & (headerBytes === 3 ? 0xff_ffff : headerBytes === 2 ? 0xffff : 0xff)) >>> (headerBytes === 1 ? 3 : 4);
    mustFit(length);
    const start = position + headerBytes;
    if (kind === 1) return { bytes: new Uint8Array(length).fill(bytes[start]!), start: 0, length, table, position: start + 1 };
    if (start + length > end) throw new Error('the literals are truncated');
    return { bytes, start, length, table, position: start + length };
  }
  if (size < 5) throw new Error('a block is too short for compressed literals');
  const headerBytes = form < 2 ? 3 : form + 2;
  const sizeBits = form < 2 ? 10 : form === 2 ? 14 : 18;
  const word = view.getUint32(position, true);
  const length = (word >>> 4) & ((1 << sizeBits) - 1);
  const streamBytes = form < 3 ? (word >>> (4 + sizeBits)) & ((1 << sizeBits) - 1) : (word >>> 22) | (bytes[position + 4]! << 10);
  mustFit(length);
  const isSingle = form === 0;
  if (!isSingle && length < 6) throw new Error(`${length} literals are too few for four streams`);
  let start = position + headerBytes;
  const streamEnd = start + streamBytes;
  if (streamEnd > end) throw new Error('the literals are truncated');
  if (kind === 2) {
    ({ table, position: start } = readHuffmanTable(stream, start, streamEnd));
    if (start >= streamEnd) throw new Error('the literals are truncated');
  } else if (table === undefined) {
    throw new Error('there is no Huffman table to reuse');
  }
  const literals = new Uint8Array(length);
  if (isSingle) {
    decodeStream(stream, start, streamEnd, table, literals, 0, length);
  } else {
    if (streamEnd - start < 10) throw new Error('the literals are truncated');
    const quarter = (length + 3) >>> 2;
    let from = start + 6;
    for (let i = 0; i < 4; i++) {
      const to = i < 3 ? from + view.getUint16(start + 2 * i, true) : streamEnd;
      if (to > streamEnd) throw new Error('the literals are truncated');
      decodeStream(stream, from, to, table, literals, i * quarter, i < 3 ? (i + 1) * quarter : length);
      from = to;
    }
  }
  return { bytes: literals, start: 0, length, table, position: streamEnd };
}

/** Decodes literals[to, stop) from the bits in bytes [start, end), all of which must be consumed. */
function decodeStream(
  stream: PaddedStream,
  start: number,
  end: number,
  { codes, bits }: HuffmanTable,
  literals: Uint8Array,
  to: number,
  stop: number,
): void {
  const { view } = stream;
  const first = start * 8;
  let bit = lastSetBit(stream, start, end);
  const mask = (1 << bits) - 1;
  // Two codes from each word: a shift by up to 7 bits, and two codes of up to 12, fit in 32 bits.
  const pairsFrom = first + 24;
  while (bit >= pairsFrom && to + 2 <= stop) {
    const low = bit - 2 * bits;
    const word = view.getInt32(low >>> 3, true) >>> (low & 7);
    const code = codes[(word >>> bits) & mask]!;
    literals[to] = code;
    const used = code >>> 8;
    const second = codes[(word >>> (bits - used)) & mask]!;
    literals[to + 1] = second;
    bit -= used + (second >>> 8);
    to += 2;
  }
  for (; to < stop; to++) {
    const low = bit - bits;
    // Near the start of the stream, the last code is followed by bits that are not part of it and do not change what it means.
    const index = (view.getInt32(low >>> 3, true) >>> (low & 7)) & mask;
    const code = codes[index]!;
    literals[to] = code;
    bit -= code >>> 8;
    if (bit < first) break;
  }
  // RFC 8878, section 4.2.2: a stream that is not consumed exactly is faulty.
  if (bit !== first) throw new Error('a Huffman stream does not end where its literals do');
}
