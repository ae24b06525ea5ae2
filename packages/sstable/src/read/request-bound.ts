/**
 * Whether this host binds what is begun for one request to that request: timers, signals, and reads such as those of
 * `fetch`. So does Cloudflare's workerd, which keeps modules, and the tables in them, from one request to the next. To use
 * the signal of another request is an error there, and when a request ends, the reads that it began never settle.
 *
 * What one call of a table or database has begun may therefore not be awaited by a call of another request. Which request a
 * call belongs to cannot be seen, but calls of the same turn belong to the same one.
 *
 * The test is for a class that only workerd has, because `navigator.userAgent` can be switched off there.
 */
export function isRequestBound(): boolean {
  return 'WebSocketPair' in globalThis;
}
