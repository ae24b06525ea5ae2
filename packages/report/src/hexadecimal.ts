/** Bytes as hexadecimal digits, and back. */

/** Two digits for a byte, or more for a larger number. */
export function hexNumber(number: number, digits = 2): string {
  return number.toString(16).padStart(digits, '0');
}

/** Two digits for each byte, with `separator` between bytes. */
export function hexDigits(bytes: Uint8Array, separator = ''): string {
  let text = '';
  for (let i = 0; i < bytes.length; i++) text += (i > 0 ? separator : '') + hexNumber(bytes[i]!);
  return text;
}

/** The bytes of two digits each; undefined where `digits` are anything else. */
export function hexBytes(digits: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^(?:[0-9a-f]{2})*$/i.test(digits)) return undefined;
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}
