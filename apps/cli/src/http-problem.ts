/** Problems with servers, as text. This file does not import the code that sends requests, which most runs of `bloom` do not need. */
import type { HttpError } from '@bloom/sstable/http';
import { withoutAdvice } from './library-advice.js';

/** The environment variable with headers, one per line. */
export const HEADERS_VARIABLE = 'BLOOM_HTTP_HEADERS';

export function isHttpError(error: unknown): error is HttpError {
  return error instanceof Error && error.name === 'HttpError' && 'code' in error && String(error.code).startsWith('BLOOM_HTTP_');
}

/** The problem with a server or its responses, and what the user can do. */
export function httpProblem(error: HttpError): string {
  const text = withCause(problemOf(error), error);
  switch (error.code) {
    case 'BLOOM_HTTP_STATUS':
      if (error.status === 401 || error.status === 403) return `${text}: pass the headers that the server requires with --header or ${HEADERS_VARIABLE}`;
      return error.status === 404 || error.status === 410 ? `${text}: there is no such file` : text;
    case 'BLOOM_HTTP_NO_RANGES':
      return `${text}: download the file and read the copy`;
    case 'BLOOM_HTTP_ENCODED':
    case 'BLOOM_HTTP_NO_LENGTH':
      // Without the advice to pass byteLength, which problemOf removes, the text ends with what the server's administrator can do.
      return `${text}, or download the file and read the copy`;
    case 'BLOOM_HTTP_PAGE':
      return `${text}: there may be no such file, or the server requires a login: pass headers with --header or ${HEADERS_VARIABLE}`;
    case 'BLOOM_HTTP_CHANGED':
      return `${text}: try again`;
    case 'BLOOM_HTTP_STALLED':
    case 'BLOOM_HTTP_FAILED':
      return `${text}: try again, or download the file and read the copy`;
  }
}

/** The message without the URL, and without advice for programmers. */
function problemOf({ message, url }: HttpError): string {
  return withoutAdvice(message.startsWith(`${url}: `) ? message.slice(url.length + 2) : message);
}

/** {@link httpProblem} for a bucket, whose requests have no headers of the user. */
export function bucketProblem(error: HttpError): string {
  const { code, status } = error;
  if (code !== 'BLOOM_HTTP_STATUS' && code !== 'BLOOM_HTTP_PAGE') return httpProblem(error);
  const text = withCause(problemOf(error), error);
  if (status === 401 || status === 403) return `${text}: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be those of a user who may read the bucket`;
  if (code === 'BLOOM_HTTP_PAGE') return `${text}: AWS_ENDPOINT_URL must be the address of a server with the API of S3`;
  return status === 301 || status === 307 || status === 400 ? `${text}: AWS_REGION must be the region of the bucket` : httpProblem(error);
}

/** A problem, and the system's reason for its error if the problem lacks it. */
export function withCause(problem: string, error: Error): string {
  const cause = causeOf(error);
  return cause === undefined || problem.includes(cause) ? problem : `${problem} (${cause})`;
}

/** The system's reason, such as ECONNREFUSED, which `fetch` hides in causes. */
function causeOf(error: Error): string | undefined {
  let deepest: unknown = error.cause;
  while (deepest instanceof Error && deepest.cause instanceof Error) deepest = deepest.cause;
  if (deepest instanceof AggregateError && deepest.errors[0] instanceof Error) deepest = deepest.errors[0];
  if (!(deepest instanceof Error) || deepest.message === '') return undefined;
  // OpenSSL's: thread, number, library, function, reason, file, line, and a line break.
  const [, reason] = /^[0-9A-F]+:error:[^:]*:[^:]*:[^:]*:([^:]+):/.exec(deepest.message) ?? [];
  return reason ?? deepest.message;
}
