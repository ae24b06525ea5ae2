import { fromHex, folderFiles, goldenDatabases, realDatabases } from '@bloom/fixtures';
import { decodeVersionEdit, encodeVersionEdit, MemoryFolder, WriteBatch, WriteBatchReader } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { verifyDatabase, versionEditLayout, writeBatchLayout } from '@bloom/leveldb/inspect';
import { logLayout, readLog } from '@bloom/log';
import { BloomFilterPolicy } from '@bloom/policy';
import { encodeInternalKey } from '@bloom/sstable/database';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { assembleDatabase, logOf } from './assemble-database.js';
import { caught } from './caught.js';
import { reverseComparator } from './reverse-comparator.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const options = {
  comparators: [reverseComparator, idbComparator],
  filterPolicies: [new BloomFilterPolicy(), idbFilterPolicy],
  codecs: [{ type: 4, name: 'raw deflate', decompress: (bytes: Uint8Array) => new Uint8Array(inflateRawSync(bytes)) }],
};
const golden = goldenDatabases();

/** Expects that the ranges cover the whole without gaps or overlaps. */
function expectWhole(ranges: readonly { offset: number; byteLength: number }[], byteLength: number): void {
  let position = 0;
  for (const range of ranges) {
    expect(range.offset).toBe(position);
    expect(range.byteLength).toBeGreaterThan(0);
    position += range.byteLength;
  }
  expect(position).toBe(byteLength);
}

describe('verifyDatabase', () => {
  test.each(golden.filter(({ damage }) => damage === undefined))('finds nothing wrong with $name', async ({ path, comparator, levels, logs }) => {
    const found = await verifyDatabase(new MemoryFolder(folderFiles(path)), options);
    expect(found.findings).toEqual([]);
    expect(found.comparator).toBe(comparator ?? 'leveldb.BytewiseComparator');
    expect(found.tables).toHaveLength(levels!.reduce((sum, count) => sum + count, 0));
    expect(found.logs).toHaveLength(logs!.length);
  });

  test.each(realDatabases().filter(({ open, entries = 0 }) => open === 'OK' && entries < 1000))('finds nothing wrong with $name', async ({ path }) => {
    expect((await verifyDatabase(new MemoryFolder(folderFiles(path)), options)).findings).toEqual([]);
  });

  test.each([
    ['log-damaged', '000003.log', 'BLOOM_BAD_LOG'],
    ['log-bad-batch', '000003.log', 'BLOOM_BAD_WRITE_BATCH'],
    ['current-no-newline', 'CURRENT', 'BLOOM_BAD_CURRENT'],
    ['missing-table', '000007.ldb', 'BLOOM_MISSING_FILE'],
  ])('names the damaged file of %s', async (name, file, code) => {
    const { path } = golden.find((row) => row.name === name)!;
    const { findings } = await verifyDatabase(new MemoryFolder(folderFiles(path)), options);
    expect(findings.length).toBeGreaterThan(0);
    for (const finding of findings) expect(finding).toMatchObject({ file, code });
  });

  test('finds the damaged block of a table, and continues with the other blocks and tables', async () => {
    const { path, tables } = golden.find((row) => row.name === 'table-damaged')!;
    const found = await verifyDatabase(new MemoryFolder(folderFiles(path)), options);
    expect(found.tables).toHaveLength(tables!.length);
    expect(found.findings).toMatchObject([{ file: found.tables[0], code: 'BLOOM_BAD_CHECKSUM', structure: 'data block' }]);
  });

  test('finds every overlap, every bound that differs from the keys, and every table that is too short', async () => {
    const versions = (keys: string): { key: Uint8Array; sequence: number; value: Uint8Array }[] =>
      keys.split(' ').map((key, i) => ({ key: utf8(key), sequence: i + 1, value: utf8('1') }));
    const files = assembleDatabase({
      tables: [
        { level: 1, number: 5, versions: versions('a c e') },
        { level: 1, number: 6, versions: versions('b d') },
        { level: 1, number: 7, versions: versions('c f') },
      ],
    });
    const record = readLog(files.get('MANIFEST-000001')!).records.at(-1)!.bytes;
    const edit = decodeVersionEdit(record, { structure: 'version edit', offset: 0 });
    const [first, second, third] = edit.newFiles!;
    const smallest = encodeInternalKey({ userKey: utf8('0'), sequence: 1n, type: 1 });
    const newFiles = [{ level: 1, file: { ...first!.file, smallest } }, second!, { level: 1, file: { ...third!.file, size: third!.file.size + 1 } }];
    files.set('MANIFEST-000001', logOf([encodeVersionEdit({ ...edit, newFiles })]));
    const { findings } = await verifyDatabase(new MemoryFolder(files));
    expect(findings.map(({ file, code, problem }) => [file, code, problem])).toEqual([
      ['MANIFEST-000001', 'BLOOM_BAD_VERSION', 'tables 5 and 6 overlap at level 1'],
      ['MANIFEST-000001', 'BLOOM_BAD_VERSION', 'tables 6 and 7 overlap at level 1'],
      ['000005.ldb', 'BLOOM_BAD_VERSION', 'its first key is not the one that the MANIFEST says'],
      ['000007.ldb', 'BLOOM_TRUNCATED', expect.stringContaining('the MANIFEST says')],
    ]);
    const first2 = await verifyDatabase(new MemoryFolder(files), { maxFindings: 2 });
    expect([first2.findings, first2.moreFindings]).toEqual([findings.slice(0, 2), 2]);
  });

  test('reports that it cannot check the order without the comparator, except with anyOrder', async () => {
    const { path } = golden.find((row) => row.name === 'reverse')!;
    const folder = new MemoryFolder(folderFiles(path));
    expect((await verifyDatabase(folder)).findings).toMatchObject([{ code: 'BLOOM_UNKNOWN_COMPARATOR' }]);
    expect((await verifyDatabase(folder, { anyOrder: true })).findings).toEqual([]);
  });
});

