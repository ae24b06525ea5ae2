/**
 * Tables behind HTTP: on a static server, a CDN, or S3 through a `fetch` that signs.
 *
 * Only absolute ranges are requested (RFC 9110, section 14), which every server with ranges understands.
 */
export type { HttpResponse } from './http/answer.js';
export { HttpError, type HttpErrorCode } from './http/http-error.js';
export { HttpSource, type HttpSourceOptions } from './http/http-source.js';
export type { Fetch } from './http/transport.js';
