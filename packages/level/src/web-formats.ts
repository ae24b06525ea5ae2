import { Buffer } from 'buffer/index.js';
import type { ByteFormats } from './byte-formats.js';

const encoder = new TextEncoder();
/** As `Buffer` decodes: a byte order mark is part of the text. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Text and `Buffer`s, where there is nothing of Node. */
export const webFormats: ByteFormats = {
  bytesOf: (text) => encoder.encode(text),
  textOf: (bytes, start, end) => decoder.decode(bytes.subarray(start, end)),
  bufferOf: (bytes, start, end) => Buffer.from(bytes.subarray(start, end)),
};
