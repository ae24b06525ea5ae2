// Which file writeTable replaces, and what it keeps of that file.
import { readdirSync, readlinkSync, realpathSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { chmod, chown, type FileHandle, link, lstat, mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { KeyValue } from '@bloom/fixtures';
import { FolderSyncError, writeTable } from '@bloom/sstable/node';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { numberedEntries, sameBytes, utf8 } from './entries.js';

const entries = numberedEntries(10);
const table = buildTable(entries);
const old = utf8('what was there before');

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bloom-replacement-'));
  path = join(folder, 'table.ldb');
});

afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

async function isTable(at: string): Promise<boolean> {
  return sameBytes(await readFile(at), table);
}

/** Yields `entries`, and calls `act` in the middle. */
function* acting(act: () => void): Generator<KeyValue> {
  yield* entries.slice(0, 5);
  act();
  yield* entries.slice(5);
}

const isPosix = process.platform !== 'win32';
const isRoot = isPosix && process.getuid!() === 0;

describe.runIf(isPosix)('a file that is replaced', () => {
  test.each(['600', '640', '400', '444', '666', '755'])('keeps its mode %s', async (octal) => {
    const mode = parseInt(octal, 8);
    await writeFile(path, old);
    await chmod(path, mode);
    await writeTable(path, entries);
    expect((await stat(path)).mode & 0o7777).toBe(mode);
    expect(await isTable(path)).toBe(true);
  });

  test('gives its mode to the temporary file from the start', async () => {
    await writeFile(path, old);
    await chmod(path, 0o600);
    const modes: number[] = [];
    const handles = await fileHandles();
    const { stat: statOf } = handles;
    vi.spyOn(handles, 'stat').mockImplementation(async function (this: FileHandle) {
      const stats = await Reflect.apply(statOf, this, []);
      modes.push(Number(stats.mode) & 0o777);
      return stats;
    });
    const look = (): void => {
      const temporary = readdirSync(folder).find((name) => name.endsWith('.tmp'));
      modes.push(statSync(join(folder, temporary!)).mode & 0o777);
    };
    await writeTable(path, acting(look));
    expect(modes).toEqual([0o600, 0o600]);
  });

  test.runIf(isRoot)('keeps its owner and its group', async () => {
    await writeFile(path, old);
    await chmod(path, 0o640);
    await chown(path, 1234, 2345);
    await writeTable(path, entries);
    const { uid, gid, mode } = await stat(path);
    expect({ uid, gid, mode: mode & 0o7777 }).toEqual({ uid: 1234, gid: 2345, mode: 0o640 });
  });

  test.runIf(isRoot)('drops the group permissions if its group cannot be kept', async () => {
    await writeFile(path, old);
    await chmod(path, 0o664);
    await chown(path, 1234, 2345);
    const refused = Object.assign(new Error('EPERM: operation not permitted, fchown'), { code: 'EPERM' });
    vi.spyOn(await fileHandles(), 'chown').mockRejectedValue(refused);
    await writeTable(path, entries);
    const { uid, gid, mode } = await stat(path);
    expect({ uid, gid, mode: mode & 0o7777 }).toEqual({ uid: 0, gid: process.getgid!(), mode: 0o604 });
  });

  test('keeps its contents under other hard links', async () => {
    await writeFile(path, old);
    await link(path, join(folder, 'other'));
    await writeTable(path, entries);
    expect(await isTable(path)).toBe(true);
    expect(sameBytes(await readFile(join(folder, 'other')), old)).toBe(true);
  });
});

test.runIf(isPosix)('a file that replaces none has the mode that the umask leaves', async () => {
  const umask = process.umask(0o027);
  try {
    await writeTable(path, entries);
  } finally {
    process.umask(umask);
  }
  expect((await stat(path)).mode & 0o7777).toBe(0o640);
});

