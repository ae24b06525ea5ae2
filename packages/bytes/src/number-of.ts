/** `1 byte`, `2 bytes`, for a message. */
export function numberOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
