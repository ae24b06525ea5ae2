import { randomBytes } from 'node:crypto';
import { bloomBitsPerKey, buildFilter, type FilterPolicy } from '@bloom/policy';
import { count } from '@bloom/report';
import { printJson, printLines } from '../outputs/output.js';
import { rateText } from '../outputs/filter-figures.js';
import { aligned } from '../outputs/screen-text.js';
import { loadPolicy } from '../plugins/plugin.js';

/** As many as the policy takes. */
const MOST_BLOCKED_BITS = 64;

interface FilterSizeOptions {
  readonly rate?: number;
  readonly bitsPerKey?: number;
  readonly json?: true;
}

const KEY_BYTES = 16;
/** The number of absent keys that are tried. They measure a rate of 1% to within a few percent of its value. */
const ASKED = 200_000;
/** Small filters differ from each other, so several are made, with this many keys in all. */
const MADE_KEYS = 20_000;
/** To reach a rate, filters of one cache line need more bits than LevelDB's: at most this many more are tried. */
const MORE_BITS = 20;

interface Size {
  readonly policy: string;
  readonly bytes: number;
  readonly bitsPerKey: number;
  readonly rate: number;
}

/** Prints how large filters of `keys` keys are with each policy. */
export async function filterSize(keys: number, { rate = 0.01, bitsPerKey, json }: FilterSizeOptions): Promise<void> {
  const sizes: Size[] = [];
  const notes: string[] = [];
  const add = async (given: string): Promise<Size> => {
    const size = measured(given, await loadPolicy(given), keys);
    sizes.push(size);
    return size;
  };
  const bits = bitsPerKey ?? bloomBitsPerKey(rate, keys);
  if (bits === undefined) notes.push(`bloom: its 32-bit hash cannot reach ${rateText(rate)} with this many keys`);
  else await add(`bloom:${bits}`);
  await addBlocked();
  if (bitsPerKey === undefined) {
    await add(`ribbon:${Math.max(rate, 2 ** -16)}`);
    if (rate >= 2 ** -16) await add(rate >= 2 ** -8 ? 'fuse:8' : 'fuse:16');
    else notes.push('fuse: reaches 0.0015% at most');
  }

  const rows = sizes.map((size) => [size.policy, count(size.bytes), size.bitsPerKey.toFixed(2), rateText(size.rate)]);
  if (json) await printJson({ keys, rate: bitsPerKey === undefined ? rate : null, policies: sizes });
  else await printLines([...aligned([['policy', 'bytes', 'bits per key', 'absent keys that match'], ...rows]), ...notes]);

  /** Adds bits until the rate is reached, because there is no formula for filters of one cache line. */
  async function addBlocked(): Promise<void> {
    if (bitsPerKey !== undefined) {
      if (bitsPerKey <= MOST_BLOCKED_BITS) await add(`blocked:${bitsPerKey}`);
      else notes.push(`blocked: has at most ${MOST_BLOCKED_BITS} bits per key`);
      return;
    }
    const least = Math.max(1, bits ?? 1);
    for (let more = 0; more <= MORE_BITS; more++) {
      const given = `blocked:${least + more}`;
      const size = measured(given, await loadPolicy(given), keys);
      if (size.rate > rate * 1.03) continue;
      sizes.push(size);
      return;
    }
    notes.push(`blocked: does not reach ${rateText(rate)} with ${least + MORE_BITS} bits per key`);
  }
}

/** Makes filters of random keys, and tries other keys with them. */
function measured(policy: string, filterPolicy: FilterPolicy, keys: number): Size {
  const made = Math.max(1, Math.ceil(MADE_KEYS / keys));
  const asksPerFilter = Math.ceil(ASKED / made);
  let bytes = 0;
  let passed = 0;
  for (let i = 0; i < made; i++) {
    const filter = buildFilter(filterPolicy, randomKeys(keys));
    bytes += filter.length;
    const asked = randomBytes(asksPerFilter * KEY_BYTES);
    for (let k = 0; k < asksPerFilter; k++) if (filterPolicy.keyMayMatch(asked.subarray(k * KEY_BYTES, (k + 1) * KEY_BYTES), filter)) passed++;
  }
  const each = bytes / made;
  return { policy, bytes: Math.round(each), bitsPerKey: (each * 8) / keys, rate: passed / (made * asksPerFilter) };
}

/** Distinct keys: 16 random bytes each. */
function randomKeys(count: number): Uint8Array[] {
  const bytes = randomBytes(count * KEY_BYTES);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * KEY_BYTES, (i + 1) * KEY_BYTES));
}
