import { entriesSha256, folderFiles, goldenDatabases, seeded } from '@bloom/fixtures';
import { Database, type Folder, WritableMemoryFolder } from '@bloom/leveldb';
import { encodeVersionEdit, type FileMetadata, type VersionEdit } from '../src/format/version-edit.js';
import { runSync } from '../src/folder/folder-reading.js';
import { readManifest } from '../src/folder/manifest-file.js';
import { RecordFile } from '../src/folder/record-file.js';
import { describe, expect, test } from 'vitest';
import { databaseWithLeftovers, RememberingFolder } from './leftover-files.js';
import { PowerCutFolder, type Remains } from './power-cut-folder.js';
import { reverseComparator } from './reverse-comparator.js';
import { asMap, entriesOf, mustBeSound, small } from './some-database.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

async function keysOf(folder: Folder): Promise<string[]> {
  return [...asMap(await entriesOf(folder)).keys()];
}

/** The tables of a database, and the level of each. */
function levelsOf(folder: WritableMemoryFolder): { readonly level: number; readonly file: FileMetadata }[] {
  const [name] = namesOf(folder.list(), /^MANIFEST/);
  const { builder } = runSync(folder, readManifest(folder.open(name!)!, name!));
  return builder.files.levels.flatMap((files, level) => files.map((file) => ({ level, file })));
}

const namesOf = (files: Iterable<string>, pattern: RegExp): string[] => [...files].filter((name) => pattern.test(name)).sort();

/** Replaces the MANIFEST of a closed database. */
async function setManifest(folder: WritableMemoryFolder, edit: VersionEdit): Promise<void> {
  const [name] = namesOf(folder.list(), /^MANIFEST/);
  const file = new RecordFile(0n, name!, folder.create(name!));
  await file.addRecord(encodeVersionEdit(edit));
  await file.close();
}

/** A closed database without `b`, whose folder still has the obsolete table with `b`. */
async function withObsoleteTable(): Promise<WritableMemoryFolder> {
  const folder = new RememberingFolder();
  const database = await Database.open(folder);
  for (const key of ['a', 'b', 'c']) await database.put(utf8(key), utf8('1'));
  await database.compactRange();
  await database.delete(utf8('b'));
  await database.compactRange();
  await database.close();
  const files: Map<string, Uint8Array> = folder.files();
  // The deletion, which the compaction dropped, was in another table.
  const [oldest] = namesOf(folder.deleted.keys(), /ldb$/);
  files.set(oldest!, folder.deleted.get(oldest!)!);
  return new WritableMemoryFolder(files);
}

describe('a repair of a database with an obsolete table', () => {
  test('does not bring a deleted key back, and moves the table to lost', async () => {
    const folder = await withObsoleteTable();
    const tables = namesOf(folder.list(), /ldb$/);
    const [manifest] = namesOf(folder.list(), /^MANIFEST/);
    const before = folder.files();
    const report = await Database.repair(folder);
    expect(report).toMatchObject({ manifest, guessed: [], kept: [tables.at(-1)], written: [], entries: 2, lastSequence: 4n, lost: [] });
    for (const name of tables.slice(0, -1)) expect(report.setAside).toContainEqual({ file: name, as: name, reason: 'obsolete' });
    for (const { file, as } of report.setAside) expect(folder.lostFolder().files().get(as)).toEqual(before.get(file));
    expect(await keysOf(folder)).toEqual(['a', 'c']);
    await mustBeSound(folder);
  });

  test('uses the newest intact MANIFEST if CURRENT names a missing file', async () => {
    const folder = await withObsoleteTable();
    const files: Map<string, Uint8Array> = folder.files();
    const [manifest] = namesOf(files.keys(), /^MANIFEST/);
    files.set('CURRENT', utf8('MANIFEST-000099\n'));
    // Older and newer ones that are not intact.
    files.set('MANIFEST-000001', files.get(manifest!)!.slice(0, 20));
    files.set('MANIFEST-000098', utf8('no MANIFEST'));
    const copy = new WritableMemoryFolder(files);
    const report = await Database.repair(copy);
    expect(report).toMatchObject({ manifest, guessed: [], lost: [] });
    expect(await keysOf(copy)).toEqual(['a', 'c']);
  });

  test('merges it if told to use tables alone, and reports that', async () => {
    const folder = await withObsoleteTable();
    const tables = namesOf(folder.list(), /ldb$/);
    const report = await Database.repair(folder, { fromTablesAlone: true });
    expect(report.manifest).toBeUndefined();
    expect(namesOf(report.guessed, /ldb$/)).toEqual(tables);
    expect(await keysOf(folder)).toEqual(['a', 'b', 'c']);
  });

  test('merges it if no MANIFEST is intact', async () => {
    const folder = await withObsoleteTable();
    const [manifest] = namesOf(folder.list(), /^MANIFEST/);
    const files: Map<string, Uint8Array> = folder.files();
    files.get(manifest!)![10]! ^= 1;
    const copy = new WritableMemoryFolder(files);
    expect((await Database.repair(copy)).manifest).toBeUndefined();
    expect(await keysOf(copy)).toEqual(['a', 'b', 'c']);
  });
});

