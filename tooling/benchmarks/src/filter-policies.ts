/**
 * Measures each shipped policy at 10^2 to 10^6 keys, with `--long` to 10^7: bits per key, the share of absent keys that match, and
 * nanoseconds of processor time per key for building a filter and for lookups. `--write` stores them in
 * results/filter-policies.json and writes RESULTS.md. A number is the most keys to measure.
 *
 * The policies take turns, so that other work of the machine affects all of them alike; times are medians of the rounds.
 */
import { join } from 'node:path';
import { seeded } from '@bloom/fixtures';
import { BloomFilterPolicy, type FilterPolicy, KeyBuffer, type KeyList } from '@bloom/policy';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';
import { FuseFilterPolicy } from '@bloom/policy-fuse';
import { RibbonFilterPolicy } from '@bloom/policy-ribbon';
import { type FilterRow, filterTable, FIRST_POLICY } from './filter-table.js';
import { spread } from './measure.js';
import { writeStored } from './results.js';

const KEY_BYTES = 16;
const ROUNDS = 7;
/** Operations that are timed together, at least: the clock is coarse. */
const TIMED = 400_000;
const ABSENT = 1_000_000;

interface Batches extends FilterPolicy {
  keysMayMatch?(keys: KeyList, filter: Uint8Array): Uint8Array;
}

const makers: Record<string, () => Batches> = {
  [FIRST_POLICY]: () => new BloomFilterPolicy(10),
  'blocked, 10 bits': () => new BlockedBloomFilterPolicy(10),
  'Ribbon, 1%': () => new RibbonFilterPolicy(),
  'Ribbon, 1%, width 128': () => new RibbonFilterPolicy({ width: 128 }),
  'fuse, 8 bits': () => new FuseFilterPolicy(8),
};

const random = seeded(29);

function randomKeys(count: number): KeyBuffer {
  const keys = new KeyBuffer(count * KEY_BYTES, count);
  const words = new Uint32Array(KEY_BYTES / 4);
  const key = new Uint8Array(words.buffer);
  for (let i = 0; i < count; i++) {
    for (let word = 0; word < words.length; word++) words[word] = random.uint32();
    keys.push(key);
  }
  return keys;
}

/** Nanoseconds of processor time for each of `count` operations; `run` is repeated until there are enough to time. */
function time(count: number, run: () => void): number {
  const repeat = Math.max(1, Math.ceil(TIMED / count));
  const start = process.cpuUsage();
  for (let again = 0; again < repeat; again++) run();
  const { user, system } = process.cpuUsage(start);
  return ((user + system) * 1000) / (count * repeat);
}

/** A separate function for each policy, because a function that has been called with several policies is slower. */
function asker(): (policy: FilterPolicy, filter: Uint8Array, keys: KeyBuffer) => number {
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- V8 compiles the same closure only once
  return new Function(
    'policy',
    'filter',
    'keys',
    `const key = new Uint8Array(${KEY_BYTES}); let matches = 0;
     for (let i = 0; i < keys.length; i++) {
       for (let at = 0; at < ${KEY_BYTES}; at++) key[at] = keys.bytes[i * ${KEY_BYTES} + at];
       if (policy.keyMayMatch(key, filter)) matches++;
     }
     return matches;`,
  ) as ReturnType<typeof asker>;
}

function measure(count: number): FilterRow[] {
  // Different keys in each round, because the number of seeds that a filter needs depends on them.
  const lists = Array.from({ length: count > 1e6 ? 3 : ROUNDS }, () => randomKeys(count));
  const absent = randomKeys(ABSENT);
  const asked = new KeyBuffer();
  for (let i = 0; i < 50_000; i++) asked.push(absent.at(i));
  const subjects = Object.entries(makers).map(([name, make]) => {
    const policy = make();
    return { name, policy, ask: asker(), filter: new Uint8Array(0), build: [] as number[], absent: [] as number[], present: [] as number[], batch: [] as number[] };
  });
  for (const keys of lists) {
    for (const subject of subjects) {
      const { policy, ask } = subject;
      subject.build.push(time(count, () => policy.createFilter(keys, { extend: (byteLength) => (subject.filter = new Uint8Array(byteLength)) })));
      const { filter } = subject;
      subject.absent.push(time(asked.length, () => ask(policy, filter, asked)));
      subject.present.push(time(count, () => ask(policy, filter, keys)));
      if (ask(policy, filter, keys) !== count) throw new Error(`${subject.name} misses a key`);
      if (policy.keysMayMatch) subject.batch.push(time(asked.length, () => policy.keysMayMatch!(asked, filter)));
    }
  }
  return subjects.map(({ name, policy, ask, filter, ...times }) => ({
    keys: count,
    policy: name,
    bitsPerKey: (filter.length * 8) / count,
    rate: ask(policy, filter, absent) / ABSENT,
    buildNs: spread(times.build).median,
    absentNs: spread(times.absent).median,
    presentNs: spread(times.present).median,
    batchNs: times.batch.length > 0 ? spread(times.batch).median : undefined,
  }));
}

const counts = [100, 1000, 10_000, 17_000, 100_000, 1_000_000, ...(process.argv.includes('--long') ? [10_000_000] : [])];
const most = Number(process.argv.find((argument) => /^\d+$/.test(argument)) ?? Infinity);
const rows = counts
  .filter((count) => count <= most)
  .flatMap((count) => {
    const measured = measure(count);
    process.stdout.write(`${filterTable(measured)}\n\n`);
    return measured;
  });
if (process.argv.includes('--write')) writeStored(join(import.meta.dirname, '..'), { 'filter-policies': { node: process.version, rows } });
