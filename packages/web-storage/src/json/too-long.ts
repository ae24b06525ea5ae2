import { WebStorageError } from '../web-storage-error.js';

/** The error for a string that is longer than the host's longest, about 512 Mi characters in V8. Other errors are returned unchanged. */
export function tooLong(error: unknown): unknown {
  return error instanceof RangeError ? new WebStorageError('BLOOM_TOO_LARGE', 'value', 0, 'its JSON is longer than the longest string of this host', { cause: error }) : error;
}
