/** A stream followed by seven zero bytes, so that a word of four bytes can be read at any of its positions. */
export interface PaddedStream {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

const PADDING = 7;

export function padded(stream: Uint8Array): PaddedStream {
  const bytes = new Uint8Array(stream.length + PADDING);
  bytes.set(stream);
  return { bytes, view: new DataView(bytes.buffer) };
}

/** The stream from `position` on. Bits are numbered from its start, and their numbers must be below 2^32. */
export function streamFrom({ bytes, view }: PaddedStream, position: number): PaddedStream {
  return { bytes: bytes.subarray(position), view: new DataView(view.buffer, position) };
}

/**
 * Finds the end mark of the bits in bytes[start, end), which are read backwards: the highest set bit of the last byte.
 *
 * @returns its number, counted from the start of the stream.
 * @throws Error when the last byte is zero or missing.
 */
export function lastSetBit({ bytes }: PaddedStream, start: number, end: number): number {
  const last = end > start ? bytes[end - 1]! : 0;
  if (last === 0) throw new Error('a stream of bits has no end mark');
  return end * 8 - 1 - (Math.clz32(last) - 24);
}

/** Reads the bits [bit, bit + count) as a number. count ≤ 25. */
export function peekBits({ view }: PaddedStream, bit: number, count: number): number {
  return (view.getInt32(bit >>> 3, true) >>> (bit & 7)) & ((1 << count) - 1);
}
