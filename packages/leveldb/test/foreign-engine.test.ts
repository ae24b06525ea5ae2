// Folders of RocksDB, Pebble, Badger and Minecraft's Marketplace are named and left alone. `tooling/fixtures/foreign-folders` made them.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderFiles, foreignFolders, goldenDatabases, realDatabases } from '@bloom/fixtures';
import { Database, DatabaseReader, encodeVersionEdit, foreignEngine, MemoryFolder, SyncDatabaseReader, UnsupportedError, WritableMemoryFolder } from '@bloom/leveldb';
import { storedEntriesSync, verifyDatabase } from '@bloom/leveldb/inspect';
import { NodeFolder, SyncNodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { LogWriter } from '@bloom/log';
import { afterEach, describe, expect, test } from 'vitest';
import { caught } from '@bloom/fixtures/caught';
import { collect } from './collect.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const comparator = encodeVersionEdit({ comparator: 'leveldb.BytewiseComparator' });

const temporary: string[] = [];
afterEach(() => {
  for (const path of temporary.splice(0)) rmSync(path, { recursive: true });
});

/** A copy of a folder in the file system. */
function copyOf(path: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'foreign-engine-'));
  temporary.push(copy);
  cpSync(path, copy, { recursive: true });
  return copy;
}

/** Names, sizes, times and hashes of all files of a folder. */
function stateOf(path: string): string[] {
  return readdirSync(path).sort().map((name) => {
    const { size, mtimeMs } = statSync(join(path, name));
    return `${name} ${size} ${mtimeMs} ${createHash('sha256').update(readFileSync(join(path, name))).digest('hex')}`;
  });
}

const calls: [string, (folder: WritableNodeFolder | WritableMemoryFolder) => Promise<unknown>][] = [
  ['Database.open', (folder) => Database.open(folder)],
  ["Database.open with damage: 'skip'", (folder) => Database.open(folder, { damage: 'skip' })],
  ['Database.open with createIfMissing: false', (folder) => Database.open(folder, { createIfMissing: false })],
  ['Database.repair', (folder) => Database.repair(folder)],
  ['Database.destroy', (folder) => Database.destroy(folder)],
];

const folders = foreignFolders();

test('the folders are of several versions of RocksDB and Pebble, closed and killed', () => {
  const namesOf = (engine: string): string[] => folders.filter(({ engines }) => engines.includes(engine)).map(({ name }) => name);
  expect(namesOf('RocksDB').length).toBeGreaterThanOrEqual(4);
  expect(namesOf('Pebble').length).toBeGreaterThanOrEqual(3);
});

