import { Buffer } from 'buffer/index.js';
import type { ByteFormats } from './byte-formats.js';
import { webFormats } from './web-formats.js';

/** Text and `Buffer`s for programs, where there is nothing of Node. */
export const pageFormats: ByteFormats = { ...webFormats, bufferOf: (bytes, start, end) => Buffer.from(bytes.subarray(start, end)) };
