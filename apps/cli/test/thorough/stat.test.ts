import { goldenTables, realTables } from '@bloom/fixtures';
import { MemorySink, MemorySource, SyncTable, TableBuilder } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { bloom, bloomPrints, build, Scratch } from '../bloom-process.js';

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
}

async function stat(path: string, ...options: string[]): Promise<Stat> {
  return JSON.parse(await bloomPrints(['stat', '--json', path, ...options], scratch.path)) as Stat;
}

describe.concurrent('stat', () => {
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
        '                 9 or 10 were asked for; a filter has at least 64, and these',
        '                 have 3.0 keys each; 24.00 say where the filter is',
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
    expect(filter.problem).toMatch(/^filter block at offset \d+: its checksum is /);
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
