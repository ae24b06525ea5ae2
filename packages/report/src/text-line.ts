/**
 * Lines of a text whose bytes are kept as they are: each ends in LF or CR LF, the last one need not, and a UTF-8 byte order
 * mark at the start is no part of the text.
 */

export const LF = 10;
const CR = 13;
/** Some programs put this at the start of a text to mark it as UTF-8. */
export const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];

export function startsWithMark(bytes: Uint8Array): boolean {
  return BYTE_ORDER_MARK.every((byte, i) => bytes[i] === byte);
}

/** Whether a reader would take the last byte for a part of the line break. */
export function endsInCarriageReturn(bytes: Uint8Array): boolean {
  return bytes[bytes.length - 1] === CR;
}

/** The text of a line without its LF. */
export function textOfLine(line: Uint8Array): Uint8Array {
  return endsInCarriageReturn(line) ? line.subarray(0, -1) : line;
}

/** A text without the mark at its start. */
export function textAfterMark(bytes: Uint8Array): Uint8Array {
  return startsWithMark(bytes) ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}
