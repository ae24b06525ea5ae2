import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entriesSha256, folderFiles, goldenDatabases, type KeyValue } from '@bloom/fixtures';
import { Database, type DatabaseOptions, WritableMemoryFolder } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { type Codec, MemorySource } from '@bloom/sstable';
import { outlineTable } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { damagedFiles, mustHaveKept, repaired } from './interrupted-repair.js';
import { PowerCutFolder } from './power-cut-folder.js';
import { reverseComparator } from './reverse-comparator.js';
import { assembleDatabase, type TableParts } from './assemble-database.js';
import { asMap, entriesOf, mustBeSound, small, someDatabase } from './some-database.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString('latin1');

describe.each(goldenDatabases().filter(({ repair }) => repair !== undefined))('of $name', ({ name, path, comparator, repair, entries, entriesSha256: sha256, verified }) => {
  test('a repair without the MANIFEST finds the same entries and sets aside the same files as LevelDB’s', async () => {
    const folder = new WritableMemoryFolder(folderFiles(path));
    const options = comparator === undefined ? {} : { comparator: reverseComparator };
    const report = await Database.repair(folder, { ...options, fromTablesAlone: true });
    await mustBeSound(folder);
    const found = await entriesOf(folder);
    // LevelDB's repair verifies no checksums, so for these two it brings back damaged data.
    if (name === 'log-damaged') {
      // Only the damaged record is lost. LevelDB, which opens the database without a repair, loses the rest of its block.
      const rest = Array.from({ length: 8 }, (_, i) => `w${26 + i}`.replace('w', 'w00'));
      const isOfRest = ([key]: KeyValue): boolean => rest.includes(text(key)!);
      expect(found.filter(isOfRest).map(([key]) => text(key))).toEqual(rest);
      const others = found.filter((entry) => !isOfRest(entry));
      expect([found.length, others.length, entriesSha256(others)]).toEqual([repair!.entries - 1, entries, sha256]);
    } else {
      const expected = name === 'table-damaged' ? verified! : repair!;
      expect([found.length, entriesSha256(found)]).toEqual([expected.entries, expected.entriesSha256]);
    }
    expect(report.lastSequence).toBe(BigInt(repair!.lastSequence));
    const isTable = (file: string): boolean => /\.(ldb|sst)$/.test(file);
    expect(report.setAside.map(({ file }) => file).filter((file) => !isTable(file)).sort()).toEqual([...repair!.lost].sort());
    expect(folder.lostFolder().list().sort()).toEqual(report.setAside.map(({ as }) => as).sort());

    const database = await Database.open(folder, options);
    expect(database.lastSequence).toBe(report.lastSequence);
    await database.put(utf8('after'), utf8('the repair'));
    expect(text(await database.get(utf8('after')))).toBe('the repair');
    await database.close();
  });
});

test.each(['before the database', 'by nobody'])('tables that were kept for a cursor, which was closed %s, are deleted on closing, so that a repair brings nothing back', async (closed) => {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder);
  for (const key of ['a', 'b', 'c']) await database.put(utf8(key), utf8(key));
  await database.compactRange();
  const cursor = database.cursor();
  await cursor.seekToFirst();
  await database.delete(utf8('b'));
  await database.compactRange();
  const tables = (): string[] => folder.list().filter((name) => name.endsWith('.ldb'));
  expect(tables()).toHaveLength(2);
  if (closed === 'before the database') cursor.close();
  await database.close();
  expect(tables()).toHaveLength(1);
  await Database.repair(folder);
  expect((await entriesOf(folder)).map(([key]) => text(key))).toEqual(['a', 'c']);
});

test('a folder that is missing, and lists no files, is not repaired', async () => {
  class MissingFolder extends WritableMemoryFolder {
    override create(name: string): never {
      throw Object.assign(new Error(`there is no folder for ${name}`), { code: 'ENOENT' });
    }
  }
  await expect(Database.repair(new MissingFolder())).rejects.toMatchObject({ name: 'DatabaseError', code: 'BLOOM_DATABASE_MISSING' });
});

