import fs, { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { dataPath, realDatabases } from '@bloom/fixtures';
import { Database } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { encodeKey, IndexedDbReader, LocalStorageReader, SessionStorageReader, jsonText, taggedJson } from '@bloom/web-storage';
import { NodeBlobFolder } from '@bloom/web-storage/node';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { DistinctNames, safeName } from '../src/web-storage/safe-name.js';
import { bloom, bloomPrints } from './bloom.js';
import { Scratch } from './bloom-process.js';

const scratch = new Scratch();
const stored = dataPath('web-storage');
const page = join(stored, 'page.indexeddb.leveldb');
const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);

async function collected<T>(walk: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of walk) all.push(item);
  return all;
}

/** The lines that `scan --decode -f jsonl` prints of IndexedDB, by the library. */
async function recordLines(isPlaced: boolean): Promise<string[]> {
  const reader = await IndexedDbReader.open(new NodeFolder(page), { blobs: NodeBlobFolder.beside(page) });
  const lines: string[] = [];
  for (const database of await reader.databases()) {
    for (const store of database.stores) {
      const place = isPlaced ? `"database":${JSON.stringify(database.name)},"store":${JSON.stringify(store.name)},` : '';
      for (const { key, value } of await collected(reader.records(database, store))) lines.push(`{${place}"key":${jsonText(taggedJson(key))},"value":${jsonText(taggedJson(value))}}`);
    }
  }
  await reader.close();
  return lines;
}

