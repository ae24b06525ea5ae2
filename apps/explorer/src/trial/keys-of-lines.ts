import { KeySet, LF, textAfterMark, textOfLine } from '@bloom/report';

/** The distinct keys in the lines of a text, without line ends. */
export function keysOfLines(bytes: Uint8Array): Uint8Array[] {
  const text = textAfterMark(bytes);
  const keys: Uint8Array[] = [];
  const known = new KeySet();
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf(LF, start);
    const key = textOfLine(text.subarray(start, end < 0 ? text.length : end));
    if (key.length > 0 && known.add(key)) keys.push(key);
    start = end < 0 ? text.length : end + 1;
  }
  return keys;
}
