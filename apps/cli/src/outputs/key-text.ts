import { hexDigits } from '@bloom/report';

/** The most bytes of a key that a message shows. */
const SHOWN_BYTES = 32;

/** A key for messages: quoted if it is text, otherwise in hexadecimal. Long keys are truncated. */
export function keyText(key: Uint8Array, shownBytes = SHOWN_BYTES): string {
  const start = key.subarray(0, shownBytes);
  const isCut = key.length > shownBytes;
  const rest = isCut ? '…' : '';
  const hex = `0x${hexDigits(start)}${rest}`;
  try {
    // The truncation may split a character. With `stream`, an incomplete character is not an error.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(start, { stream: isCut });
    return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text) ? hex : `"${text}${rest}"`;
  } catch {
    return hex;
  }
}
