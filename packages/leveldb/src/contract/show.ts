/** Names and contents of files, as messages show them. */

export function shownName(name: string): string {
  return JSON.stringify(name);
}

/** How `found` differs from what a file holds, as the end of a sentence about it; undefined when it does not. */
export function differenceOf(found: Uint8Array, held: Uint8Array): string | undefined {
  const length = Math.min(found.length, held.length);
  let i = 0;
  while (i < length && found[i] === held[i]) i++;
  if (i < length) return `has byte 0x${found[i]!.toString(16)} at offset ${i}, and 0x${held[i]!.toString(16)} was written there`;
  return found.length === held.length ? undefined : `has ${found.length} bytes, and ${held.length} were written`;
}
