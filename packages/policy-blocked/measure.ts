// Prints the tables of README.md: one with an argument, `rates`, `few` or `speed`, all without.
import { cpus } from 'node:os';
import { seeded } from '@bloom/fixtures';
import {
  bestProbes,
  BloomFilterPolicy,
  buildFilter,
  type FilterPolicy,
  idealFalsePositiveRate,
  KeyBuffer,
} from '@bloom/policy';
import { BlockedBloomFilterPolicy } from './src/index.js';

const POLICIES = [BloomFilterPolicy, BlockedBloomFilterPolicy];
const random = seeded(2024);

function print(cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

function printHead(cells: readonly string[]): void {
  print(cells);
  print(cells.map(() => '---:'));
}

/** Random keys, long enough to be different. */
class RandomKeys {
  readonly #words: Uint32Array;
  readonly key: Uint8Array;

  constructor(bytes: number) {
    this.#words = new Uint32Array(bytes / 4);
    this.key = new Uint8Array(this.#words.buffer);
  }

  /** The next key, which overwrites the previous one. */
  next(): Uint8Array {
    for (let i = 0; i < this.#words.length; i++) this.#words[i] = random.uint32();
    return this.key;
  }

  *take(count: number): Generator<Uint8Array> {
    for (let i = 0; i < count; i++) yield this.next();
  }
}

const ENOUGH_FALSE_POSITIVES = 4000;
const ENOUGH_ASKED = 60_000_000;

/** Counts false positives among absent keys, over as many filters as needed. */
function measureRate(policy: FilterPolicy, keyCount: number): { falsePositives: number; asked: number } {
  const keys = new RandomKeys(12);
  const asksPerFilter = keyCount < 1000 ? 100 : Math.max(20_000, 5 * keyCount);
  let falsePositives = 0;
  let asked = 0;
  while (falsePositives < ENOUGH_FALSE_POSITIVES && asked < ENOUGH_ASKED) {
    const filter = buildFilter(policy, keys.take(keyCount));
    for (let i = 0; i < asksPerFilter; i++) if (policy.keyMayMatch(keys.next(), filter)) falsePositives++;
    asked += asksPerFilter;
  }
  return { falsePositives, asked };
}

function percent(rate: number, digits = 2): string {
  return `${Number((rate * 100).toPrecision(digits))}%`;
}

function measuredPercent(policy: FilterPolicy, keyCount: number): string {
  const { falsePositives, asked } = measureRate(policy, keyCount);
  // With none seen, the rate is, with 95% certainty, below three in all lookups. With a few, the second digit means nothing.
  if (falsePositives === 0) return `< ${percent(3 / asked, 1)}`;
  return falsePositives < 100 ? `≈ ${percent(falsePositives / asked, 1)}` : percent(falsePositives / asked);
}

function printRates(): void {
  const counts = [1000, 100_000, 1_000_000];
  const columns = counts.map((count) => count.toLocaleString('en'));
  const heads = ['Bloom', 'blocked'].flatMap((name) => columns.map((column) => `${name}, ${column}`));
  printHead(['bits per key', 'ideal', ...heads]);
  for (const bitsPerKey of [2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 44]) {
    const ideal = idealFalsePositiveRate({ bitsPerKey, probes: bestProbes(bitsPerKey) });
    const rates = POLICIES.flatMap((Policy) => counts.map((count) => measuredPercent(new Policy(bitsPerKey), count)));
    print([String(bitsPerKey), percent(ideal), ...rates]);
  }
}

function printFewKeys(): void {
  printHead(['keys', 'Bloom, bytes', 'blocked, bytes', 'Bloom, rate', 'blocked, rate']);
  for (const count of [1, 10, 30, 50, 60, 100, 200]) {
    const policies = POLICIES.map((Policy) => new Policy(10));
    const bytes = policies.map((policy) => String(buildFilter(policy, new RandomKeys(12).take(count)).length));
    print([String(count), ...bytes, ...policies.map((policy) => measuredPercent(policy, count))]);
  }
}

const ROUNDS = 11;
const MOST_ASKED = 1_000_000;
const KEY_BYTES = 16;

/** Nanoseconds of processor time for each of the `count` operations in `run`; other programs do not count. */
function time(count: number, run: () => void): number {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return ((user + system) * 1000) / count;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

/** Looks up each key in `words`, of `KEY_BYTES` each. @returns how many match. */
function ask(policy: FilterPolicy, filter: Uint8Array, words: Uint32Array): number {
  const key = new Uint32Array(KEY_BYTES / 4);
  const bytes = new Uint8Array(key.buffer);
  let matches = 0;
  for (let i = 0; i < words.length; i += 4) {
    key[0] = words[i]!;
    key[1] = words[i + 1]!;
    key[2] = words[i + 2]!;
    key[3] = words[i + 3]!;
    if (policy.keyMayMatch(bytes, filter)) matches++;
  }
  return matches;
}

interface Times {
  readonly build: number[];
  readonly absent: number[];
  readonly present: number[];
}

/** Times every policy once per round, so that other work of the machine affects all of them. */
function measureTimes(policies: readonly FilterPolicy[], keys: KeyBuffer): Times[] {
  const asked = Math.min(keys.length, MOST_ASKED);
  const present = new Uint32Array(keys.bytes.buffer, 0, (asked * KEY_BYTES) / 4);
  const absent = Uint32Array.from({ length: present.length }, () => random.uint32());
  // Small filters are made and tested repeatedly, because of the clock's resolution.
  const repeat = Math.max(1, Math.round(300_000 / keys.length));
  const times = policies.map((): Times => ({ build: [], absent: [], present: [] }));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, policy] of policies.entries()) {
      let filter = new Uint8Array(0);
      times[i]!.build.push(
        time(keys.length * repeat, () => {
          for (let again = 0; again < repeat; again++) {
            policy.createFilter(keys, { extend: (byteLength) => (filter = new Uint8Array(byteLength)) });
          }
        }),
      );
      let matches = 0;
      times[i]!.absent.push(
        time(asked * repeat, () => {
          for (let again = 0; again < repeat; again++) matches += ask(policy, filter, absent);
        }),
      );
      if (matches > asked * repeat * 0.1) throw new Error('the absent keys are not absent');
      matches = 0;
      times[i]!.present.push(
        time(asked * repeat, () => {
          for (let again = 0; again < repeat; again++) matches += ask(policy, filter, present);
        }),
      );
      if (matches !== asked * repeat) throw new Error('a present key is missed');
    }
  }
  return times;
}

function printSpeed(): void {
  const kinds = ['build', 'absent', 'present'] as const;
  printHead(['keys', 'bits per key', ...kinds, ...kinds.map((kind) => `${kind}, ns per key`)]);
  for (const count of [10_000, 1_000_000, 10_000_000]) {
    const keys = KeyBuffer.from(new RandomKeys(KEY_BYTES).take(count));
    for (const bitsPerKey of [10, 20]) {
      const [bloom, blocked] = measureTimes(POLICIES.map((Policy) => new Policy(bitsPerKey)), keys);
      print([
        count.toLocaleString('en'),
        String(bitsPerKey),
        ...kinds.map((kind) => `${median(bloom![kind].map((ns, round) => ns / blocked![kind][round]!)).toFixed(1)}×`),
        ...kinds.map((kind) => `${median(bloom![kind]).toFixed(0)} → ${median(blocked![kind]).toFixed(0)}`),
      ]);
    }
  }
}

const tables = { rates: printRates, few: printFewKeys, speed: printSpeed };
process.stdout.write(`${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}\n`);
for (const [name, printTable] of Object.entries(tables)) {
  if (![undefined, name].includes(process.argv[2])) continue;
  process.stdout.write(`\n${name}\n\n`);
  printTable();
}
