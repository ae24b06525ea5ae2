/**
 * What can be wrong with the result of a comparator. The codes are stable.
 *
 * - `BLOOM_UNDECLARED_EQUIVALENCE`: it called keys with different bytes equal, and has no `keyEquivalence`.
 * - `BLOOM_BAD_COMPARISON`: it returned something other than a number, or NaN; or a number other than 0 for a key and itself.
 */
export type ComparatorErrorCode = 'BLOOM_UNDECLARED_EQUIVALENCE' | 'BLOOM_BAD_COMPARISON';

/** A comparator returned what cannot order two keys; the files are sound, and nothing was changed by the comparison. */
export class ComparatorError extends Error {
  override readonly name = 'ComparatorError';
  readonly code: ComparatorErrorCode;
  /** The name of the comparator. */
  readonly comparator: string;
  /** The two keys that were compared: copies. */
  readonly keys: readonly [a: Uint8Array, b: Uint8Array];

  constructor(code: ComparatorErrorCode, comparator: string, keys: readonly [a: Uint8Array, b: Uint8Array], problem: string) {
    super(problem);
    this.code = code;
    this.comparator = comparator;
    this.keys = keys;
  }
}

/** The most bytes of a key that a message shows. */
const MAX_SHOWN_BYTES = 40;

/** A key for a message: in quotes, with `\xNN` for what is not printable ASCII, and truncated where it is long. */
export function shownKey(key: Uint8Array): string {
  let text = '';
  for (const byte of key.subarray(0, MAX_SHOWN_BYTES)) {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    text += isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return key.length > MAX_SHOWN_BYTES ? `"${text}…" (${key.length} bytes)` : `"${text}"`;
}
