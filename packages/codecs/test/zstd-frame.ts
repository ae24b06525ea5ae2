// Builds zstd frames by hand.

export interface FrameParts {
  /** The content size in the header. Default: none. */
  readonly contentBytes?: number | undefined;
  /** The bytes that the content size takes. 1 only of a single segment. Default: 4. */
  readonly sizeLength?: 1 | 2 | 4 | 8;
  /** Whether the window is as large as the contents, and is not in the header. */
  readonly isSingleSegment?: boolean;
  /** The exponent of the window's size. */
  readonly windowLog?: number;
  /** How many eighths more the window has. */
  readonly windowEighths?: number;
  /** The bytes of the dictionary id. */
  readonly dictionaryId?: readonly number[];
  /** Further bits of the descriptor to set. */
  readonly descriptorBits?: number;
  /** The bytes of the checksum. */
  readonly checksum?: readonly number[];
}

/** zstd's magic number, as stored. */
export const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

export function littleEndian(value: number, length: number): number[] {
  return Array.from({ length }, (_, i) => Math.floor(value / 2 ** (8 * i)) % 256);
}

/** These bytes, with another one at `position`. */
export function changedAt(bytes: ArrayLike<number>, position: number, byte: number): number[] {
  return Array.from(bytes, (each, i) => (i === position ? byte : each));
}

/** A frame of these blocks. The last one is marked as last. */
export function zstdFrame(blocks: readonly Block[], parts: FrameParts = {}): Uint8Array {
  const { contentBytes, sizeLength = 4, isSingleSegment = false, windowLog = 17, windowEighths = 0, dictionaryId = [], descriptorBits = 0, checksum } = parts;
  const size = contentBytes === undefined ? [] : littleEndian(sizeLength === 2 ? contentBytes - 256 : contentBytes, sizeLength);
  const window = isSingleSegment ? [] : [((windowLog - 10) << 3) | windowEighths];
  const lengths = (Math.log2(Math.max(size.length, 1)) << 6) | [0, 1, 2, 2, 3].at(dictionaryId.length)!;
  const descriptor = lengths | (isSingleSegment ? 0x20 : 0) | (checksum === undefined ? 0 : 4) | descriptorBits;
  const body = blocks.flatMap(({ kind, size, bytes }, i) => [...littleEndian((size << 3) | (kind << 1) | (i === blocks.length - 1 ? 1 : 0), 3), ...bytes]);
  return Uint8Array.from([...MAGIC, descriptor, ...window, ...dictionaryId, ...size, ...body, ...(checksum ?? [])]);
}

export interface Block {
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

/** A sequence whose three tables have one symbol each, so that its bitstream has only extra bits. */
export interface OneSequence {
  readonly literals: readonly number[];
  readonly literalCode: number;
  readonly offsetCode: number;
  readonly matchCode: number;
  /** The bits below the end mark, and their number. */
  readonly bits?: number;
  readonly bitCount?: number;
  readonly kinds?: number;
}

export function sequenceBlock({ literals, literalCode, offsetCode, matchCode, bits = 0, bitCount = offsetCode, kinds = 0x54 }: OneSequence): Block {
  const stream = littleEndian(bits + 2 ** bitCount, Math.floor(bitCount / 8) + 1);
  return compressedBlock([literals.length << 3, ...literals, 1, kinds, literalCode, offsetCode, matchCode, ...stream]);
}

/** A skippable frame. */
export function skippedFrame(bytes: readonly number[], variant = 0): number[] {
  return [0x50 + variant, 0x2a, 0x4d, 0x18, ...littleEndian(bytes.length, 4), ...bytes];
}