test('a repair does not replay an obsolete log', async () => {
  const folder = new RememberingFolder();
  let database = await Database.open(folder);
  await database.put(utf8('a'), utf8('1'));
  await database.flush();
  await database.delete(utf8('a'));
  await database.compactRange();
  await database.close();
  database = await Database.open(folder);
  await database.put(utf8('b'), utf8('2'));
  await database.close();
  const files: Map<string, Uint8Array> = folder.files();
  const logs = namesOf(folder.deleted.keys(), /log$/);
  for (const name of logs) files.set(name, folder.deleted.get(name)!);
  const copy = new WritableMemoryFolder(files);
  const { setAside } = await Database.repair(copy);
  expect(setAside.filter(({ reason }) => reason === 'obsolete').map(({ file }) => file)).toEqual(logs);
  expect(setAside.filter(({ reason }) => reason === 'replayed')).toHaveLength(1);
  expect(await keysOf(copy)).toEqual(['b']);
});

describe('a repair of a database whose MANIFEST lacks its last edit', () => {
  /** A database before and after a change, and the files that the change deleted. */
  async function changed(change: (database: Database) => Promise<void>) {
    const folder = new RememberingFolder();
    const database = await Database.open(folder, small);
    for (const round of [1, 2, 3]) {
      for (const key of ['a', 'b', 'c', 'd']) await database.put(utf8(key), utf8(`${key}${round}`));
      await database.compactRange();
    }
    await database.delete(utf8('b'));
    await database.flush();
    await database.put(utf8('e'), utf8('5'));
    await database.idle();
    const before = folder.files();
    await change(database);
    await database.idle();
    const after = folder.files();
    await database.close();
    return { before, after };
  }

  test.each([
    { what: 'a flush', change: (database: Database) => database.flush() },
    { what: 'a compaction', change: (database: Database) => database.compactRange() },
  ])('finds the entries that it had, if the edit of $what is torn', async ({ change }) => {
    const { before, after } = await changed(change);
    const [manifest] = namesOf(after.keys(), /^MANIFEST/);
    const whole = after.get(manifest!)!;
    // Until the edit is on disk, nothing is deleted.
    const files = new Map([...after, ...before]);
    const cut = before.get(manifest!)!.length + 1 + ((whole.length - before.get(manifest!)!.length) >>> 1);
    files.set(manifest!, whole.slice(0, cut));
    const folder = new WritableMemoryFolder(files);
    const expected = await keysOf(new WritableMemoryFolder(before));
    expect(expected).toEqual(['a', 'c', 'd', 'e']);
    const report = await Database.repair(folder);
    expect(report).toMatchObject({ manifest, lost: [] });
    await mustBeSound(folder);
    expect(await keysOf(folder)).toEqual(expected);
  });

  test('uses the tables that are newer than the MANIFEST, in the order of their sequences', async () => {
    const { before, after } = await changed(async (database) => {
      await database.put(utf8('a'), utf8('new'));
      await database.compactRange();
    });
    const [manifest] = namesOf(after.keys(), /^MANIFEST/);
    const files = new Map(after).set(manifest!, before.get(manifest!)!);
    const folder = new WritableMemoryFolder(files);
    const report = await Database.repair(folder);
    const newTables = namesOf(after.keys(), /ldb$/).filter((name) => !before.has(name));
    expect(report.guessed).toEqual(newTables);
    expect(report.lost.every(({ code }) => code === 'BLOOM_MISSING_FILE')).toBe(true);
    await mustBeSound(folder);
    expect(asMap(await entriesOf(folder))).toEqual(new Map([['a', 'new'], ['c', 'c3'], ['d', 'd3'], ['e', '5']]));
  });
});

