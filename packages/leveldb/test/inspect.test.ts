import { folderFiles, goldenDatabases, realDatabases } from '@bloom/fixtures';
import { Database, decodeVersionEdit, encodeVersionEdit, MemoryFolder, WritableMemoryFolder, WriteBatchReader } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { verifyDatabase, versionEditLayout, writeBatchLayout } from '@bloom/leveldb/inspect';
import { logLayout, readLog } from '@bloom/log';
import { BloomFilterPolicy } from '@bloom/policy';
import { encodeInternalKey } from '@bloom/sstable/database';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { assembleDatabase, logOf } from './assemble-database.js';
import { expectWhole } from './expect-whole.js';
import { reverseComparator } from './reverse-comparator.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const options = {
  comparators: [reverseComparator, idbComparator],
  filterPolicies: [new BloomFilterPolicy(), idbFilterPolicy],
  codecs: [{ type: 4, name: 'raw deflate', decompress: (bytes: Uint8Array) => new Uint8Array(inflateRawSync(bytes)) }],
};
const golden = goldenDatabases();

/** The files of a database that was closed after `write`. */
async function filesOf(write: (database: Database) => Promise<void>): Promise<Map<string, Uint8Array>> {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder);
  await write(database);
  await database.close();
  return folder.files();
}

describe('verifyDatabase', () => {
  test.each(golden.filter(({ damage }) => damage === undefined))('finds nothing wrong with $name', async ({ path, comparator, levels, logs }) => {
    const found = await verifyDatabase(new MemoryFolder(folderFiles(path)), options);
    expect(found.findings).toEqual([]);
    expect(found.comparator).toBe(comparator ?? 'leveldb.BytewiseComparator');
    expect(found.tables).toHaveLength(levels!.reduce((sum, count) => sum + count, 0));
    expect(found.logs).toHaveLength(logs!.length);
  });

  // Both are from Git repositories. One ignores *.log; in the other, CURRENT is older than the MANIFEST that is in use.
  const missingLogs: Readonly<Record<string, string>> = { 'js-ipfs-repo/datastore': '000006.log', 'bedrock-provider/mctestdb': '000046.log' };

  test.each(realDatabases().filter(({ open, entries = 0 }) => open === 'OK' && entries < 1000))('finds nothing wrong with $name, and names the log that it lacks', async ({ name, path }) => {
    const { findings, missingLog } = await verifyDatabase(new MemoryFolder(folderFiles(path)), options);
    expect(findings).toEqual([]);
    expect(missingLog).toBe(missingLogs[name]);
  });

  test('names a log that the MANIFEST names and the folder lacks', async () => {
    const files = await filesOf(async (database) => {
      await database.put(utf8('key'), utf8('value'));
    });
    const log = [...files.keys()].find((name) => name.endsWith('.log'))!;
    expect(await verifyDatabase(new MemoryFolder(files))).toMatchObject({ findings: [], missingLog: undefined });
    files.delete(log);
    expect(await verifyDatabase(new MemoryFolder(files))).toMatchObject({ findings: [], missingLog: log });
  });

  test('names the log that a MANIFEST without its last record names, if it is gone', async () => {
    const files = await filesOf(async (database) => {
      await database.put(utf8('key'), utf8('value'));
      await database.flush();
      await database.put(utf8('key'), utf8('newer'));
      await database.flush();
    });
    const [manifest, bytes] = [...files].find(([name]) => name.startsWith('MANIFEST'))!;
    files.set(manifest, bytes.subarray(0, bytes.length - 1));
    const { findings, missingLog } = await verifyDatabase(new MemoryFolder(files));
    expect(findings).toEqual([]);
    expect(missingLog).toMatch(/^0000\d\d\.log$/);
  });

  test('misses no log of a MANIFEST that names none: of a new, a repaired or a published database', async () => {
    const files = await filesOf(() => Promise.resolve());
    for (const name of files.keys()) if (name.endsWith('.log')) files.delete(name);
    const manifest = [...files.keys()].find((name) => name.startsWith('MANIFEST'))!;
    const own = BigInt(manifest.slice('MANIFEST-'.length));
    for (const logNumber of [0n, own, 2n ** 62n]) {
      const edit = { comparator: 'leveldb.BytewiseComparator', logNumber, nextFileNumber: logNumber + 1n, lastSequence: 1n };
      files.set(manifest, logOf([encodeVersionEdit(edit)]));
      expect(await verifyDatabase(new MemoryFolder(files))).toMatchObject({ findings: [], missingLog: undefined });
    }
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
      ['000005.ldb', 'BLOOM_BAD_VERSION', 'its first key is not the one that the MANIFEST lists'],
      ['000007.ldb', 'BLOOM_TRUNCATED', expect.stringContaining('the MANIFEST says')],
    ]);
    const first2 = await verifyDatabase(new MemoryFolder(files), { maxFindings: 2 });
    expect([first2.findings, first2.moreFindings]).toEqual([findings.slice(0, 2), 2]);
  });

  test('reports logs and tables that are listed and cannot be opened, such as folders, also without a MANIFEST', async () => {
    const files = assembleDatabase({ tables: [{ level: 1, number: 5, versions: [{ key: utf8('a'), sequence: 1, value: utf8('1') }] }], logs: [{ number: 9, batches: [] }] });
    const unreadable = ['000005.ldb', '000009.log'];
    class Lacking extends MemoryFolder {
      override open(name: string): ReturnType<MemoryFolder['open']> {
        return unreadable.includes(name) ? undefined : super.open(name);
      }
    }
    const log = ['000009.log', 'BLOOM_MISSING_FILE', 'it is listed but cannot be opened'];
    const found = async (): Promise<string[][]> => (await verifyDatabase(new Lacking(files))).findings.map(({ file, code, problem }) => [file, code, problem]);
    expect(await found()).toEqual([['000005.ldb', 'BLOOM_MISSING_FILE', 'the MANIFEST lists it, but it is missing'], log]);
    files.delete('CURRENT');
    expect((await found()).slice(1)).toEqual([['000005.ldb', 'BLOOM_MISSING_FILE', 'it is listed but cannot be opened'], log]);
  });

  test('reports that it cannot check the order without the comparator, except with comparators: null', async () => {
    const { path } = golden.find((row) => row.name === 'reverse')!;
    const folder = new MemoryFolder(folderFiles(path));
    expect((await verifyDatabase(folder)).findings).toMatchObject([{ code: 'BLOOM_UNKNOWN_COMPARATOR' }]);
    expect((await verifyDatabase(folder, { comparators: null })).findings).toEqual([]);
  });
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
