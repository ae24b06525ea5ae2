/** What the filters of a table cost, and what that gives, in words and bars. */
import { idealFalsePositiveRate, probesFor } from '@bloom/policy';
import { count } from '@bloom/report';
import type { TableProfile } from '@bloom/sstable/inspect';
import { bars } from './screen-text.js';

/** The bytes of a filter block behind its filters: where the offsets begin, and for how many bytes of data each filter is. */
const TAIL_BYTES = 5;
/** The place of a filter in its block. */
const OFFSET_BYTES = 4;
/** LevelDB makes no smaller filters; the number of probes is in one byte more. */
const LEAST_BITS = 64;
/** Bits per key that are drawn. */
const DRAWN_BITS = [2, 4, 6, 8, 10, 12, 14, 16, 20];
/** More bits per key than this part above what was asked for have a reason that is worth a line. */
const WORTH_A_REASON = 1.15;

/** The bits per key with which a Bloom filter has this number of probes: the `bitsPerKey` with which the table was written. */
export function askedBits(probes: number): { readonly least: number; readonly most: number } | undefined {
  const fitting = Array.from({ length: 100 }, (_, i) => i + 1).filter((bits) => probesFor(bits) === probes);
  return fitting.length === 0 ? undefined : { least: fitting[0]!, most: fitting.at(-1)! };
}

/** Why filters have more bits per key than were asked for; undefined if they do not. */
export function reasonOfBits({ entries, filters, filterBytes, dataBlocks }: TableProfile, probes: number): string | undefined {
  const asked = askedBits(probes);
  if (asked === undefined || entries === 0) return undefined;
  const bits = (filterBytes * 8) / entries;
  if (bits <= asked.most * WORTH_A_REASON) return undefined;
  const placeBits = (TAIL_BYTES + OFFSET_BYTES * filters) * 8;
  const made = Math.min(filters, dataBlocks);
  const keysPerFilter = made === 0 ? 0 : entries / made;
  const reasons: string[] = [];
  if (keysPerFilter * asked.most < LEAST_BITS) reasons.push(`a filter has at least ${LEAST_BITS}, and these have ${keysPerFilter.toFixed(1)} keys each`);
  else reasons.push(`each filter is rounded up to bytes, with one more for its probes`);
  reasons.push(`${(placeBits / entries).toFixed(2)} are for the ${filters === 1 ? 'offset of the filter' : `offsets of the ${count(filters)} filters`}`);
  const range = asked.least === asked.most ? String(asked.least) : `${asked.least} or ${asked.most}`;
  return `${range} were asked for; ${reasons.join('; ')}`;
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

/** A rate in percent, with two digits that count. */
export function rateText(rate: number): string {
  const percent = rate * 100;
  return `${percent >= 0.1 || percent === 0 ? percent.toFixed(2) : percent.toPrecision(2)}%`;
}

/** How many blocks have a size, in powers of two. */
export class SizeHistogram {
  readonly #buckets = new Map<number, number>();

  add(byteLength: number): void {
    const power = byteLength < 1 ? 0 : Math.floor(Math.log2(byteLength));
    this.#buckets.set(power, (this.#buckets.get(power) ?? 0) + 1);
  }

  /** From the smallest sizes to the largest, with the gaps between. */
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
