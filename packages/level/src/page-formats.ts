import { Buffer } from 'buffer/index.js';
import type { HostFormats } from './host-formats.js';
import { webFormats } from './web-formats.js';

/** Text and `Buffer`s, on hosts without Node's `Buffer`. */
export const pageFormats: HostFormats = { ...webFormats, bufferOf: (bytes, start, end) => Buffer.from(bytes.subarray(start, end)) };