describe.each(folders)('$name', ({ name, path, engines, entries }) => {
  test('foreignEngine names the engine and the file that says so', async () => {
    const files = folderFiles(path);
    const engine = await foreignEngine(new MemoryFolder(files));
    expect(engine?.engines).toEqual(engines);
    expect([...files.keys()]).toContain(engine!.file);
    expect(engine!.text).toContain(engines[0]);
  });

  // Badger's databases have no CURRENT, and no file that Database.destroy takes for a database's.
  const refused = calls.filter(([call]) => !(name.startsWith('badger') && /destroy|createIfMissing: false/.test(call)));

  test.each(refused)('%s is refused, and no file changes', async (_, run) => {
    const copy = copyOf(path);
    // LOCK must not be created either.
    rmSync(join(copy, 'LOCK'), { force: true });
    const before = stateOf(copy);
    const error: unknown = await run(new WritableNodeFolder(copy)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnsupportedError);
    expect(error).toMatchObject({ code: 'BLOOM_UNSUPPORTED_FORMAT', structure: 'folder', offset: 0, file: copy });
    expect((error as UnsupportedError).problem).toMatch(engines[0] === "Minecraft's Marketplace" ? /^it is encrypted by Minecraft's Marketplace \(content ID 3f2504e0-/ : new RegExp(`^it is a ${engines[0]!} database`));
    expect(stateOf(copy)).toEqual(before);
  });

  test.each(refused)('%s is refused in a folder in memory, and no file changes', async (_, run) => {
    const files = new Map(folderFiles(path));
    files.delete('LOCK');
    const folder = new WritableMemoryFolder(files, 'foreign');
    const before = folder.files();
    const error: unknown = await run(folder).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnsupportedError);
    expect(error).toMatchObject({ code: 'BLOOM_UNSUPPORTED_FORMAT', structure: 'folder', offset: 0, file: 'foreign' });
    expect(folder.files()).toEqual(before);
  });

  test('reading it names the engine, unless nothing in it is the engine’s own', async () => {
    const folder = new MemoryFolder(folderFiles(path));
    for (const damage of ['strict', 'skip'] as const) {
      if (entries !== undefined) {
        const reader = await DatabaseReader.open(folder, { damage });
        expect(await collect(reader.keys())).toHaveLength(entries);
        await reader.close();
        continue;
      }
      const expected = { code: 'BLOOM_UNSUPPORTED_FORMAT', structure: 'folder' };
      await expect(DatabaseReader.open(folder, { damage })).rejects.toMatchObject(expected);
      expect(caught(() => SyncDatabaseReader.open(folder, { damage }))).toMatchObject(expected);
    }
  });

  test('verifyDatabase has the engine as its only finding, where it has any', async () => {
    const { findings, moreFindings } = await verifyDatabase(new MemoryFolder(folderFiles(path)));
    const codes = findings.map(({ code, problem }) => `${code} ${problem.includes(engines[0]!)}`);
    expect(codes).toEqual(entries === undefined ? ['BLOOM_UNSUPPORTED_FORMAT true'] : []);
    expect(moreFindings).toBe(0);
  });
});

/** The files of a folder that match. */
function some(name: string, pattern: RegExp): Map<string, Uint8Array> {
  return new Map([...folderFiles(folders.find((folder) => folder.name === name)!.path)].filter(([file]) => pattern.test(file)));
}

test.each([
  ['rocksdb-9.8-closed', 'a MANIFEST', /^(CURRENT|MANIFEST)/, ['RocksDB'], 'has a version edit with tag 8193'],
  ['rocksdb-6.17-closed', 'a MANIFEST and IDENTITY', /^(CURRENT|IDENTITY|MANIFEST)/, ['RocksDB'], 'has a version edit with tag 103'],
  ['rocksdb-6.17-closed', 'a MANIFEST', /^(CURRENT|MANIFEST)/, ['RocksDB', 'Pebble'], 'has a version edit with tag 103'],
  ['rocksdb-9.8-closed', 'tables', /\.sst$/, ['RocksDB'], 'is a RocksDB table (block-based format 1 or later)'],
  ['rocksdb-9.8-plain', 'a plain table', /\.sst$/, ['RocksDB'], 'is a RocksDB plain table'],
  ['rocksdb-9.8-blobs', 'logs', /\.log$/, ['RocksDB', 'Pebble'], 'has a record of type 5'],
  ['pebble-1.1-killed', 'a table', /\.sst$/, ['RocksDB'], 'is a RocksDB table'],
  ['pebble-2.1-closed', 'a MANIFEST and markers', /^(marker|MANIFEST)/, ['Pebble'], 'has a version edit with tag 103'],
  ['pebble-2.1-closed', 'a table', /\.sst$/, ['Pebble'], 'is a Pebble table'],
  ['pebble-2.1-closed', 'the last log', /000004\.log$/, ['Pebble'], 'has a record of type 9'],
  ['minecraft-marketplace', 'a table', /\.ldb$/, ["Minecraft's Marketplace"], 'content ID 3f2504e0-4f89-41d3-9a0c-0305e82c3301'],
])('of %s, %s is enough to name the engine and refuse a repair', async (name, _, pattern, engines, found) => {
  const folder = new WritableMemoryFolder(some(name, pattern));
  const engine = await foreignEngine(folder);
  expect(engine?.engines).toEqual(engines);
  expect(engine!.text).toContain(found);
  await expect(Database.repair(folder)).rejects.toMatchObject({ code: 'BLOOM_UNSUPPORTED_FORMAT' });
  expect(folder.list().length).toBe(some(name, pattern).size);
});

