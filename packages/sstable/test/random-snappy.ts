import type { Random } from '@bloom/fixtures';
import { putVarint } from '@bloom/bytes';

/**
 * A Snappy stream of random elements. Most are right, so that much is made before one that is not, if there is one;
 * the length that it declares is mostly that of the contents.
 */
export function randomSnappyStream(random: Random): Uint8Array {
  const elements: number[] = [];
  let made = 0;
  for (let count = random.below(40); count > 0; count--) {
    const offset = random.below(60) === 0 ? random.pick([0, made + 1, 2 ** 31, 2 ** 32 - 1]) : 1 + random.below(random.pick([made, Math.min(made, 20)]) || 1);
    const kind = made === 0 ? 0 : random.below(4);
    const length = random.pick([1 + random.below(12), 1 + random.below(64), 60 + random.below(300)]);
    if (kind === 0) {
      elements.push(...literalTag(random, length), ...random.bytes(random.below(80) === 0 ? random.below(length) : length));
      made += length;
    } else if (kind === 1) {
      const short = 4 + (length % 8);
      elements.push(1 | ((short - 4) << 2) | (((offset >>> 8) & 7) << 5), offset & 0xff);
      made += short;
    } else {
      const bytes = [offset, offset >>> 8, offset >>> 16, offset >>> 24].map((byte) => byte & 0xff);
      elements.push(kind | (((length - 1) % 64) << 2), ...bytes.slice(0, kind === 2 ? 2 : 4));
      made += ((length - 1) % 64) + 1;
    }
  }
  const declared = random.below(10) === 0 ? Math.max(0, made + random.below(21) - 10) : made;
  const header = new Uint8Array(5);
  const end = putVarint(header, 0, declared);
  // Bytes that are not needed: zeros at the end of the number.
  const isPadded = end < 5 && random.below(20) === 0;
  if (isPadded) header[end - 1]! |= 0x80;
  return Uint8Array.of(...header.subarray(0, isPadded ? end + 1 : end), ...elements);
}

/** In as few bytes as it takes, or in more. */
function literalTag(random: Random, length: number): number[] {
  const rest = length - 1;
  const least = rest < 60 ? 0 : rest < 256 ? 1 : 2;
  const lengthBytes = random.below(8) === 0 ? Math.min(4, least + random.below(4)) : least;
  if (lengthBytes === 0) return [rest << 2];
  return [(59 + lengthBytes) << 2, ...[rest & 0xff, rest >>> 8, 0, 0].slice(0, lengthBytes)];
}
