/** Base64 with padding, RFC 4648. */

/** A multiple of 3; as many arguments fit on the stack. */
const PORTION = 3072;

export function base64(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += PORTION) text += btoa(String.fromCharCode(...bytes.subarray(i, i + PORTION)));
  return text;
}
