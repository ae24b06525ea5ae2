import type { Signal } from '@bloom/bytes';
import type { TransportOptions } from './retrying-transport.js';

/** How to reach a table. Every option has a default. */
export interface HttpSourceOptions extends TransportOptions {
  /** Length of the file in bytes, if known: opening then sends no request. */
  readonly byteLength?: number | undefined;
  /**
   * How many bytes at the end of the file to request on opening: a table has its footer and index there. The
   * response also gives the length of the file. 0 requests the length alone, with HEAD. Default: 64 KiB, and 0 in a page of
   * another origin, where the browser would send a further request to ask the server whether this one is allowed.
   */
  readonly tailBytes?: number | undefined;
  /** How many bytes at the start of the file to request instead, for files that are read from their start. Default: 0. */
  readonly startBytes?: number | undefined;
  /** The largest file, in bytes, to accept as a whole from a server that does not support ranges. Default: 8 MiB. */
  readonly maxWholeBytes?: number | undefined;
  /** Aborts the opening. */
  readonly signal?: Signal | undefined;
}

export const HTTP_SOURCE_OPTIONS: Record<keyof HttpSourceOptions, true> = {
  fetch: true,
  headers: true,
  stallMs: true,
  retries: true,
  retryDelayMs: true,
  byteLength: true,
  tailBytes: true,
  startBytes: true,
  maxWholeBytes: true,
  signal: true,
};