test('a folder of RocksDB in which LevelDB could have written everything is one of LevelDB’s', async () => {
  expect(await foreignEngine(new MemoryFolder(some('rocksdb-6.17-killed', /^(CURRENT|IDENTITY|LOCK|MANIFEST|.*\.log$)/)))).toBeUndefined();
});

describe.each([['rocksdb-9.8-blobs', 'RocksDB'], ['pebble-1.1-killed', 'Pebble']])('a log of %s under a MANIFEST like those of LevelDB', (name, engine) => {
  const files = new Map([...some(name, /^OPTIONS|\.log$/), ['CURRENT', utf8('MANIFEST-000001\n')], ['MANIFEST-000001', logOf(encodeVersionEdit({ comparator: 'leveldb.BytewiseComparator', logNumber: 0n, nextFileNumber: 9n, lastSequence: 0n }))]]);

  test("names the engine when damage is skipped, instead of the log's parts that LevelDB cannot have written", async () => {
    const expected = { code: 'BLOOM_UNSUPPORTED_FORMAT', structure: 'folder', problem: expect.stringMatching(`^it is a ${engine} database`) as string };
    await expect(DatabaseReader.open(new MemoryFolder(files), { damage: 'skip' })).rejects.toMatchObject(expected);
    expect(caught(() => SyncDatabaseReader.open(new MemoryFolder(files), { damage: 'skip' }))).toMatchObject(expected);
    await expect(Database.open(new WritableMemoryFolder(files), { damage: 'skip' })).rejects.toMatchObject(expected);
  });

  test('has the engine as its only finding', async () => {
    const { findings, moreFindings } = await verifyDatabase(new MemoryFolder(files));
    expect(findings.map(({ code, problem }) => [code, problem.includes(engine)])).toEqual([['BLOOM_UNSUPPORTED_FORMAT', true]]);
    expect(moreFindings).toBe(0);
  });
});

test('a compressed log of RocksDB under a MANIFEST like those of LevelDB names RocksDB', async () => {
  // The type of the compression, zstd, in a record of its own, then a compressed record.
  const log = Uint8Array.of(0xe1, 0x2c, 0x08, 0xf8, 4, 0, 9, 7, 0, 0, 0, 0x40, 0x1f, 0xd0, 0x4e, 0x23, 0, 1, 0x28, 0xb5);
  const files = new Map([['CURRENT', utf8('MANIFEST-000001\n')], ['MANIFEST-000001', logOf(encodeVersionEdit({ comparator: 'leveldb.BytewiseComparator', logNumber: 0n, nextFileNumber: 9n, lastSequence: 0n }))], ['000004.log', log]]);
  await expect(DatabaseReader.open(new MemoryFolder(files), { damage: 'skip' })).rejects.toMatchObject({ code: 'BLOOM_UNSUPPORTED_FORMAT', problem: expect.stringMatching(/^it is a RocksDB database/) as string });
});

test('damage in a log of LevelDB is skipped, and reported as damage, next to files of other engines', async () => {
  const log = logOf(batchAt(1), batchAt(2));
  // The first record.
  log[8]! ^= 1;
  const files = new Map([...stray, ['OPTIONS-000008', utf8('[Version]\n  rocksdb_version=9.8.4\n')], ['CURRENT', utf8('MANIFEST-000001\n')], ['MANIFEST-000001', logOf(encodeVersionEdit({ comparator: 'leveldb.BytewiseComparator', logNumber: 0n, nextFileNumber: 9n, lastSequence: 0n }))], ['000003.log', log]]);
  await using reader = await DatabaseReader.open(new MemoryFolder(files), { damage: 'skip' });
  expect(reader.describe().dropped.map(({ file }) => file)).toContain('000003.log');
  const { findings } = await verifyDatabase(new MemoryFolder(files));
  expect(findings.map(({ code }) => code)).toContain('BLOOM_BAD_LOG');
});

