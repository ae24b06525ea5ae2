/**
 * Tables behind HTTP: a static server, a CDN, S3 through a `fetch` that signs.
 *
 * Only absolute ranges are asked for (RFC 9110, section 14), which every server that has ranges understands.
 */
export type { HttpResponse } from './http/answer.js';
export { HttpError, type HttpErrorCode } from './http/http-error.js';
export { HttpSource, type HttpSourceOptions } from './http/http-source.js';
export type { Fetch } from './http/transport.js';
