import { readdirSync } from 'node:fs';
import { goldenTables, realTables } from '@bloom/fixtures';
import { MemorySink, MemorySource, SyncTable, TableBuilder } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { bloom, bloomPrints, build } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();

interface Stat {
  readonly entries: number;
  readonly dataBlocks: number;
  readonly compressionRatio: number | null;
  readonly isBytewise: boolean;
  readonly filter: {
    readonly state: string;
    readonly policies: string[];
    readonly problem: string | null;
    readonly filters: number;
    readonly bitsPerKey: number | null;
    readonly probes: number | null;
    readonly deniedKeys: number | null;
  };
  readonly falsePositives: {
    tried: number;
    passed: number;
    rate: number;
    expectedRate: number;
    neighbours: { tried: number; passed: number; rate: number; exampleHex: string } | null;
  } | null;
  readonly fittedFilters: { tried: number; passed: number; fitted: number; bitsPerKey: number } | null;
}

async function stat(path: string, ...options: string[]): Promise<Stat> {
  return JSON.parse(await bloomPrints(['stat', '--json', path, ...options], scratch.path)) as Stat;
}

describe('stat', () => {
  test('measures approximately the theoretical false positive rate for many keys', async () => {
    const lines = Array.from({ length: 50_000 }, (_, i) => `key${String(i).padStart(6, '0')}\t${i * 7919}`);
    for (const [bits, probes] of [
      [10, 6],
      [16, 11],
    ] as const) {
      await build(`many-${bits}.ldb`, ['--bits-per-key', String(bits)], scratch.path, lines.join('\n'));
      const { entries, filter, falsePositives } = await stat(`many-${bits}.ldb`);
      expect(entries).toBe(50_000);
      expect(filter).toMatchObject({ state: 'used', policies: ['leveldb.BuiltinBloomFilter2'], probes, deniedKeys: 0 });
      expect(filter.bitsPerKey).toBeGreaterThan(bits);
      expect(filter.bitsPerKey).toBeLessThan(bits * 1.1);
      const { tried, passed, rate, expectedRate } = falsePositives!;
      expect(tried).toBe(20_000);
      expect(rate).toBe(passed / tried);
      expect(expectedRate).toBeCloseTo((1 - Math.exp(-probes / bits)) ** probes, 3);
      expect(rate).toBeGreaterThan(expectedRate * 0.7);
      expect(rate).toBeLessThan(expectedRate * 1.6 + 0.001);
    }
  });

  test('measures the neighbours of stored keys: of 100,000 even numbers in one filter, one odd number in nine passes', async () => {
    const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
    const numbered = (number: number): Uint8Array => utf8(`key${String(number).padStart(9, '0')}`);
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { filterRange: 2 ** 40 });
    for (let i = 0; i < 100_000; i++) builder.add(numbered(2 * i), utf8('value'));
    builder.finish();
    scratch.write('even.ldb', sink.toBytes());
    // All odd numbers, where the command takes a sample.
    const table = SyncTable.open(new MemorySource(sink.toBytes()));
    let passed = 0;
    for (let i = 0; i < 99_999; i++) if (table.mayContain(numbered(2 * i + 1))) passed++;
    const rate = passed / 99_999;
    expect(rate).toBeGreaterThan(0.11);

    const { falsePositives } = await stat('even.ldb');
    expect(falsePositives!.rate).toBeLessThan(0.02);
    const { neighbours } = falsePositives!;
    expect(neighbours!.tried).toBeGreaterThan(19_990);
    expect(neighbours!.rate).toBe(neighbours!.passed / neighbours!.tried);
    // Four standard deviations of a sample of 20,000.
    expect(Math.abs(neighbours!.rate - rate)).toBeLessThan(4 * Math.sqrt((rate * (1 - rate)) / 20_000));
    expect(Buffer.from(neighbours!.exampleHex, 'hex').toString()).toMatch(/^key\d{8}[13579]$/);
    expect(await bloomPrints(['stat', 'even.ldb'], scratch.path)).toMatch(
      /^ {2}of neighbours {2}11\.\d\d%: [\d,]+ of (?:20,000|19,999) absent keys next to stored keys passed,\n {17}such as "key\d{8}[13579]"$/m,
    );
  });

  describe('with fitted filters', () => {
    const even = (count: number, from = 0): string => Array.from({ length: count }, (_, i) => `${String(from + 2 * i).padStart(16, '0')}\t${`${(i * 2_654_435_761) % 2 ** 32} `.repeat(12)}\n`).join('');

    test('says how many neighbours fewer would pass, which is what stat says of the refiltered table', async () => {
      for (const [bits, option] of [[10, ''], [14, ' --bits-per-key 14']] as const) {
        await build('even-16.ldb', ['--bits-per-key', String(bits)], scratch.path, even(20_000));
        const { fittedFilters, falsePositives } = await stat('even-16.ldb');
        const { tried, passed, fitted } = fittedFilters!;
        expect({ tried, passed }).toEqual({ tried: falsePositives!.neighbours!.tried, passed: falsePositives!.neighbours!.passed });
        expect(fitted).toBeLessThan(passed / 4);
        const text = await bloomPrints(['stat', 'even-16.ldb'], scratch.path);
        const number = (n: number): string => n.toLocaleString('en-US');
        expect(text.replace(/\n {10,}/g, ' ')).toContain(`fitted filters   would let ${number(fitted)} of ${number(tried)} neighbours pass instead of ${number(passed)}: bloom refilter even-16.ldb -o NEW${option}\n`);
        await bloomPrints(['refilter', 'even-16.ldb', '-o', 'even-fitted.ldb', '-q', '--bits-per-key', String(bits)], scratch.path);
        const refiltered = await stat('even-fitted.ldb');
        expect(refiltered.falsePositives!.neighbours).toMatchObject({ tried, passed: fitted });
        expect(refiltered.fittedFilters).toBeNull();
      }
    });

    test('says nothing for filters of another policy, without filters, and where no neighbour passes', async () => {
      for (const options of [['--policy', 'ribbon'], ['--policy', 'blocked'], ['--no-filter'], ['--bits-per-key', '60']]) {
        await build('other.ldb', options, scratch.path, even(2000));
        expect({ options, fitted: (await stat('other.ldb')).fittedFilters }).toEqual({ options, fitted: null });
        expect(await bloomPrints(['stat', 'other.ldb'], scratch.path)).not.toContain('refilter');
      }
    });

    test('samples the tables of a folder, leaves out damaged ones, and says nothing once it is refiltered', async () => {
      await bloomPrints(['load', 'even', '-', '-q', '--compact', '--compression', 'none'], scratch.path, even(60_000));
      const folder = async (): Promise<{ levels: unknown[][]; fittedFilters: { tables: number; tried: number; passed: number; fitted: number } | null }> => JSON.parse(await bloomPrints(['stat', '--json', 'even'], scratch.path)) as never;
      const { levels, fittedFilters } = await folder();
      const { tables, tried, passed, fitted } = fittedFilters!;
      expect(tables).toBeGreaterThan(0);
      expect(tables).toBeLessThan(levels.flat().length);
      expect(tried).toBeGreaterThan(10_000);
      expect(fitted).toBeLessThan(passed / 4);
      expect((await bloomPrints(['stat', 'even'], scratch.path)).replace(/\n {10,}/g, ' ')).toMatch(
        new RegExp(`^fitted filters +would let [\\d,]+ of [\\d,]+ neighbours, of ${tables} of the tables, pass instead of [\\d,]+: bloom refilter even$`, 'm'),
      );
      await bloomPrints(['copy', 'even', 'damaged-even', '-q'], scratch.path);
      for (const name of readdirSync(scratch.at('damaged-even')).filter((one) => one.endsWith('.ldb'))) {
        const bytes = scratch.read(`damaged-even/${name}`);
        bytes[20_000]! ^= 1;
        scratch.write(`damaged-even/${name}`, bytes);
      }
      expect(JSON.parse(await bloomPrints(['stat', '--json', 'damaged-even'], scratch.path))).toMatchObject({ fittedFilters: null });
      await bloomPrints(['refilter', 'even', '-q'], scratch.path);
      expect((await folder()).fittedFilters).toBeNull();
      expect(await bloomPrints(['stat', 'even'], scratch.path)).not.toContain('refilter');
    });
  });

  test('says so when the keys next to stored keys are stored too', async () => {
    const lines = Array.from({ length: 200 }, (_, i) => `${String(i).padStart(3, '0')}\tvalue`);
    await build('dense.ldb', [], scratch.path, lines.join('\n'));
    expect((await stat('dense.ldb')).falsePositives!.neighbours).toBeNull();
    expect(await bloomPrints(['stat', 'dense.ldb'], scratch.path)).toContain(
      '  of neighbours  not measured: the keys next to stored keys are stored too\n',
    );
  });

  test("measures the neighbours of user keys in a database's table", async () => {
    const table = realTables().find(({ keyKind, filter }) => keyKind === 'internal' && filter !== null)!;
    const { falsePositives } = await stat(table.path, '--internal');
    const { tried, rate, exampleHex } = falsePositives!.neighbours!;
    expect(tried).toBeGreaterThan(0);
    expect(rate).toBeLessThan(1);
    const found = await bloom(['get', '--internal', '--hex', table.path, exampleHex], scratch.path);
    expect(found.stdout.toString()).toBe('');
  });

  test('prints the same text every time, with aligned columns', async () => {
    await build('same.ldb', [], scratch.path, 'France\tParis\nJapan\tTokyo\nPeru\tLima\n');
    const printed = await bloomPrints(['stat', 'same.ldb'], scratch.path);
    expect(await bloomPrints(['stat', 'same.ldb'], scratch.path)).toBe(printed);
    expect(printed.slice(0, printed.search(/^ +2 {2}█/m)).replace(/\d+ of 20,000/, 'N of 20,000').replace(/^(false positives +)\d\.\d\d%/m, '$1R')).toBe(
      [
        'file             same.ldb, 193 bytes',
        'entries          3: 15 bytes of keys, 14 of values',
        'data blocks      1: 46 bytes, stored as 51',
        'compression      0.90 : 1',
        'filter policy    leveldb.BuiltinBloomFilter2, used',
        'filters          1: 18 bytes',
        'bits per key     48.00, 6 probes',
        '                 9 or 10 bits per key were requested; a filter has at least 64',
        '                 bits, and these have 3.0 keys each; the offset of the filter',
        '                 takes 24.00 bits per key',
        'false positives  R: N of 20,000 absent keys passed; independent probes',
        '                 would give 0.02%',
        '  of neighbours  50.00%: 1 of 2 absent keys next to stored keys passed, such as',
        '                 "Japao"',
        '',
        'stored data blocks by size',
        `  32 B to 64 B  ${'█'.repeat(40)} 1`,
        '',
        'false positives by bits per key, in theory, for filters of many keys',
        '',
      ].join('\n'),
    );
  });

  test('reports that a table has no filter or no keys', async () => {
    await build('no-filter.ldb', ['--no-filter'], scratch.path, 'a\t1\n');
    expect(await bloomPrints(['stat', 'no-filter.ldb'], scratch.path)).toContain('absent: the table has no filter\n');
    expect(await stat('no-filter.ldb')).toMatchObject({
      filter: { state: 'absent', policies: [], bitsPerKey: null, probes: null, deniedKeys: null },
      falsePositives: null,
    });
    await build('empty.ldb', [], scratch.path, '');
    expect(await stat('empty.ldb')).toMatchObject({ entries: 0, compressionRatio: null, falsePositives: null });
    expect(await bloomPrints(['stat', 'empty.ldb'], scratch.path)).toContain('not measured: no keys\n');
  });

  test('prints the name of an unknown policy', async () => {
    const foreign = realTables().find(({ file }) => file.includes('296fd38b'))!;
    expect((await stat(foreign.path, '--internal')).filter).toMatchObject({
      state: 'unknown-policy',
      policies: ['rocksdb.BuiltinBloomFilter'],
    });
    expect(await bloomPrints(['stat', '--internal', foreign.path], scratch.path)).toContain(
      'of an unknown policy, not used: rocksdb.BuiltinBloomFilter\n',
    );
  });

  test('reports the problem of a damaged filter, and continues', async () => {
    const golden = goldenTables().find(({ name }) => name === 'words-bits10.ldb')!;
    const bytes = golden.bytes();
    // Changes a byte of the filter block, which ends 8 bytes before the first key of the metaindex.
    const metaindex = Buffer.from(bytes).lastIndexOf('filter.leveldb');
    bytes[metaindex - 30]! ^= 1;
    scratch.write('damaged.ldb', bytes);
    const { entries, filter } = await stat('damaged.ldb');
    expect(entries).toBe(golden.entries);
    expect(filter.state).toBe('corrupt');
    expect(filter.problem).toMatch(/^filter block at offset \d+: checksum mismatch: stored /);
  });

  test("reports that the filters of a database's table do not match its stored keys when it is read with --no-internal", async () => {
    const table = realTables().find(({ keyKind, filter }) => keyKind === 'internal' && filter !== null)!;
    const { filter, falsePositives } = await stat(table.path, '--no-internal');
    expect(filter).toMatchObject({ state: 'contradicted', filters: 0, bitsPerKey: null, probes: null, deniedKeys: null });
    expect(falsePositives).toBeNull();
    const scan = ['scan', '--no-internal', '--hex', '--limit', '1', table.path];
    // Both commands warn that the folder may have newer versions.
    const [key, value] = (await bloom(scan, scratch.path)).stdout.toString().trimEnd().split('\t');
    const { stdout } = await bloom(['get', '--no-internal', '--hex', table.path, key!], scratch.path);
    expect(stdout.toString()).toBe(`${value!}\n`);
  });
});
