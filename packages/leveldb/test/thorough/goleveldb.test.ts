// goleveldb itself writes filters and databases, which are compared and read. Needs Go, and the module of goleveldb.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseReader } from '@bloom/leveldb';
import { NodeFolder } from '@bloom/leveldb/node';
import { seeded } from '@bloom/fixtures';
import { BloomFilterPolicy, buildFilter, type FilterPolicy, GoleveldbBloomFilterPolicy } from '@bloom/policy';
import { afterAll, describe, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'bloom-goleveldb-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = join(folder, 'goleveldb');
const build = spawnSync('go', ['build', '-o', program, '.'], { cwd: join(import.meta.dirname, 'goleveldb'), encoding: 'utf8' });
if (build.status !== 0) test.skip(`goleveldb cannot be built (${(build.error?.message ?? build.stderr).split('\n').at(-2) ?? 'no Go'}), so its filters are not compared`, () => {});

function run(args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`goleveldb ${args.join(' ')}: ${stderr}`);
  return stdout;
}

const ENTRIES = 20_000;
const text = (i: number): Uint8Array => new TextEncoder().encode(`key ${String(2 * i).padStart(9, '0')}`);

/** As in main.go. */
function keyAt(i: number): Uint8Array {
  if (i % 2 === 0) return text(i);
  const key = Uint8Array.of(0xff, 0xfe, 0xfd, 0, 0, 0, 0);
  new DataView(key.buffer).setUint32(3, Math.imul(i, 2654435761));
  return key;
}

describe.runIf(build.status === 0)('goleveldb', () => {
  test('makes the same filters of 600 sets of keys, byte for byte (seed 3)', () => {
    const random = seeded(3);
    const sets = Array.from({ length: 600 }, (_, i) => ({
      bitsPerKey: [10, 1, 5, 14, 30, 44, 100][i % 7]!,
      keys: Array.from({ length: [0, 1, 2, 7, 100, 1500][i % 6]! }, () => random.bytes(random.below(i % 5 === 0 ? 5 : 40))),
    }));
    const input = sets.map(({ bitsPerKey, keys }) => `${[bitsPerKey, ...keys.map((key) => Buffer.from(key).toString('hex'))].join(' ')}\n`).join('');
    const filters = run(['filters'], input).trim().split('\n');
    const ours = sets.map(({ bitsPerKey, keys }) => Buffer.from(buildFilter(new GoleveldbBloomFilterPolicy(bitsPerKey), keys)).toString('hex'));
    expect(filters).toHaveLength(600);
    expect(filters).toEqual(ours);
  });

  // goleveldb has a filter for every 2 KiB by default. Its option changes that, and the block of filters says so.
  test.each([11, 9, 16])('writes filters for every 2^%i bytes, which deny no stored key and save the reads of absent ones', async (base) => {
    const path = join(folder, `database-${base}`);
    run(['database', path, String(base)]);
    const open = (filterPolicies: FilterPolicy[]): Promise<DatabaseReader> => DatabaseReader.open(new NodeFolder(path), { cache: null, filterPolicies });

    const without = await open([new BloomFilterPolicy()]);
    expect(without.filterStatus).toEqual({ state: 'unknown-policy', policyNames: ['leveldb.BuiltinBloomFilter'] });
    const reader = await open([new BloomFilterPolicy(), new GoleveldbBloomFilterPolicy()]);
    expect(reader.filterStatus).toEqual({ state: 'used', policyName: 'leveldb.BuiltinBloomFilter' });

    // Odd numbers, which lie between the stored keys.
    const absent = Array.from({ length: ENTRIES }, (_, i) => new TextEncoder().encode(`key ${String(2 * i + 1).padStart(9, '0')}`));
    let found = 0;
    for (const key of absent) for (const one of [reader, without]) if ((await one.get(key)) !== undefined) found++;
    expect(found).toBe(0);
    const [before, after] = [without.stats.blockReads, reader.stats.blockReads];
    expect(before).toBeGreaterThan(ENTRIES * 0.9);
    expect(after).toBeLessThan(before / 50);
    const denied: number[] = [];
    for (let i = 0; i < ENTRIES; i++) if ((await reader.get(keyAt(i)))?.length !== 100) denied.push(i);
    expect(denied).toEqual([]);
    await reader.close();
    await without.close();
  });
});
