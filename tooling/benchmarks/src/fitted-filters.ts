// Measures the processor time that fitted filters take, in those of LevelDB's, in one process, in rounds that alternate:
// `npx pnpm@10 --filter @bloom/benchmarks fitted-filters`. Prints the table of packages/policy/README.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seeded } from '@bloom/bytes/internal';
import { keyPatterns } from '@bloom/fixtures/key-patterns';
import { BloomFilterPolicy, FilterBuffer, FittedBloomFilterPolicy, KeyBuffer } from '@bloom/policy';
import { TableBuilder, type TableBuilderOptions } from '@bloom/sstable';
import { writeTable } from '@bloom/sstable/node';
import { spread } from './measure.js';
import { markdownTable } from './report.js';

const PATTERNS = ['padded counter, 0000000000000042', 'id, user:42', 'UUID v4, text', 'ObjectId, hexadecimal', 'SHA-256, 32 bytes', 'uint64, big-endian'];
const KEYS = 60_000;
/** The approximate number of entries with values of 100 bytes in a block of 4 KiB. */
const KEYS_PER_FILTER = 36;
const VALUE_BYTES = 100;
const ROUNDS = 15;

const policies = [new BloomFilterPolicy(10), new FittedBloomFilterPolicy(10)] as const;
const folder = mkdtempSync(join(tmpdir(), 'bloom-fitted-'));

/** Nanoseconds of processor time for each key, with LevelDB's filters and with fitted ones. */
async function medians(work: (policy: BloomFilterPolicy) => void | Promise<void>): Promise<readonly [plain: number, fitted: number]> {
  const times: [number[], number[]] = [[], []];
  for (let round = -2; round < ROUNDS; round++) {
    for (const [i, policy] of policies.entries()) {
      const start = process.cpuUsage();
      await work(policy);
      const { user, system } = process.cpuUsage(start);
      // The first rounds compile.
      if (round >= 0) times[i]!.push(((user + system) * 1000) / KEYS);
    }
  }
  return [spread(times[0]).median, spread(times[1]).median];
}

const cell = ([plain, fitted]: readonly [number, number]): string => `${Math.round(plain)} → ${Math.round(fitted)} ns, ${(fitted / plain).toFixed(2)}`;

async function rowOf(name: string): Promise<string[]> {
  const { key } = keyPatterns.find((pattern) => pattern.name === name)!;
  const random = seeded(1);
  const keys = Array.from({ length: KEYS }, (_, i) => key(2 * i)).sort((a, b) => Buffer.compare(a, b));
  const lists = Array.from({ length: KEYS / KEYS_PER_FILTER }, (_, i) => KeyBuffer.from(keys.slice(i * KEYS_PER_FILTER, (i + 1) * KEYS_PER_FILTER)));
  // Half of each value can be compressed.
  const values = keys.map(() => Uint8Array.of(...random.bytes(VALUE_BYTES / 2), ...new Uint8Array(VALUE_BYTES / 2)));
  const filters = await medians((policy) => {
    const sink = new FilterBuffer();
    for (const list of lists) {
      policy.createFilter(list, sink);
      sink.settle();
    }
  });
  const building = (options: TableBuilderOptions): Promise<readonly [number, number]> =>
    medians((filterPolicy) => {
      const builder = new TableBuilder({ append: () => undefined }, { ...options, filterPolicy });
      for (const [i, one] of keys.entries()) builder.add(one, values[i]!);
      builder.finish();
    });
  const written = await medians(async (filterPolicy) => {
    await writeTable(join(folder, 'table.ldb'), keys.map((one, i) => [one, values[i]!] as const), { filterPolicy });
  });
  return [name, cell(filters), cell(written), cell(await building({})), cell(await building({ compression: 'none' }))];
}

const rows: string[][] = [];
for (const name of PATTERNS) rows.push(await rowOf(name));
rmSync(folder, { recursive: true });
process.stdout.write(`${markdownTable(['keys', `filters of ${KEYS_PER_FILTER} keys`, '`writeTable`', '`TableBuilder`', '`TableBuilder`, not compressed'], rows)}\n`);
