// Measures how many absent keys pass one filter of many structured keys, for LevelDB's Bloom filter and the blocked policy:
//
//   structured-keys [--long] [--write] [--only PATTERN] [--counts]
//
// `npx pnpm@10 --filter @bloom/benchmarks structured-keys`. Filters have up to a million keys, ten million with --long.
// --counts measures only filters of each number of keys from 2 to 128, LevelDB's and fitted ones: a minute. --write puts the tables
// that were measured into RESULTS.md. The figures are the same on every machine.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Random, seeded } from '@bloom/bytes/internal';
import { type KeyPattern, keyPatterns, PATTERN_KEYS } from '@bloom/fixtures/key-patterns';
import { BLOOM_SEED, hashEach } from '@bloom/hash';
import { bloomFilterMayMatch, fillBloomFilter, filterByteLength, KeyBuffer, probesFor } from '@bloom/policy';
import {
  blockedBloomFilterMayMatch,
  fillBlockedBloomFilter,
  filterByteLength as blockedByteLength,
  probesFor as blockedProbesFor,
} from '@bloom/policy-blocked';
import { type KeyCounts, keyCountTables, measureKeyCounts } from './key-counts.js';
import { writeStored } from './results.js';
import { ABSENT_KINDS, type AbsentKind, type StructuredCell, structuredTables } from './structured-tables.js';

const { values: options } = parseArgs({
  options: { long: { type: 'boolean', default: false }, write: { type: 'boolean', default: false }, only: { type: 'string', default: '' }, counts: { type: 'boolean', default: false } },
});

/** The bits per key and the numbers of keys that are measured. */
const SIZES: readonly { readonly keys: number; readonly bits: readonly number[] }[] = [
  { keys: 30, bits: [10] },
  { keys: 100, bits: [10] },
  { keys: 1_000, bits: [10] },
  { keys: 10_000, bits: [10] },
  { keys: 100_000, bits: [6, 10, 16, 24] },
  { keys: 1_000_000, bits: [6, 10, 16, 24] },
  ...(options.long ? [{ keys: 10_000_000, bits: [10, 24] }] : []),
];

/** How many absent keys of each kind are asked for, over as many filters as that takes. */
const ASKED = 100_000;
/** The number of keys that are made at a time. */
const PORTION = 10_000;

const cells: StructuredCell[] = [];
const counts: KeyCounts[] = [];
for (const pattern of keyPatterns) {
  if (!pattern.name.includes(options.only)) continue;
  counts.push(measureKeyCounts(pattern));
  if (!options.counts) for (const { keys, bits } of SIZES) cells.push(...measure(pattern, keys, bits));
  process.stderr.write(`${pattern.name}\n`);
}
process.stdout.write(`${keyCountTables(counts)}\n`);
if (!options.counts) process.stdout.write(`${structuredTables(cells)}\n`);
if (options.write) writeStored(fileURLToPath(new URL('..', import.meta.url)), { 'key-counts': counts, ...(!options.counts && { 'structured-keys': cells }) });

interface Filters {
  readonly bits: number;
  readonly bloom: Uint8Array;
  readonly blocked: Uint8Array;
}

function measure(pattern: KeyPattern, keys: number, bits: readonly number[]): StructuredCell[] {
  const random = seeded(keys);
  const counts = ABSENT_KINDS.map((absent) => ({ absent, asked: 0, sameHash: 0, passed: bits.map(() => ({ bloom: 0, blocked: 0 })) }));
  const filterCount = Math.ceil(ASKED / keys);
  for (let round = 0; round < filterCount; round++) {
    // The first filter has the first keys; others start anywhere.
    const start = round === 0 ? 0 : 2 * random.below(PATTERN_KEYS / 8);
    const { filters, hashes } = build(pattern, start, keys, bits);
    for (const count of counts) {
      for (let i = 0; i < ASKED / filterCount; i++) {
        const key = pattern.key(absentNumber(count.absent, start, keys, i, random));
        const hash = hashEach(key, Uint32Array.of(0, key.length), BLOOM_SEED)[0]!;
        count.asked++;
        if (includes(hashes, hash)) count.sameHash++;
        for (const [at, { bloom, blocked }] of filters.entries()) {
          if (bloomFilterMayMatch(hash, bloom)) count.passed[at]!.bloom++;
          if (blockedBloomFilterMayMatch(key, blocked)) count.passed[at]!.blocked++;
        }
      }
    }
  }
  return counts.flatMap(({ absent, asked, sameHash, passed }) =>
    bits.map((bitsPerKey, at) => ({ pattern: pattern.name, keys, bitsPerKey, absent, asked, sameHash, ...passed[at]! })),
  );
}

/** Filters of the keys with the even numbers from `start`, and the sorted Bloom hashes of these keys. */
function build(pattern: KeyPattern, start: number, keys: number, bits: readonly number[]): { filters: Filters[]; hashes: Uint32Array } {
  const filters = bits.map((each) => ({
    bits: each,
    bloom: new Uint8Array(filterByteLength(keys, each)),
    blocked: new Uint8Array(blockedByteLength(keys, each)),
  }));
  const hashes = new Uint32Array(keys);
  const portion = new KeyBuffer();
  for (let done = 0; done < keys; done += portion.length) {
    portion.clear();
    for (let i = done; i < Math.min(done + PORTION, keys); i++) portion.push(pattern.key(start + 2 * i));
    const some = hashEach(portion.bytes, portion.offsets.subarray(0, portion.length + 1), BLOOM_SEED);
    hashes.set(some, done);
    for (const filter of filters) {
      fillBloomFilter(filter.bloom, some, probesFor(filter.bits));
      fillBlockedBloomFilter(filter.blocked, portion, blockedProbesFor(filter.bits));
    }
  }
  return { filters, hashes: hashes.sort() };
}

function absentNumber(absent: AbsentKind, start: number, keys: number, i: number, random: Random): number {
  if (absent === 'between') return start + 2 * random.below(keys) + 1;
  // The keys that the program would make next.
  if (absent === 'past') return start + 2 * keys + i;
  return PATTERN_KEYS / 2 + random.below(PATTERN_KEYS / 2);
}

/** Whether `value` is in `sorted`. */
function includes(sorted: Uint32Array, value: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value;
}
