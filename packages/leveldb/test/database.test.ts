import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { bytewiseComparator, Database, DatabaseError, type DatabaseOptions, DatabaseReader, encodeVersionEdit, type WritableFolder, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { folderFiles, goldenDatabases, seeded } from '@bloom/fixtures';
import { rejection } from '@bloom/fixtures/caught';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { logOf } from './assemble-database.js';
import { collect } from './collect.js';
import { PowerCutFolder, type Remains } from './power-cut-folder.js';
import { reverseComparator } from './reverse-comparator.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString('latin1');
const small: DatabaseOptions = { writeBufferSize: 65_536, maxFileSize: 2 ** 20, compression: 'none' };

async function keysOf(database: Database, sequence?: bigint): Promise<string[]> {
  return (await collect(database.keys({ sequence }))).map((key) => text(key)!);
}

/** The stored versions of a key, newest first, as LevelDB's tests print them: values, and DEL for a deletion. */
async function storedOf(database: Database, key: string): Promise<string[]> {
  return (await database.versions(utf8(key))).map(({ kind, value }) => (kind === 'deletion' ? 'DEL' : text(value)!));
}

/** A symbolic link to a folder, in a folder of its own. */
function linkTo(path: string): string {
  const link = join(mkdtempSync(join(tmpdir(), 'bloom-linked-')), 'link');
  symlinkSync(path, link);
  onTestFinished(() => rmSync(dirname(link), { recursive: true }));
  return link;
}

function levelsOf(database: Database): number[] {
  return database.describe().levels.map((files) => files.length);
}

describe('filterRange', () => {
  /** The size of a table of 300 large entries, after a flush and after a compaction. */
  async function tableSizes(filterRange: number | undefined): Promise<number[]> {
    const database = await Database.open(new WritableMemoryFolder(), { compression: 'none', filterRange });
    const sizes: number[] = [];
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 300; i++) await database.put(utf8(`key${i}`), new Uint8Array(3000).fill(i));
      await database.flush();
      if (round === 1) await database.compactRange();
      sizes.push(database.describe().levels.flat().reduce((sum, { byteLength }) => sum + byteLength, 0));
    }
    for (let i = 0; i < 300; i++) {
      expect((await database.get(utf8(`key${i}`)))?.length).toBe(3000);
      expect(await database.get(utf8(`key${i}x`))).toBeUndefined();
    }
    expect(database.stats.filterNegatives).toBeGreaterThan(250);
    await database.close();
    return sizes;
  }

  test('makes one filter for many large values in flushed and in compacted tables', async () => {
    const [usual, whole] = [await tableSizes(undefined), await tableSizes(2 ** 40)];
    // With LevelDB’s default there is a filter of 9 bytes for each entry, and an offset of 4 bytes for each 2 KiB.
    for (const [i, size] of whole.entries()) expect(usual[i]! - size).toBeGreaterThan(300 * 9);
  });

  test('is refused when it is not a power of two', async () => {
    await expect(Database.open(new WritableMemoryFolder(), { filterRange: 3000 })).rejects.toThrow(RangeError);
  });
});

