/** Numbers as people read them. */

/** 1234567 as 1,234,567. */
export function count(value: number | bigint): string {
  return value.toLocaleString('en-US');
}

/** `1 block`, `2 blocks`, `3 entries`, `4 keys`. @param plural where it is formed otherwise. */
export function counted(value: number, noun: string, plural = /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`): string {
  return `${count(value)} ${value === 1 ? noun : plural}`;
}