describe('--decode', () => {
  test('prints the records of IndexedDB as the library reads them', async () => {
    const printed = linesOf(await bloomPrints(['scan', '--decode', '-f', 'jsonl', page], scratch.path));
    expect(printed).toEqual(await recordLines(true));
    expect(printed.length).toBeGreaterThan(50);
  });

  test('prints the items of Local Storage and Session Storage with their origins', async () => {
    const local = join(stored, 'local-storage');
    const session = join(stored, 'session-storage');
    const localReader = await LocalStorageReader.open(new NodeFolder(local));
    const items = (await collected(localReader.items())).map(({ storageKey, key, value }) => jsonText({ origin: storageKey!, key: taggedJson(key), value: taggedJson(value) }));
    await localReader.close();
    expect(linesOf(await bloomPrints(['scan', '--decode', '-f', 'jsonl', local], scratch.path))).toEqual(items);
    const sessionReader = await SessionStorageReader.open(new NodeFolder(session));
    const { storageKey } = (await sessionReader.namespaces())[0]!;
    const sessionItems = (await collected(sessionReader.items())).map(({ map, key, value }) => jsonText({ origin: storageKey, map: Number(map), key: taggedJson(key), value: taggedJson(value) }));
    await sessionReader.close();
    expect(linesOf(await bloomPrints(['scan', '--decode', '-f', 'jsonl', session], scratch.path))).toEqual(sessionItems);
  });

  test('prints place, key and value as tsv, where texts are not quoted', async () => {
    const folder = await levelOf('tsv', [['_https://a.example\0\x01theme', '\x01dark\tblue']]);
    expect(await bloomPrints(['scan', '--decode', folder], scratch.path)).toBe('https://a.example\ttheme\tdark\\tblue\n');
    expect(await bloomPrints(['scan', '--decode', '--keys-only', folder], scratch.path)).toBe('theme\n');
    expect(await bloomPrints(['scan', '--decode', '--values-only', folder], scratch.path)).toBe('dark\\tblue\n');
  });

  test('finds decoded keys in get and find, and says which are missing', async () => {
    const folder = await levelOf('find', [['_https://a.example\0\x01theme', '\x01dark'], ['_https://b.example\0\x01theme', '\x01light']]);
    expect(await bloomPrints(['get', '--decode', folder, 'theme'], scratch.path)).toBe('dark\nlight\n');
    expect(await bloomPrints(['get', '--decode', '-f', 'jsonl', folder, 'theme'], scratch.path)).toContain('{"origin":"https://b.example","key":"theme","value":"light"}\n');
    expect(await bloom(['get', '--decode', folder, 'theme', 'color'], scratch.path)).toMatchObject({ code: 1, stderr: 'bloom: color: not found\n' });
    expect(linesOf(await bloomPrints(['find', '--decode', 'theme', folder], scratch.path)).map((line) => line.split('\t').filter((_, i) => i !== 1 && i !== 3))).toEqual([
      ['https://a.example', 'value', 'theme', 'dark'],
      ['https://b.example', 'value', 'theme', 'light'],
    ]);
  });

  test('answers get in the order of the keys, each from the first input that has it', async () => {
    const [older, newer] = [await levelOf('older', [['_https://a.example\0\x01a', '\x011'], ['_https://a.example\0\x01b', '\x012']]), await levelOf('newer', [['_https://a.example\0\x01a', '\x013']])];
    expect(await bloomPrints(['get', '--decode', older, 'b', 'a', 'b'], scratch.path)).toBe('2\n1\n2\n');
    expect(await bloomPrints(['get', '--decode', newer, older, '--', 'b', 'a'], scratch.path)).toBe('2\n3\n');
    expect(await bloomPrints(['get', '--decode', '-f', 'tsv', newer, older, '--', 'a'], scratch.path)).toBe('https://a.example\ta\t3\n');
    const failed = await bloom(['get', '--decode', newer, 'nowhere', '--', 'b', 'a'], scratch.path);
    expect([failed.code, failed.stdout.toString()]).toEqual([2, '3\n']);
  });

  test('prints deleted and overwritten versions', async () => {
    const folder = await levelOf('versions', [['_https://a.example\0\x01k', '\x01old'], ['_https://a.example\0\x01k', '\x01new']]);
    await succeeds(['delete', '--hex', folder, '--', Buffer.from('_https://a.example\0\x01k', 'latin1').toString('hex')]);
    const versions = linesOf(await bloomPrints(['scan', '--decode', '--all-versions', '-f', 'jsonl', folder], scratch.path)).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(versions.map(({ key, type, value }) => [key, type, value])).toEqual([
      ['k', 'value', 'old'],
      ['k', 'value', 'new'],
      ['k', 'deletion', undefined],
    ]);
  });

  test('reports what cannot be decoded, prints the rest, and exits with 1', async () => {
    const folder = await levelOf('damaged', [['_https://a.example\0\x01a', '\x07?'], ['_https://a.example\0\x01b', '\x01fine']]);
    const { code, stdout, stderr } = await bloom(['scan', '--decode', folder], scratch.path);
    expect([code, stdout.toString()]).toEqual([1, 'https://a.example\ta\t\nhttps://a.example\tb\tfine\n']);
    expect(stderr).toMatch(/^bloom: .*: https:\/\/a\.example, key a: .*unknown form of a string 7/u);
    expect((await bloom(['scan', '--decode', '-f', 'jsonl', folder], scratch.path)).stdout.toString()).toContain('{"origin":"https://a.example","key":"a","error":{"code":"BLOOM_BAD_VALUE",');
  });

  test.each([
    [['scan', '--decode', '-f', 'csv', page], /--decode prints tsv or jsonl/u],
    [['scan', '--decode', dataPath('golden-db/levels')], /is not IndexedDB, Local Storage or Session Storage: omit --decode/u],
    [['get', '--decode', join(page, '000005.ldb'), 'a'], /is not a folder: --decode needs the whole folder/u],
  ])('refuses %j', async (args, problem) => {
    const { code, stderr } = await bloom(args, scratch.path);
    expect(code).toBe(2);
    expect(stderr).toMatch(problem);
  });
});

describe('--decode of a URL', () => {
  const server = createServer((request, response) => {
    const [, folder, name] = new URL(request.url!, 'http://localhost').pathname.split('/');
    const path = join(stored, folder!, basename(name ?? ''));
    if (!name || !existsSync(path)) {
      response.writeHead(404).end();
      return;
    }
    const bytes = readFileSync(path);
    const [, from, to] = /^bytes=(\d*)-(\d*)$/u.exec(request.headers.range ?? '') ?? [];
    const start = from === '' ? Math.max(0, bytes.length - Number(to)) : Number(from ?? 0);
    const end = from && to ? Math.min(bytes.length, Number(to) + 1) : bytes.length;
    if (start >= end) response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
    else response.writeHead(from === undefined ? 200 : 206, { etag: '"1"', 'content-length': end - start, 'content-range': `bytes ${start}-${end - 1}/${bytes.length}` }).end(request.method === 'HEAD' ? undefined : bytes.subarray(start, end));
  });
  let base: string;
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return () => {
      server.closeAllConnections();
      server.close();
    };
  });

  test.each(['local-storage', 'session-storage', 'page.indexeddb.leveldb'])('prints what it prints of the folder %s', async (name) => {
    const alone = scratch.at(`alone/${name}`);
    // The blobs next to a folder are not read from a server.
    cpSync(join(stored, name), alone, { recursive: true });
    const remote = await bloom(['scan', '--decode', '-f', 'jsonl', `${base}/${name}/`], scratch.path);
    const local = await bloom(['scan', '--decode', '-f', 'jsonl', alone], scratch.path);
    expect(linesOf(remote.stdout.toString()).length).toBeGreaterThan(20);
    expect(remote.stdout.toString()).toBe(local.stdout.toString());
    expect(remote.code).toBe(local.code);
  });

  test('answers get, and refuses what needs the names of all files', async () => {
    const items = linesOf(await bloomPrints(['scan', '--decode', '-f', 'jsonl', join(stored, 'local-storage')], scratch.path)).map((line) => JSON.parse(line) as { key: unknown });
    const key = String(items.find((item) => typeof item.key === 'string')!.key);
    const folder = `${base}/local-storage/`;
    expect(await bloomPrints(['get', '--decode', folder, key], scratch.path)).toBe(await bloomPrints(['get', '--decode', join(stored, 'local-storage'), key], scratch.path));
    const refusal = { code: 2, stderr: `bloom: ${folder}: a folder at a URL cannot be listed, so the versions of decoded entries cannot be found: download it and pass the copy\n` };
    for (const args of [['find', '--decode', key, folder], ['get', '--decode', '--all-versions', folder, key], ['scan', '--decode', '--all-versions', folder]]) expect(await bloom(args, scratch.path)).toMatchObject(refusal);
  });
});

