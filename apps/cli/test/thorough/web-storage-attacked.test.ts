// What an attack on the decoded commands found: values that a page may store, or that someone may have put into a folder.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataPath } from '@bloom/fixtures';
import { hasNamedPipes, makeNamedPipe } from '@bloom/fixtures/named-pipe';
import { Database } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { snappyCodec } from '@bloom/sstable';
import { encodeKey, type IndexedDbKey } from '@bloom/web-storage';
import { beforeAll, describe, expect, test } from 'vitest';
import { bloom } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();
const page = dataPath('web-storage/page.indexeddb.leveldb');
const ENVELOPE = Buffer.from('ff15fe000000000000000000000000ff10', 'hex');
const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);

interface Report {
  readonly folders: { path: string; problem: string | null; dropped?: object[]; files?: { file: string; records: number; unreadable: number; missingBlobs: number; errors: { key?: unknown; code: string }[] }[] }[];
}

const reportOf = (folder: string): Report => JSON.parse(readFileSync(scratch.at(`${folder}/report.json`), 'utf8')) as Report;

/** A folder of IndexedDB with records in store 1 of database 1. */
async function indexedDb(name: string, records: readonly (readonly [key: IndexedDbKey, value: Uint8Array])[]): Promise<string> {
  const folder = `${name}.indexeddb.leveldb`;
  const database = await Database.open(new WritableNodeFolder(scratch.at(folder)), { comparator: idbComparator, filterPolicy: idbFilterPolicy });
  for (const [key, value] of records) await database.put(Uint8Array.from([0, 1, 1, 1, ...encodeKey(key)]), Buffer.concat([Uint8Array.of(1), value]));
  await database.close();
  return folder;
}

/** The fixture, with its blobs. */
function copied(name: string): { folder: string; blob: string } {
  const folder = `${name}/https_a.example_0.indexeddb.leveldb`;
  const blobs = folder.replace('.leveldb', '.blob');
  cpSync(page, scratch.at(folder), { recursive: true });
  cpSync(page.replace('.leveldb', '.blob'), scratch.at(blobs), { recursive: true });
  return { folder, blob: scratch.at(join(blobs, '1/00/2')) };
}

describe('a value whose JSON is longer than the longest string', () => {
  const ONE = Buffer.concat([ENVELOPE, Buffer.from('4902', 'hex')]);

  /** A string of 90 million characters, each of which has six in JSON. It takes 4 MB in the folder. */
  function long(): Uint8Array {
    const length = 90_000_000;
    const varint = [0x80 | (length & 0x7f), 0x80 | ((length >> 7) & 0x7f), 0x80 | ((length >> 14) & 0x7f), length >> 21];
    return Buffer.concat([Buffer.from('ff1102', 'hex'), snappyCodec.compress!(Buffer.concat([ENVELOPE, Buffer.from([0x22, ...varint]), Buffer.alloc(length, 1)]))]);
  }

  test('is an error of its record in scan and export, and hides no other record', async () => {
    const folder = await indexedDb('long', [[1, ONE], [2, long()], [3, ONE]]);
    const error = { code: 'BLOOM_TOO_LARGE', message: expect.stringContaining('longer than the longest string') as string };
    const { code, stdout } = await bloom(['scan', '--decode', '-f', 'jsonl', folder], scratch.path);
    expect(linesOf(stdout.toString()).map((line) => JSON.parse(line) as object)).toEqual([
      { database: 1, store: 1, key: 1, value: 1 },
      { database: 1, store: 1, key: 2, error },
      { database: 1, store: 1, key: 3, value: 1 },
    ]);
    expect(code).toBe(1);
    expect(await bloom(['export', folder, '-o', 'long-export', '-q'], scratch.path)).toMatchObject({ code: 1 });
    expect(reportOf('long-export').folders[0]).toMatchObject({ problem: null, files: [{ records: 3, unreadable: 1, errors: [{ key: 2, code: 'BLOOM_TOO_LARGE' }] }] });
  });
});

describe('the report of an export', () => {
  test('has no keys that are longer than a line, such as a hundred with 1,900 arrays within each other', async () => {
    const nested = (n: number): IndexedDbKey => {
      let key: IndexedDbKey = n;
      for (let i = 0; i < 1900; i++) key = [key];
      return key;
    };
    const folder = await indexedDb('nested', Array.from({ length: 100 }, (_, i) => [nested(i), Uint8Array.of(0)] as const));
    expect(await bloom(['export', folder, '-o', 'nested-export', '-q'], scratch.path)).toMatchObject({ code: 1 });
    expect(readFileSync(scratch.at('nested-export/report.json')).length).toBeLessThan(100_000);
    const [file] = reportOf('nested-export').folders[0]!.files!;
    expect(file).toMatchObject({ records: 100, unreadable: 100 });
    expect(file!.errors).toHaveLength(100);
  });
});

/** Deletes the file of a path before something else is made there. */
function inPlace(make: (path: string) => void): (path: string) => void {
  return (path) => {
    rmSync(path);
    make(path);
  };
}

