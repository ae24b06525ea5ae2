/** The size of a table's filters and their false positive rates, as text and bars. */
import { idealFalsePositiveRate, probesFor } from '@bloom/policy';
import { count } from '@bloom/report';
import type { TableProfile } from '@bloom/sstable/inspect';
import { bars } from './screen-text.js';

/** The bytes at the end of a filter block: the start of the offsets, and the range of the file per filter. */
const TAIL_BYTES = 5;
/** Bytes of the offset of a filter. */
const OFFSET_BYTES = 4;
/** The least number of bits in a LevelDB filter, without the byte for the number of probes. */
const LEAST_BITS = 64;
/** The bits per key for which bars are drawn. */
const DRAWN_BITS = [2, 4, 6, 8, 10, 12, 14, 16, 20];
/** From this ratio of actual to requested bits per key, the reason is printed. */
const WORTH_A_REASON = 1.15;

/** The bits per key with which a Bloom filter has this number of probes: the `bitsPerKey` with which the table was written. */
export function askedBits(probes: number): { readonly least: number; readonly most: number } | undefined {
  const fitting = Array.from({ length: 100 }, (_, i) => i + 1).filter((bits) => probesFor(bits) === probes);
  return fitting.length === 0 ? undefined : { least: fitting[0]!, most: fitting.at(-1)! };
}

/** Why filters have more bits per key than requested; undefined if they do not. */
export function reasonOfBits({ entries, filters, filterBytes, dataBlocks }: TableProfile, probes: number): string | undefined {
  const asked = askedBits(probes);
  if (asked === undefined || entries === 0) return undefined;
  const bits = (filterBytes * 8) / entries;
  if (bits <= asked.most * WORTH_A_REASON) return undefined;
  const placeBits = (TAIL_BYTES + OFFSET_BYTES * filters) * 8;
  const made = Math.min(filters, dataBlocks);
  const keysPerFilter = made === 0 ? 0 : entries / made;
  const reasons: string[] = [];
  if (keysPerFilter * asked.most < LEAST_BITS) reasons.push(`a filter has at least ${LEAST_BITS} bits, and these have ${keysPerFilter.toFixed(1)} keys each`);
  else reasons.push(`each filter is rounded up to bytes, with one more for its probes`);
  reasons.push(`${filters === 1 ? 'the offset of the filter takes' : `the offsets of the ${count(filters)} filters take`} ${(placeBits / entries).toFixed(2)} bits per key`);
  const range = asked.least === asked.most ? String(asked.least) : `${asked.least} or ${asked.most}`;
  return `${range} bits per key were requested; ${reasons.join('; ')}`;
}

/** The rates of Bloom filters by their bits, each a bar on a logarithmic scale. @param own the bits per key to mark. */
export function rateCurve(own: number | undefined): string[] {
  const drawn = [...new Set([...DRAWN_BITS, ...(own === undefined ? [] : [own])])].sort((a, b) => a - b);
  return bars(
    drawn.map((bitsPerKey) => {
      const rate = idealFalsePositiveRate({ bitsPerKey, probes: probesFor(bitsPerKey) });
      return { name: String(bitsPerKey), share: Math.max(0, 4 + Math.log10(rate)), figure: `${rateText(rate)}${bitsPerKey === own ? '  <- this table' : ''}` };
    }),
  );
}

/** A rate in percent with two significant digits. */
export function rateText(rate: number): string {
  const percent = rate * 100;
  return `${percent >= 0.1 || percent === 0 ? percent.toFixed(2) : percent.toPrecision(2)}%`;
}

/** The number of blocks by size, in powers of two. */
export class SizeHistogram {
  readonly #buckets = new Map<number, number>();

  add(byteLength: number): void {
    const power = byteLength < 1 ? 0 : Math.floor(Math.log2(byteLength));
    this.#buckets.set(power, (this.#buckets.get(power) ?? 0) + 1);
  }

  /** The rows from the smallest size to the largest, including empty ones. */
  get rows(): readonly { readonly from: number; readonly to: number; readonly blocks: number }[] {
    const powers = [...this.#buckets.keys()];
    if (powers.length === 0) return [];
    const [least, most] = [Math.min(...powers), Math.max(...powers)];
    return Array.from({ length: most - least + 1 }, (_, i) => {
      const power = least + i;
      return { from: 2 ** power, to: 2 ** (power + 1), blocks: this.#buckets.get(power) ?? 0 };
    });
  }
}
