import { InvalidArgumentError } from 'commander';
import { shortSize } from '../outputs/screen-text.js';

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** A table counts ranges by a power of two of at most 40. */
const MOST_FILTER_RANGE = 2 ** 40;

/** Parses a number of bytes, such as `65536`, `64K` and `64MiB`: the units are powers of 1024. */
export function byteSize(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const [, digits, unit] = /^(\d{1,15})\s?(?:([kmgt])(?:i?b)?|b)?$/i.exec(text) ?? [];
    const bytes = digits === undefined ? NaN : Number(digits) * UNITS[unit?.toLowerCase() ?? '']!;
    if (bytes >= least && bytes <= most) return bytes;
    const range = most === Number.MAX_SAFE_INTEGER ? `at least ${shortSize(least)}` : `from ${shortSize(least)} to ${shortSize(most)}`;
    throw new InvalidArgumentError(`It must be a number of bytes, ${range}, such as 1048576, 64K or 2MiB.`);
  };
}

/** Parses the bytes that one filter covers. */
export function filterRangeSize(text: string): number {
  const bytes = byteSize(1, MOST_FILTER_RANGE)(text);
  if (Number.isInteger(Math.log2(bytes))) return bytes;
  throw new InvalidArgumentError(`It must be a power of two, such as 2048, 64K or 1MiB, up to ${shortSize(MOST_FILTER_RANGE)}.`);
}
