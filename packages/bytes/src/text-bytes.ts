/** How many bytes show whether all of them are text. */
const SEEN_BYTES = 512;

/** The control characters that text has: tab, line feed, form feed, carriage return, escape. */
const TEXT_CONTROLS: readonly number[] = [0x09, 0x0a, 0x0c, 0x0d, 0x1b];

/**
 * Whether bytes are text in ASCII or an encoding that extends it, by the first 512 of them: text has hardly any control characters.
 * The header of a log's record has one, and so has the start of a table.
 *
 * Source: WHATWG, MIME Sniffing Standard, "binary data byte".
 */
export function isTextual(bytes: Uint8Array): boolean {
  return bytes.subarray(0, SEEN_BYTES).every((byte) => byte >= 0x20 || TEXT_CONTROLS.includes(byte));
}

/** Whether bytes are text that begins like an HTML page, or other markup: with `<` after white space. */
export function isMarkup(bytes: Uint8Array): boolean {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  let start = isMarked ? 3 : 0;
  while (bytes[start] === 0x20 || TEXT_CONTROLS.includes(bytes[start]!)) start++;
  return bytes[start] === 0x3c && isTextual(bytes);
}
