// The header Content-Range (RFC 9110, section 14.4):
//
//     bytes 200-299/1000    bytes 200 to 299, both included, of a file of 1,000 bytes
//     bytes 200-299/*       of a file of unknown length
//     bytes */1000          no bytes, with status 416

/** What an answer says of the bytes that it holds. */
export interface ContentRange {
  /** Undefined where it holds none. */
  readonly first: number | undefined;
  /** The last byte, included. */
  readonly last: number | undefined;
  /** Bytes of the whole file, where they are known. */
  readonly fileLength: number | undefined;
}

/** @returns undefined for a header that cannot be read. */
export function parseContentRange(header: string): ContentRange | undefined {
  const match = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/i.exec(header);
  return match === null ? undefined : { first: wholeNumber(match[1]), last: wholeNumber(match[2]), fileLength: wholeNumber(match[3]) };
}

/** The number that `text` is in decimal digits, up to 2^53. */
export function wholeNumber(text: string | null | undefined): number | undefined {
  const number = /^\d+$/.test(text ?? '') ? Number(text) : NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}
