import { LF, textAfterMark, textOfLine } from '@bloom/report';
import { keyArgument } from './key-argument.js';
import { readWholeFile } from './standard-input.js';

/** The keys in a file, one per line, or in standard input for `-`. @param isHex whether they are in hexadecimal. */
export function keysFrom(path: string, isHex: boolean): Uint8Array[] {
  const bytes = textAfterMark(readWholeFile(path));
  const keys: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LF, start);
    const line = textOfLine(bytes.subarray(start, end < 0 ? bytes.length : end));
    keys.push(isHex ? keyArgument(Buffer.from(line).toString('latin1'), true) : line);
    start = end < 0 ? bytes.length : end + 1;
  }
  return keys;
}