// Cases of LevelDB's db_test.cc and recovery_test.cc. Names in parentheses are those of the C++ tests.
describe('as in LevelDB’s own tests', () => {
  test('an empty key and an empty value are found', async () => {
    const database = await Database.open(new WritableMemoryFolder());
    await database.put(utf8(''), utf8('v'));
    await database.put(utf8('k'), utf8(''));
    expect(text(await database.get(utf8('')))).toBe('v');
    expect(text(await database.get(utf8('k')))).toBe('');
    await database.flush();
    expect(text(await database.get(utf8('')))).toBe('v');
    await database.close();
  });

  test('get returns the value from the newer of two tables in level 0, and from the upper of two levels', async () => {
    const database = await Database.open(new WritableMemoryFolder(), small);
    await database.put(utf8('bar'), utf8('b'));
    await database.put(utf8('foo'), utf8('v1'));
    await database.flush();
    await database.put(utf8('foo'), utf8('v2'));
    await database.flush();
    expect(text(await database.get(utf8('foo')))).toBe('v2');
    await database.compactRange();
    await database.put(utf8('foo'), utf8('v3'));
    await database.flush();
    expect(text(await database.get(utf8('foo')))).toBe('v3');
    await database.close();
  });

  test('a snapshot still shows its values after they were overwritten, flushed and compacted, and one of an empty database shows nothing', async () => {
    const database = await Database.open(new WritableMemoryFolder(), small);
    const empty = database.snapshot();
    await database.put(utf8('foo'), utf8('v1'));
    const first = database.snapshot();
    await database.put(utf8('foo'), utf8('v2'));
    await database.flush();
    await database.compactRange();
    expect(text(await database.get(utf8('foo')))).toBe('v2');
    expect(text(await database.get(utf8('foo'), { sequence: first.sequence }))).toBe('v1');
    expect(await keysOf(database, empty.sequence)).toEqual([]);
    await database.close();
  });

  test('a cursor shows the entries of the time when it was made, even after ten megabytes of puts', async () => {
    const database = await Database.open(new WritableMemoryFolder(), { ...small, cache: null });
    await database.put(utf8('foo'), utf8('hello'));
    const cursor = database.cursor();
    await database.put(utf8('foo'), utf8('newvalue1'));
    for (let i = 0; i < 100; i++) await database.put(utf8(`key${i}`), new Uint8Array(100_000).fill(i));
    expect(await cursor.seekToFirst()).toBe(true);
    expect([text(cursor.key), text(cursor.value)]).toEqual(['foo', 'hello']);
    expect(await cursor.next()).toBe(false);
    cursor.close();
    await database.close();
  });

  test('a deletion hides older values, and a compaction that drops those drops the deletion too (DeletionMarkers1)', async () => {
    const database = await Database.open(new WritableMemoryFolder(), small);
    await database.put(utf8('foo'), utf8('v1'));
    await database.flush();
    expect(levelsOf(database)).toEqual([0, 0, 1, 0, 0, 0, 0]);
    await database.put(utf8('a'), utf8('begin'));
    await database.put(utf8('z'), utf8('end'));
    await database.flush();
    expect(levelsOf(database)).toEqual([0, 1, 1, 0, 0, 0, 0]);
    await database.delete(utf8('foo'));
    await database.put(utf8('foo'), utf8('v2'));
    expect(await storedOf(database, 'foo')).toEqual(['v2', 'DEL', 'v1']);
    await database.flush();
    expect(await storedOf(database, 'foo')).toEqual(['v2', 'DEL', 'v1']);
    await database.compactRange();
    expect(await storedOf(database, 'foo')).toEqual(['v2']);
    await database.close();
  });

  test('hidden values are kept for a snapshot, and compacted away once it is released (HiddenValuesAreRemoved)', async () => {
    const database = await Database.open(new WritableMemoryFolder(), small);
    for (let i = 0; i < 3; i++) {
      await database.put(utf8('a'), utf8('begin'));
      await database.put(utf8('z'), utf8('end'));
      await database.flush();
    }
    await database.put(utf8('foo'), new Uint8Array(50_000).fill(98));
    await database.put(utf8('pastfoo'), utf8('v'));
    const snapshot = database.snapshot();
    await database.put(utf8('foo'), utf8('tiny'));
    await database.put(utf8('pastfoo2'), utf8('v2'));
    await database.flush();
    expect(levelsOf(database).slice(0, 3)).toEqual([2, 1, 1]);
    expect((await storedOf(database, 'foo')).map(({ length }) => length)).toEqual([4, 50_000]);
    expect(await database.approximateSize(utf8(''), utf8('pastfoo'))).toBeGreaterThan(50_000);
    snapshot.release();
    snapshot.release();
    await database.compactRange(utf8(''), utf8('x'));
    expect((await storedOf(database, 'foo')).map(({ length }) => length)).toEqual([4]);
    expect(await database.approximateSize(utf8(''), utf8('pastfoo'))).toBeLessThan(1000);
    await database.close();
  });

  test('a flushed deletion that overlaps tables in level 0 stays in level 0 (OverlapInLevel0)', async () => {
    const database = await Database.open(new WritableMemoryFolder(), small);
    await database.put(utf8('100'), utf8('v100'));
    await database.put(utf8('999'), utf8('v999'));
    await database.flush();
    await database.delete(utf8('100'));
    await database.delete(utf8('999'));
    await database.flush();
    expect(levelsOf(database).slice(0, 3)).toEqual([0, 1, 1]);
    await database.put(utf8('300'), utf8('v300'));
    await database.put(utf8('500'), utf8('v500'));
    await database.flush();
    await database.put(utf8('200'), utf8('v200'));
    await database.put(utf8('600'), utf8('v600'));
    await database.put(utf8('900'), utf8('v900'));
    await database.flush();
    expect(levelsOf(database).slice(0, 3)).toEqual([2, 1, 1]);
    await database.compactRange(utf8('~'));
    await database.delete(utf8('600'));
    await database.flush();
    expect(levelsOf(database)[0]).toBe(3);
    expect(await database.get(utf8('600'))).toBeUndefined();
    await database.close();
  });

  test('compactRange compacts only tables that overlap the range (ManualCompaction)', async () => {
    const database = await Database.open(new WritableMemoryFolder(), small);
    for (let i = 0; i < 3; i++) {
      await database.put(utf8('p'), utf8('begin'));
      await database.put(utf8('q'), utf8('end'));
      await database.flush();
    }
    expect(levelsOf(database).slice(0, 3)).toEqual([1, 1, 1]);
    await database.compactRange(utf8(''), utf8('c'));
    await database.compactRange(utf8('r'), utf8('z'));
    expect(levelsOf(database).slice(0, 3)).toEqual([1, 1, 1]);
    await database.compactRange(utf8('p1'), utf8('p9'));
    expect(levelsOf(database).slice(0, 3)).toEqual([0, 0, 1]);
    expect(database.property('leveldb.num-files-at-level2')).toBe('1');
    expect(database.property('leveldb.num-files-at-level7')).toBeUndefined();
    await database.close();
  });

  test('compactions leave no unneeded files (FilesDeletedAfterCompaction)', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, small);
    await database.put(utf8('foo'), utf8('v2'));
    await database.compactRange(utf8('a'), utf8('z'));
    const { length } = folder.list();
    for (let i = 0; i < 10; i++) {
      await database.put(utf8('foo'), utf8('v2'));
      await database.compactRange(utf8('a'), utf8('z'));
    }
    expect(folder.list()).toHaveLength(length);
    await database.close();
  });

  test('recovering a large log with a smaller buffer makes three tables (RecoverWithLargeLog)', async () => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder);
    await database.put(utf8('big1'), new Uint8Array(200_000).fill(49));
    await database.put(utf8('big2'), new Uint8Array(200_000).fill(50));
    await database.put(utf8('small3'), new Uint8Array(10).fill(51));
    await database.put(utf8('small4'), new Uint8Array(10).fill(52));
    expect(levelsOf(database)[0]).toBe(0);
    await database.close();
    database = await Database.open(folder, { writeBufferSize: 100_000 });
    expect(levelsOf(database)[0]).toBe(3);
    expect((await collect(database.values())).map(({ length }) => length)).toEqual([200_000, 200_000, 10, 10]);
    await database.close();
  });

  test('reuseLogs continues the same MANIFEST and log (ManifestReused, LogFileReuse)', async () => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder, { reuseLogs: true });
    await database.put(utf8('foo'), utf8('bar'));
    const { manifest } = database.describe();
    const { number } = database.describe().logs[0]!;
    await database.close();
    for (let i = 0; i < 2; i++) {
      database = await Database.open(folder, { reuseLogs: true });
      expect(database.describe()).toMatchObject({ manifest, logs: [{ number }] });
      expect(text(await database.get(utf8('foo')))).toBe('bar');
      await database.close();
    }
  });

  test("reuseLogs: 'empty' continues a log without operations, and then writes nothing; what another holds becomes a table", async () => {
    const folder = new WritableMemoryFolder();
    const open = (): Promise<Database> => Database.open(folder, { reuseLogs: 'empty' });
    let database = await open();
    await database.put(utf8('foo'), utf8('bar'));
    await database.close();
    database = await open();
    const { levels, logs } = database.describe();
    expect(levels[0]).toHaveLength(1);
    await database.close();
    const files = folder.files();
    for (let i = 0; i < 2; i++) {
      database = await open();
      expect(database.describe()).toMatchObject({ logs });
      expect(text(await database.get(utf8('foo')))).toBe('bar');
      await database.close();
      expect(folder.files()).toEqual(files);
    }
    database = await open();
    await database.put(utf8('foo'), utf8('again'));
    await database.close();
    expect(folder.files().get(logs[0]!.name)?.length).toBeGreaterThan(0);
    database = await open();
    expect(database.describe().levels[0]).toHaveLength(2);
    expect(database.describe().logs[0]!.name).not.toBe(logs[0]!.name);
    expect(text(await database.get(utf8('foo')))).toBe('again');
    await database.close();
  });

  test("reuseLogs: 'empty' writes a MANIFEST of 16 KiB anew", async () => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder);
    const key = utf8('k'.repeat(4000));
    let { manifest } = database.describe();
    while (folder.files().get(manifest)!.length < 2 ** 14) {
      await database.put(key, utf8('1'));
      await database.flush();
    }
    await database.compactRange();
    await database.close();
    database = await Database.open(folder, { reuseLogs: 'empty' });
    expect(database.describe().manifest).not.toBe(manifest);
    ({ manifest } = database.describe());
    await database.close();
    expect(folder.files().get(manifest)!.length).toBeLessThan(2 ** 14);
    database = await Database.open(folder, { reuseLogs: 'empty' });
    expect(database.describe().manifest).toBe(manifest);
    await database.close();
  });

  test('missing logs are not an error, and their keys are absent (NoLogFiles)', async () => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder);
    await database.put(utf8('foo'), utf8('bar'));
    await database.close();
    for (const name of folder.list()) if (name.endsWith('.log')) folder.delete(name);
    database = await Database.open(folder);
    expect(await database.get(utf8('foo'))).toBeUndefined();
    await database.close();
  });
});