describe('layouts of records', () => {
  test('a batch has a label for every field, and the sequence of each operation', () => {
    const record = new WriteBatch().put(utf8('foo'), utf8('bar')).delete(utf8('box')).encode(7n).slice();
    const ranges = writeBatchLayout(record);
    expectWhole(ranges, record.length);
    expect(ranges.map(({ byteLength, label, value }) => [byteLength, label, value])).toEqual([
      [8, 'sequence', '7'],
      [4, 'count', '2'],
      [1, 'operation 0: type', 'put with sequence 7'],
      [1, 'operation 0: key length', '3'],
      [3, 'operation 0: key', undefined],
      [1, 'operation 0: value length', '3'],
      [3, 'operation 0: value', undefined],
      [1, 'operation 1: type', 'deletion with sequence 8'],
      [1, 'operation 1: key length', '3'],
      [3, 'operation 1: key', undefined],
    ]);
  });

  test('a field that continues in the next fragment has two ranges', () => {
    const log = logOf([new WriteBatch().put(utf8('key'), new Uint8Array(40_000)).encode(1n).slice()]);
    const ranges = logLayout(log, writeBatchLayout);
    expectWhole(ranges, log.length);
    expect(ranges.filter(({ label }) => label.includes('operation 0: value') && !label.includes('length'))).toMatchObject([
      { byteLength: 32_768 - 7 - 12 - 1 - 1 - 3 - 3, label: 'record 0: operation 0: value' },
      { label: 'record 0: operation 0: value (continued)' },
    ]);
  });

  test.each([
    ['0000', 'log record too small'],
    ['010000000000000001000000' + '07', 'unknown WriteBatch tag'],
    ['010000000000000001000000' + '0105', 'bad WriteBatch Put'],
    ['010000000000000001000000' + '0005', 'bad WriteBatch Delete'],
  ])('the damaged batch %s is labelled with its problem: %s', (hex, problem) => {
    const record = fromHex(hex);
    const ranges = writeBatchLayout(record);
    expectWhole(ranges, record.length);
    expect(ranges.at(-1)!.label).toBe(problem);
  });

  test('a batch with a wrong count has a note at its count', () => {
    const record = fromHex('010000000000000002000000' + '000161');
    expect(writeBatchLayout(record)[1]).toMatchObject({ label: 'count', value: '2: WriteBatch has wrong count, there are 1' });
  });

  test('a version edit has a label for every field, and a truncated one has LevelDB’s message for the damage', () => {
    const file = { number: 5n, size: 300, smallest: encodeInternalKey({ userKey: utf8('a'), sequence: 3n, type: 1 }), largest: utf8('short') };
    const record = encodeVersionEdit({ comparator: 'foo', logNumber: 2n ** 60n, newFiles: [{ level: 3, file }] });
    const ranges = versionEditLayout(record);
    expectWhole(ranges, record.length);
    expect(ranges.map(({ label, value }) => [label, value])).toEqual([
      ['comparator: tag', undefined],
      ['comparator: name length', '3'],
      ['comparator: name', 'foo'],
      ['log number: tag', undefined],
      ['log number: number', String(2n ** 60n)],
      ['new file: tag', undefined],
      ['new file: level', '3'],
      ['new file: number', '5'],
      ['new file: size', '300'],
      ['new file: smallest key length', '9'],
      ['new file: smallest key', 'sequence 3, type 1'],
      ['new file: largest key length', '5'],
      ['new file: largest key', 'too short for an internal key'],
    ]);
    for (let length = 0; length < record.length; length++) {
      const cut = record.subarray(0, length);
      const cutRanges = versionEditLayout(cut);
      expectWhole(cutRanges, length);
      const error = caught(() => decodeVersionEdit(cut, { structure: 'version edit', offset: 0 }));
      expect(cutRanges.find(({ label }) => label === 'damaged')?.value).toBe((error as { problem?: string } | undefined)?.problem);
    }
  });

  test('every golden log and MANIFEST has each byte in exactly one range, and a label for each record', () => {
    for (const { path } of golden) {
      for (const [name, bytes] of folderFiles(path)) {
        const isLog = name.endsWith('.log');
        if (!isLog && !name.startsWith('MANIFEST')) continue;
        const ranges = logLayout(bytes, isLog ? writeBatchLayout : versionEditLayout);
        expectWhole(ranges, bytes.length);
        const { records } = readLog(bytes);
        const labelled = new Set(ranges.flatMap(({ label }) => /^record (\d+):/.exec(label)?.[1] ?? []));
        expect(labelled.size).toBe(records.length);
        if (isLog) {
          const operations = records.map(({ bytes: record }) => {
            const reader = new WriteBatchReader(record);
            while (reader.next());
            return reader.found;
          });
          const types = ranges.filter(({ label }) => /operation \d+: type$/.test(label));
          expect(types).toHaveLength(operations.reduce((sum, count) => sum + count, 0));
        }
      }
    }
  });
});
