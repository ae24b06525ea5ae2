import { mustBeBytes } from './arguments.js';

/**
 * The bytes of a key or a value that is given as bytes or as text: those of a string are its UTF-8. Anything else is returned as it is, and
 * must be checked.
 *
 * @throws RangeError, which names the argument, for a string with half of a surrogate pair. UTF-8 cannot encode it, and all such strings
 *   would be stored as the same bytes.
 */
export function bytesOf(name: string, value: Uint8Array | string): Uint8Array {
  if (typeof value !== 'string') return value;
  if (/\p{Surrogate}/u.test(value)) throw new RangeError(`${name} must be well-formed text, got a string with half of a surrogate pair`);
  return new TextEncoder().encode(value);
}

/** {@link bytesOf}, and the check. @throws TypeError, which names the argument, unless it is bytes or text. */
export function checkedBytesOf(name: string, value: Uint8Array | string): Uint8Array {
  const bytes = bytesOf(name, value);
  mustBeBytes(name, bytes);
  return bytes;
}
