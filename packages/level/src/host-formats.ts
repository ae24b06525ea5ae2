import type { MakeOfBytes } from '@bloom/leveldb';

/** How a host makes bytes of text, and text, `Buffer`s and other copies of bytes. */
export interface HostFormats {
  readonly bytesOf: (text: string) => Uint8Array;
  readonly textOf: MakeOfBytes<string>;
  readonly bufferOf: MakeOfBytes<Uint8Array>;
  /** For the encoding `'view'`. */
  readonly viewOf: MakeOfBytes<Uint8Array>;
}
