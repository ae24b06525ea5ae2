// The header Content-Range (RFC 9110, section 14.4):
//
//     bytes 200-299/1000    bytes 200 to 299, inclusive, of a file of 1,000 bytes
//     bytes 200-299/*       of a file of unknown length
//     bytes */1000          no bytes, with status 416

/** Which bytes of the file a response has. */
export interface ContentRange {
  /** The first byte; undefined when the response has no bytes. */
  readonly first: number | undefined;
  /** The last byte, inclusive. */
  readonly last: number | undefined;
  /** Bytes of the whole file, if known. */
  readonly fileLength: number | undefined;
}

/** @returns undefined for a malformed header. */
export function parseContentRange(header: string): ContentRange | undefined {
  const match = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/i.exec(header);
  return match === null ? undefined : { first: wholeNumber(match[1]), last: wholeNumber(match[2]), fileLength: wholeNumber(match[3]) };
}

/** Parses decimal digits, up to 2^53. */
export function wholeNumber(text: string | null | undefined): number | undefined {
  const number = /^\d+$/.test(text ?? '') ? Number(text) : NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}