test('a deleted key stays deleted when its versions are in two tables of a level, and only the first is compacted', async () => {
  const folder = new WritableMemoryFolder();
  const options = { compression: 'none', blockSize: 2 ** 21, maxFileSize: 2 ** 20, writeBufferSize: 2 ** 24 } as const;
  const database = await Database.open(folder, options);
  const key = utf8('k'.repeat(300));
  await database.put(key, utf8('old'));
  await database.flush();
  const snapshot = database.snapshot();
  // The first table ends with the deletion, and the second begins with the value that the snapshot sees.
  await database.put(utf8('j'), new Uint8Array(2 ** 21 - 150));
  await database.delete(key);
  await database.flush();
  await database.compactRange();
  const [first, second] = database.describe().levels.find((tables) => tables.length > 0)!;
  expect([text(first!.largest.userKey), text(second!.smallest.userKey)]).toEqual([text(key), text(key)]);
  snapshot.release();
  await database.put(utf8('j'), utf8('new'));
  await database.compactRange();
  expect(await database.get(key)).toBeUndefined();
  expect((await database.versions(key)).map(({ kind }) => kind)).toEqual(['deletion', 'value']);
  // Once both tables are compacted together, neither is needed.
  for (let i = 0; i < 7; i++) {
    await database.put(utf8('j'), utf8(String(i)));
    await database.put(utf8('l'), utf8(String(i)));
    await database.compactRange();
    expect(await database.get(key)).toBeUndefined();
  }
  expect(await database.versions(key)).toEqual([]);
  await database.close();
});

