import { InvalidArgumentError } from 'commander';

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** Parses a number of bytes, such as `65536`, `64K` and `64MiB`: the units are powers of 1024. */
export function byteSize(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const [, digits, unit] = /^(\d{1,15})\s?(?:([kmgt])(?:i?b)?|b)?$/i.exec(text) ?? [];
    const bytes = digits === undefined ? NaN : Number(digits) * UNITS[unit?.toLowerCase() ?? '']!;
    if (bytes >= least && bytes <= most) return bytes;
    throw new InvalidArgumentError(`It must be a number of bytes from ${least}, such as 1048576, 64K or 2MiB.`);
  };
}
