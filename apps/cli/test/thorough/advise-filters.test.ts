import { BloomFilterPolicy } from '@bloom/policy';
import { MemorySink, TableBuilder } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator, internalKeyPolicy, VALUE } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { bloom, bloomPrints, build } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

interface Compared {
  readonly keys: number;
  readonly rate: number;
  readonly floorBits: number;
  readonly policies: readonly {
    readonly policy: string;
    readonly byteLength: number;
    readonly bitsPerKey: number;
    readonly falsePositiveRate: number;
    readonly buildNanoseconds: number;
    readonly probeNanoseconds: number;
    readonly batchNanoseconds?: number;
  }[];
}

const scratch = new Scratch();
const compare = async (...args: string[]): Promise<Compared> => JSON.parse(await bloomPrints(['filter', 'compare', ...args, '--json'], scratch.path)) as Compared;

const NAMES = ['a', 'b'];
const lines = Array.from({ length: 3000 }, (_, i) => `user/${String(i * 7).padStart(6, '0')}\t${NAMES[i % 2]}\n`).join('');

describe('bloom filter compare', () => {
  test('makes a filter of each shipped policy that keeps to the rate, with the bits that it is known for', async () => {
    const { keys, rate, floorBits, policies } = await compare('--keys', '17000');
    expect({ keys, rate, floorBits: floorBits.toFixed(2) }).toEqual({ keys: 17_000, rate: 0.01, floorBits: '6.64' });
    expect(policies.map(({ policy }) => policy)).toEqual(['bloom:10', 'blocked:10', 'ribbon:0.01', 'fuse:8']);
    for (const { byteLength, bitsPerKey, buildNanoseconds, probeNanoseconds } of policies) {
      expect(bitsPerKey).toBeCloseTo((byteLength * 8) / 17_000, 10);
      expect(Math.min(buildNanoseconds, probeNanoseconds)).toBeGreaterThan(0);
    }
    expect(policies.map(({ bitsPerKey }) => bitsPerKey.toFixed(1))).toEqual(['10.0', '10.0', '7.1', '10.1']);
    const shares = policies.map(({ falsePositiveRate }) => falsePositiveRate);
    expect(Math.max(...shares)).toBeLessThan(0.0105);
    expect(shares[3]).toBeGreaterThan(0.003);
    expect(shares[3]).toBeLessThan(0.005);
    expect(policies.map(({ batchNanoseconds }) => batchNanoseconds !== undefined)).toEqual([true, false, true, true]);
  });

  test('chooses more bits for a lower rate', async () => {
    const { floorBits, policies } = await compare('--keys', '1000', '--rate', '0.001');
    expect(floorBits).toBeCloseTo(9.97, 2);
    expect(policies.map(({ policy }) => policy)).toEqual(['bloom:15', 'blocked:15', 'ribbon:0.001', 'fuse:16']);
    expect(Math.max(...policies.map(({ falsePositiveRate }) => falsePositiveRate))).toBeLessThan(0.0016);
  });

  test('compares the policies of --policy if there are some', async () => {
    const { policies } = await compare('--keys', '100', '--policy', 'bloom:16', '--policy', 'ribbon:0.001');
    expect(policies.map(({ policy }) => policy)).toEqual(['bloom:16', 'ribbon:0.001']);
  });

  test('prints a row for each policy, and the floor', async () => {
    const rows = (await bloomPrints(['filter', 'compare', '--keys', '100', '--rate', '0.07'], scratch.path)).trimEnd().split('\n');
    expect(rows[0]!.split(/ {2,}/)).toEqual(['policy', 'bytes', 'bits per key', 'rate', 'build', 'probe', 'batch']);
    expect(rows.slice(1, -1).map((row) => row.split(/ {2,}/)[0])).toEqual(['bloom:6', 'blocked:6', 'ribbon:0.07', 'fuse:8']);
    for (const row of rows.slice(1, -1)) expect(row).toMatch(/^\S+ +\d+ +\d+\.\d\d +\d+\.\d{3}% +\d+ ns +\d+ ns +(\d+ ns|-)$/);
    expect(rows.at(-1)).toBe('No filter of a rate of 7% has fewer than 3.84 bits per key.');
  });

  test("takes the keys of a table, and of a database's table each user key once", async () => {
    await build('table.ldb', [], scratch.path, lines);
    const { keys, policies } = await compare('table.ldb');
    expect(keys).toBe(3000);
    // Half of the absent keys are like these, of which LevelDB's hash lets more pass.
    const [bloomFilter, blocked, ribbon] = policies;
    expect(Math.max(blocked!.falsePositiveRate, ribbon!.falsePositiveRate)).toBeLessThan(0.013);
    expect(bloomFilter!.falsePositiveRate).toBeGreaterThan(0);
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { comparator: internalKeyComparator(), filterPolicy: internalKeyPolicy(new BloomFilterPolicy(10)) });
    for (let i = 0; i < 500; i++) {
      // Each sequence is of one key.
      for (const sequence of [BigInt(1000 + i), BigInt(1 + i)]) builder.add(encodeInternalKey({ userKey: Buffer.from(String(1000 + i)), sequence, type: VALUE }), Buffer.from('v'));
    }
    builder.finish();
    expect((await compare(scratch.write('versions.ldb', sink.toBytes()), '--internal')).keys).toBe(500);
  });

  test('names missing and surplus arguments', async () => {
    const fails = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await bloom(['filter', 'compare', ...args], scratch.path);
      expect(code).not.toBe(0);
      expect(stdout.toString()).toBe('');
      return stderr;
    };
    expect(await fails()).toContain('pass a table, or a number of random keys with --keys');
    await build('small.ldb', [], scratch.path, 'a\t1\n');
    expect(await fails('small.ldb', '--keys', '10')).toContain('pass either a table or --keys, not both');
    expect(await fails('none.ldb')).toContain('none.ldb');
    expect(await fails('--keys', '0')).toContain('--keys');
    expect(await fails('--keys', '10', '--rate', '0.6')).toContain('--rate');
    await build('empty.ldb', [], scratch.path, '');
    expect(await fails('empty.ldb')).toContain('it has no keys');
  });
});
