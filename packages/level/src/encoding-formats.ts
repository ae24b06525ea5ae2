import type { MakeOfBytes } from '@bloom/leveldb';
import type { HostFormats } from './host-formats.js';

/** Keys and values as abstract-level passes them. */
export type Stored = string | Uint8Array;

/** The formats that need no encoding of abstract-level in between. */
export type EncodingFormat = 'utf8' | 'buffer' | 'view';

const NO_BYTES = new Uint8Array(0);

/**
 * Keys and values as the database takes them. With the encoding `'view'`, programs also pass other views, such as `Float32Array`s, whose bytes
 * classic-level stores. Anything else is left for the database to refuse.
 */
export function bytesOf(formats: HostFormats, stored: Stored): Uint8Array {
  if (typeof stored === 'string') return formats.bytesOf(stored);
  return stored instanceof Uint8Array || !ArrayBuffer.isView(stored) ? stored : bytesIn(stored);
}

/** The bound of a range. As in classic-level, a bound that is neither text nor bytes is the empty key. */
export function boundOf(formats: HostFormats, bound: unknown): Uint8Array {
  if (typeof bound === 'string') return formats.bytesOf(bound);
  return ArrayBuffer.isView(bound) ? bytesIn(bound).slice() : NO_BYTES;
}

/** The bytes that a view shows, not copied. */
export function bytesIn({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Makes keys and values in a format. */
export function makerOf(formats: HostFormats, format: EncodingFormat): MakeOfBytes<Stored> {
  switch (format) {
    case 'utf8':
      return formats.textOf;
    case 'buffer':
      return formats.bufferOf;
    case 'view':
      return formats.viewOf;
  }
}