describe('ls and export', () => {
  const profile = scratch.at('profile');

  beforeAll(() => {
    mkdirSync(join(profile, 'IndexedDB'), { recursive: true });
    cpSync(page, join(profile, 'IndexedDB/https_a.example_0.indexeddb.leveldb'), { recursive: true });
    cpSync(join(stored, 'page.indexeddb.blob'), join(profile, 'IndexedDB/https_a.example_0.indexeddb.blob'), { recursive: true });
    cpSync(join(stored, 'local-storage'), join(profile, 'Local Storage/leveldb'), { recursive: true });
    cpSync(join(stored, 'session-storage'), join(profile, 'Session Storage'), { recursive: true });
    cpSync(dataPath('golden-db/levels'), join(profile, 'Sync Data/LevelDB'), { recursive: true });
    symlinkSync(profile, join(profile, 'link'));
  });

  test('ls lists each database with its kind and its number of entries', async () => {
    const listed = linesOf(await bloomPrints(['ls', '--json', 'profile'], scratch.path)).map((line) => JSON.parse(line) as Record<string, unknown>);
    const counts = await Promise.all(listed.map(async ({ path }) => Number((await bloomPrints(['count', String(path)], scratch.path)).split('\t')[0]!.trim().split(/\s/u)[0])));
    expect(listed.map(({ path, what, storage, problem }) => [path, what, storage, problem])).toEqual([
      ['profile/IndexedDB/https_a.example_0.indexeddb.leveldb', 'IndexedDB of https://a.example', 'indexeddb', null],
      ['profile/Local Storage/leveldb', 'Local Storage', 'local-storage', null],
      ['profile/Session Storage', 'Session Storage', 'session-storage', null],
      ['profile/Sync Data/LevelDB', 'Sync', null, null],
    ]);
    expect(listed.map(({ entries }) => entries)).toEqual(counts);
    expect(await bloomPrints(['ls', 'profile'], scratch.path)).toMatch(/^folder +what +entries +size +in use by\nIndexedDB\/https_a/u);
  });

  test('ls names a file that it cannot read and whose name ends like that of its folder', async () => {
    scratch.write('codec.mjs', "import { deflateRawSync as compress, inflateRawSync as decompress } from 'node:zlib'; export default { name: 'own', type: 99, compress: (bytes) => compress(bytes), decompress: (bytes) => decompress(bytes) };");
    await bloom(['load', 'ldb', '-', '--compact', '-q', '--compression', 'own', '--codec', './codec.mjs'], scratch.path, `a\t${'long '.repeat(1000)}\n`);
    const table = `ldb/${readdirSync(scratch.at('ldb')).find((name) => name.endsWith('.ldb'))!}`;
    const { code, stdout } = await bloom(['ls', '--json', 'ldb'], scratch.path);
    expect({ code, problem: (JSON.parse(stdout.toString()) as { problem: string }).problem }).toEqual({ code: 1, problem: expect.stringMatching(new RegExp(`^${table}: `, 'u')) as string });
  });

  test.runIf(process.platform !== 'win32')('ls and export find a folder whose files are links', async () => {
    const items = join(stored, 'local-storage');
    mkdirSync(scratch.at('linked/Local Storage/leveldb'), { recursive: true });
    for (const name of readdirSync(items)) symlinkSync(join(items, name), scratch.at(`linked/Local Storage/leveldb/${name}`));
    symlinkSync('nowhere', scratch.at('linked/Local Storage/CURRENT'));
    symlinkSync('itself', scratch.at('linked/Local Storage/itself'));
    const [found] = linesOf(await bloomPrints(['ls', '--json', 'linked'], scratch.path)).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(found).toMatchObject({ path: 'linked/Local Storage/leveldb', problem: null, entries: expect.any(Number) as number });
    expect(found!.bytes).toBeGreaterThan(1000);
    expect((await bloom(['export', 'linked', '-o', 'linked-out'], scratch.path)).code).toBe(0);
  });

  test('ls and export name the origin of a folder whose path has none', async () => {
    cpSync(page, scratch.at('frames/WebStorage/5/IndexedDB/indexeddb.leveldb'), { recursive: true });
    cpSync(page.replace('.leveldb', '.blob'), scratch.at('frames/WebStorage/5/IndexedDB/indexeddb.blob'), { recursive: true });
    cpSync(page, scratch.at('frames/copy'), { recursive: true });
    const origin = 'http://127.0.0.1:40513';
    const listed = linesOf(await bloomPrints(['ls', '--json', 'frames'], scratch.path)).map((line) => (JSON.parse(line) as { what: string }).what);
    expect(listed).toEqual([`IndexedDB of ${origin}, storage bucket 5`, `IndexedDB of ${origin}`]);
    await succeeds(['export', 'frames/WebStorage', '-o', 'of-frames', '-q']);
    const { folders } = JSON.parse(readFileSync(scratch.at('of-frames/report.json'), 'utf8')) as { folders: { what: string }[] };
    expect(folders.map(({ what }) => what)).toEqual([`IndexedDB of ${origin}, storage bucket 5`]);
  });

  test('ls and export name a folder within a profile as in the whole profile', async () => {
    const whatOf = async (...args: string[]): Promise<string> => (JSON.parse(await bloomPrints(['ls', '--json', ...args], scratch.path)) as { what: string }).what;
    expect(await whatOf('profile/Local Storage')).toBe('Local Storage');
    expect([await whatOf('profile/Sync Data'), await whatOf('profile/Sync Data/LevelDB')]).toEqual(['Sync', 'Sync']);
    await succeeds(['export', 'profile/Local Storage/leveldb', '-o', 'of-local', '-q']);
    const report = JSON.parse(readFileSync(scratch.at('of-local/report.json'), 'utf8')) as { folders: { path: string; what: string }[] };
    expect(report.folders).toMatchObject([{ path: '.', what: 'Local Storage' }]);
    expect(readdirSync(scratch.at('of-local')).sort()).toEqual(['Local Storage', 'report.json']);
  });

  test('ls reports unreadable folders, and folders without a database', async () => {
    cpSync(join(profile, 'Session Storage'), scratch.at('broken/Session Storage'), { recursive: true });
    truncateSync(scratch.at('broken/Session Storage/MANIFEST-000001'), 0);
    const { code, stdout } = await bloom(['ls', 'broken'], scratch.path);
    expect([code, stdout.toString()]).toEqual([1, expect.stringMatching(/Session Storage +Session Storage +\? +8\.7 KiB\n {2}broken\/Session Storage\/MANIFEST-000001: /u)]);
    mkdirSync(scratch.at('empty'));
    const empty = await bloom(['ls', 'empty'], scratch.path);
    expect([empty.code, empty.stdout.toString(), empty.stderr]).toEqual([1, '', 'bloom: empty: no LevelDB database in it\n']);
    const json = await bloom(['ls', '--json', 'empty'], scratch.path);
    expect([json.code, json.stdout.toString(), json.stderr]).toEqual([1, '', 'bloom: empty: no LevelDB database in it\n']);
    const failed = await bloom(['ls', 'broken', 'nowhere'], scratch.path);
    expect([failed.code, failed.stdout.toString()]).toEqual([2, expect.stringMatching(/^broken:\nfolder [^]*Session Storage/u)]);
    expect(await bloom(['ls', 'nowhere'], scratch.path)).toMatchObject({ code: 2, stderr: 'bloom: nowhere: no such file or folder\n' });
  });

  test('export writes a file for each store and origin, with blobs, and a report', async () => {
    const { code, stderr } = await bloom(['export', 'profile', '-o', 'exported'], scratch.path);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^bloom: exported: \d+ records in 4 files, 2 blobs\n$/u)]);
    const at = (...path: string[]): string => scratch.at(join('exported', ...path));
    expect(readdirSync(at()).sort()).toEqual(['IndexedDB https_a.example_0', 'Local Storage', 'Session Storage', 'report.json']);
    const folder = at('IndexedDB https_a.example_0', 'values');
    const lines = ['clones', 'notes'].flatMap((store) => linesOf(readFileSync(join(folder, `${store}.jsonl`), 'utf8')));
    const withoutPaths = (line: string): string => line.replaceAll(/,"file":"[^"]*"/gu, '');
    expect(lines.map(withoutPaths)).toEqual(await recordLines(false));
    const blobs = lines.flatMap((line) => [...line.matchAll(/"size":(\d+),"lastModified":\{[^}]*\},"blobNumber":\d+,"file":"([^"]*)"/gu)].map(([, size, path]) => [readFileSync(join(folder, path!)).length, Number(size)]));
    expect(blobs).toHaveLength(2);
    for (const [length, size] of blobs) expect(length).toBe(size);
    const report = JSON.parse(readFileSync(at('report.json'), 'utf8')) as { folders: { path: string; problem: string | null; files?: { file: string; records: number; unreadable: number }[] }[] };
    expect(report.folders.map(({ path, problem }) => [path, problem])).toEqual([
      ['IndexedDB/https_a.example_0.indexeddb.leveldb', null],
      ['Local Storage/leveldb', null],
      ['Session Storage', null],
      ['Sync Data/LevelDB', 'not exported: bloom scan prints its entries'],
    ]);
    for (const { file, records, unreadable } of report.folders.flatMap(({ files = [] }) => files)) {
      expect(unreadable).toBe(0);
      expect(linesOf(readFileSync(at(file), 'utf8'))).toHaveLength(records);
    }
  });

  test('export and --decode leave out the changes of a transaction that was interrupted', async () => {
    const folder = scratch.at('interrupted/https_a.example_0.indexeddb.leveldb');
    cpSync(page, folder, { recursive: true });
    cpSync(page.replace('.leveldb', '.blob'), folder.replace('.leveldb', '.blob'), { recursive: true });
    const database = await Database.open(new WritableNodeFolder(folder), { comparator: idbComparator, filterPolicies: [idbFilterPolicy] });
    const key = Uint8Array.of(0, 1, 1, 1, ...encodeKey('added'));
    await database.put(key, Uint8Array.of(1, 0x22, 0));
    // The transaction has a lock, and there is what undoes its change.
    await database.put(Uint8Array.of(0, 0, 0, 0, 50, 1, 9), Uint8Array.of(0x0a, 2, 8, 1));
    await database.put(Uint8Array.of(0, 0, 0, 0, 50, 2, 9, 0, 0x7f, ...new Uint8Array(7).fill(0xff)), Uint8Array.of(0x12, key.length + 2, 0x0a, key.length, ...key));
    await database.close();
    expect(linesOf(await bloomPrints(['scan', '--decode', '-f', 'jsonl', folder], scratch.path))).toEqual(await recordLines(true));
    await bloomPrints(['export', '-q', folder, '-o', 'interrupted-export'], scratch.path);
    const report = JSON.parse(readFileSync(scratch.at('interrupted-export/report.json'), 'utf8')) as { folders: { files: { file: string }[] }[] };
    const exported = report.folders[0]!.files.flatMap(({ file }) => linesOf(readFileSync(scratch.at(join('interrupted-export', file)), 'utf8')));
    expect(exported).toHaveLength((await recordLines(false)).length);
    expect(exported.filter((line) => line.includes('"added"'))).toEqual([]);
  });

  test('export names what is missing in the report, and exits with 1', async () => {
    cpSync(page, scratch.at('lost/https_a.example_0.indexeddb.leveldb'), { recursive: true });
    const { code, stderr } = await bloom(['export', 'lost/https_a.example_0.indexeddb.leveldb', '-o', 'partial', '--json'], scratch.path);
    expect([code, stderr]).toEqual([1, '']);
    const report = readFileSync(scratch.at('partial/report.json'), 'utf8');
    expect(report).toContain('BLOOM_MISSING_BLOB');
    expect(report).toContain('"missingBlobs": 2');
  });

  test('export names damaged metadata and keys in the report, and writes everything else', async () => {
    const folder = scratch.at('torn/https_a.example_0.indexeddb.leveldb');
    cpSync(page, folder, { recursive: true });
    const database = await Database.open(new WritableNodeFolder(folder), { comparator: idbComparator, filterPolicies: [idbFilterPolicy] });
    // The name of the store of clones, and a record in it whose key has an unknown type.
    await database.put(Uint8Array.of(0, 1, 0, 0, 50, 1, 0), Uint8Array.of(0));
    await database.put(Uint8Array.of(0, 1, 1, 1, 9), Uint8Array.of(1));
    await database.close();
    cpSync(page.replace('.leveldb', '.blob'), folder.replace('.leveldb', '.blob'), { recursive: true });
    const { code, stderr } = await bloom(['export', folder, '-o', 'torn-export'], scratch.path);
    expect([code, stderr]).toEqual([1, expect.stringContaining('1 record could not be read, 1 metadata entry could not be read: see report.json') as string]);
    const report = JSON.parse(readFileSync(scratch.at('torn-export/report.json'), 'utf8')) as { folders: { databases: { errors: unknown[] }[]; files: { file: string; records: number; errors: { code: string }[] }[] }[] };
    expect(report.folders[0]!.databases[0]!.errors).toEqual([{ code: 'BLOOM_BAD_METADATA', message: expect.stringContaining('store 1, name') as string }]);
    const [clones] = report.folders[0]!.files;
    expect(clones).toMatchObject({ file: expect.stringMatching(/values\/1\.jsonl$/u) as string, errors: [{ code: 'BLOOM_BAD_KEY' }] });
    const lines = linesOf(readFileSync(scratch.at(join('torn-export', clones!.file)), 'utf8'));
    expect(JSON.parse(lines[0]!)).toEqual({ error: { code: 'BLOOM_BAD_KEY', message: 'key at offset 4: unknown type of key 9' } });
    expect(lines).toHaveLength(clones!.records);
    expect(lines.length).toBeGreaterThan(30);
  });

  test('ls and export read tables with compression that browsers do not use', async () => {
    cpSync(page, scratch.at('zlib/page.indexeddb.leveldb'), { recursive: true });
    cpSync(join(stored, 'page.indexeddb.blob'), scratch.at('zlib/page.indexeddb.blob'), { recursive: true });
    cpSync(join(stored, 'local-storage'), scratch.at('zlib/local'), { recursive: true });
    for (const folder of ['zlib/page.indexeddb.leveldb', 'zlib/local']) await succeeds(['compact', folder, '--compression', 'zlib', '-q']);
    const listed = linesOf(await bloomPrints(['ls', '--json', 'zlib'], scratch.path)).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(listed).toMatchObject([{ storage: 'local-storage', problem: null }, { storage: 'indexeddb', problem: null }]);
    for (const [output, ...options] of [['zlib-export'], ['zlib-versions', '--all-versions']] as const) {
      await succeeds(['export', 'zlib', '-o', output, '-q', ...options]);
      const { folders } = JSON.parse(readFileSync(scratch.at(`${output}/report.json`), 'utf8')) as { folders: { path: string; problem: string | null; files: { records: number }[] }[] };
      expect(folders.map(({ path, problem }) => [path, problem])).toEqual([['local', null], ['page.indexeddb.leveldb', null]]);
      for (const { files } of folders) expect(files.length).toBeGreaterThan(0);
    }
  });

  test('ls and export name a folder whose files cannot be listed, and exit with 1', async () => {
    const list = fs.readdirSync;
    const denied = Object.assign(new Error('EACCES: permission denied, scandir'), { code: 'EACCES', syscall: 'scandir' });
    // The file system would allow it to root.
    const listing = vi.spyOn(fs, 'readdirSync').mockImplementation(((path: string, options: object) => {
      if (path.endsWith('Local Storage')) throw denied;
      return list(path, options);
    }) as typeof fs.readdirSync);
    try {
      const listed = await bloom(['ls', 'profile'], scratch.path);
      expect([listed.code, listed.stdout.toString()]).toEqual([1, expect.stringMatching(/\nLocal Storage +folder +\? +0 B\n {2}permission denied\n/u)]);
      const json = await bloom(['ls', '--json', 'profile'], scratch.path);
      expect(json.code).toBe(1);
      expect(linesOf(json.stdout.toString()).map((line) => JSON.parse(line) as object)[1]).toMatchObject({ path: 'profile/Local Storage', entries: null, problem: 'permission denied' });
      const exported = await bloom(['export', 'profile', '-o', 'denied'], scratch.path);
      expect([exported.code, exported.stderr]).toEqual([1, expect.stringContaining('1 folder could not be read in full: see report.json') as string]);
      const { folders } = JSON.parse(readFileSync(scratch.at('denied/report.json'), 'utf8')) as { folders: { path: string; problem: string | null }[] };
      expect(folders[1]).toMatchObject({ path: 'Local Storage', problem: 'profile/Local Storage: permission denied' });
      mkdirSync(scratch.at('hidden/Local Storage'), { recursive: true });
      expect(await bloom(['export', 'hidden', '-o', 'none'], scratch.path)).toMatchObject({ code: 2, stderr: 'bloom: hidden: no IndexedDB, Local Storage or Session Storage could be read: hidden/Local Storage: permission denied\n' });
    } finally {
      listing.mockRestore();
    }
  });

  test('a storage without items is not a failure', async () => {
    for (const [name, entries] of [['Local Storage/leveldb', [['VERSION', '1']]], ['Session Storage', []]] as const) {
      mkdirSync(scratch.at(join('unused', name)), { recursive: true });
      const database = await Database.open(new WritableNodeFolder(scratch.at(join('unused', name))));
      for (const [key, value] of entries) await database.put(key, value);
      await database.close();
      expect(await bloomPrints(['scan', '--decode', join('unused', name)], scratch.path)).toBe('');
    }
    const { code, stderr } = await bloom(['export', 'unused', '-o', 'of-unused'], scratch.path);
    expect([code, stderr]).toEqual([0, 'bloom: of-unused: 0 records in 0 files, 0 blobs\n']);
  });

  test('export counts a database of an unknown kind that is damaged', async () => {
    cpSync(join(stored, 'session-storage'), scratch.at('unknown/Session Storage'), { recursive: true });
    for (const name of ['log', 'manifest']) cpSync(join(stored, 'local-storage'), scratch.at(`unknown/${name}`), { recursive: true });
    writeFileSync(scratch.at('unknown/manifest/MANIFEST-000001'), Buffer.alloc(100, 0xff));
    writeFileSync(scratch.at('unknown/log/000003.log'), Buffer.alloc(100_000, 0xff));
    const { code, stderr } = await bloom(['export', 'unknown', '-o', 'of-unknown'], scratch.path);
    expect([code, stderr]).toEqual([1, expect.stringContaining('2 folders could not be read in full: see report.json') as string]);
    const { folders } = JSON.parse(readFileSync(scratch.at('of-unknown/report.json'), 'utf8')) as { folders: { problem: string | null }[] };
    expect(folders.map(({ problem }) => problem)).toEqual([null, expect.stringContaining('000003.log') as string, expect.stringContaining('MANIFEST-000001') as string]);
  });

  test('export makes nothing when there is nothing, or the folder exists', async () => {
    expect(await bloom(['export', 'profile/Sync Data', '-o', 'none'], scratch.path)).toMatchObject({ code: 2, stderr: expect.stringContaining('no IndexedDB, Local Storage or Session Storage in it') as string });
    expect(existsSync(scratch.at('none'))).toBe(false);
    writeFileSync(scratch.at('taken'), 'kept');
    expect(await bloom(['export', 'profile', '-o', 'taken'], scratch.path)).toMatchObject({ code: 2, stderr: expect.stringContaining('already exists') as string });
    expect(readFileSync(scratch.at('taken'), 'utf8')).toBe('kept');
    expect(readdirSync(scratch.path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('export writes hostile names of origins within its folder', async () => {
    const names = ['../../evil', 'con', 'a/b', 'A/B', 'a\\b', '..', ' ', 'x'.repeat(500)];
    const folder = await levelOf('hostile', names.map((name) => [`_${name}\0\x01k`, '\x01v'] as const));
    await succeeds(['export', folder, '-o', 'contained', '-q']);
    const [inner] = readdirSync(scratch.at('contained')).filter((name) => name !== 'report.json');
    expect(readdirSync(scratch.at('contained')).length).toBe(2);
    expect(readdirSync(join(scratch.at('contained'), inner!))).toHaveLength(names.length);
    rmSync(scratch.at('contained'), { recursive: true });
  });
});

describe('safeName', () => {
  test.each([
    ['https://a.example:8080', 'https___a.example_8080'],
    ['../etc/passwd', '_._etc_passwd'],
    ['..', '_'],
    ['', '_'],
    ['nul.txt', '_nul.txt'],
    ['ends. . ', 'ends'],
    ['\u202egnp.exe\0', '_gnp.exe_'],
    ['\ud800', '_'],
    ['日本', '日本'],
  ])('makes %j %j', (text, name) => {
    expect(safeName(text)).toBe(name);
  });

  test('has at most 120 bytes, and whole characters', () => {
    expect(Buffer.byteLength(safeName('日'.repeat(100)))).toBe(120);
    expect(safeName(`${'a'.repeat(119)}日`)).toBe('a'.repeat(119));
  });

  test('is distinct for names that differ in case or in form', () => {
    const names = new DistinctNames();
    expect(['a', 'A', 'é', 'e\u0301'].map((text) => names.nameFor(text, '.jsonl'))).toEqual(['a.jsonl', 'A (2).jsonl', 'é.jsonl', 'e\u0301 (2).jsonl']);
  });
});

/** A folder of Local Storage with these entries, in Latin-1. */
async function levelOf(name: string, entries: readonly (readonly [key: string, value: string])[]): Promise<string> {
  const line = (key: string, value: string): string => `${Buffer.from(key, 'latin1').toString('hex')}\t${Buffer.from(value, 'latin1').toString('hex')}\n`;
  for (const [key, value] of [['VERSION', '1'], ['META:https://a.example', ''], ...entries] as const) await succeeds(['load', '--hex', name, '-'], line(key, value));
  return name;
}

async function succeeds(args: readonly string[], input?: string): Promise<void> {
  const { code, stderr } = await bloom(args, scratch.path, input);
  expect({ args, code, stderr }).toMatchObject({ args, code: 0 });
}

describe('a folder that is damaged', () => {
  const local = 'damaged/Local Storage/leveldb';
  beforeAll(() => {
    cpSync(join(stored, 'local-storage'), scratch.at(local), { recursive: true });
    truncateSync(scratch.at(`${local}/MANIFEST-000001`), 0);
  });

  test('is named by export, which exits with 1', async () => {
    expect(await bloom(['export', 'damaged', '-o', 'of-damaged', '-q'], scratch.path)).toMatchObject({ code: 1 });
    expect(readFileSync(scratch.at('of-damaged/report.json'), 'utf8')).toContain('"storage": "local-storage"');
  });

  test('gives all versions, which need no MANIFEST', async () => {
    const lines = linesOf(await bloomPrints(['scan', '--decode', '--all-versions', '-f', 'jsonl', local], scratch.path));
    expect(lines.length).toBeGreaterThan(40);
    await bloom(['export', '--all-versions', 'damaged', '-o', 'versions-of-damaged', '-q'], scratch.path);
    expect(linesOf(readFileSync(scratch.at('versions-of-damaged/Local Storage/http___127.0.0.1_40513.jsonl'), 'utf8'))).toHaveLength(lines.length);
  });

  test('gives all versions that are left of IndexedDB without two of its tables', async () => {
    const teams = realDatabases().find(({ name }) => name.startsWith('forensicsim'))!.path;
    const { code, stdout } = await bloom(['scan', '--decode', '--all-versions', '-f', 'jsonl', teams], scratch.path);
    expect(code).toBeLessThan(2);
    expect(linesOf(stdout.toString()).length).toBeGreaterThan(100);
  });
});

test('a value with an unknown object is marked as incomplete, and counted by export', async () => {
  const folder = 'unknown.indexeddb.leveldb';
  const database = await Database.open(new WritableNodeFolder(scratch.at(folder)), { comparator: idbComparator, filterPolicy: idbFilterPolicy });
  await database.put(Uint8Array.from([0, 1, 1, 1, ...encodeKey(7)]), Uint8Array.from(Buffer.from('01ff15fe000000000000000000000000ff105c010203', 'hex')));
  await database.close();
  const [line] = linesOf(await bloomPrints(['scan', '--decode', '-f', 'jsonl', folder], scratch.path));
  expect(JSON.parse(line!)).toEqual({ database: 1, store: 1, key: 7, value: { $type: 'unknown', tag: '\u0001', base64: 'AgM=' }, complete: false });
  expect(await bloom(['export', folder, '-o', 'incomplete', '-q'], scratch.path)).toMatchObject({ code: 1 });
});

describe('names of exported files', () => {
  test.each([['COM\u00b9', '_COM\u00b9'], ['conout$', '_conout$'], ['..', '_'], ['../x', '_._x']])('of %j is %j', (text, name) => {
    expect(safeName(text)).toBe(name);
  });

  test('are numbered in a moment, also where 20,000 are the same', () => {
    const names = new DistinctNames(['report.json']);
    expect(new Set(Array.from({ length: 20_000 }, () => names.nameFor('same', '.jsonl'))).size).toBe(20_000);
    expect(names.nameFor('Report.json')).toBe('Report.json (2)');
  });
});
