import { hexBytes } from '@bloom/report';
import { Failure } from '../failure.js';

/** A key or bound from the command line. @throws Failure when it is not UTF-8 or, with --hex, not hexadecimal. */
export function keyArgument(text: string, isHex: boolean): Uint8Array {
  return bytesArgument(text, isHex, 'pass the key in hexadecimal, with --hex');
}

/** A value from the command line. @throws Failure as {@link keyArgument} does. */
export function valueArgument(text: string, isHex: boolean): Uint8Array {
  return bytesArgument(text, isHex, 'pass key and value in hexadecimal, with --hex, or the value in a file, with --value-from');
}

/** @param advice how to pass bytes that are not UTF-8. */
function bytesArgument(text: string, isHex: boolean, advice: string): Uint8Array {
  if (!isHex) {
    // Node replaces bytes that are not UTF-8 with this character, so the bytes may be others than the user typed.
    if (text.includes('\ufffd')) throw new Failure(`${JSON.stringify(text)} is not UTF-8: ${advice}`);
    return Buffer.from(text, 'utf8');
  }
  const bytes = hexBytes(text);
  if (bytes === undefined) throw new Failure(`${JSON.stringify(text)} is not hexadecimal: it must have two digits per byte`);
  return bytes;
}

/** {@link keyArgument} for an optional option. */
export function keyOption(text: string | undefined, isHex: boolean): Uint8Array | undefined {
  return text === undefined ? undefined : keyArgument(text, isHex);
}
