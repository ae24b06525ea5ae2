import { BloomFilterPolicy } from '@bloom/policy';
import { type Comparator, MemorySink, TableBuilder } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator, internalKeyPolicy, VALUE } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { bloom, bloomPrints } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();
const VALUE_BYTES = 4000;
/** So many of these values take more than 8 MiB. */
const ENTRIES = 2200;

interface Given {
  readonly comparator?: Comparator;
  readonly filterPolicy?: BloomFilterPolicy | ReturnType<typeof internalKeyPolicy> | null;
}

/** Writes a table of which `get` leaves the filters when it looks up few keys. The value of each key begins with its number. */
function largeTable(name: string, keys: readonly Uint8Array[], given: Given): string {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { compression: 'none', ...given });
  const value = new Uint8Array(VALUE_BYTES).fill(0x2e);
  for (const [i, key] of keys.entries()) {
    value.set(Buffer.from(`${String(i).padStart(5, '0')} `));
    builder.add(key, value);
  }
  builder.finish();
  const bytes = sink.toBytes();
  expect(bytes.length).toBeGreaterThan(8 * 2 ** 20);
  return scratch.write(name, bytes);
}

function numbersOf(printed: string): number[] {
  return printed.split('\n').filter((line) => line !== '').map((line) => Number(line.slice(0, 5)));
}

const numbers = Array.from({ length: ENTRIES }, (_, i) => i);
const text = (i: number): string => `key${String(i).padStart(6, '0')}`;

describe('get in a table of more than 8 MiB', () => {
  const path = largeTable('plain.ldb', numbers.map((i) => Buffer.from(text(i))), { filterPolicy: new BloomFilterPolicy(10) });

  test.each([
    ['few keys', 20],
    ['more keys than are looked up without filters', 100],
  ])('finds %s', async (_, count) => {
    const wanted = Array.from({ length: count }, (_, i) => (i * 7919) % ENTRIES);
    expect(numbersOf(await bloomPrints(['get', path, ...wanted.map(text)], scratch.path))).toEqual(wanted);
    expect(await bloom(['get', path, ...wanted.map((i) => `${text(i)}x`)], scratch.path)).toMatchObject({ code: 1, stdout: Buffer.alloc(0) });
  });

  test('explains the lookup of an absent key by its filter', async () => {
    const { code, stderr } = await bloom(['get', '--explain', path, 'absent'], scratch.path);
    expect(code).toBe(1);
    expect(stderr).toContain('filter');
  });

  test("reads a database's table by its user keys", async () => {
    const keys = numbers.map((i) => encodeInternalKey({ userKey: Buffer.from(text(i)), sequence: BigInt(i + 1), type: VALUE }));
    const internal = largeTable('internal.ldb', keys, { comparator: internalKeyComparator(), filterPolicy: internalKeyPolicy(new BloomFilterPolicy(10)) });
    expect(numbersOf(await bloomPrints(['get', '--internal', internal, text(2100), text(0)], scratch.path))).toEqual([2100, 0]);
    const { code, stdout, stderr } = await bloom(['get', internal, text(2100)], scratch.path);
    expect(code).toBe(0);
    expect(numbersOf(stdout.toString())).toEqual([2100]);
    expect(stderr).toContain("its keys look like internal keys of a database");
  });

  test('reads plain keys that look like internal keys as plain ones, as its filters are of the stored keys', async () => {
    const keys = numbers.map((i) => encodeInternalKey({ userKey: Buffer.from(text(i)), sequence: BigInt(i + 1), type: VALUE }));
    const disguised = largeTable('disguised.ldb', keys, { filterPolicy: new BloomFilterPolicy(10) });
    const { code, stdout, stderr } = await bloom(['get', '--hex', disguised, Buffer.from(keys[2100]!).toString('hex')], scratch.path);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(Buffer.from(stdout.toString(), 'hex').subarray(0, 5).toString()).toBe('02100');
  });

  // The keys of both ends are in bytewise order, but the search for those of the end is misled by those between them.
  test.each([
    ['with filters', new BloomFilterPolicy(10)],
    ['without filters', null],
  ])('finds the keys of an order that is bytewise only at both ends: %s', async (_, filterPolicy) => {
    const rank = new Map(numbers.map((i) => [i < 200 || i >= 2000 ? text(i) : `z${text(i)}`, i]));
    const rankOf = (key: Uint8Array): number => rank.get(Buffer.from(key).toString())!;
    const comparator: Comparator = {
      name: 'test.Ranked',
      compare: (a, b) => rankOf(a) - rankOf(b),
      findShortestSeparator: (start) => start,
      findShortSuccessor: (key) => key,
    };
    const ordered = [...rank.keys()].map((key) => Buffer.from(key));
    const ranked = largeTable(`ranked-${filterPolicy === null}.ldb`, ordered, { comparator, filterPolicy });
    const wanted = [0, 150, 250, 1000, 1900, 2050, 2199];
    expect(numbersOf(await bloomPrints(['get', ranked, ...wanted.map((i) => ordered[i]!.toString())], scratch.path))).toEqual(wanted);
  });
});
