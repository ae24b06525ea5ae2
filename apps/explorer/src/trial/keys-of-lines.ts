/** The keys of a text, one in each line, each once and without its line end. */
export function keysOfLines(text: Uint8Array): Uint8Array[] {
  const keys = new Map<string, Uint8Array>();
  // A character for each byte.
  const characters = new TextDecoder('windows-1252');
  let start = 0;
  for (let end = 0; end <= text.length; end++) {
    if (end < text.length && text[end] !== 0x0a) continue;
    const key = text.subarray(start, end > start && text[end - 1] === 0x0d ? end - 1 : end);
    start = end + 1;
    if (key.length > 0) keys.set(characters.decode(key), key);
  }
  return [...keys.values()];
}
