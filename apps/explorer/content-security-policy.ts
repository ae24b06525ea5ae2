/**
 * What the page may do, as its `<meta>` says it; a server may send the same as a header, or a stricter one without
 * `'wasm-unsafe-eval'`: the page works without WebAssembly.
 *
 * `connect-src` is open because a reader gives the URL of a table or database. The page sends GET and HEAD, and nothing
 * of what it was given. `blob:` is for pictures that a browser stored, which the page makes out of a dropped file.
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "worker-src 'self'",
  "connect-src 'self' https: http:",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** For servers that forbid WebAssembly too. */
export const policyWithoutWebAssembly = contentSecurityPolicy.replace(" 'wasm-unsafe-eval'", '');
