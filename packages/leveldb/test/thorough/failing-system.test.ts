import type * as nodeFs from 'node:fs';
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Database } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';

/** The number of the call that fails, 0 for none, and the calls so far. */
const calls = vi.hoisted(() => ({ failing: 0, made: 0, failed: '' }));
/** The code of the error with which opening LOCK fails; empty if it can be opened. */
const lock = vi.hoisted(() => ({ code: '' }));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof nodeFs>();
  /** A closed descriptor is closed, even if the system reports a failure. */
  const failing = <Args extends unknown[], Result>(name: string, call: (...args: Args) => Result, isDone = false) => (...args: Args): Result => {
    if (calls.failing === 0 || ++calls.made !== calls.failing) return call(...args);
    calls.failed = name;
    if (isDone) call(...args);
    throw Object.assign(new Error(`EIO: i/o error, ${name}`), { code: 'EIO', syscall: name });
  };
  return {
    ...fs,
    // Hundreds of syncs would take a minute.
    fsync: (_fd: number, done: (error: null) => void) => setImmediate(done, null),
    fdatasync: (_fd: number, done: (error: null) => void) => setImmediate(done, null),
    openSync: failing('open', (path: string, ...rest: [string, number]) => {
      if (lock.code !== '' && path.endsWith('LOCK')) throw Object.assign(new Error(`${lock.code}: open`), { code: lock.code, syscall: 'open' });
      return fs.openSync(path, ...rest);
    }),
    closeSync: failing('close', fs.closeSync, true),
    fstatSync: failing('fstat', fs.fstatSync),
    lstatSync: failing('lstat', fs.lstatSync),
    statSync: failing('stat', fs.statSync),
    writeSync: failing('write', fs.writeSync),
    renameSync: failing('rename', fs.renameSync),
    unlinkSync: failing('unlink', fs.unlinkSync),
  };
});

const root = mkdtempSync(join(tmpdir(), 'bloom-failing-system-'));
afterAll(() => rmSync(root, { recursive: true }));
afterEach(() => Object.assign(lock, { code: '' }));

/** The files of the test that are open, except LOCK: where another program of the process may have locked it, closing it would end that lock. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(root) && !path.endsWith('LOCK') ? [path] : [];
    } catch {
      return [];
    }
  });
}

async function write(path: string): Promise<void> {
  for (const reuseLogs of [false, true]) {
    const database = await Database.open(new WritableNodeFolder(path, { thread: false }), { reuseLogs });
    try {
      await database.put('a', '1');
      await database.flush();
      await database.put('b', '2', { sync: true });
    } finally {
      await database.close();
    }
  }
}

// Other systems do not list the descriptors of a process.
test.runIf(process.platform === 'linux')('whatever call of the system fails, no file stays open, and the database can be opened again', async () => {
  const failed = new Set<string>();
  for (let failing = 1; ; failing++) {
    const path = join(root, `${failing}`);
    Object.assign(calls, { failing, made: 0, failed: '' });
    await write(path).catch(() => undefined);
    calls.failing = 0;
    expect(openFiles(), `after call ${failing}, ${calls.failed}, failed`).toEqual([]);
    await (await Database.open(new WritableNodeFolder(path))).close();
    if (calls.failed === '') break;
    failed.add(calls.failed);
  }
  expect([...failed].sort()).toEqual(['close', 'fstat', 'lstat', 'open', 'rename', 'stat', 'unlink', 'write']);
});

test.each([
  ['EMFILE', 'EMFILE'],
  ['ENFILE', 'ENFILE'],
  ['EIO', 'EIO'],
  ['ENOSPC', 'ENOSPC'],
  // The system does not let this program open LOCK, whoever holds it.
  ['EACCES', 'BLOOM_NO_LOCK'],
  ['EROFS', 'BLOOM_NO_LOCK'],
])('if LOCK cannot be opened because of %s, the code is %s', async (code, expected) => {
  lock.code = code;
  for (const call of [Database.open, Database.repair]) {
    const path = mkdtempSync(join(root, 'folder-'));
    expect(await rejection(call(new WritableNodeFolder(path)))).toMatchObject({ code: expected });
  }
});