test('a repair restores all entries of a database whose MANIFEST or CURRENT is missing or damaged', async () => {
  const { files, entries } = await someDatabase(1);
  const manifest = [...files.keys()].find((name) => name.startsWith('MANIFEST'))!;
  const cases: ((copy: Map<string, Uint8Array>) => unknown)[] = [
    (copy) => copy.delete('CURRENT'),
    (copy) => copy.delete(manifest),
    (copy) => copy.get(manifest)!.fill(0xff, 10, 40),
    (copy) => copy.set('CURRENT', utf8('<<<<<<< HEAD\n')),
    (copy) => copy.set('CURRENT', utf8('a MANIFEST of another name\n')).set('a MANIFEST of another name', copy.get(manifest)!),
    (copy) => {
      copy.delete('CURRENT');
      copy.delete(manifest);
    },
  ];
  for (const damage of cases) {
    const copy = new Map([...files].map(([name, bytes]) => [name, bytes.slice()]));
    damage(copy);
    const folder = new WritableMemoryFolder(copy);
    const { lost } = await Database.repair(folder);
    expect(lost).toEqual([]);
    await mustBeSound(folder);
    expect(asMap(await entriesOf(folder))).toEqual(entries);
  }
});

test.each([{}, { fromTablesAlone: true }])('a repair with %j keeps the entries of a log or a table that CURRENT names', async (options) => {
  const { files: closed, entries } = await someDatabase(1);
  const written = new WritableMemoryFolder(closed);
  const database = await Database.open(written, small);
  await database.put(utf8('only in the log'), utf8('1'));
  await database.close();
  const files: Map<string, Uint8Array> = written.files();
  const isData = /\.(ldb|log)$/;
  const named = [...files.keys()].filter((name) => isData.test(name));
  expect(new Set(named.map((name) => name.slice(-4)))).toEqual(new Set(['.ldb', '.log']));
  for (const name of named) {
    const folder = new WritableMemoryFolder(new Map(files).set('CURRENT', utf8(`${name}\n`)));
    const { lost } = await Database.repair(folder, options);
    expect(lost).toEqual([]);
    await mustBeSound(folder);
    expect(asMap(await entriesOf(folder)), name).toEqual(new Map(entries).set('only in the log', '1'));
  }
});

test('a repair takes a MANIFEST that has the name of a log, and that CURRENT names, for what it is', async () => {
  const { files, entries } = await someDatabase(1);
  const manifest = [...files.keys()].find((name) => name.startsWith('MANIFEST'))!;
  files.set('000900.log', files.get(manifest)!).set('CURRENT', utf8('000900.log\n'));
  files.delete(manifest);
  const folder = new WritableMemoryFolder(files);
  const report = await Database.repair(folder);
  expect(report).toMatchObject({ manifest: '000900.log', guessed: [], lost: [] });
  await mustBeSound(folder);
  expect(asMap(await entriesOf(folder))).toEqual(entries);
});

test.each([{}, { fromTablesAlone: true }])('a repair with %j reports a table over which another one was copied as lost', async (options) => {
  const table = (number: number, key: string): TableParts => ({ level: 1, number, versions: [{ key: utf8(key), sequence: number, value: utf8('1') }] });
  const files = assembleDatabase({ tables: [table(5, 'a'), table(6, 'b'), table(7, 'other')] });
  const byteLength = files.get('000006.ldb')!.length;
  files.set('000006.ldb', files.get('000007.ldb')!);
  const folder = new WritableMemoryFolder(files);
  const { lost } = await Database.repair(folder, options);
  expect(lost).toEqual([
    { file: '000006.ldb', offset: 0, byteLength, reason: 'it is not the table that the MANIFEST lists: its first or last key is another one', code: 'BLOOM_BAD_VERSION' },
  ]);
  await mustBeSound(folder);
  expect([...asMap(await entriesOf(folder)).keys()]).toEqual(['a', 'other']);
  expect((await Database.repair(folder, options)).lost).toEqual([]);
});

test('a repair reports a table that the MANIFEST lists but the folder lacks as lost', async () => {
  const { files } = await someDatabase(3);
  const table = [...files.keys()].find((name) => name.endsWith('.ldb'))!;
  const size = files.get(table)!.length;
  files.delete(table);
  const folder = new WritableMemoryFolder(files);
  const { lost } = await Database.repair(folder);
  expect(lost).toEqual([{ file: table, offset: 0, byteLength: size, reason: 'the MANIFEST lists it, but it is missing', code: 'BLOOM_MISSING_FILE' }]);
  await mustBeSound(folder);
});