describe('a blob whose file', () => {
  if (!hasNamedPipes) test.skip('is a pipe: there is no mkfifo', () => {});

  test.each<[string, (path: string) => void]>([
    ['is shorter than the record says', (path: string): void => truncateSync(path, 1)],
    ['is longer than 2 GiB', (path: string): void => truncateSync(path, 2 ** 31 + 1)],
    ['is a link to itself', (path: string): void => { execFileSync('ln', ['-sf', '2', path]); }],
    ...(hasNamedPipes ? [['is a pipe', inPlace(makeNamedPipe)] satisfies [string, unknown]] : []),
  ])('%s is missing from an export, and hides no record', async (name, damage) => {
    const { folder, blob } = copied(name.replaceAll(' ', '-'));
    damage(blob);
    const output = `${name.replaceAll(' ', '-')}-export`;
    expect(await bloom(['export', folder, '-o', output, '-q'], scratch.path)).toMatchObject({ code: 1 });
    const { problem, files } = reportOf(output).folders[0]!;
    expect(problem).toBeNull();
    expect(files!.reduce((sum, { missingBlobs }) => sum + missingBlobs, 0)).toBe(1);
    expect(files!.reduce((sum, { records }) => sum + records, 0)).toBeGreaterThan(50);
  }, 20_000);
});

describe.each(['CURRENT', 'MANIFEST-000001'])('a folder of Local Storage that has lost its %s', (lost) => {
  const profile = `without-${lost}`;
  beforeAll(() => {
    cpSync(dataPath('web-storage/local-storage'), scratch.at(`${profile}/Local Storage/leveldb`), { recursive: true });
    cpSync(dataPath('web-storage/session-storage'), scratch.at(`${profile}/Session Storage`), { recursive: true });
    rmSync(scratch.at(`${profile}/Local Storage/leveldb/${lost}`));
  });

  test('is listed by ls and named in the report of export, which both exit with 1', async () => {
    const { code, stdout } = await bloom(['ls', '--json', profile], scratch.path);
    const [folder] = linesOf(stdout.toString()).map((line) => JSON.parse(line) as object);
    expect([code, folder]).toEqual([1, expect.objectContaining({ storage: 'local-storage', entries: null, problem: expect.stringContaining(lost) as string })]);
    expect(await bloom(['export', profile, '-o', `${profile}-export`, '-q'], scratch.path)).toMatchObject({ code: 1 });
    expect(reportOf(`${profile}-export`).folders.map(({ problem }) => problem)).toEqual([expect.stringContaining(lost), null]);
  });

  test('is exported with --all-versions', async () => {
    await bloom(['export', '--all-versions', profile, '-o', `${profile}-versions`, '-q'], scratch.path);
    const folder = reportOf(`${profile}-versions`).folders.find(({ path }) => path === 'Local Storage/leveldb');
    expect(folder!.problem).toBeNull();
    expect(folder!.files!.reduce((sum, { records }) => sum + records, 0)).toBeGreaterThan(40);
  });
});

describe('a folder with a damaged block', () => {
  const RECORDS = 1000;
  let folder: string;
  beforeAll(async () => {
    folder = await indexedDb('damaged', Array.from({ length: RECORDS }, (_, i) => [i, Buffer.concat([ENVELOPE, Buffer.from('2264', 'hex'), randomBytes(100)])] as const));
    const path = scratch.at(folder);
    const database = await Database.open(new WritableNodeFolder(path), { comparator: idbComparator, filterPolicy: idbFilterPolicy });
    await database.compactRange();
    await database.close();
    const table = join(path, readdirSync(path).find((name) => name.endsWith('.ldb'))!);
    const bytes = readFileSync(table);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(table, bytes);
  });

  test('is exported up to the block, as the report says, or around it', async () => {
    const exported = async (output: string, ...options: string[]) => {
      expect(await bloom(['export', folder, '-o', output, '-q', ...options], scratch.path)).toMatchObject({ code: 1 });
      const [{ problem, files, dropped }] = reportOf(output).folders as [Report['folders'][number]];
      const lines = files!.flatMap(({ file }) => linesOf(readFileSync(scratch.at(`${output}/${file}`), 'utf8')));
      expect(lines).toHaveLength(files!.reduce((sum, { records }) => sum + records, 0));
      return { problem, records: lines.length, dropped };
    };
    const strict = await exported('damaged-export');
    expect(strict.problem).toContain('checksum');
    expect(strict.records).toBeGreaterThan(RECORDS / 4);
    expect(strict.records).toBeLessThan(RECORDS * 3 / 4);
    const skipped = await exported('damaged-skip', '--damage', 'skip');
    expect(skipped).toMatchObject({ problem: null, dropped: [{ file: expect.stringMatching(/\.ldb$/u) as string, code: 'BLOOM_BAD_CHECKSUM' }] });
    expect(skipped.records).toBeGreaterThan(RECORDS * 0.9);
    expect(skipped.records).toBeLessThan(RECORDS);
  });
});