describe('opening', () => {
  test('refuses a missing database with createIfMissing: false, and an existing one with errorIfExists: true', async () => {
    const folder = new WritableMemoryFolder();
    await expect(Database.open(folder, { createIfMissing: false })).rejects.toMatchObject({ name: 'DatabaseError', code: 'BLOOM_DATABASE_MISSING' });
    expect(folder.list()).toEqual([]);
    await (await Database.open(folder, { errorIfExists: true })).close();
    await expect(Database.open(folder, { errorIfExists: true })).rejects.toMatchObject({ code: 'BLOOM_DATABASE_EXISTS' });
  });

  test('refuses invalid options, and names them', async () => {
    const folder = new WritableMemoryFolder();
    const wrong: [unknown, string][] = [
      [{ writeBufersize: 1 }, 'did you mean writeBufferSize'],
      [{ writeBufferSize: -1 }, 'writeBufferSize'],
      [{ compression: 'zip' }, 'compression'],
      [{ comparator: {} }, 'comparator'],
      [{ filterPolicy: {} }, 'filterPolicy'],
      [{ lock: 'file' }, 'lock'],
      [{ reuseLogs: 1 }, 'reuseLogs'],
      [{ reuseLogs: 'full' }, `reuseLogs must be true, false or 'empty', got "full"`],
    ];
    for (const [options, message] of wrong) await expect(Database.open(folder, options as DatabaseOptions)).rejects.toThrow(message);
    await expect(Database.open('path' as never)).rejects.toThrow('folder must be a folder that can be written to');
    expect(folder.list()).toEqual([]);
  });

  test('waits while the database of the folder is being closed in the same thread, and does not while it is open', async () => {
    const folder = new WritableMemoryFolder();
    const first = await Database.open(folder);
    const batch = new WriteBatch();
    for (let i = 0; i < 20_000; i++) batch.put(`key${i}`, 'value');
    const writing = first.write(batch);
    expect(await rejection(Database.open(folder))).toMatchObject({ code: 'BLOOM_LOCKED' });
    const clearing = first.clear({ gt: 'key0' });
    const closing = first.close();
    const openings = [Database.open(folder), Database.open(folder)].map((opening) => opening.then((database) => ({ database }), (error: unknown) => ({ error })));
    await Promise.all([writing, clearing, closing]);
    const [second, third] = await Promise.all(openings);
    expect(third).toMatchObject({ error: { code: 'BLOOM_LOCKED' } });
    const { database } = second as { readonly database: Database };
    expect(await keysOf(database)).toEqual(['key0']);
    await Promise.all([database.close(), Database.destroy(folder)]);
    expect(folder.list()).toEqual([]);
  });

  test('finds that the database was closed after the attempt to lock the folder', async () => {
    const opened: Database[] = [];
    const folder = new (class extends WritableMemoryFolder {
      override lock(): ReturnType<WritableMemoryFolder['lock']> {
        try {
          return super.lock();
        } finally {
          for (const database of opened) void database.close();
        }
      }
    })();
    opened.push(await Database.open(folder));
    await (await Database.open(folder)).close();
  });

  test.each(['memory', 'Node'])('waits for a deletion of the database that was called before, in %s', async (place) => {
    const path = place === 'Node' ? mkdtempSync(join(tmpdir(), 'bloom-destroyed-')) : undefined;
    const folder = path === undefined ? new WritableMemoryFolder() : new WritableNodeFolder(path);
    const first = await Database.open(folder);
    await first.put('key', 'value');
    await first.close();
    const destroying = Database.destroy(folder);
    const second = await Database.open(folder);
    await destroying;
    expect(await keysOf(second)).toEqual([]);
    await second.put('key', 'value');
    await second.close();
    expect(await folder.list()).toContain('CURRENT');
    if (path !== undefined) rmSync(path, { recursive: true });
  });

  test.each<DatabaseOptions>([{}, { createIfMissing: false }, { damage: 'skip' }, { fitFilters: true }])('is not overtaken by a deletion of the database, with %j', async (options) => {
    const path = mkdtempSync(join(tmpdir(), 'bloom-opened-'));
    const first = await Database.open(new WritableNodeFolder(path));
    await first.put('key', 'value');
    await first.close();
    const opening = Database.open(new WritableNodeFolder(path), options);
    const destroying = rejection(Database.destroy(new WritableNodeFolder(path)));
    const second = await opening;
    expect(await destroying).toMatchObject({ code: 'BLOOM_LOCKED' });
    expect(await keysOf(second)).toEqual(['key']);
    await second.close();
    rmSync(path, { recursive: true });
  });

  test.each<DatabaseOptions>([{ errorIfExists: true }, { lock: 'none' }])('waits for a deletion, with %j', async (options) => {
    const path = mkdtempSync(join(tmpdir(), 'bloom-destroyed-'));
    const folder = new (class extends WritableNodeFolder {
      override async delete(name: string): Promise<void> {
        await new Promise((resolve) => setTimeout(resolve, 1));
        await super.delete(name);
      }
    })(path);
    const first = await Database.open(folder);
    await first.put('key', 'value');
    await first.close();
    const destroying = Database.destroy(folder);
    const second = await Database.open(folder, options);
    await destroying;
    expect(await keysOf(second)).toEqual([]);
    await second.put('key', 'value');
    await second.close();
    rmSync(path, { recursive: true });
  });

  test('waits for the last writes of a database that is being closed, even if it does not lock the folder', async () => {
    const folder = new WritableMemoryFolder();
    const first = await Database.open(folder, { lock: 'none' });
    const batch = new WriteBatch();
    for (let i = 0; i < 20_000; i++) batch.put(`key${i}`, 'value');
    const ending = Promise.all([first.write(batch), first.clear({ gt: 'key0' }), first.close()]);
    const second = await Database.open(folder, { lock: 'none' });
    await ending;
    expect(await keysOf(second)).toEqual(['key0']);
    await second.close();
  });

  test.each<[string, (path: string) => string]>([
    ['an absolute path', (path) => path],
    ['a relative path', (path) => relative(process.cwd(), path)],
    ['a slash at the end', (path) => `${path}/`],
    ['dots', (path) => `${path}/../${basename(path)}/.`],
    ['a link to it', (path) => linkTo(path)],
    ['a link to its parent', (path) => join(linkTo(dirname(path)), basename(path))],
  ])('waits for earlier calls for the same folder under another path: %s', async (_, other) => {
    const path = join(mkdtempSync(join(tmpdir(), 'bloom-spelled-')), 'database');
    const first = await Database.open(new WritableNodeFolder(path));
    await first.put('key', 'value');
    const folder = new WritableNodeFolder(other(path));
    const closing = first.close();
    const second = await Database.open(folder);
    await closing;
    const closingSecond = second.close();
    const destroying = Database.destroy(folder);
    const third = await Database.open(new WritableNodeFolder(path));
    await Promise.all([closingSecond, destroying]);
    expect(await keysOf(third)).toEqual([]);
    const closingThird = third.close();
    const opening = Database.open(folder);
    expect(await rejection(Database.destroy(new WritableNodeFolder(path)))).toMatchObject({ code: 'BLOOM_LOCKED' });
    await closingThird;
    await (await opening).close();
    rmSync(dirname(path), { recursive: true });
  });

  test('waits under another path although the folder does not exist yet', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'bloom-spelled-'));
    const opening = Database.open(new WritableNodeFolder(join(parent, 'new', 'database')));
    const destroying = rejection(Database.destroy(new WritableNodeFolder(join(linkTo(parent), 'new', 'database'))));
    const database = await opening;
    expect(await destroying).toMatchObject({ code: 'BLOOM_LOCKED' });
    await database.put('key', 'value');
    await database.close();
    rmSync(parent, { recursive: true });
  });

  test.each(['repair', 'refilter'] as const)('waits for a %s of the database that was called before', async (name) => {
    const folder = new WritableMemoryFolder();
    const first = await Database.open(folder);
    await first.put('key', 'value');
    await first.close();
    const call = Database[name](folder);
    const second = await Database.open(folder);
    expect(await call).toMatchObject({ entries: name === 'repair' ? 1 : 0 });
    expect(await keysOf(second)).toEqual(['key']);
    const closing = second.close();
    // This one comes after both.
    const again = Database[name](folder);
    const destroying = Database.destroy(folder);
    await Promise.all([closing, again, destroying]);
    expect(folder.list().filter((file) => file !== 'lost')).toEqual([]);
  });

  test.each(['memory', 'Node'])('a deletion during the creation of the database is refused, in %s', async (place) => {
    const path = join(mkdtempSync(join(tmpdir(), 'bloom-created-')), 'database');
    const memory = new WritableMemoryFolder();
    const folder = (): WritableFolder => (place === 'Node' ? new WritableNodeFolder(path) : memory);
    const opening = Database.open(folder());
    expect(await rejection(Database.destroy(folder()))).toMatchObject({ code: 'BLOOM_LOCKED' });
    const database = await opening;
    await database.put('key', 'value');
    await Promise.all([database.close(), Database.destroy(folder())]);
    expect(existsSync(path)).toBe(false);
    rmSync(dirname(path), { recursive: true });
  });

  test('a deletion is refused while another program is creating the database, and has only locked the folder', async () => {
    const path = mkdtempSync(join(tmpdir(), 'bloom-created-'));
    const lock = await new WritableNodeFolder(path).lock();
    expect(await rejection(Database.destroy(new WritableNodeFolder(path)))).toMatchObject({ code: 'BLOOM_LOCKED' });
    await lock.release();
    await Database.destroy(new WritableNodeFolder(path));
    expect(readdirSync(path)).toEqual(['LOCK']);
    rmSync(join(path, 'LOCK'));
    mkdirSync(join(path, 'LOCK'));
    await Database.destroy(new WritableNodeFolder(path));
    expect(readdirSync(path)).toEqual(['LOCK']);
    rmSync(path, { recursive: true });
  });

  test('two deletions at once leave no folder', async () => {
    const path = mkdtempSync(join(tmpdir(), 'bloom-destroyed-'));
    const folder = new (class extends WritableNodeFolder {
      override async removeFolder(): Promise<void> {
        await new Promise((resolve) => setTimeout(resolve, 10));
        await super.removeFolder();
      }
    })(path);
    await (await Database.open(folder)).close();
    await Promise.all([Database.destroy(folder), Database.destroy(folder)]);
    expect(existsSync(path)).toBe(false);
  });

  test.each(['compression', 'damage', 'lock', 'reuseLogs'])('throws a RangeError for %s that is none of its values', async (option) => {
    for (const value of ['full', 1]) {
      const error = await rejection(Database.open(new WritableMemoryFolder(), { [option]: value }));
      expect(error).toBeInstanceOf(RangeError);
      expect((error as Error).message).toMatch(new RegExp(`^${option} must be `));
    }
  });

  test('refuses a comparator other than the database’s, and changes nothing', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, { comparator: reverseComparator });
    await database.put(utf8('a'), utf8('1'));
    await database.put(utf8('b'), utf8('2'));
    expect(await keysOf(database)).toEqual(['b', 'a']);
    await database.close();
    const before = folder.files();
    await expect(Database.open(folder, { comparator: bytewiseComparator })).rejects.toMatchObject({ code: 'BLOOM_UNKNOWN_COMPARATOR' });
    expect(folder.files()).toEqual(before);
  });

  test('refuses a folder whose CURRENT is missing, where LevelDB would delete the other files', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder);
    await database.put(utf8('a'), utf8('1'));
    await database.close();
    folder.delete('CURRENT');
    await expect(Database.open(folder)).rejects.toMatchObject({ code: 'BLOOM_NOT_A_DATABASE' });
  });

  test('refuses a damaged log, a damaged MANIFEST and a missing table, and changes nothing', async () => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder, small);
    await database.put(utf8('a'), new Uint8Array(1000).fill(1));
    await database.flush();
    await database.put(utf8('b'), new Uint8Array(1000).fill(1));
    await database.close();
    const whole = folder.files();
    const cases: [RegExp, ((bytes: Uint8Array) => void) | undefined, string][] = [
      [/\.log$/, (bytes) => (bytes[500]! ^= 1), 'BLOOM_BAD_LOG'],
      [/^MANIFEST/, (bytes) => (bytes[20]! ^= 1), 'BLOOM_BAD_LOG'],
      [/\.ldb$/, undefined, 'BLOOM_MISSING_FILE'],
      [/^CURRENT$/, (bytes) => (bytes[3]! ^= 1), 'BLOOM_BAD_CURRENT'],
    ];
    for (const [pattern, damage, code] of cases) {
      const damaged = new Map([...whole].map(([name, bytes]) => [name, bytes.slice()]));
      for (const [name, bytes] of [...damaged]) {
        if (!pattern.test(name)) continue;
        if (damage === undefined) damaged.delete(name);
        else damage(bytes);
      }
      const copy = new WritableMemoryFolder(damaged);
      await expect(Database.open(copy, small)).rejects.toMatchObject({ code });
      expect(copy.files()).toEqual(damaged);
    }
    database = await Database.open(folder, small);
    expect(await keysOf(database)).toEqual(['a', 'b']);
    await database.close();
  });

  describe("with damage: 'skip'", () => {
    /** A log of three records in three blocks, with damage in the second block. */
    async function damaged(): Promise<{ folder: WritableMemoryFolder; name: string; log: Uint8Array }> {
      const folder = new WritableMemoryFolder();
      const database = await Database.open(folder);
      for (const key of ['a', 'b', 'c']) await database.put(utf8(key), new Uint8Array(32_743));
      await database.close();
      const name = folder.list().find((file) => file.endsWith('.log'))!;
      const log = folder.files().get(name)!;
      log[40_000]! ^= 1;
      void folder.create(name).append(log);
      return { folder, name, log };
    }

    test.each([false, true])('copies a damaged log to lost and opens with what can be read of it, with reuseLogs: %s', async (reuseLogs) => {
      const { folder, name, log } = await damaged();
      await expect(Database.open(folder, { reuseLogs })).rejects.toMatchObject({ code: 'BLOOM_BAD_LOG' });
      expect(folder.lostFolder().list()).toEqual([]);
      const reader = await DatabaseReader.open(folder, { damage: 'skip' });
      const { dropped } = reader.describe();
      expect(dropped.length).toBeGreaterThan(0);
      const left = (await collect(reader.keys())).map(text);
      await reader.close();
      const database = await Database.open(folder, { reuseLogs, damage: 'skip' });
      expect(database.describe().dropped).toEqual(dropped);
      expect(await keysOf(database)).toEqual(left);
      expect(database.lastSequence).toBe(3n);
      expect(folder.lostFolder().files()).toEqual(new Map([[name, log]]));
      expect(folder.list()).not.toContain(name);
      await database.put(utf8('d'), utf8('1'));
      await database.close();
      // The damaged log is gone, so the next opening finds nothing wrong.
      const again = await Database.open(folder);
      expect(await keysOf(again)).toEqual([...left, 'd']);
      expect(again.describe().dropped).toEqual([]);
      await again.close();
    });

    test('a log of which nothing can be read is not damage any more when the database is opened again', async () => {
      const folder = new WritableMemoryFolder();
      let database = await Database.open(folder, { reuseLogs: true });
      await database.put(utf8('a'), utf8('1'));
      await database.close();
      const name = folder.list().find((file) => file.endsWith('.log'))!;
      const log = folder.files().get(name)!;
      log[10]! ^= 1;
      void folder.create(name).append(log);
      database = await Database.open(folder, { reuseLogs: true, damage: 'skip' });
      await database.close();
      database = await Database.open(folder, { reuseLogs: true });
      expect(await keysOf(database)).toEqual([]);
      await database.close();
    });

    test('syncs the copy before it deletes the damaged log', async () => {
      const { folder, name, log } = await damaged();
      const cuts = new PowerCutFolder(folder.files());
      const remains: Remains[] = [];
      cuts.onOperation = () => remains.push(cuts.remains());
      await (await Database.open(cuts, { damage: 'skip', lock: 'none' })).close();
      const random = seeded(1);
      for (const left of remains) {
        const files = left.folder(random).files();
        expect([...files].some(([file, bytes]) => file.endsWith(name) && Buffer.compare(bytes, log) === 0)).toBe(true);
      }
      expect(cuts.list()).not.toContain(name);
    });

    test('applies the operations before the damage in a batch, as LevelDB does', async () => {
      const folder = new WritableMemoryFolder(folderFiles(goldenDatabases().find((golden) => golden.name === 'log-bad-batch')!.path));
      const reader = await DatabaseReader.open(folder, { damage: 'skip' });
      const left = (await collect(reader.keys())).map(text);
      await reader.close();
      await expect(Database.open(folder)).rejects.toMatchObject({ code: 'BLOOM_BAD_WRITE_BATCH' });
      const database = await Database.open(folder, { damage: 'skip' });
      expect(await keysOf(database)).toEqual(left);
      expect(database.lastSequence).toBe(50n);
      await database.close();
    });

    test('still refuses a damaged MANIFEST, as LevelDB does, and refuses an unknown mode', async () => {
      const { folder } = await damaged();
      await expect(Database.open(folder, { damage: 'ignore' } as never)).rejects.toThrow("damage must be 'strict' or 'skip'");
      const manifest = folder.list().find((name) => name.startsWith('MANIFEST'))!;
      const bytes = folder.files().get(manifest)!;
      bytes[20]! ^= 1;
      void folder.create(manifest).append(bytes);
      const before = folder.files();
      await expect(Database.open(folder, { damage: 'skip' })).rejects.toMatchObject({ code: 'BLOOM_BAD_LOG' });
      expect(folder.files()).toEqual(before);
    });
  });

  test.each(['reuse', 'new'])('opens a log that repeats its records, with a log mode of %s', async (logs) => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder);
    for (const key of ['a', 'b', 'a']) await database.put(utf8(key), utf8('1'));
    await database.close();
    const name = folder.list().find((file) => file.endsWith('.log'))!;
    const log = folder.files().get(name)!;
    void folder.create(name).append(new Uint8Array([...log, ...log, ...log]));
    database = await Database.open(folder, { reuseLogs: logs === 'reuse' });
    await database.flush();
    await database.compactRange();
    expect(await keysOf(database)).toEqual(['a', 'b']);
    await database.close();
    expect((await verifyDatabase(folder)).findings).toEqual([]);
  });

  test('refuses a log or a MANIFEST that leaves no sequence or file number for new writes', async () => {
    const batch = (sequence: bigint): Uint8Array => logOf([new WriteBatch().put(utf8('a'), utf8('1')).encode(sequence).slice()]);
    const edit = { comparator: bytewiseComparator.name, logNumber: 3n, nextFileNumber: 5n, lastSequence: 0n };
    const cases: [Uint8Array, typeof edit, string][] = [
      [batch(2n ** 56n - 1n), edit, 'BLOOM_BAD_WRITE_BATCH'],
      [batch(2n ** 64n - 1n), edit, 'BLOOM_BAD_WRITE_BATCH'],
      [batch(1n), { ...edit, lastSequence: 2n ** 56n - 1n }, 'BLOOM_BAD_VERSION'],
      [batch(1n), { ...edit, lastSequence: 2n ** 64n - 1n }, 'BLOOM_BAD_VERSION'],
      [batch(1n), { ...edit, nextFileNumber: 2n ** 64n - 1n }, 'BLOOM_BAD_VERSION'],
    ];
    for (const [log, fields, code] of cases) {
      const folder = new WritableMemoryFolder([['CURRENT', utf8('MANIFEST-000002\n')], ['MANIFEST-000002', logOf([encodeVersionEdit(fields)])], ['000003.log', log]]);
      const before = folder.files();
      await expect(Database.open(folder)).rejects.toMatchObject({ code });
      expect(folder.files()).toEqual(before);
      // A repair needs neither.
      const { lost } = await Database.repair(folder);
      const database = await Database.open(folder);
      await database.put(utf8('b'), utf8('2'));
      expect(await keysOf(database)).toEqual(lost.length > 0 ? ['b'] : ['a', 'b']);
      await database.close();
    }
  });

  test('uses filters only if it is given their policy, and filterStatus says whether it does', async () => {
    const folder = new WritableMemoryFolder();
    const bloom = new BloomFilterPolicy(12);
    const filterPolicy: FilterPolicy = { name: 'test.Renamed', createFilter: (...keys) => bloom.createFilter(...keys), keyMayMatch: (...key) => bloom.keyMayMatch(...key) };
    let database = await Database.open(folder, { ...small, filterPolicy });
    for (let i = 0; i < 100; i++) await database.put(utf8(`key${i}`), utf8(String(i)));
    await database.flush();
    await database.close();
    const states: [DatabaseOptions, string][] = [[{}, 'unknown-policy'], [{ filterPolicies: [filterPolicy] }, 'used'], [{ filterPolicy }, 'used'], [{ filterPolicy: null }, 'unknown-policy']];
    for (const [options, state] of states) {
      database = await Database.open(folder, { ...small, ...options });
      expect(text(await database.get(utf8('key7')))).toBe('7');
      for (let i = 0; i < 100; i++) expect(await database.get(utf8(`key${i}x`))).toBeUndefined();
      expect(database.filterStatus.state).toBe(state);
      expect(database.stats.filterNegatives > 90).toBe(state === 'used');
      await database.close();
    }
    // A compaction makes filters with the current policy, which are used whatever other policies are given.
    database = await Database.open(folder, { ...small, filterPolicies: [filterPolicy] });
    await database.put(utf8('key1'), utf8('new'));
    await database.compactRange();
    await database.get(utf8('key1'));
    expect(database.filterStatus.state).toBe('used');
    await database.close();
  });

  test('reads tables that were written with a different filter policy', async () => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder, { ...small, filterPolicy: null });
    await database.put(utf8('a'), utf8('1'));
    await database.flush();
    await database.close();
    database = await Database.open(folder, small);
    await database.put(utf8('b'), utf8('2'));
    await database.flush();
    await database.get(utf8('a'));
    await database.get(utf8('b'));
    expect(database.filterStatus).toEqual({ state: 'mixed', statuses: [{ state: 'absent' }, { state: 'used', policyName: 'leveldb.BuiltinBloomFilter2' }] });
    await database.close();
  });
});

