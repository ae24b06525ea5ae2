import { LF, textAfterMark, textOfLine } from '@bloom/report';
import { Failure } from '../failure.js';
import { keyArgument } from './key-argument.js';
import { isUtf16, UTF_16 } from './recognized-file.js';
import { nameOfFile, readWholeFile } from './standard-input.js';

/** Two hexadecimal digits for each byte of the longest key. */
const MOST_LINE_BYTES = 2 ** 28;

/** The keys in a file, one per line, or in standard input for `-`. @param isHex whether they are in hexadecimal. */
export function keysFrom(path: string, isHex: boolean): Uint8Array[] {
  const bytes = textAfterMark(readWholeFile(path));
  if (isUtf16(bytes)) throw new Failure(`${nameOfFile(path)}: ${UTF_16}: iconv -f UTF-16 -t UTF-8 FILE writes it in UTF-8`);
  const keys: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LF, start);
    const line = textOfLine(bytes.subarray(start, end < 0 ? bytes.length : end));
    if (line.length > MOST_LINE_BYTES) throw new Failure(`${nameOfFile(path)}: line ${keys.length + 1}: is too long for a key`);
    keys.push(isHex ? keyArgument(Buffer.from(line).toString('latin1'), true) : line);
    start = end < 0 ? bytes.length : end + 1;
  }
  return keys;
}
