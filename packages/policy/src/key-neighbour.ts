/**
 * The neighbours of a stored key: keys that a program is likely to ask for next, and that a table often lacks.
 *
 * A neighbour is a stored key with its number increased or decreased by a few. The number ends where the key stops having bytes in
 * common with the end of the key before it, so that `user:41:mail` and `user:42:mail` lead to `user:43:mail`. Its digits depend on its
 * last byte: decimal digits, hexadecimal digits, the letters of one case, or, in keys that are not text, bytes of a big-endian number.
 *
 * `assembly/fit-kernel.ts` makes the same neighbours.
 */

/** The distances of the neighbours, nearest first. */
export const NEIGHBOUR_STEPS = [1, -1, 2, -2, 3, -3];

/** A run of digits and the letters a to f counts as a hexadecimal number if it has at least this length, and both digits and letters. */
const MIN_HEX_DIGITS = 8;

/** The bytes that one place of a key can hold, in order. */
type Alphabet = Uint8Array;

const alphabetOf = (characters: string): Alphabet => new TextEncoder().encode(characters);
const DIGITS = alphabetOf('0123456789');
const HEXADECIMALS = [alphabetOf('0123456789abcdef'), alphabetOf('0123456789ABCDEF')];
const LETTERS = [alphabetOf('abcdefghijklmnopqrstuvwxyz'), alphabetOf('ABCDEFGHIJKLMNOPQRSTUVWXYZ')];
const ANY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte);

/**
 * Yields the neighbours of `key`, nearest first. Neighbours of the number before the common tail come before neighbours of the number
 * at the end of the key.
 *
 * @param tail the number of bytes that `key` and an adjacent key of the table have in common at their ends: {@link commonTail}.
 * @example
 * ```ts
 * const [first] = neighboursOf(utf8('user:42:mail'), commonTail(utf8('user:41:mail'), utf8('user:42:mail'))); // user:43:mail
 * ```
 */
export function* neighboursOf(key: Uint8Array, tail: number): Generator<Uint8Array, void, undefined> {
  for (const end of tail > 0 && tail < key.length ? [key.length - tail, key.length] : [key.length]) {
    if (end === 0) continue;
    const alphabet = alphabetAt(key, end);
    for (const step of NEIGHBOUR_STEPS) {
      const neighbour = counted(key, end, alphabet, step);
      if (neighbour !== undefined) yield neighbour;
    }
  }
}

/** `key` with the number that ends at `end` increased by `step`; undefined when the number has too few digits. */
function counted(key: Uint8Array, end: number, alphabet: Alphabet, step: number): Uint8Array | undefined {
  const neighbour = new Uint8Array(key);
  let carry = step;
  for (let i = end - 1; carry !== 0; i--) {
    const place = i < 0 ? -1 : alphabet.indexOf(key[i]!);
    if (place < 0) return undefined;
    const sum = place + carry;
    const digit = ((sum % alphabet.length) + alphabet.length) % alphabet.length;
    neighbour[i] = alphabet[digit]!;
    carry = (sum - digit) / alphabet.length;
  }
  return neighbour;
}

/** The alphabet of the byte before `end`. */
function alphabetAt(key: Uint8Array, end: number): Alphabet {
  if (!isText(key)) return ANY_BYTE;
  const hexadecimal = HEXADECIMALS.find((digits) => isNumberIn(digits, key, end));
  return hexadecimal ?? [DIGITS, ...LETTERS].find((alphabet) => alphabet.includes(key[end - 1]!)) ?? ANY_BYTE;
}

/** Whether the digits before `end` are a hexadecimal number, and not a decimal one or a word. */
function isNumberIn(hexDigits: Alphabet, key: Uint8Array, end: number): boolean {
  let start = end;
  let decimals = 0;
  while (start > 0 && hexDigits.includes(key[start - 1]!)) {
    start--;
    if (hexDigits.indexOf(key[start]!) < 10) decimals++;
  }
  const length = end - start;
  return length >= MIN_HEX_DIGITS && decimals > 0 && decimals < length;
}

/** Whether `key` has no control characters, as binary numbers do. */
function isText(key: Uint8Array): boolean {
  return key.every((byte) => byte >= 0x20 && byte !== 0x7f);
}

/** The number of bytes that `a` and `b` have in common at their ends. */
export function commonTail(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}
