/** How many of the first `most` bytes `a` and `b` have in common. */
export function commonStart(a: Uint8Array, b: Uint8Array, most = a.length): number {
  const end = Math.min(most, b.length);
  let length = 0;
  while (length < end && a[length] === b[length]) length++;
  return length;
}