describe('getSync', () => {
  test('returns what get returns, from memtables and from tables that were not open yet', async () => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder, small);
    const keys = Array.from({ length: 300 }, (_, i) => utf8(`key${i}`));
    for (const [i, key] of keys.entries()) await database.put(key, new Uint8Array(500).fill(i));
    const snapshot = database.snapshot();
    await database.delete(keys[7]!);
    await database.put(keys[8]!, utf8('new'));
    expect(database.getManySync(keys).map(text)).toEqual((await database.getMany(keys)).map(text));
    expect(database.getSync(keys[7]!)).toBeUndefined();
    expect(database.getSync(keys[7]!, { sequence: snapshot.sequence })).toEqual(new Uint8Array(500).fill(7));
    await database.close();
    expect(() => database.getSync(keys[0]!)).toThrow('the database is closed');

    database = await Database.open(folder, small);
    expect(text(database.getSync(keys[8]!))).toBe('new');
    expect(() => database.getSync(5 as never)).toThrow('key must be a Uint8Array');
    await database.close();
  });

  test('is refused if the folder returns promises, and get still works', async () => {
    const folder = new WritableMemoryFolder();
    const slow = new Proxy(folder, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target) as unknown;
        if (typeof value !== 'function') return value;
        if (name === 'open') {
          return (file: string) => {
            const source = target.open(file);
            const read = (offset: number, length: number): Promise<Uint8Array> => Promise.resolve(source!.read(offset, length));
            return Promise.resolve(source && { byteLength: source.byteLength, read });
          };
        }
        return value.bind(target) as unknown;
      },
    });
    let database = await Database.open(folder, small);
    await database.put(utf8('a'), utf8('1'));
    await database.flush();
    await database.close();
    // Opening has read the first block of the table.
    database = await Database.open(slow, { ...small, cache: null });
    expect(() => database.getSync(utf8('a'))).toThrow(TypeError);
    expect(text(await database.get(utf8('a')))).toBe('1');
    await database.close();
  });
});

