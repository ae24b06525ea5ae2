/** How a host makes text, `Buffer`s and other views of bytes. */
export interface ByteFormats {
  bytesOf(text: string): Uint8Array;
  /** The text of `bytes[start, end)`, which may change afterwards. */
  textOf(bytes: Uint8Array, start: number, end: number): string;
  /** A `Buffer` with a copy of `bytes[start, end)`. */
  bufferOf(bytes: Uint8Array, start: number, end: number): Uint8Array;
  /** A copy of `bytes[start, end)` for the encoding `'view'`. */
  viewOf(bytes: Uint8Array, start: number, end: number): Uint8Array;
}
