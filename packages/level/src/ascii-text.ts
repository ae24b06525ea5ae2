const LAST_ASCII = 0x7f;

/**
 * Writes text to the start of `bytes`, a byte for each character.
 *
 * @param bytes at least as long as the text.
 * @returns false where the text is not ASCII.
 */
export function putAscii(text: string, bytes: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > LAST_ASCII) return false;
    bytes[i] = unit;
  }
  return true;
}
