/** How many bytes `a` and `b` have in common at their starts. */
export function commonStart(a: Uint8Array, b: Uint8Array): number {
  const end = Math.min(a.length, b.length);
  let length = 0;
  while (length < end && a[length] === b[length]) length++;
  return length;
}
