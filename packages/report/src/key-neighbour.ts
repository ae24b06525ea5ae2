/**
 * Absent keys that a program could ask for next: a stored key, counted on by a few.
 *
 * The part that counts is found by comparing a key with the one before it in the table: what both end with is left as it is,
 * so that `user:41:mail` and `user:42:mail` lead to `user:43:mail`. There, the last byte is counted on within its alphabet,
 * with a carry to the byte before, as far as that is of the same alphabet: digits as a decimal number, digits and a to f as
 * a hexadecimal one, letters of one case, or, in what is no text, bytes as a big-endian number.
 */

/** How far to count from a key, nearest first. */
const STEPS = [1, -1, 2, -2, 3, -3];

/** A run of digits and a to f with at least one of each is taken as hexadecimal from this length on. */
const MIN_HEX_DIGITS = 8;

/** The bytes that one place of a key can hold, in order. */
type Alphabet = Uint8Array;

const alphabetOf = (characters: string): Alphabet => new TextEncoder().encode(characters);
const DIGITS = alphabetOf('0123456789');
const HEXADECIMALS = [alphabetOf('0123456789abcdef'), alphabetOf('0123456789ABCDEF')];
const LETTERS = [alphabetOf('abcdefghijklmnopqrstuvwxyz'), alphabetOf('ABCDEFGHIJKLMNOPQRSTUVWXYZ')];
const ANY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte);

/**
 * The neighbours of `key`, nearest first; those of the part that counts come before those of the end.
 *
 * @param tail how many bytes at the end of `key` are the same in an adjacent key of the table: {@link commonTail}.
 */
export function* neighboursOf(key: Uint8Array, tail: number): Generator<Uint8Array, void, undefined> {
  for (const end of tail > 0 && tail < key.length ? [key.length - tail, key.length] : [key.length]) {
    if (end === 0) continue;
    const alphabet = alphabetAt(key, end);
    for (const step of STEPS) {
      const neighbour = counted(key, end, alphabet, step);
      if (neighbour !== undefined) yield neighbour;
    }
  }
}

/** `key`, of which the number that ends at `end` is increased by `step`; undefined when it has too few places. */
function counted(key: Uint8Array, end: number, alphabet: Alphabet, step: number): Uint8Array | undefined {
  const neighbour = key.slice();
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
