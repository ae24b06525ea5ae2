// Measures the false positive rates of LevelDB's Bloom filter and the blocked policy with random keys:
// `npx pnpm@10 --filter @bloom/benchmarks filter-rates`. Prints the tables of packages/policy-blocked/README.md, and that of
// packages/policy/README.md; with the argument `bloom`, only the latter.
import { seeded } from '@bloom/fixtures';
import { bestProbes, BloomFilterPolicy, buildFilter, type FilterPolicy, idealFalsePositiveRate } from '@bloom/policy';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';
import { markdownTable } from './report.js';

const POLICIES = [BloomFilterPolicy, BlockedBloomFilterPolicy];
const ENOUGH_FALSE_POSITIVES = 4000;
const ENOUGH_ASKED = 60_000_000;

const random = seeded(2024);
const words = new Uint32Array(3);
const key = new Uint8Array(words.buffer);

/** A random key, long enough to differ from all others. It overwrites the previous one. */
function nextKey(): Uint8Array {
  for (let i = 0; i < words.length; i++) words[i] = random.uint32();
  return key;
}

function* randomKeys(count: number): Generator<Uint8Array> {
  for (let i = 0; i < count; i++) yield nextKey();
}

/** Counts false positives among absent keys, over as many filters as needed. */
function measuredPercent(policy: FilterPolicy, keyCount: number): string {
  const asksPerFilter = keyCount < 1000 ? 100 : Math.max(20_000, 5 * keyCount);
  let falsePositives = 0;
  let asked = 0;
  while (falsePositives < ENOUGH_FALSE_POSITIVES && asked < ENOUGH_ASKED) {
    const filter = buildFilter(policy, randomKeys(keyCount));
    for (let i = 0; i < asksPerFilter; i++) if (policy.keyMayMatch(nextKey(), filter)) falsePositives++;
    asked += asksPerFilter;
  }
  // Without false positives, the rate is, with 95% certainty, below three divided by the number of lookups. With a few, only the first digit is meaningful.
  if (falsePositives === 0) return `< ${percent(3 / asked, 1)}`;
  return falsePositives < 100 ? `≈ ${percent(falsePositives / asked, 1)}` : percent(falsePositives / asked);
}

function percent(rate: number, digits = 2): string {
  return `${Number((rate * 100).toPrecision(digits))}%`;
}

function printByBits(): void {
  const counts = [1000, 100_000, 1_000_000];
  const heads = ['Bloom', 'blocked'].flatMap((name) => counts.map((count) => `${name}, ${count.toLocaleString('en')}`));
  const byBits = [2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 44].map((bitsPerKey) => [
    String(bitsPerKey),
    percent(idealFalsePositiveRate({ bitsPerKey, probes: bestProbes(bitsPerKey) })),
    ...POLICIES.flatMap((Policy) => counts.map((count) => measuredPercent(new Policy(bitsPerKey), count))),
  ]);
  process.stdout.write(`${markdownTable(['bits per key', 'ideal', ...heads], byBits)}\n\n`);
}

function printFewKeys(): void {
  const ofFewKeys = [1, 10, 30, 50, 60, 100, 200].map((count) => {
    const policies = POLICIES.map((Policy) => new Policy(10));
    const bytes = policies.map((policy) => String(buildFilter(policy, randomKeys(count)).length));
    return [String(count), ...bytes, ...policies.map((policy) => measuredPercent(policy, count))];
  });
  process.stdout.write(`${markdownTable(['keys', 'Bloom, bytes', 'blocked, bytes', 'Bloom, rate', 'blocked, rate'], ofFewKeys)}\n\n`);
}

function printByKeys(): void {
  const counts = [20, 100, 1000, 10_000, 1_000_000];
  const rates = counts.map((count) => measuredPercent(new BloomFilterPolicy(10), count));
  process.stdout.write(`${markdownTable(['keys in the filter', ...counts.map((count) => count.toLocaleString('en'))], [['maybe', ...rates]])}\n`);
}

const [only] = process.argv.slice(2);
if (only !== undefined && only !== 'bloom') throw new RangeError(`the argument must be bloom, or omitted, got ${only}`);
if (only === undefined) {
  printByBits();
  printFewKeys();
}
printByKeys();
