/**
 * Tables behind HTTP: on a static server, a CDN, or S3 through a `fetch` that signs.
 *
 * Every range that is requested names its first byte, which all servers with ranges understand (RFC 9110, section 14), except the one
 * at the end of the file, on opening.
 */
export type { HttpResponse } from './http/answer.js';
export type { Fetch } from './http/fetch.js';
export { HttpError, type HttpErrorCode } from './http/http-error.js';
export { HttpSource } from './http/http-source.js';
export type { HttpSourceOptions } from './http/options.js';
