import { spawn, spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { Database, DatabaseReader } from '@bloom/leveldb';
import { WritableNodeFolder, NodeFolder, SyncNodeFolder } from '@bloom/leveldb/node';
import { ClassicLevel } from 'classic-level';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundledProgram } from '../bundled-program.js';
import { rejection } from '@bloom/fixtures/caught';
import { hasNamedPipes, makeNamedPipe } from '@bloom/fixtures/named-pipe';

// LevelDB's locks belong to the process, and are lost when it closes any descriptor of LOCK.

const root = mkdtempSync(join(tmpdir(), 'bloom-lock-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const open = (path: string): Promise<Database> => Database.open(new WritableNodeFolder(path, { thread: false }));

/** What another process says that tries to open the folder with classic-level. */
function otherProcess(path: string): string {
  const program = `import('classic-level').then(async ({ ClassicLevel }) => {
    const db = new ClassicLevel(${JSON.stringify(path)});
    await db.open().then(() => console.log('opened'), (error) => console.log(error.cause.code));
  })`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', program], { cwd: join(import.meta.dirname, '../..'), encoding: 'utf8' });
  return (stdout + stderr).trim();
}

describe('a folder that classic-level holds in the same process', () => {
  let path: string;
  let classic: ClassicLevel;
  beforeAll(async () => {
    path = join(root, 'held');
    classic = new ClassicLevel(path);
    await classic.put('a', '1');
  });
  afterAll(() => classic.close());

  test.each<[string, () => Promise<unknown>]>([
    ['opened', () => open(path)],
    ['opened again', () => open(path)],
    ['destroyed', () => Database.destroy(new WritableNodeFolder(path))],
    ['repaired', () => Database.repair(new WritableNodeFolder(path))],
  ])('is refused when it is %s, and stays locked for other processes', async (_, attempt) => {
    expect(await rejection(attempt())).toMatchObject({ code: 'BLOOM_LOCKED', message: expect.stringContaining('in this process') as string });
    expect(otherProcess(path)).toBe('LEVEL_LOCKED');
    await classic.put('b', '2');
    expect(await classic.get('b')).toBe('2');
  });

  test('is read without losing its lock, even where CURRENT names LOCK', async () => {
    for (const folder of [new NodeFolder(path), new SyncNodeFolder(path)]) expect(await folder.open('LOCK')).toBeUndefined();
    const current = join(path, 'CURRENT');
    const named = readFileSync(current);
    writeFileSync(current, 'LOCK\n');
    expect(await rejection(DatabaseReader.open(new NodeFolder(path)))).toMatchObject({ code: 'BLOOM_BAD_CURRENT' });
    writeFileSync(current, named);
    expect(otherProcess(path)).toBe('LEVEL_LOCKED');
  });
});

test.runIf(process.platform === 'linux')('a refused opening keeps one descriptor however often it is tried, and takes the lock when it is free', async () => {
  const path = join(root, 'freed');
  const program = `import('classic-level').then(async ({ ClassicLevel }) => {
    const db = new ClassicLevel(${JSON.stringify(path)});
    await db.open();
    process.stdout.write('open');
    process.stdin.once('data', () => db.close().then(() => process.exit()));
  })`;
  const child = spawn(process.execPath, ['-e', program], { cwd: join(import.meta.dirname, '../..') });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const descriptors = (): number => readdirSync('/proc/self/fd').length;
  expect(await rejection(open(path))).toMatchObject({ code: 'BLOOM_LOCKED', message: expect.stringContaining(`in another process (${child.pid})`) as string });
  const before = descriptors();
  for (let i = 0; i < 20; i++) expect(await rejection(open(path))).toMatchObject({ code: 'BLOOM_LOCKED' });
  expect(descriptors()).toBeLessThan(before + 5);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.write('close');
  await ended;
  const database = await open(path);
  expect(otherProcess(path)).toBe('LEVEL_LOCKED');
  await database.close();
  expect(otherProcess(path)).toBe('opened');
});

test('a database that is open is refused a second time, and its lock is kept', async () => {
  const path = join(root, 'twice');
  const database = await open(path);
  expect(await rejection(open(path))).toMatchObject({ code: 'BLOOM_LOCKED', message: expect.stringContaining('in this process') as string });
  const other = join(root, 'twice-by-another-name');
  symlinkSync(path, other);
  expect(await rejection(open(other))).toMatchObject({ code: 'BLOOM_LOCKED' });
  expect(await rejection(new ClassicLevel(path).open())).toMatchObject({ cause: { code: 'LEVEL_LOCKED' } });
  expect(otherProcess(path)).toBe('LEVEL_LOCKED');
  await database.put(utf8('a'), utf8('1'));
  await database.close();
  expect(otherProcess(path)).toBe('opened');
});

describe.each<[string, (lock: string) => void, boolean]>([
  ['a link to a file elsewhere', (lock) => symlinkSync(join(root, 'elsewhere'), lock), true],
  ['a folder', (lock) => mkdirSync(lock), true],
  ['a pipe', makeNamedPipe, hasNamedPipes],
])('a folder whose LOCK is %s', (_, make, isPossible) => {
  test.runIf(isPossible)('is not opened, and nothing is written', async () => {
    const path = mkdtempSync(join(root, 'odd-'));
    make(join(path, 'LOCK'));
    expect(await rejection(open(path))).toMatchObject({ code: 'BLOOM_NO_LOCK' });
    expect(readdirSync(path)).toEqual(['LOCK']);
    expect(readdirSync(root)).not.toContain('elsewhere');
  });
});

test('a LOCK file that has another name is locked like any other', async () => {
  const path = mkdtempSync(join(root, 'linked-'));
  writeFileSync(join(root, 'other-name'), '');
  linkSync(join(root, 'other-name'), join(path, 'LOCK'));
  const database = await open(path);
  expect(await rejection(open(path))).toMatchObject({ code: 'BLOOM_LOCKED' });
  await database.close();
});

test('while databases are destroyed and opened at the same time, only one holds the folder', async () => {
  const path = join(root, 'raced');
  let inside = 0;
  // Who gets the lock how often is up to the system, so what ends the race is a number of openings and not of attempts.
  let opened = 0;
  let isOver = false;
  const opener = async (): Promise<void> => {
    while (!isOver) {
      try {
        const database = await open(path);
        expect(++inside).toBe(1);
        if (++opened === 30) isOver = true;
        await database.put(utf8('a'), utf8('1'), { sync: true });
        expect(await database.get(utf8('a'))).toEqual(utf8('1'));
        inside--;
        await database.close();
      } catch (error) {
        if ((error as { code?: string }).code !== 'BLOOM_LOCKED') throw error;
      }
    }
  };
  const destroyer = async (): Promise<void> => {
    while (!isOver) {
      await Database.destroy(new WritableNodeFolder(path)).catch((error: unknown) => expect(error).toMatchObject({ code: 'BLOOM_LOCKED' }));
      await new Promise(setImmediate);
    }
  };
  const racers = [opener(), opener(), destroyer(), destroyer()];
  await Promise.all(racers).finally(() => (isOver = true));
});

describe('a LOCK file that is deleted while the database is open', () => {
  test.each<[string, (database: Database) => Promise<unknown>]>([
    ['flush', (database) => database.flush()],
    ['synced write', (database) => database.put(utf8('b'), utf8('2'), { sync: true })],
    ['compaction', (database) => database.compactRange()],
  ])('ends writing at the next %s, as others may come in', async (_, call) => {
    const path = mkdtempSync(join(root, 'unlocked-'));
    const database = await open(path);
    await database.put(utf8('a'), utf8('1'), { sync: true });
    unlinkSync(join(path, 'LOCK'));
    const classic = new ClassicLevel(path);
    await classic.put('x', 'y');
    expect(await rejection(call(database))).toMatchObject({ code: 'BLOOM_WRITING_ENDED', cause: { code: 'BLOOM_FOLDER_CHANGED' } });
    expect(await database.get(utf8('a'))).toEqual(utf8('1'));
    await database.close();
    expect(await classic.get('a')).toBe('1');
    await classic.close();
  });

  test('is noticed by unsynced writes after a second, and otherwise when the database is closed', async () => {
    const path = mkdtempSync(join(root, 'unlocked-'));
    const database = await open(path);
    await database.put(utf8('a'), utf8('1'), { sync: true });
    unlinkSync(join(path, 'LOCK'));
    await database.put(utf8('b'), utf8('2'));
    await delay(1050);
    const failure = await rejection(database.put(utf8('c'), utf8('3')));
    expect(failure).toMatchObject({ code: 'BLOOM_WRITING_ENDED', cause: { code: 'BLOOM_FOLDER_CHANGED' } });
    await database.close();

    const again = await open(path);
    await again.put(utf8('c'), utf8('3'));
    unlinkSync(join(path, 'LOCK'));
    await rejection(again.put(utf8('d'), utf8('4')));
    expect(await rejection(again.close())).toMatchObject({ code: 'BLOOM_FOLDER_CHANGED' });
    // The lock was released all the same.
    await (await open(path)).close();
  });
});

test.runIf(process.platform === 'linux')('the refusal says whether another thread or another process has the folder open', async () => {
  const path = join(root, 'owners');
  const database = await open(path);
  const program = await bundledProgram('open-database.ts');
  const { stdout } = spawnSync(process.execPath, [program, path, 'folder'], { encoding: 'utf8' });
  expect(stdout).toBe(`DatabaseError BLOOM_LOCKED: ${path} is already open for writing, in another process (${process.pid})\n`);
  const inThread = async (folder: string): Promise<string> => {
    const source = `const { Module } = require('node:module');
      process.on('exit', () => console.log(Object.keys(Module._cache).some((path) => path.endsWith('koffi.node')) ? 'koffi' : 'nothing'));
      void import(${JSON.stringify(pathToFileURL(program))});`;
    const worker = new Worker(source, { eval: true, argv: [folder, 'folder'], stdout: true });
    let output = '';
    worker.stdout.on('data', (data: Buffer) => (output += data.toString()));
    await new Promise((resolve) => worker.once('exit', resolve));
    return output;
  };
  // The thread did not load the add-on: terminating it meanwhile would have ended the process.
  expect(await inThread(path)).toMatch(/^DatabaseError BLOOM_LOCKED: .* is already open for writing, in this process, by another thread\nnothing\n$/);
  expect(await inThread(join(root, 'of-thread'))).toMatch(/koffi\n$/);
  rmSync(dirname(program), { recursive: true });
  await database.put(utf8('a'), utf8('1'), { sync: true });
  await database.close();
});

test('a folder is locked by a program that has just looked at a pipe: Node then resolves no links to packages', async () => {
  const program = await bundledProgram('open-after-pipe.ts');
  // pnpm names its packages in NODE_PATH, where they are found without links.
  const env = { ...process.env, NODE_PATH: '' };
  const { stdout } = spawnSync(process.execPath, [program, join(root, 'after-pipe')], { env, encoding: 'utf8', input: 'through a pipe' });
  rmSync(dirname(program), { recursive: true });
  expect(stdout).toBe('opened\n');
});

/** A program that holds a flock on LOCK until it is released, as programs with goleveldb do. */
async function flockHolder(path: string, mode: '-x' | '-s' = '-x'): Promise<{ readonly pid: number; release(): Promise<void> }> {
  mkdirSync(path, { recursive: true });
  const child = spawn('flock', ['-n', mode, join(path, 'LOCK'), 'sh', '-c', 'echo held; read line'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return {
    pid: child.pid!,
    async release() {
      child.stdin.end();
      await ended;
    },
  };
}

const hasFlock = process.platform === 'linux' && spawnSync('flock', ['--version']).status === 0;
const python = process.platform === 'linux' && spawnSync('python3', ['-c', 'import fcntl']).status === 0;

/** Whether another process could lock LOCK by flock now. */
function isFree(path: string): boolean {
  return spawnSync('flock', ['-n', join(path, 'LOCK'), 'true']).status === 0;
}

/** How many descriptors of the LOCK file this process has. */
function lockDescriptors(path: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === join(path, 'LOCK');
    } catch {
      return false;
    }
  }).length;
}

if (!hasFlock) test.skip('no flock command on the PATH (Debian: apt-get install util-linux), so no other program locks a folder by flock', () => {});

describe.runIf(hasFlock)('a folder that another process has locked by flock', () => {
  test.each<[string, '-x' | '-s', (path: string) => Promise<unknown>]>([
    ['opened', '-x', open],
    ['opened while the lock is shared', '-s', open],
    ['destroyed', '-x', (path) => Database.destroy(new WritableNodeFolder(path))],
    ['repaired', '-x', (path) => Database.repair(new WritableNodeFolder(path))],
  ])('is refused with the number of that process when it is %s, and nothing stays locked or open here', async (_, mode, attempt) => {
    const path = mkdtempSync(join(root, 'flock-'));
    await (await open(path)).close();
    const files = readdirSync(path).sort();
    const holder = await flockHolder(path, mode);
    for (let i = 0; i < 3; i++) {
      expect(await rejection(attempt(path))).toMatchObject({ code: 'BLOOM_LOCKED', message: `${path} is already open for writing, in another process (${holder.pid})` });
    }
    expect(lockDescriptors(path)).toBe(0);
    expect(readdirSync(path).sort()).toEqual(files);
    // LevelDB does not see flock, so it opens the folder unless a lock of this process is left.
    expect(otherProcess(path)).toBe('opened');
    await holder.release();
    expect(isFree(path)).toBe(true);
    await (await open(path)).close();
  });

  test('is read, and the lock is kept', async () => {
    const path = mkdtempSync(join(root, 'flock-read-'));
    await (await open(path)).close();
    const holder = await flockHolder(path);
    const reader = await DatabaseReader.open(new NodeFolder(path));
    await reader.close();
    expect(isFree(path)).toBe(false);
    await holder.release();
  });

  test('stays locked by the classic-level of this process, whichever of the two was first', async () => {
    const path = mkdtempSync(join(root, 'flock-classic-'));
    const holder = await flockHolder(path);
    expect(await rejection(open(path))).toMatchObject({ code: 'BLOOM_LOCKED', message: expect.stringContaining(`(${holder.pid})`) as string });
    const classic = new ClassicLevel(path);
    await classic.open();
    for (let i = 0; i < 2; i++) expect(await rejection(open(path))).toMatchObject({ code: 'BLOOM_LOCKED', message: expect.stringMatching(/in this process$/) as string });
    expect(otherProcess(path)).toBe('LEVEL_LOCKED');
    await holder.release();
    expect(await rejection(open(path))).toMatchObject({ code: 'BLOOM_LOCKED', message: expect.stringMatching(/in this process$/) as string });
    expect(otherProcess(path)).toBe('LEVEL_LOCKED');
    await classic.close();
    await (await open(path)).close();
    expect(lockDescriptors(path)).toBe(0);
  });
});

describe.runIf(hasFlock)('a database that is open', () => {
  test('cannot be locked by flock until it is closed', async () => {
    const path = mkdtempSync(join(root, 'flock-held-'));
    const database = await open(path);
    expect(isFree(path)).toBe(false);
    expect(await rejection(open(path))).toMatchObject({ code: 'BLOOM_LOCKED' });
    expect(isFree(path)).toBe(false);
    await database.close();
    expect(isFree(path)).toBe(true);
  });

  test('never has another writer that locks by flock, while both try again and again', async () => {
    const path = mkdtempSync(join(root, 'flock-raced-'));
    const inside = join(root, 'flock-raced-inside');
    // Who gets the lock how often is up to the system, so the race ends after a number of locks and not of attempts.
    const program = `n=0; while [ $n -lt 20 ]; do flock -n "$1/LOCK" sh -c 'if mkdir "$0" && sleep 0.002 && rmdir "$0"; then echo had; else echo both; fi' "$2" && n=$((n + 1)); done`;
    const other = spawn('sh', ['-c', program, 'sh', path, inside], { stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    other.stdout.on('data', (data: Buffer) => (printed += data.toString()));
    const ended = new Promise((resolve) => other.once('close', resolve));
    let had = 0;
    while (other.exitCode === null) {
      try {
        const database = await open(path);
        mkdirSync(inside);
        had++;
        await new Promise(setImmediate);
        rmdirSync(inside);
        await database.close();
      } catch (error) {
        if ((error as { code?: string }).code !== 'BLOOM_LOCKED') throw error;
      }
      await delay(had % 10);
    }
    await ended;
    expect(had).toBeGreaterThan(0);
    expect(printed).toBe('had\n'.repeat(20));
  });
});

if (!python) test.skip('no python3 on the PATH (Debian: apt-get install python3), so its flock is not tried', () => {});

test.runIf(python)("Python's flock is refused while a database is open, and refuses it while it is held", async () => {
  const path = mkdtempSync(join(root, 'python-'));
  const program = `import fcntl, sys
file = open(sys.argv[1], 'a')
try:
  fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
  print('refused', flush=True)
else:
  print('held', flush=True)
  sys.stdin.read()`;
  const database = await open(path);
  expect(spawnSync('python3', ['-c', program, join(path, 'LOCK')], { encoding: 'utf8' }).stdout).toBe('refused\n');
  await database.close();
  const holder = spawn('python3', ['-c', program, join(path, 'LOCK')]);
  const ended = new Promise((resolve) => holder.once('exit', resolve));
  expect(await new Promise((resolve) => holder.stdout.once('data', (data: Buffer) => resolve(data.toString().trim())))).toBe('held');
  expect(await rejection(open(path))).toMatchObject({ code: 'BLOOM_LOCKED', message: expect.stringContaining(`(${holder.pid})`) as string });
  holder.stdin.end();
  await ended;
  await (await open(path)).close();
});