describe.runIf(isPosix)('a path is resolved as open(2) does:', () => {
  /** A folder, and a link to a folder elsewhere. */
  beforeEach(async () => {
    await mkdir(join(folder, 'a', 'b'), { recursive: true });
    await mkdir(join(folder, 'x'));
    await symlink(join('..', 'a', 'b'), join(folder, 'x', 'to-b'));
  });

  test('.. after a link to a folder is the parent of the target folder', async () => {
    const meanwhile: string[][] = [];
    const look = (): void => void meanwhile.push(readdirSync(join(folder, 'a')), readdirSync(join(folder, 'x')));
    await writeTable(`${folder}/x/to-b/../table.ldb`, acting(look));
    expect(await isTable(join(folder, 'a', 'table.ldb'))).toBe(true);
    expect(await readdir(join(folder, 'x'))).toEqual(['to-b']);
    // The temporary file is in the same folder, because a file cannot be renamed to another file system.
    expect(meanwhile).toEqual([[expect.stringMatching(/^\.table\.ldb\..*\.tmp$/), 'b'], ['to-b']]);
  });

  test('a relative link in a folder that was reached through a link is relative to its real folder', async () => {
    await symlink(join('..', 'table.ldb'), join(folder, 'a', 'b', 'up'));
    await writeFile(join(folder, 'a', 'table.ldb'), old);
    await writeTable(`${folder}/x/to-b/up`, entries);
    expect(await isTable(join(folder, 'a', 'table.ldb'))).toBe(true);
    expect((await lstat(join(folder, 'a', 'b', 'up'))).isSymbolicLink()).toBe(true);
    expect(await readdir(join(folder, 'x'))).toEqual(['to-b']);
  });

  test('a link whose target contains a link and .. is resolved in the same way', async () => {
    await symlink('x/to-b/../table.ldb', join(folder, 'link.ldb'));
    await writeTable(join(folder, 'link.ldb'), entries);
    expect(await isTable(join(folder, 'a', 'table.ldb'))).toBe(true);
  });

  test('a link to the folder that is changed during the writing does not move the table', async () => {
    const turn = (): void => {
      rmSync(join(folder, 'x', 'to-b'));
      symlinkSync('..', join(folder, 'x', 'to-b'));
    };
    await writeTable(`${folder}/x/to-b/table.ldb`, acting(turn));
    expect(await isTable(join(folder, 'a', 'b', 'table.ldb'))).toBe(true);
    expect((await readdir(folder)).sort()).toEqual(['a', 'x']);
    expect(await readdir(join(folder, 'a', 'b'))).toEqual(['table.ldb']);
  });

  test('a relative path is relative to the working directory at the time of the call', async () => {
    const before = process.cwd();
    process.chdir(join(folder, 'a'));
    try {
      await writeTable('table.ldb', acting(() => process.chdir(join(folder, 'x'))));
    } finally {
      process.chdir(before);
    }
    expect(await isTable(join(folder, 'a', 'table.ldb'))).toBe(true);
    expect(await readdir(join(folder, 'a'))).toEqual(['b', 'table.ldb']);
    expect(await readdir(join(folder, 'x'))).toEqual(['to-b']);
  });

  test.each(['a/', 'a/.', 'a/..', 'a', '.', '/', 'new/', 'a/../'])('rejects a path that names a folder: "%s"', async (name) => {
    const error = (await rejection(writeTable(name === '/' ? '/' : `${folder}/${name}`, entries))) as NodeJS.ErrnoException;
    expect(error.code).toBe('EISDIR');
    expect((await readdir(folder)).sort()).toEqual(['a', 'x']);
  });

  test('rejects an existing file followed by a slash, and the empty path', async () => {
    await writeFile(path, old);
    for (const wrong of [`${path}/`, `${path}/.`]) expect(await rejection(writeTable(wrong, entries))).toMatchObject({ code: 'EISDIR' });
    expect(await rejection(writeTable('', entries))).toMatchObject({ code: 'ENOENT' });
    expect(sameBytes(await readFile(path), old)).toBe(true);
  });
});

