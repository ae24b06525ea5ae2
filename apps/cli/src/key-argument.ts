import { Failure } from './failure.js';

/** A key or bound from the command line. @throws Failure when it is not what the command line can say, or not hexadecimal. */
export function keyArgument(text: string, isHex: boolean): Uint8Array {
  if (!isHex) {
    // Node puts this character for bytes that are not UTF-8: another key would be looked for than was meant.
    if (text.includes('\ufffd')) throw new Failure(`${JSON.stringify(text)} is not UTF-8: give the key in hexadecimal, with --hex`);
    return Buffer.from(text, 'utf8');
  }
  if (!/^(?:[0-9a-f]{2})*$/i.test(text)) {
    throw new Failure(`${JSON.stringify(text)} is not hexadecimal: two digits a byte are expected`);
  }
  return Buffer.from(text, 'hex');
}
