/** The most bytes of a key that a message shows. */
const SHOWN_BYTES = 32;

/** A key as messages show it: quoted text where it is that, hexadecimal where not, and only the start of a long one. */
export function keyText(key: Uint8Array): string {
  const start = key.subarray(0, SHOWN_BYTES);
  const isCut = key.length > SHOWN_BYTES;
  const rest = isCut ? '…' : '';
  const hex = `0x${Buffer.from(start).toString('hex')}${rest}`;
  try {
    // The cut may fall into a character: with `stream`, its first bytes are no error.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(start, { stream: isCut });
    return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text) ? hex : `"${text}${rest}"`;
  } catch {
    return hex;
  }
}
