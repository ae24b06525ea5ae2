const SPACE = 0x20;

/** The name that comparator and policy share for their equivalence: "a", "a " and "a  " are the same key. */
export const KEY_EQUIVALENCE = 'trailing-spaces';

/** Where the key `bytes[start, end)` ends without its trailing spaces. */
export function endOfKey(bytes: Uint8Array, start: number, end: number): number {
  while (end > start && bytes[end - 1] === SPACE) end--;
  return end;
}