test.each(calls)('%s is refused with few and with many files next to the database', async (_, run) => {
  for (const others of [1, 100]) {
    const copy = copyOf(folders.find(({ engines }) => engines.includes('RocksDB'))!.path);
    for (let i = 0; i < others; i++) writeFileSync(join(copy, `other-${i}`), '');
    await expect(run(new WritableNodeFolder(copy))).rejects.toMatchObject({ code: 'BLOOM_UNSUPPORTED_FORMAT', structure: 'folder' });
  }
});

test('storedEntries names the engine of a log that it cannot read', () => {
  const folder = new MemoryFolder(some('pebble-1.1-killed', /\.log$|^OPTIONS/));
  expect(caught(() => [...storedEntriesSync(folder)])).toMatchObject({ code: 'BLOOM_UNSUPPORTED_FORMAT', structure: 'folder' });
});

test('storedEntries takes no compressed record of RocksDB for a batch, also when it skips damage', () => {
  // The type of the compression in a record of its own. What follows could be a batch.
  const settings = Uint8Array.of(0xe1, 0x2c, 0x08, 0xf8, 4, 0, 9, 7, 0, 0, 0);
  const folder = new MemoryFolder(new Map([['000004.log', Uint8Array.from([...settings, ...logOf(batchAt(7))])]]));
  for (const damage of ['strict', 'skip'] as const) {
    const dropped: string[] = [];
    expect(caught(() => [...storedEntriesSync(folder, { damage, onDropped: ({ file }) => dropped.push(file) })])).toMatchObject({ code: 'BLOOM_UNSUPPORTED_FORMAT', problem: expect.stringMatching(/^it is a RocksDB database/) as string });
  }
  const damaged = logOf(batchAt(1), new Uint8Array(2 ** 15), batchAt(2));
  damaged[8]! ^= 1;
  // Damage of LevelDB's own log is skipped.
  const entries = [...storedEntriesSync(new MemoryFolder(new Map([['OPTIONS-000008', utf8('[Version]\n  rocksdb_version=9.8.4\n')], ['000003.log', damaged]])), { damage: 'skip' })];
  expect(entries.filter(({ file }) => file === '000003.log').map(({ sequence }) => sequence)).toEqual([2n]);
});