describe('a repair', () => {
  /** A closed database with tables at levels 0, 1 and 2 that overlap. */
  async function leveled(): Promise<{ readonly folder: WritableMemoryFolder; readonly tables: ReturnType<typeof levelsOf> }> {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, { ...small, blockSize: 1024 });
    for (const round of [1, 2, 3]) {
      for (let i = 0; i < 40; i++) await database.put(utf8(`key${i}`), new Uint8Array(100).fill(round));
      if (round === 1) for (let i = 0; i < 20; i++) await database.put(utf8(`old${i}`), new Uint8Array(100));
      if (round === 3) for (let i = 0; i < 20; i++) await database.delete(utf8(`old${i}`));
      await database.flush();
    }
    await database.close();
    const tables = levelsOf(folder);
    expect(tables.map(({ level }) => level)).toEqual([0, 1, 2]);
    return { folder, tables };
  }

  test('keeps the level of each table', async () => {
    const { folder, tables } = await leveled();
    const report = await Database.repair(folder);
    expect(report.written).toEqual([]);
    expect(levelsOf(folder)).toEqual(tables);
  });

  test.each([0, 1, 2])('saves a damaged table of level %i without changing which values are newest, and keeps the level of the others', async (damaged) => {
    const { folder, tables } = await leveled();
    const files: Map<string, Uint8Array> = folder.files();
    const name = `${String(tables[damaged]!.file.number).padStart(6, '0')}.ldb`;
    const bytes = files.get(name)!;
    // The footer: all blocks can be found without it.
    bytes.fill(0, bytes.length - 48);
    const copy = new WritableMemoryFolder(files);
    const expected = await entriesOf(folder);
    const report = await Database.repair(copy, small);
    expect(report.setAside).toContainEqual({ file: name, as: name, reason: 'damaged' });
    expect(report.guessed).toEqual([]);
    await mustBeSound(copy);
    expect(await entriesOf(copy)).toEqual(expected);
    const now = levelsOf(copy);
    for (const table of tables) if (table !== tables[damaged]) expect(now).toContainEqual(table);
    expect(now.map(({ level }) => level)).toEqual([0, 1, 2]);
  });

  test('reports a missing table of level 1, and keeps the level of the others', async () => {
    const { folder, tables } = await leveled();
    const name = `${String(tables[1]!.file.number).padStart(6, '0')}.ldb`;
    folder.delete(name);
    const report = await Database.repair(folder);
    expect(report.lost).toEqual([{ file: name, offset: 0, byteLength: tables[1]!.file.size, reason: 'the MANIFEST lists it, but it is missing', code: 'BLOOM_MISSING_FILE' }]);
    expect(levelsOf(folder)).toEqual([tables[0], tables[2]]);
    const keys = await keysOf(folder);
    expect(keys.some((key) => key.startsWith('old'))).toBe(false);
    expect(keys).toHaveLength(40);
    expect(levelsOf(folder)).not.toContainEqual(tables[1]);
  });

  test.each([
    { what: 'overlap at level 1', levels: [1, 1, 1] },
    { what: 'are listed twice', levels: [0, 1, 2, 1] },
  ])('merges tables that $what by their sequences', async ({ levels }) => {
    const { folder, tables } = await leveled();
    const expected = await entriesOf(folder);
    await setManifest(folder, {
      comparator: 'leveldb.BytewiseComparator',
      logNumber: 0n,
      nextFileNumber: 100n,
      lastSequence: 1000n,
      newFiles: levels.map((level, i) => ({ level, file: tables[i % 3]!.file })),
    });
    await expect(entriesOf(folder)).rejects.toMatchObject({ code: 'BLOOM_BAD_VERSION' });
    const report = await Database.repair(folder);
    expect(report.guessed.length).toBeGreaterThan(0);
    expect(report).toMatchObject({ lastSequence: 1000n, lost: [] });
    await mustBeSound(folder);
    expect(await entriesOf(folder)).toEqual(expected);
  });

  test('gives no missing table’s number to another table', async () => {
    const { folder, tables } = await leveled();
    const last = Math.max(...tables.map(({ file }) => Number(file.number)));
    for (const name of folder.list()) if (name.endsWith('.ldb')) folder.delete(name);
    const log = folder.create('000999.log');
    await log.close();
    await setManifest(folder, { comparator: 'leveldb.BytewiseComparator', logNumber: 0n, nextFileNumber: 5000n, lastSequence: 1000n, newFiles: tables });
    await Database.repair(folder);
    const [manifest] = namesOf(folder.list(), /^MANIFEST/);
    expect(Number(manifest!.slice(9))).toBeGreaterThanOrEqual(5000);
    expect(last).toBeLessThan(5000);
  });

  test('uses the newest of several intact MANIFESTs if there is no CURRENT', async () => {
    const { files, entries, obsolete } = await databaseWithLeftovers(7);
    const manifests = namesOf(obsolete.keys(), /^MANIFEST/);
    expect(manifests.length).toBeGreaterThan(0);
    const [newest] = namesOf(files.keys(), /^MANIFEST/);
    const all = new Map([...files, ...obsolete]);
    all.delete('CURRENT');
    const folder = new WritableMemoryFolder(all);
    const report = await Database.repair(folder);
    expect(report).toMatchObject({ manifest: newest, guessed: [], lost: [] });
    expect(asMap(await entriesOf(folder))).toEqual(entries);
  });
});

