import { Failure } from './failure.js';

/** A key or bound from the command line. @throws Failure when it should be hexadecimal and is not. */
export function keyArgument(text: string, isHex: boolean): Uint8Array {
  if (!isHex) return Buffer.from(text, 'utf8');
  if (!/^(?:[0-9a-f]{2})*$/i.test(text)) {
    throw new Failure(`${JSON.stringify(text)} is not hexadecimal: two digits a byte are expected`);
  }
  return Buffer.from(text, 'hex');
}
