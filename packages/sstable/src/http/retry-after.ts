/** The wait that a Retry-After header (RFC 9110, section 10.2.3) asks for, as seconds or as a date. */
export function retryAfterMs(header: string | null): number {
  if (header === null) return 0;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  // Date.parse also accepts much that is not an HTTP date.
  return /^[A-Z][a-z]+, .* GMT$/.test(header) ? Math.max(0, Date.parse(header) - Date.now()) || 0 : 0;
}
