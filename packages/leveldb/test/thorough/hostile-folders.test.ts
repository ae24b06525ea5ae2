// Folders that somebody else has made: what has the name of one of LevelDB's files is not always a file.
import { chmodSync, copyFileSync, existsSync, linkSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Database, WritableMemoryFolder } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { afterAll, describe, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { hasNamedPipes, makeNamedPipe } from '@bloom/fixtures/named-pipe';
import { collect } from '../collect.js';

const root = mkdtempSync(join(tmpdir(), 'bloom-hostile-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);
const open = (path: string, options = {}): Promise<Database> => Database.open(new WritableNodeFolder(path, { thread: false }), options);

/** A folder with a database of one table and one log. */
async function someDatabase(): Promise<string> {
  const path = join(mkdtempSync(join(root, 'some-')), 'db');
  const database = await open(path);
  await database.put(utf8('a'), utf8('1'));
  await database.compactRange();
  await database.put(utf8('b'), utf8('2'));
  await database.close();
  return path;
}

/** The number that the next file gets. */
function nextNumber(path: string): number {
  return Math.max(...readdirSync(path).map((name) => Number(/(\d{6})/.exec(name)?.[1] ?? 0))) + 1;
}

/** A folder in which some files cannot be deleted. */
class FailingFolder extends WritableMemoryFolder {
  mayDelete: (name: string) => boolean = () => true;

  override delete(name: string): void {
    if (!this.mayDelete(name)) throw Object.assign(new Error(`cannot delete ${name}`), { code: 'EBUSY' });
    super.delete(name);
  }
}

const padded = (number: number): string => String(number).padStart(6, '0');

describe.each<[string, (target: string, path: string) => void, boolean]>([
  ['a link to a file outside', (target, path) => symlinkSync(target, path), true],
  ['a link to nothing', (target, path) => symlinkSync(`${target}-missing`, path), true],
  ['another name of a file outside', (target, path) => linkSync(target, path), true],
  ['a pipe', (_, path) => makeNamedPipe(path), hasNamedPipes],
])('a database is written to although %s', (_, make, isPossible) => {
  test.runIf(isPossible)('has each of the names that its next files get, and nothing outside is written', async () => {
    const path = await someDatabase();
    const outside = mkdtempSync(join(root, 'outside-'));
    const target = join(outside, 'target');
    writeFileSync(target, 'precious');
    const fill = (first: number, names: (number: string) => string[]): void => {
      for (let number = first; number < first + 8; number++) for (const name of names(padded(number))) make(target, join(path, name));
    };
    fill(nextNumber(path), (number) => [`${number}.ldb`, `${number}.dbtmp`, `MANIFEST-${number}`]);
    const database = await open(path, { writeBufferSize: 65_536 });
    fill(nextNumber(path), (number) => [`${number}.log`, `${number}.ldb`, `${number}.dbtmp`]);
    for (let i = 0; i < 300; i++) await database.put(utf8(`key${i}`), new Uint8Array(1000));
    await database.compactRange();
    await database.close();
    expect(readFileSync(target, 'utf8')).toBe('precious');
    expect(readdirSync(outside)).toEqual(['target']);
    const again = await open(path);
    expect((await collect(again.keys())).length).toBe(302);
    await again.close();
  });
});

test('the MANIFEST and the log are not appended to through links, and both are replaced', async () => {
  const path = await someDatabase();
  const outside = mkdtempSync(join(root, 'outside-'));
  for (const name of readdirSync(path).filter((file) => /^MANIFEST|\.log$/.test(file))) {
    copyFileSync(join(path, name), join(outside, name));
    rmSync(join(path, name));
    symlinkSync(join(outside, name), join(path, name));
  }
  const before = readdirSync(outside).map((name) => readFileSync(join(outside, name)));
  const database = await open(path, { reuseLogs: true });
  await database.put(utf8('c'), utf8('3'), { sync: true });
  expect((await collect(database.keys())).map(text)).toEqual(['a', 'b', 'c']);
  await database.close();
  expect(readdirSync(outside).map((name) => readFileSync(join(outside, name)))).toEqual(before);
});

test('a log that has another name elsewhere, as in a copy made of links, is not appended to', async () => {
  const path = await someDatabase();
  const copy = join(root, 'copy');
  mkdirSync(copy);
  for (const name of readdirSync(path)) linkSync(join(path, name), join(copy, name));
  const contents = (): Buffer[] => readdirSync(copy).map((name) => readFileSync(join(copy, name)));
  const before = contents();
  const database = await open(path, { reuseLogs: true });
  await database.put(utf8('c'), utf8('3'), { sync: true });
  await database.close();
  expect(contents()).toEqual(before);
});

describe.runIf(hasNamedPipes).each(['CURRENT', 'MANIFEST', 'log', 'table'])('a pipe in place of %s', (kind) => {
  test('is an error when the database is opened, and no hang when it is repaired', async () => {
    const path = await someDatabase();
    const pattern = { CURRENT: /^CURRENT$/, MANIFEST: /^MANIFEST/, log: /\.log$/, table: /\.ldb$/ }[kind]!;
    const name = readdirSync(path).find((file) => pattern.test(file))!;
    rmSync(join(path, name));
    makeNamedPipe(join(path, name));
    const code = { CURRENT: 'BLOOM_NOT_A_DATABASE', MANIFEST: 'BLOOM_BAD_CURRENT', log: 'BLOOM_MISSING_FILE', table: 'BLOOM_MISSING_FILE' }[kind];
    expect(await rejection(open(path))).toMatchObject({ code });
    await Database.repair(new WritableNodeFolder(path));
    const database = await open(path);
    expect((await collect(database.keys())).map(text)).toEqual(kind === 'log' ? ['a'] : kind === 'table' ? ['b'] : ['a', 'b']);
    await database.close();
  });
});

describe('lost', () => {
  const damage = (path: string): void => {
    const log = readdirSync(path).find((name) => name.endsWith('.log'))!;
    const bytes = readFileSync(join(path, log));
    bytes[8]! ^= 1;
    writeFileSync(join(path, log), bytes);
  };

  test.each<[string, (path: string, outside: string) => void]>([
    ['a link to a folder outside', (path, outside) => symlinkSync(outside, path)],
    ['a file', (path) => writeFileSync(path, '')],
  ])('that is %s gets no files, and the database stays as it was', async (_, make) => {
    const path = await someDatabase();
    const outside = mkdtempSync(join(root, 'outside-'));
    damage(path);
    make(join(path, 'lost'), outside);
    const state = (): [string, string][] => readdirSync(path).filter((name) => name !== 'lost').map((name) => [name, readFileSync(join(path, name)).toString('latin1')]);
    const before = state();
    expect(await rejection(open(path, { damage: 'skip' }))).toMatchObject({ code: 'BLOOM_NOT_A_FOLDER' });
    expect(readdirSync(outside)).toEqual([]);
    expect(await rejection(Database.repair(new WritableNodeFolder(path)))).toMatchObject({ code: 'BLOOM_NOT_A_FOLDER' });
    expect(readdirSync(outside)).toEqual([]);
    for (const file of before) expect(state()).toContainEqual(file);
  });

});

describe('a repair of a folder whose CURRENT', () => {
  test.each(['LOCK', 'lost', '.', '..', '../other', 'LOG', 'CURRENT'])('names %j keeps the lock, and moves no file from elsewhere', async (name) => {
    const path = await someDatabase();
    mkdirSync(join(path, 'lost'));
    writeFileSync(join(path, '../other'), 'precious');
    writeFileSync(join(path, 'CURRENT'), `${name}\n`);
    expect(await rejection(open(path))).toMatchObject({ code: expect.stringMatching(/^BLOOM_/) as string });
    await Database.repair(new WritableNodeFolder(path));
    expect(existsSync(join(path, 'lost/LOCK'))).toBe(false);
    expect(readFileSync(join(path, '../other'), 'utf8')).toBe('precious');
    const database = await open(path);
    expect((await collect(database.keys())).map(text)).toEqual(['a', 'b']);
    await database.close();
  });
});

describe('destroy', () => {
  test.each([[['2024.log', '7.ldb', 'notes.txt']], [['000003.log']], [['LOG', 'LOG.old', '2024.log']], [['LOCK', '2024.log']], [['000005.ldb', '000007.sst']], [[]]])(
    'leaves %j, which is not a database',
    async (names) => {
      const path = mkdtempSync(join(root, 'no-database-'));
      for (const name of names) writeFileSync(join(path, name), 'mine');
      await Database.destroy(new WritableNodeFolder(path));
      expect(readdirSync(path)).toEqual([...names].sort());
    },
  );

  test('deletes a database, and leaves what LevelDB does not write', async () => {
    const path = await someDatabase();
    for (const name of ['2024.log', '0000012.ldb', 'MANIFEST-7', 'notes.txt', '000001.LOG']) writeFileSync(join(path, name), 'mine');
    await Database.destroy(new WritableNodeFolder(path));
    expect(readdirSync(path).sort()).toEqual(['000001.LOG', '0000012.ldb', '2024.log', 'MANIFEST-7', 'notes.txt']);
  });

  test('deletes the links of a database, not their targets, and the contents of a folder that a link leads to', async () => {
    const path = await someDatabase();
    const outside = mkdtempSync(join(root, 'outside-'));
    writeFileSync(join(outside, 'target'), 'precious');
    symlinkSync(join(outside, 'target'), join(path, '000900.ldb'));
    const link = join(root, 'link-to-database');
    symlinkSync(path, link);
    await Database.destroy(new WritableNodeFolder(link));
    expect(readdirSync(path)).toEqual([]);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(outside, 'target'), 'utf8')).toBe('precious');
  });

  test('deletes all tables and logs that it can when one cannot be deleted, names that, and can be repeated', async () => {
    const path = await someDatabase();
    mkdirSync(join(path, '000001.log'));
    expect(await rejection(Database.destroy(new WritableNodeFolder(path)))).toMatchObject({ path: join(path, '000001.log') });
    expect(readdirSync(path)).toEqual(['000001.log', 'CURRENT', 'LOCK', 'MANIFEST-000002']);
    rmdirSync(join(path, '000001.log'));
    await Database.destroy(new WritableNodeFolder(path));
    expect(existsSync(path)).toBe(false);
  });

  test('that failed to delete a table can be repeated, whichever file it was', async () => {
    const files = new WritableMemoryFolder();
    const database = await Database.open(files);
    await database.put(utf8('a'), utf8('1'));
    await database.flush();
    await database.close();
    for (const busy of files.list()) {
      const folder = new FailingFolder(files.files());
      folder.mayDelete = (name) => name !== busy;
      expect(await rejection(Database.destroy(folder))).toMatchObject({ code: 'EBUSY', message: `cannot delete ${busy}` });
      expect(folder.list()).toContain(busy);
      folder.mayDelete = () => true;
      await Database.destroy(folder);
      expect(folder.list()).toEqual([]);
    }
  });

  test('that was interrupted can be repeated', async () => {
    const files = new WritableMemoryFolder();
    const database = await Database.open(files);
    await database.put(utf8('a'), utf8('1'));
    await database.flush();
    await database.close();
    const count = files.list().length;
    for (let failing = 0; failing < count; failing++) {
      const folder = new FailingFolder(files.files());
      let deletions = 0;
      folder.mayDelete = () => deletions++ < failing;
      expect(await rejection(Database.destroy(folder))).toMatchObject({ code: 'EBUSY' });
      folder.mayDelete = () => true;
      await Database.destroy(folder);
      expect(folder.list()).toEqual([]);
    }
  });
});

describe('a name that cannot be deleted', () => {
  test.each(['000001.log', '000002.ldb', 'MANIFEST-000001', '000001.dbtmp'])('such as that of a folder %s leaves no other file behind', async (name) => {
    const path = await someDatabase();
    mkdirSync(join(path, name));
    const database = await open(path, { writeBufferSize: 65_536 });
    for (let i = 0; i < 1000; i++) await database.put(utf8(`key${i % 10}`), new Uint8Array(1000));
    await database.compactRange();
    await database.idle();
    const others = readdirSync(path).filter((file) => file !== name && /\d/.test(file));
    expect(others.length, others.join(' ')).toBeLessThanOrEqual(6);
    await database.close();
    await Database.repair(new WritableNodeFolder(path));
    const again = await open(path);
    expect((await collect(again.keys())).length).toBe(12);
    await again.close();
  });

  // The superuser may delete everything.
  test.runIf(process.getuid?.() !== 0)('in a folder that must not be changed is an error of the folder', async () => {
    const path = await someDatabase();
    chmodSync(path, 0o555);
    expect(await rejection(Database.destroy(new WritableNodeFolder(path)))).toMatchObject({ code: 'EACCES' });
    chmodSync(path, 0o755);
  });
});
