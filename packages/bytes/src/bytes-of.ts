import { mustBeBytes } from './arguments.js';

/**
 * The bytes of a key or a value that is given as bytes or as text: those of a string are its UTF-8.
 *
 * @throws TypeError, which names the argument, for anything else.
 * @throws RangeError, which names the argument, for a string with half of a surrogate pair. UTF-8 cannot encode it, and all such strings
 *   would be stored as the same bytes.
 */
export function bytesOf(name: string, value: Uint8Array | string): Uint8Array {
  if (typeof value === 'string') return encoded(name, value);
  mustBeBytes(name, value, 'a Uint8Array or a string');
  return value;
}

function encoded(name: string, text: string): Uint8Array {
  if (/\p{Surrogate}/u.test(text)) throw new RangeError(`${name} must be well-formed text, got a string with half of a surrogate pair`);
  return new TextEncoder().encode(text);
}