test.each([{}, { fromTablesAlone: true }])('a repair with %j reports what is missing of a table that ends before any of its blocks, or is empty', async (options) => {
  const { files } = await someDatabase(3);
  const name = [...files.keys()].find((each) => each.endsWith('.ldb'))!;
  const table = files.get(name)!;
  // The first data block starts at 0, and each block where the trailer of the previous one ends.
  const { offsets } = await outlineTable(new MemorySource(table));
  expect(offsets.length).toBeGreaterThan(4);
  for (const end of offsets) {
    const folder = new WritableMemoryFolder(new Map(files).set(name, table.slice(0, end)));
    const { lost, setAside } = await Database.repair(folder, options);
    const reason = `the file ends here, but the MANIFEST says that it has ${table.length} bytes`;
    expect(lost, `${end} of ${table.length} bytes`).toEqual([{ file: name, offset: end, byteLength: table.length - end, reason, code: 'BLOOM_TRUNCATED' }]);
    expect(setAside).toContainEqual({ file: name, as: name, reason: 'damaged' });
    await mustBeSound(folder);
  }
});

test('a repair reports nothing as lost for a table that lacks only its footer, or a part of it', async () => {
  const { files, entries } = await someDatabase(3);
  const name = [...files.keys()].find((each) => each.endsWith('.ldb'))!;
  const table = files.get(name)!;
  for (const missing of [1, 8, 48]) {
    const folder = new WritableMemoryFolder(new Map(files).set(name, table.slice(0, -missing)));
    const { lost, setAside } = await Database.repair(folder);
    expect([missing, lost]).toEqual([missing, []]);
    expect(setAside).toContainEqual({ file: name, as: name, reason: 'damaged' });
    expect(asMap(await entriesOf(folder))).toEqual(entries);
  }
});

test('a repair reports nothing as lost for an empty table that the MANIFEST does not list', async () => {
  const { files, entries } = await someDatabase(3);
  const folder = new WritableMemoryFolder(new Map(files).set('999999.ldb', new Uint8Array(0)));
  const { lost, setAside } = await Database.repair(folder);
  expect(lost).toEqual([]);
  expect(setAside).toContainEqual({ file: '999999.ldb', as: '999999.ldb', reason: 'obsolete' });
  expect(asMap(await entriesOf(folder))).toEqual(entries);
});

test.each([
  ['by the MANIFEST', false],
  ['from tables alone', true],
])('a repair %s reports tables and logs that are folders or links to missing files as lost, and sets them aside', async (_, fromTablesAlone) => {
  const made = new WritableMemoryFolder();
  const database = await Database.open(made);
  for (const key of ['a', 'b']) {
    await database.put(utf8(key), utf8('1'));
    await database.flush();
  }
  await database.put(utf8('c'), utf8('1'));
  await database.close();
  const files = made.files();
  const [table, other] = [...files.keys()].filter((name) => name.endsWith('.ldb'));
  const log = [...files.keys()].find((name) => name.endsWith('.log'))!;
  const path = await mkdtemp(join(tmpdir(), 'bloom-repair-'));
  try {
    for (const [name, bytes] of files) if (name !== table && name !== other && name !== log) await writeFile(join(path, name), bytes);
    await symlink('nowhere', join(path, table!));
    await mkdir(join(path, other!));
    await symlink('nowhere', join(path, log));
    const { lost, setAside, guessed } = await Database.repair(new WritableNodeFolder(path), { fromTablesAlone, lock: 'none' });
    const reason = 'it is listed but cannot be opened';
    const sizeOf = (name: string): { byteLength?: number } => (fromTablesAlone ? {} : { byteLength: files.get(name)!.length });
    expect(lost).toHaveLength(3);
    for (const name of [table!, other!]) expect(lost).toContainEqual({ file: name, offset: 0, ...sizeOf(name), reason, code: 'BLOOM_MISSING_FILE' });
    expect(lost).toContainEqual({ file: log, offset: 0, reason, code: 'BLOOM_MISSING_FILE' });
    for (const name of [table!, other!, log]) {
      expect(setAside).toContainEqual({ file: name, as: name, reason: 'damaged' });
      expect(guessed).not.toContain(name);
    }
    expect((await readdir(path)).filter((name) => [table, other, log].includes(name))).toEqual([]);
  } finally {
    await rm(path, { recursive: true });
  }
});

test('a repair reports no loss for a link to a missing file if another file with the number is sound', async () => {
  const { files, entries } = await someDatabase(3);
  const table = [...files.keys()].find((name) => name.endsWith('.ldb'))!;
  files.set(table.replace('.ldb', '.sst'), files.get(table)!);
  const folder = new (class extends WritableMemoryFolder {
    override open(name: string): ReturnType<WritableMemoryFolder['open']> {
      return name === table ? undefined : super.open(name);
    }
  })(files);
  const { lost, setAside } = await Database.repair(folder);
  expect(lost).toEqual([]);
  expect(setAside).toContainEqual({ file: table, as: table, reason: 'obsolete' });
  expect(asMap(await entriesOf(folder))).toEqual(entries);
});