describe('writing', () => {
  test('merges the batches of concurrent callers into one record', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder);
    await Promise.all(Array.from({ length: 10 }, (_, i) => database.put(utf8(`k${i}`), utf8('v'))));
    // The header of the fragment, the header of the batch, and 6 bytes for each put.
    expect(database.describe().logs[0]!.byteLength).toBe(7 + 12 + 10 * 6);
    await Promise.all([database.put(utf8('a'), utf8('1')), database.put(utf8('b'), utf8('2'), { sync: true })]);
    // A synced write does not join an unsynced one.
    expect(database.describe().logs[0]!.byteLength).toBe(79 + 2 * (7 + 12 + 5));
    await database.close();
  });

  test('refuses invalid keys, batches and options and batches that are too large, and can still write afterwards', async () => {
    const database = await Database.open(new WritableMemoryFolder());
    await expect(database.put(5 as never, utf8('1'))).rejects.toThrow('key must be a Uint8Array');
    await expect(database.write({} as never)).rejects.toThrow('batch must be a WriteBatch');
    await expect(database.put(utf8('a'), utf8('1'), { synk: true } as never)).rejects.toThrow('did you mean sync');
    await expect(database.put(utf8('a'), new Uint8Array(130 * 2 ** 20))).rejects.toThrow('a batch can be at most');
    await database.put(utf8('a'), utf8('1'));
    expect(database.lastSequence).toBe(1n);
    await database.close();
    await expect(database.put(utf8('a'), utf8('1'))).rejects.toThrow('the database is closed');
    await expect(database.get(utf8('a'))).rejects.toThrow('the database is closed');
    await database.close();
  });

  test('does not advance the sequence for an empty batch', async () => {
    const database = await Database.open(new WritableMemoryFolder());
    await database.write(new WriteBatch());
    expect(database.lastSequence).toBe(0n);
    await database.put(utf8('a'), utf8('1'));
    expect(database.lastSequence).toBe(1n);
    await database.close();
  });

  test('bounds the memory of memtables while callers write faster than tables are made', async () => {
    const database = await Database.open(new WritableMemoryFolder(), { ...small, cache: null });
    let most = 0;
    await Promise.all(
      Array.from({ length: 2000 }, async (_, i) => {
        await database.put(utf8(`key${(i * 7919) % 2000}`), new Uint8Array(1000).fill(i));
        most = Math.max(most, Number(database.property('leveldb.approximate-memory-usage')));
      }),
    );
    // There are two memtables. A merged record of 128 KiB and a batch may exceed the limit of each.
    expect(most).toBeLessThan(2 * (65_536 + 2 * 131_072));
    expect(await keysOf(database)).toHaveLength(2000);
    await database.close();
  });
});

test('destroy deletes the files of a database, and no others', async () => {
  const folder = new WritableMemoryFolder([['notes.txt', utf8('mine')]]);
  const database = await Database.open(folder);
  await database.put(utf8('a'), utf8('1'));
  await expect(Database.destroy(folder)).rejects.toBeInstanceOf(DatabaseError);
  await database.close();
  await Database.destroy(folder);
  expect(folder.list()).toEqual(['notes.txt']);
  await Database.destroy(new WritableMemoryFolder());
});

test('DatabaseReader reads what Database wrote', async () => {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder);
  await database.put(utf8('a'), utf8('1'));
  await database.flush();
  await database.put(utf8('b'), utf8('2'));
  await database.close();
  const reader = await DatabaseReader.open(folder);
  expect((await collect(reader.entries())).map(([key, value]) => text(key)! + text(value)!)).toEqual(['a1', 'b2']);
  await reader.close();
});
