/** Bytes, behind which there are seven more, so that a word of four can be read at each of them. */
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

/**
 * The number of the bit that ends bytes[start, end), which are read from their end: the highest that is set of the last
 * byte. Bits are numbered from the start of the stream.
 *
 * @throws Error when there is none.
 */
export function lastSetBit({ bytes }: PaddedStream, start: number, end: number): number {
  const last = end > start ? bytes[end - 1]! : 0;
  if (last === 0) throw new Error('a stream of bits has no end mark');
  return end * 8 - 1 - (Math.clz32(last) - 24);
}

/** The bits [bit, bit + count) as a number. count ≤ 25. */
export function peekBits({ view }: PaddedStream, bit: number, count: number): number {
  return (view.getInt32(bit >>> 3, true) >>> (bit & 7)) & ((1 << count) - 1);
}