test('a repair after a power cut at any time makes the entries that opening the database finds', async () => {
  const onceIn = process.env.BLOOM_REPAIRS === undefined ? 12 : 4;
  const random = seeded(3);
  const folder = new PowerCutFolder();
  const states: Remains[] = [];
  folder.onOperation = () => random.below(onceIn) === 0 && states.push(folder.remains());
  let database = await Database.open(folder, small);
  for (let i = 0; i < 260; i++) {
    const key = utf8(`key${random.below(60)}`);
    if (random.below(3) === 0) await database.delete(key);
    else await database.put(key, random.bytes(400));
    if (random.below(30) === 0) await database.compactRange();
    if (random.below(80) === 0) {
      await database.close();
      database = await Database.open(folder, small);
    }
  }
  await database.close();
  let compared = 0;
  for (const state of states) {
    const files = state.folder(random).files();
    const opened = new WritableMemoryFolder(files);
    const failure: unknown = await Database.open(opened, { ...small, createIfMissing: false }).then((one) => one.close(), (error: unknown) => error);
    if (failure !== undefined) continue;
    const repairedFolder = new WritableMemoryFolder(files);
    await Database.repair(repairedFolder, small);
    await mustBeSound(repairedFolder);
    expect(asMap(await entriesOf(repairedFolder))).toEqual(asMap(await entriesOf(opened)));
    compared++;
  }
  expect(compared).toBeGreaterThan(160 / onceIn);
});

describe.each(goldenDatabases().filter(({ open, damage, entriesSha256: sha256 }) => open === 'OK' && damage === undefined && sha256 !== undefined))('of $name', ({ path, comparator, entries, entriesSha256: sha256 }) => {
  test('a repair makes the entries that LevelDB reads', async () => {
    const folder = new WritableMemoryFolder(folderFiles(path));
    const report = await Database.repair(folder, comparator === undefined ? {} : { comparator: reverseComparator });
    expect(report.guessed).toEqual([]);
    await mustBeSound(folder);
    const found = await entriesOf(folder);
    expect(found).toHaveLength(entries!);
    expect(entriesSha256(found)).toBe(sha256);
  });
});