test('a repair from tables alone keeps tables that overlap no other', async () => {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder, small);
  for (const letter of ['a', 'b', 'c']) {
    await database.put(utf8(`${letter}1`), utf8('1'));
    await database.put(utf8(`${letter}2`), utf8('2'));
    await database.flush();
  }
  await database.put(utf8('b1'), utf8('3'));
  await database.close();
  const tables = folder.list().filter((name) => name.endsWith('.ldb'));
  const before = folder.files();
  const report = await Database.repair(folder, { fromTablesAlone: true });
  expect(report.kept).toEqual([tables[0], tables[2]]);
  expect(report).toMatchObject({ entries: 7, lastSequence: 7n, lost: [], moreLost: 0 });
  expect(report.written).toHaveLength(1);
  for (const name of report.kept) expect(folder.files().get(name)).toEqual(before.get(name));
  expect(folder.list().filter((name) => name.endsWith('.ldb')).sort()).toEqual([...report.kept, ...report.written].sort());
  expect(asMap(await entriesOf(folder))).toEqual(new Map(Object.entries({ a1: '1', a2: '2', b1: '3', b2: '2', c1: '1', c2: '2' })));
});

test('a second repair does not overwrite the files that the first one set aside', async () => {
  const folder = new WritableMemoryFolder();
  for (const value of ['1', '2']) {
    const database = await Database.open(folder);
    await database.put(utf8('a'), utf8(value));
    await database.close();
    await Database.repair(folder);
  }
  const before = folder.lostFolder().files();
  void folder.create('000003.log').append(utf8('nothing but damage'));
  const { setAside } = await Database.repair(folder);
  expect(setAside).toContainEqual({ file: '000003.log', as: '000003.log.1', reason: 'obsolete' });
  const after = folder.lostFolder().files();
  for (const [name, bytes] of before) expect(after.get(name)).toEqual(bytes);
  expect(text(after.get('000003.log.1'))).toBe('nothing but damage');
  expect(asMap(await entriesOf(folder))).toEqual(new Map([['a', '2']]));
});

describe('a repair is refused', () => {
  test('with a comparator other than the MANIFEST’s, and changes nothing', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, { comparator: reverseComparator });
    await database.put(utf8('a'), utf8('1'));
    await database.close();
    const before = folder.files();
    await expect(Database.repair(folder)).rejects.toMatchObject({ code: 'BLOOM_UNKNOWN_COMPARATOR' });
    expect(folder.files()).toEqual(before);
    // A MANIFEST that is not in use does not count, whichever order it names.
    const other = assembleDatabase({}).get('MANIFEST-000001')!;
    for (const name of ['MANIFEST-000001', 'MANIFEST-000900']) {
      const both = new WritableMemoryFolder(new Map<string, Uint8Array>(before).set(name, other));
      const options = { comparator: reverseComparator };
      expect(await Database.repair(both, options)).toMatchObject({ manifest: [...before.keys()].find((each) => each.startsWith('MANIFEST')), lost: [] });
      expect(asMap(await entriesOf(both))).toEqual(new Map([['a', '1']]));
    }
    // If the one in use is damaged, its order still counts.
    const [manifest, bytes] = [...before].find(([name]) => name.startsWith('MANIFEST'))!;
    const damaged = new Map<string, Uint8Array>(before).set(manifest, Uint8Array.of(...bytes, ...Uint8Array.from({ length: 40_000 }, () => 7))).set('MANIFEST-000900', other);
    await expect(Database.repair(new WritableMemoryFolder(damaged))).rejects.toMatchObject({ code: 'BLOOM_UNKNOWN_COMPARATOR', file: manifest });
  });

  test('if a table needs a codec that was not given, because its blocks are not damaged', async () => {
    const codec: Codec = { type: 77, name: 'half', compress: (bytes) => bytes.slice(0, bytes.length >>> 1), decompress: (bytes) => bytes };
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, { compression: codec, reuseLogs: true });
    await database.put(utf8('a'), new Uint8Array(1000));
    await database.flush().catch(() => undefined);
    await database.close();
    const before = folder.files();
    expect([...before.keys()].some((name) => name.endsWith('.ldb'))).toBe(true);
    await expect(Database.repair(folder)).rejects.toMatchObject({ code: 'BLOOM_UNSUPPORTED_CODEC' });
    expect(folder.files()).toEqual(before);
  });

  test('for an invalid option, for an object that is not a folder, and while the database is open', async () => {
    const folder = new WritableMemoryFolder();
    await expect(Database.repair(folder, { reuseLogs: true } as never)).rejects.toThrow('reuseLogs');
    await expect(Database.repair(folder, { fromTablesAlone: 'yes' as never })).rejects.toThrow('fromTablesAlone');
    await expect(Database.repair({} as never)).rejects.toThrow('folder must be');
    const database = await Database.open(folder);
    await expect(Database.repair(folder)).rejects.toMatchObject({ code: 'BLOOM_LOCKED' });
    await database.close();
  });
});

