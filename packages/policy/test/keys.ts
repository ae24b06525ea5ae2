import { type Random } from '@bloom/fixtures';

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** `count` keys of 0 to 40 bytes, with a few duplicates. */
export function anyKeys(random: Random, count: number): Uint8Array[] {
  const keys: Uint8Array[] = [];
  while (keys.length < count) {
    keys.push(keys.length > 0 && random.below(8) === 0 ? random.pick(keys) : random.bytes(random.below(41)));
  }
  return keys;
}
