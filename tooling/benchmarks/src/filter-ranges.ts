// Measures what larger filter ranges cost and gain, for values of several lengths and both policies:
// `npx pnpm@10 --filter @bloom/benchmarks filter-ranges`. Prints the table of packages/sstable/docs/filters.md.
import { performance } from 'node:perf_hooks';
import { seeded } from '@bloom/bytes/internal';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';
import { MemorySink, MemorySource, SyncTable, TableBuilder } from '@bloom/sstable';
import { markdownTable } from './report.js';

const KEYS = 20_000;
const LOOKUPS = 200_000;
const BITS_PER_KEY = 10;
const VALUE_LENGTHS = [10, 100, 1000, 10_000];
const RANGES = [2 ** 11, 2 ** 14, 2 ** 17, 2 ** 40];

const policies: [string, FilterPolicy][] = [
  ['Bloom', new BloomFilterPolicy(BITS_PER_KEY)],
  ['blocked', new BlockedBloomFilterPolicy(BITS_PER_KEY)],
];

const keyAt = (i: number): Uint8Array => new TextEncoder().encode(`key ${String(i).padStart(9, '0')}`);
const absent = Array.from({ length: LOOKUPS }, (_, i) => keyAt(((i * 7919) % KEYS) * 2 + 1));

const rows: string[][] = [];
for (const valueLength of VALUE_LENGTHS) {
  for (const filterRange of RANGES) {
    const row = [`${valueLength}`, filterRange === 2 ** 40 ? 'whole table' : `${filterRange / 1024} KiB`];
    for (const [, filterPolicy] of policies) {
      const { bitsPerKey, passed, nanoseconds } = measure(valueLength, filterRange, filterPolicy);
      row.push(bitsPerKey.toFixed(1), `${(passed * 100).toFixed(2)}%`, nanoseconds.toFixed(0));
    }
    rows.push(row);
  }
}
const header = ['value, bytes', 'range', ...policies.flatMap(([name]) => [`${name}: bits per key`, 'absent keys that pass', 'ns per absent key'])];
process.stdout.write(`${markdownTable(header, rows)}\n`);

function measure(valueLength: number, filterRange: number, filterPolicy: FilterPolicy): { bitsPerKey: number; passed: number; nanoseconds: number } {
  const random = seeded(valueLength);
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { filterPolicy, filterRange, compression: 'none' });
  const value = random.bytes(valueLength);
  for (let i = 0; i < KEYS; i++) builder.add(keyAt(i * 2), value);
  const { filterBytes } = builder.finish();
  const table = SyncTable.open(new MemorySource(sink.toBytes()), { filterPolicies: [filterPolicy] });
  const passed = absent.filter((key) => table.mayContain(key)).length / LOOKUPS;
  // Only lookups that pass the filter read a block.
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    const start = performance.now();
    for (const key of absent) table.get(key);
    best = Math.min(best, performance.now() - start);
  }
  return { bitsPerKey: (filterBytes * 8) / KEYS, passed, nanoseconds: (best * 1e6) / LOOKUPS };
}
