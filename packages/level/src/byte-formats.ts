/** Makes text or a copy of `bytes[start, end)`, which may change afterwards. */
export type MakeOfBytes<T> = (bytes: Uint8Array, start: number, end: number) => T;

/** How a host makes bytes of text, and text, `Buffer`s and other views of bytes. */
export interface ByteFormats {
  readonly bytesOf: (text: string) => Uint8Array;
  readonly textOf: MakeOfBytes<string>;
  readonly bufferOf: MakeOfBytes<Uint8Array>;
  /** For the encoding `'view'`. */
  readonly viewOf: MakeOfBytes<Uint8Array>;
}
