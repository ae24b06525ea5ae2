import { Buffer } from 'buffer/index.js';
import type { ByteFormats } from './byte-formats.js';
import { webFormats } from './web-formats.js';

/** Text and `Buffer`s, on hosts without Node's `Buffer`. */
export const pageFormats: ByteFormats = { ...webFormats, bufferOf: (bytes, start, end) => Buffer.from(bytes.subarray(start, end)) };
