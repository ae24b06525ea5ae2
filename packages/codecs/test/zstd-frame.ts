/** Frames made by hand. */

export interface FrameParts {
  /** In the header; left out where undefined. */
  readonly contentBytes?: number | undefined;
  /** The exponent of the window's size. */
  readonly windowLog?: number;
  /** Its bytes as they stand. */
  readonly dictionaryId?: readonly number[];
  /** Bits of the descriptor that are set in addition. */
  readonly descriptorBits?: number;
  /** Its bytes as they stand. */
  readonly checksum?: readonly number[];
}

/** zstd's magic number as it stands in a stream. */
export const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

function littleEndian(value: number, length: number): number[] {
  return Array.from({ length }, (_, i) => Math.floor(value / 2 ** (8 * i)) % 256);
}

/** A frame of these blocks, the last of which is marked as such. */
export function zstdFrame(blocks: readonly Block[], parts: FrameParts = {}): Uint8Array {
  const { contentBytes, windowLog = 17, dictionaryId = [], descriptorBits = 0, checksum } = parts;
  const size = contentBytes === undefined ? [] : littleEndian(contentBytes, 4);
  const descriptor = (contentBytes === undefined ? 0 : 0x80) | [0, 1, 2, 2, 3].at(dictionaryId.length)! | (checksum === undefined ? 0 : 4) | descriptorBits;
  const body = blocks.flatMap(({ kind, size, bytes }, i) => [...littleEndian((size << 3) | (kind << 1) | (i === blocks.length - 1 ? 1 : 0), 3), ...bytes]);
  return Uint8Array.of(...MAGIC, descriptor, (windowLog - 10) << 3, ...dictionaryId, ...size, ...body, ...(checksum ?? []));
}

interface Block {
  readonly kind: number;
  readonly size: number;
  readonly bytes: readonly number[];
}

export function rawBlock(bytes: readonly number[]): Block {
  return { kind: 0, size: bytes.length, bytes };
}

export function repeatedBlock(byte: number, size: number): Block {
  return { kind: 1, size, bytes: [byte] };
}

export function compressedBlock(bytes: readonly number[]): Block {
  return { kind: 2, size: bytes.length, bytes };
}

/** A sequence whose three tables have one symbol each: only the rest of each number is in the bits. */
export interface OneSequence {
  readonly literals: readonly number[];
  readonly literalCode: number;
  readonly offsetCode: number;
  readonly matchCode: number;
  /** Bits before the end mark, the last ones first, and their number. */
  readonly bits?: number;
  readonly bitCount?: number;
  readonly kinds?: number;
}

export function sequenceBlock({ literals, literalCode, offsetCode, matchCode, bits = 0, bitCount = offsetCode, kinds = 0x54 }: OneSequence): Block {
  const stream = littleEndian(bits + 2 ** bitCount, Math.floor(bitCount / 8) + 1);
  return compressedBlock([literals.length << 3, ...literals, 1, kinds, literalCode, offsetCode, matchCode, ...stream]);
}

/** A frame that is to be skipped. */
export function skippedFrame(bytes: readonly number[], variant = 0): number[] {
  return [0x50 + variant, 0x2a, 0x4d, 0x18, ...littleEndian(bytes.length, 4), ...bytes];
}