test('a repair makes an empty database of an empty folder, as in LevelDB', async () => {
  const folder = new WritableMemoryFolder();
  expect(await Database.repair(folder)).toEqual({ manifest: undefined, guessed: [], kept: [], written: [], entries: 0, lastSequence: 0n, setAside: [], lost: [], moreLost: 0 });
  expect(await entriesOf(folder)).toEqual([]);
});

test('a repair accepts logs that repeat batches', async () => {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder);
  await database.put(utf8('a'), utf8('1'));
  await database.close();
  const [log] = folder.list().filter((name) => name.endsWith('.log'));
  const bytes = folder.files().get(log!)!;
  void folder.create('000100.log').append(bytes);
  void folder.create('000101.log').append(new Uint8Array([...bytes, ...bytes]));
  const { lost } = await Database.repair(folder);
  expect(lost).toEqual([]);
  expect(asMap(await entriesOf(folder))).toEqual(new Map([['a', '1']]));
});

  test('a repair fails with the error of a failed operation, and the next repair recovers the same entries', async () => {
    const files = await damagedFiles();
    const whole = await repaired(new PowerCutFolder(files));
    let failing = 0;
    for (; ; failing++) {
      const folder = new PowerCutFolder(files);
      folder.onOperation = (number) => {
        if (number === failing) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      };
      const failure: unknown = await Database.repair(folder, small).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure === undefined) break;
      expect(failure).toMatchObject({ code: 'ENOSPC' });
      folder.onOperation = () => undefined;
      const outcome = await repaired(folder);
      expect(outcome.entries).toEqual(whole.entries);
      mustHaveKept(outcome, whole);
    }
    expect(failing).toBeGreaterThan(15);
  });

describe('a key whose versions need a larger index than a block can be', () => {
  const options: DatabaseOptions = { maxBlockBytes: 2 ** 16, compression: 'none', writeBufferSize: 65_536, filterPolicy: null };
  const key = 'k'.repeat(2000);

  test.each([
    ['between others', (i: number) => (i % 50 === 7 ? `other ${i}` : undefined)],
    ['above and below others, which a compaction put into deeper levels', (i: number) => (i % 9 === 0 ? `${'az'[i % 2]}${i}` : undefined)],
  ])('is divided among tables of one level by a repair, %s, and its newest version is found', async (_, otherAt) => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, options);
    const snapshot = database.snapshot();
    const values = new Map<string, string>();
    for (let i = 0; i < 150; i++) {
      const other = otherAt(i);
      for (const one of other === undefined ? [key] : [key, other]) {
        const value = `${i} ${'v'.repeat(5000)}`;
        await database.put(one, value);
        values.set(one, value);
      }
      if (i === 100) await database.compactRange();
    }
    snapshot.release();
    await database.close();
    for (const missing of ['CURRENT', 'the MANIFEST', 'nothing']) {
      const broken = new WritableMemoryFolder(folder.files());
      for (const name of broken.list()) if (missing !== 'nothing' && (name === 'CURRENT' || (missing === 'the MANIFEST' && name.startsWith('MANIFEST')))) broken.delete(name);
      await Database.repair(broken, { ...options, fromTablesAlone: missing === 'CURRENT' });
      const again = await Database.open(broken, options);
      for (const [one, value] of values) expect(text(await again.get(one))).toBe(value);
      expect(asMap(await entriesOf(broken)).size).toBe(values.size);
      const { levels } = again.describe();
      if (missing === 'CURRENT') expect(Math.max(...levels.map((tables) => tables.length))).toBeGreaterThan(1);
      await again.close();
    }
  });
});