describe("Riak's LevelDB, whose tables are in a folder for each level", () => {
  /** A copy of a folder of LevelDB, with its tables where Basho's LevelDB 2.0 puts them. */
  function riakFolder(): string {
    const path = copyOf(goldenDatabases().find(({ name }) => name === 'levels')!.path);
    for (let level = 0; level < 7; level++) mkdirSync(join(path, `sst_${level}`));
    for (const name of readdirSync(path).filter((file) => file.endsWith('.ldb'))) renameSync(join(path, name), join(path, 'sst_0', name.replace('.ldb', '.sst')));
    return path;
  }

  const expected = { code: 'BLOOM_UNSUPPORTED_FORMAT', structure: 'folder', problem: expect.stringMatching(/^it is a Riak database, not a LevelDB database \(sst_0 to sst_6/) as string };

  test.each(calls)('%s is refused, and no file changes', async (_, run) => {
    const path = riakFolder();
    const before = readdirSync(path, { recursive: true });
    await expect(run(new WritableNodeFolder(path))).rejects.toMatchObject(expected);
    expect(readdirSync(path, { recursive: true })).toEqual(before);
  });

  test('reading it names the engine instead of missing tables', async () => {
    const path = riakFolder();
    await expect(DatabaseReader.open(new NodeFolder(path))).rejects.toMatchObject(expected);
    expect(caught(() => SyncDatabaseReader.open(new SyncNodeFolder(path)))).toMatchObject(expected);
    expect(await foreignEngine(new NodeFolder(path))).toMatchObject({ engines: ['Riak'], file: 'sst_0' });
  });

  test('folders of these names next to tables of LevelDB are no reason to refuse it', async () => {
    const path = copyOf(goldenDatabases().find(({ name }) => name === 'levels')!.path);
    for (let level = 0; level < 7; level++) mkdirSync(join(path, `sst_${level}`));
    expect(await foreignEngine(new NodeFolder(path))).toBeUndefined();
    await (await Database.open(new WritableNodeFolder(path))).close();
  });
});

const stray = new Map<string, Uint8Array>([
  ['IDENTITY', utf8('2f1e0f5c-6a34-4c57-93ad-7bb4b0b1b6d3')],
  ['KEYREGISTRY', utf8('keys')],
  ['MANIFEST', utf8('what is in this folder\n')],
  ['OPTIONS-000007', utf8('[Options]\nrocksdb_version of the program: none\n')],
  ['marker.format-version.000001.013', new Uint8Array(0)],
  ['000900.blob', utf8('blob')],
  // No MANIFEST lists it.
  ['000901.sst', some('rocksdb-9.8-closed', /000009\.sst$/).get('000009.sst')!],
  ['000902.sst', some('pebble-2.1-closed', /\.sst$/).get('000008.sst')!],
]);

test.each(goldenDatabases().filter(({ damage, comparator, open }) => damage === undefined && comparator === undefined && open === 'OK').map(({ name, path }) => [name, path]))(
  'of LevelDB’s folder %s, files with the names of other engines make nobody’s else: it opens, and can be repaired and destroyed',
  async (_, path) => {
    const folder = (): WritableMemoryFolder => new WritableMemoryFolder(new Map([...folderFiles(path), ...stray]));
    expect(await foreignEngine(folder())).toBeUndefined();
    const database = await Database.open(folder());
    await database.close();
    const destroyed = folder();
    await Database.destroy(destroyed);
    expect(destroyed.list()).not.toContain('CURRENT');
    const damaged = folder();
    damaged.delete('CURRENT');
    expect(await foreignEngine(damaged)).toBeUndefined();
    await Database.repair(damaged);
  },
);

test('a MANIFEST that RocksDB left next to the one that CURRENT names does not count, but does if there is no CURRENT', async () => {
  const written = new WritableMemoryFolder();
  const database = await Database.open(written);
  await database.put(utf8('key'), utf8('value'));
  await database.close();
  const files = new Map<string, Uint8Array>(written.files()).set('MANIFEST-000900', some('rocksdb-9.8-closed', /^MANIFEST/).get('MANIFEST-000005')!);
  expect(await foreignEngine(new MemoryFolder(files))).toBeUndefined();
  expect(await Database.repair(new WritableMemoryFolder(files))).toMatchObject({ entries: 1 });
  await Database.destroy(new WritableMemoryFolder(files));
  files.delete('CURRENT');
  expect((await foreignEngine(new MemoryFolder(files)))?.engines).toContain('RocksDB');
});

test('none of the golden and real folders of LevelDB is taken for another engine’s', async () => {
  const paths = [...goldenDatabases(), ...realDatabases()].map(({ path }) => path);
  expect(paths.length).toBeGreaterThan(20);
  for (const path of paths) expect(await foreignEngine(new MemoryFolder(folderFiles(path)))).toBeUndefined();
});

test.each([
  [11, undefined],
  [99, undefined],
  [109, undefined],
  [9000, undefined],
  [107, ['Pebble']],
  [201, ['RocksDB']],
])('a version edit with the unknown tag %i names %j', async (tag, engines) => {
  const record = tag < 128 ? [tag] : [(tag & 127) | 128, tag >> 7];
  const files = new Map([['CURRENT', utf8('MANIFEST-000002\n')], ['MANIFEST-000002', logOf(comparator, Uint8Array.from(record))]]);
  expect((await foreignEngine(new MemoryFolder(files)))?.engines).toEqual(engines);
});

test('a log in the place of a MANIFEST is no evidence, whatever the sequences of its batches begin with, and the database can be repaired', async () => {
  for (const start of [0x02, 0x0102, 0x0401, 0x120304, 0x210201]) {
    const batches = Array.from({ length: 300 }, (_, i) => batchAt(start + i));
    const files = new Map([['CURRENT', utf8('MANIFEST-000002\n')], ['MANIFEST-000002', logOf(...batches)], ['000003.log', logOf(batchAt(7))]]);
    expect(await foreignEngine(new MemoryFolder(files))).toBeUndefined();
    expect(await Database.repair(new WritableMemoryFolder(files))).toMatchObject({ entries: 1 });
  }
});

test('a record that begins like a tag of Pebble, in a MANIFEST without a comparator, is no evidence', async () => {
  expect(await foreignEngine(new MemoryFolder(new Map([['CURRENT', utf8('MANIFEST-000002\n')], ['MANIFEST-000002', logOf(utf8('hello'))]])))).toBeUndefined();
});

test('a tag of RocksDB in a record whose checksum is wrong is no evidence', async () => {
  const manifest = logOf(comparator, Uint8Array.of(103, 1));
  manifest[7 + comparator.length]! ^= 1;
  expect(await foreignEngine(new MemoryFolder(new Map([['CURRENT', utf8('MANIFEST-000002\n')], ['MANIFEST-000002', manifest]])))).toBeUndefined();
});

test('a log record of type 5 whose checksum is wrong is no evidence', async () => {
  const [[name, log]] = [...some('pebble-1.1-killed', /000002\.log$/)] as [[string, Uint8Array]];
  const changed = log.slice();
  changed[0]! ^= 1;
  expect(await foreignEngine(new MemoryFolder(new Map([[name, changed]])))).toBeUndefined();
});

test.each([['magic number', 4], ['version', 0], ['length of the content ID', 16]])('an encrypted file whose header has another %s is no evidence', async (_, at) => {
  const current = some('minecraft-marketplace', /CURRENT/).get('CURRENT')!.slice();
  current[at] = 0xff;
  expect(await foreignEngine(new MemoryFolder(new Map([['CURRENT', current]])))).toBeUndefined();
});

test.each([0, 1, 7, 11, 40])('files of %i bytes with names that other engines use are no evidence', async (length) => {
  const names = ['CURRENT', 'MANIFEST', 'MANIFEST-000001', 'OPTIONS-000001', '000002.log', '000003.sst', 'IDENTITY'];
  for (const byte of [0, 5, 9, 0xff]) {
    expect(await foreignEngine(new MemoryFolder(new Map(names.map((name) => [name, new Uint8Array(length).fill(byte)]))))).toBeUndefined();
  }
});

/** The batch that puts a value, with a sequence. */
function batchAt(sequence: number): Uint8Array {
  const batch = new Uint8Array(17);
  const view = new DataView(batch.buffer);
  view.setUint32(0, sequence, true);
  view.setUint32(8, 1, true);
  batch.set([1, 1, 0x6b, 1, 0x76], 12);
  return batch;
}

/** A log of records. */
function logOf(...records: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const writer = new LogWriter({ append: (bytes) => void parts.push(bytes.slice()) });
  for (const record of records) writer.addRecord(record);
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

test('destroy reads CURRENT and a sound MANIFEST once to find out whose database it is', async () => {
  const folder = new WritableMemoryFolder();
  await (await Database.open(folder)).close();
  const opened: string[] = [];
  const open = folder.open.bind(folder);
  folder.open = (name) => {
    opened.push(name);
    return open(name);
  };
  await Database.destroy(folder);
  expect(opened).toEqual(['CURRENT', 'MANIFEST-000002', '000003.log']);
});