describe('a file name', () => {
  test.each([
    ['of 238 bytes', 'n'.repeat(238)],
    ['of 255 bytes', 'n'.repeat(255)],
    ['of 255 bytes in two-byte characters', `${'é'.repeat(127)}n`],
    ['of 252 bytes in four-byte characters', '🌸'.repeat(63)],
    ['of one byte', 'n'],
  ])('%s is written and replaced', async (_, name) => {
    const long = join(folder, name);
    await writeTable(long, entries.slice(0, 1));
    await writeTable(long, entries);
    expect(await isTable(long)).toBe(true);
    expect(await readdir(folder)).toEqual([name]);
  });

  test.runIf(isPosix)('of 256 bytes causes the system’s error, and no file is created', async () => {
    expect(await rejection(writeTable(join(folder, 'n'.repeat(256)), entries))).toMatchObject({ code: 'ENAMETOOLONG' });
    expect(await readdir(folder)).toEqual([]);
  });
});

/** The methods that all file handles have in common. */
async function fileHandles(): Promise<FileHandle> {
  await using handle = await open(join(folder, 'probe'), 'w');
  await rm(join(folder, 'probe'));
  return Object.getPrototypeOf(handle) as FileHandle;
}

describe.runIf(isPosix)('a folder that cannot be synced', () => {
  /** Makes the second sync fail, which is that of the folder. */
  async function failFolderSync(code: string): Promise<Error> {
    const failure = Object.assign(new Error(`${code}: fsync`), { code });
    const handles = await fileHandles();
    const { sync } = handles;
    let calls = 0;
    vi.spyOn(handles, 'sync').mockImplementation(async function (this: FileHandle) {
      if (++calls === 2) throw failure;
      await Reflect.apply(sync, this, []);
    });
    return failure;
  }

  test.each(['EIO', 'ENOSPC'])('after the rename, with %s, causes a FolderSyncError, and the new table is in place', async (code) => {
    await writeFile(path, old);
    const failure = await failFolderSync(code);
    const error = await rejection(writeTable(path, entries));
    expect(error).toBeInstanceOf(FolderSyncError);
    expect(error).toMatchObject({ code: 'BLOOM_FOLDER_NOT_SYNCED', path: join(folder, 'table.ldb'), cause: failure });
    expect(await isTable(path)).toBe(true);
    expect(await readdir(folder)).toEqual(['table.ldb']);
  });

  test('because its file system does not sync folders causes no error', async () => {
    await failFolderSync('EINVAL');
    await writeTable(path, entries);
    expect(await isTable(path)).toBe(true);
  });

  test.runIf(isRoot)('because it cannot be opened causes an error before anything is written', async () => {
    await writeFile(path, old);
    await chmod(folder, 0o333);
    process.seteuid!(65534);
    let error: unknown;
    try {
      error = await rejection(writeTable(path, entries));
    } finally {
      process.seteuid!(0);
    }
    expect(error).toMatchObject({ code: 'EACCES' });
    expect(sameBytes(await readFile(path), old)).toBe(true);
    expect(await readdir(folder)).toEqual(['table.ldb']);
  });
});

test.runIf(process.platform === 'linux')('no descriptor stays open, however the writing ends', async () => {
  const real = realpathSync(folder);
  const target = (fd: string): string => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  };
  const descriptors = (): number => readdirSync('/proc/self/fd').filter((fd) => target(fd).startsWith(real)).length;
  const known = await open(folder);
  expect(descriptors()).toBe(1);
  await known.close();
  const inner = join(folder, 'inner');
  await mkdir(inner);
  const endings: [string, Promise<unknown>][] = [
    [path, writeTable(path, entries)],
    [path, rejection(writeTable(path, [...entries, ...entries]))],
    [path, rejection(writeTable(path, entries, { blockSize: 0 }))],
    [inner, rejection(writeTable(join(inner, 'a'), acting(() => renameSync(inner, join(folder, 'moved')))))],
    [folder, rejection(writeTable(folder, entries))],
    [folder, rejection(writeTable(join(path, 'x'), entries))],
  ];
  for (const [, ending] of endings) await ending;
  expect(descriptors()).toBe(0);
});
