import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { type FileHandle, mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type KeyValue, seeded } from '@bloom/fixtures';
import { MemorySource, SyncTable } from '@bloom/sstable';
import { verifyTable } from '@bloom/sstable/inspect';
import { writeTable } from '@bloom/sstable/node';
import { build } from 'tsup';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { buildTable } from '../build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { numberedEntries, sameBytes, sameEntries } from '../entries.js';
import { versionEntries } from '../version-entries.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bloom-faults-'));
  path = join(folder, 'table.ldb');
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

const old = buildTable(numberedEntries(50));
const many = [...versionEntries(1)];
const whole = buildTable(many, { compression: 'none' });

/** Writes `many` over `old`. @returns the state of the folder afterwards, and the error. */
async function writeOver(entries: Iterable<KeyValue> = many): Promise<{ error: unknown; isOld: boolean; isWhole: boolean; names: string[] }> {
  await writeFile(path, old);
  const error = await rejection(writeTable(path, entries, { compression: 'none' }));
  const bytes = await readFile(path);
  return { error, isOld: sameBytes(bytes, old), isWhole: sameBytes(bytes, whole), names: await readdir(folder) };
}

const isLinux = process.platform === 'linux';

function mounted(options: string): boolean {
  if (!isLinux || process.getuid?.() !== 0) return false;
  const probe = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  return probe.status === 0;
}

/** Whether this process may mount a file system. */
function mayMount(): boolean {
  if (!isLinux || process.getuid?.() !== 0) return false;
  const probe = join(tmpdir(), `bloom-mount-${process.pid}`);
  mkdirSync(probe);
  try {
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', probe]).status !== 0) return false;
    execFileSync('umount', [probe]);
    return true;
  } finally {
    rmSync(probe, { recursive: true });
  }
}

if (!mayMount()) test.skip('this process may not mount a tmpfs (it needs Linux and root), so no disk is full', () => {});
describe.runIf(mayMount())('on a disk of 1 MiB', () => {
  afterEach(() => spawnSync('umount', [folder]));

  test('a table that does not fit leaves the old one and frees its disk space', async () => {
    expect(mounted('size=1m')).toBe(true);
    const { error, isOld, names } = await writeOver();
    expect(error).toMatchObject({ code: 'ENOSPC' });
    expect(isOld).toBe(true);
    expect(names).toEqual(['table.ldb']);
    // The incomplete file was deleted, so a table of 900 KB fits.
    const fitting = many.slice(0, 850);
    await writeTable(path, fitting, { compression: 'none' });
    expect(sameEntries(SyncTable.open(new MemorySource(await readFile(path))).entries(), fitting)).toBe(true);
  });

  test('that is full, writing a table fails and creates no file', async () => {
    expect(mounted('size=1m')).toBe(true);
    await writeFile(join(folder, 'filler'), new Uint8Array(2 ** 20)).catch(() => undefined);
    expect(await rejection(writeTable(path, many))).toMatchObject({ code: 'ENOSPC' });
    expect(await readdir(folder)).toEqual(['filler']);
  });

  test('a table is written to the target of a link on another disk', async () => {
    expect(mounted('size=1m')).toBe(true);
    const elsewhere = await mkdtemp(join(tmpdir(), 'bloom-faults-'));
    await symlink(path, join(elsewhere, 'link.ldb'));
    await writeTable(join(elsewhere, 'link.ldb'), many.slice(0, 10));
    expect(await readdir(folder)).toEqual(['table.ldb']);
    expect(await readdir(elsewhere)).toEqual(['link.ldb']);
    await rm(elsewhere, { recursive: true });
  });

  test('a table that is a mount point cannot be replaced and is left unchanged', async () => {
    expect(mounted('size=1m')).toBe(true);
    const mountPoint = join(folder, 'mounted.ldb');
    await writeFile(path, old);
    await writeFile(mountPoint, '');
    execFileSync('mount', ['--bind', path, mountPoint]);
    const error = (await rejection(writeTable(mountPoint, many.slice(0, 10)))) as NodeJS.ErrnoException;
    const names = await readdir(folder);
    const bytes = await readFile(mountPoint);
    execFileSync('umount', [mountPoint]);
    expect(error.code).toMatch(/^(EBUSY|EXDEV)$/);
    expect(names.sort()).toEqual(['mounted.ldb', 'table.ldb']);
    expect(sameBytes(bytes, old)).toBe(true);
  });

  test('that has no room for another file, writing a table fails', async () => {
    // The folder itself counts as a file.
    expect(mounted('size=4m,nr_inodes=3')).toBe(true);
    await writeFile(join(folder, 'a'), 'a');
    await writeFile(join(folder, 'b'), 'b').catch(() => undefined);
    expect(await rejection(writeTable(path, many))).toMatchObject({ code: 'ENOSPC' });
  });

  test('that is read-only, the old table is left unchanged', async () => {
    expect(mounted('size=4m')).toBe(true);
    await writeFile(path, old);
    execFileSync('mount', ['-o', 'remount,ro', folder]);
    expect(await rejection(writeTable(path, many))).toMatchObject({ code: 'EROFS' });
    expect(sameBytes(await readFile(path), old)).toBe(true);
  });
});

/** The methods that all file handles have in common. */
async function fileHandles(): Promise<FileHandle> {
  const handle = await open(join(folder, 'probe'), 'w');
  await handle.close();
  await rm(join(folder, 'probe'));
  return Object.getPrototypeOf(handle) as FileHandle;
}

function ioError(): Error {
  return Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
}

describe('an error while a table is written:', () => {
  test.each([1, 2])('a failing write, number %d, leaves the old table', async (number) => {
    const handles = await fileHandles();
    const writev = handles.writev;
    let calls = 0;
    const failing = function (this: FileHandle, ...args: unknown[]): unknown {
      return ++calls === number ? Promise.reject(ioError()) : Reflect.apply(writev, this, args);
    };
    vi.spyOn(handles, 'writev').mockImplementation(failing as never);
    const { error, isOld, names } = await writeOver();
    expect(error).toMatchObject({ code: 'EIO' });
    expect(calls).toBe(number);
    expect({ isOld, names }).toEqual({ isOld: true, names: ['table.ldb'] });
  });

  // A write may end early, in the middle of a part. Then the rest is written, and if that fails, writeTable fails.
  test.each([
    [0, Infinity],
    [1, Infinity],
    [100_000, Infinity],
    [100_000, 1],
    [100_000, 3],
  ])('a write that ends after %d bytes is continued, unless write %d of the rest fails', async (most, failure) => {
    const handles = await fileHandles();
    const { write, writev } = handles;
    let calls = 0;
    vi.spyOn(handles, 'writev').mockImplementation(async function (this: FileHandle, parts: readonly NodeJS.ArrayBufferView[]) {
      const bytes = Buffer.concat(parts as Uint8Array[]).subarray(0, most);
      return bytes.length === 0 ? { bytesWritten: 0, buffers: [] } : Reflect.apply(writev, this, [[bytes]]);
    });
    vi.spyOn(handles, 'write').mockImplementation(function (this: FileHandle, bytes: Uint8Array, offset: number) {
      if (++calls === failure) return Promise.reject(ioError());
      // Writes at most 10,000 bytes, like an interrupted system call.
      return Reflect.apply(write, this, [bytes, offset, Math.min(10_000, bytes.length - offset)]) as unknown;
    } as never);
    const { error, isOld, isWhole, names } = await writeOver();
    if (failure === Infinity) expect({ error, isWhole }).toEqual({ error: undefined, isWhole: true });
    else expect([error, isOld]).toEqual([expect.objectContaining({ code: 'EIO' }), true]);
    expect(calls).toBeGreaterThan(0);
    expect(names).toEqual(['table.ldb']);
  });

  test('a write that keeps writing nothing leaves the old table', async () => {
    const handles = await fileHandles();
    vi.spyOn(handles, 'writev').mockImplementation((async () => ({ bytesWritten: 0, buffers: [] })));
    vi.spyOn(handles, 'write').mockImplementation((async () => ({ bytesWritten: 0, buffer: '' })));
    const { error, isOld, names } = await writeOver();
    expect(error).toMatchObject({ code: 'EIO' });
    expect({ isOld, names }).toEqual({ isOld: true, names: ['table.ldb'] });
  });

  test('a failing fsync leaves the old table', async () => {
    const handles = await fileHandles();
    vi.spyOn(handles, 'sync').mockRejectedValueOnce(ioError());
    const { error, isOld, names } = await writeOver();
    expect(error).toMatchObject({ code: 'EIO' });
    expect({ isOld, names }).toEqual({ isOld: true, names: ['table.ldb'] });
  });

  test('a rename that fails because a folder took the name leaves that folder and no other file', async () => {
    const entries = (function* (): Generator<KeyValue> {
      for (const [i, entry] of many.entries()) {
        if (i === 1500) mkdirSync(join(path, 'inside'), { recursive: true });
        yield entry;
      }
    })();
    const error = (await rejection(writeTable(path, entries, { compression: 'none' }))) as NodeJS.ErrnoException;
    expect(error.code).toMatch(/^(EISDIR|ENOTEMPTY|EEXIST|EPERM)$/);
    expect(await readdir(folder)).toEqual(['table.ldb']);
    expect(await readdir(path)).toEqual(['inside']);
  });

  test('a rename that fails because its folder was deleted does not create the folder again', async () => {
    const inner = join(folder, 'inner');
    await mkdir(inner);
    const entries = (function* (): Generator<KeyValue> {
      for (const [i, entry] of many.entries()) {
        if (i === 1500) rmSync(inner, { recursive: true });
        yield entry;
      }
    })();
    const error = await rejection(writeTable(join(inner, 'table.ldb'), entries, { compression: 'none' }));
    expect((error as NodeJS.ErrnoException).code).toMatch(/^(ENOENT|EPERM|EBUSY|ENOTEMPTY)$/);
    if (isLinux) expect(await readdir(folder)).toEqual([]);
  });
});

test('an entry of more than 64 MiB is written in pieces of at most 64 MiB', async () => {
  const handles = await fileHandles();
  const { write, writev } = handles;
  const lengths: number[] = [];
  vi.spyOn(handles, 'write').mockImplementation(function (this: FileHandle, bytes: Uint8Array, offset: number, length: number) {
    lengths.push(length);
    return Reflect.apply(write, this, [bytes, offset, length]) as never;
  } as never);
  vi.spyOn(handles, 'writev').mockImplementation(function (this: FileHandle, parts: readonly NodeJS.ArrayBufferView[]) {
    lengths.push(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
    return Reflect.apply(writev, this, [parts]);
  });
  const value = new Uint8Array(66 * 2 ** 20);
  for (let i = 0; i < value.length; i += 4096) value[i] = i >> 12;
  const entries: KeyValue[] = [[new Uint8Array(1), value]];
  const { byteLength } = await writeTable(path, entries, { compression: 'none', filterPolicy: null });
  expect(Math.max(...lengths)).toBe(64 * 2 ** 20);
  expect(lengths.reduce((sum, length) => sum + length)).toBe(byteLength);
  expect(sameBytes(SyncTable.open(new MemorySource(await readFile(path))).get(new Uint8Array(1)), value)).toBe(true);
});

test('the rest of a short write is written again until everything is written', async () => {
  const handles = await fileHandles();
  const write = handles.write;
  const random = seeded(6);
  vi.spyOn(handles, 'write').mockImplementation(async function (this: FileHandle, bytes: Uint8Array, offset = 0) {
    const length = 1 + random.below(Math.min(300_000, bytes.length - offset));
    return Reflect.apply(write, this, [bytes, offset, length]) as never;
  } as never);
  const { error, isWhole } = await writeOver();
  expect({ error, isWhole }).toEqual({ error: undefined, isWhole: true });
});

// The shell's limit is in blocks of 512 or 1024 bytes.
test.runIf(isLinux)('a limit on the file size that is smaller than the table leaves the old one', async () => {
  await writeFile(path, old);
  const script = fileURLToPath(new URL('../write-again-and-again.ts', import.meta.url));
  const command = 'ulimit -f 1000; exec "$0" --conditions=bloom-source --import tsx "$1" "$2"';
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const { status, signal } = spawnSync('sh', ['-c', command, process.execPath, script, path], { cwd, input: 'go\n' });
  expect(status !== 0 || signal !== null).toBe(true);
  expect(sameBytes(await readFile(path), old)).toBe(true);
});

/** Bundles the writer into one JavaScript file. Compiling it for each process would take most of the test's time. */
async function bundledWriter(): Promise<string> {
  const entry = fileURLToPath(new URL('../write-again-and-again.ts', import.meta.url));
  await build({
    entry: [entry],
    outDir: folder,
    format: 'esm',
    outExtension: () => ({ js: '.mjs' }),
    config: false,
    silent: true,
    dts: false,
    noExternal: [/./],
    tsconfig: fileURLToPath(new URL('../../tsconfig.node.json', import.meta.url)),
    esbuildOptions(options) {
      options.conditions = ['bloom-source', 'node'];
    },
  });
  return join(folder, 'write-again-and-again.mjs');
}

interface Writer {
  readonly ready: Promise<unknown>;
  /** Lets it start writing. @returns when the first table is written. */
  go(): Promise<unknown>;
  kill(): Promise<unknown>;
}

/** Starts a process that writes versions of the table once it is told to. */
function startWriter(script: string, target: string): Writer {
  const child = spawn(process.execPath, [script, target], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => undefined);
  return {
    ready: once(child.stdout, 'data'),
    go() {
      child.stdin.write('go\n');
      return once(child.stdout, 'data').catch(() => undefined);
    },
    kill() {
      child.kill('SIGKILL');
      return once(child, 'close');
    },
  };
}

const versionZero = buildTable(versionEntries(0), { compression: 'none' });

/** The version of a table. Throws if the table is not complete. */
async function versionOf(bytes: Uint8Array): Promise<number> {
  if (sameBytes(bytes, versionZero)) return 0;
  const { findings } = await verifyTable(new MemorySource(bytes));
  if (findings.length > 0) throw new Error(JSON.stringify(findings[0]));
  const table = SyncTable.open(new MemorySource(bytes));
  const [first] = table.values({ limit: 1 });
  const version = new DataView(first!.buffer, first!.byteOffset).getUint32(0);
  if (!sameBytes(bytes, buildTable(versionEntries(version), { compression: 'none' }))) throw new Error(`version ${version} is not whole`);
  return version;
}

// BLOOM_KILLS is the number of kills; `pnpm --filter @bloom/long-tests kills` takes 200.
const kills = Number(process.env.BLOOM_KILLS ?? 8);

test.runIf(isLinux)(`a process that is killed leaves the old table or a complete new one, at ${kills} random moments`, { timeout: 3600_000 }, async () => {
  const script = await bundledWriter();
  // Measures how long a build takes on this machine.
  const first = startWriter(script, path);
  await first.ready;
  const start = performance.now();
  await first.go();
  const buildMs = performance.now() - start;
  await first.kill();
  const random = seeded(99);
  const versions: number[] = [];
  const left: string[] = [];
  // Starts four at a time, because starting takes the longest.
  for (let done = 0; done < kills; done += 4) {
    const writers = [];
    for (let i = 0; i < Math.min(4, kills - done); i++) {
      const own = join(folder, `${done + i}`);
      await mkdir(own);
      const target = join(own, 'table.ldb');
      await writeFile(target, versionZero);
      writers.push({ own, target, ...startWriter(script, target) });
    }
    await Promise.all(writers.map(({ ready }) => ready));
    for (const { own, target, go, kill } of writers) {
      void go();
      await new Promise((resolve) => setTimeout(resolve, (random.below(1000) / 500) * buildMs));
      await kill();
      versions.push(await versionOf(await readFile(target)));
      left.push(...(await readdir(own)).filter((name) => name !== 'table.ldb'));
      // The next table can be written, whatever the killed process left.
      await writeTable(target, numberedEntries(3));
      expect((await stat(target)).size).toBeLessThan(500);
    }
  }
  expect(versions).toHaveLength(kills);
  // Some were killed before their first table was complete, and some after it. With few kills, chance decides.
  if (kills >= 100) expect(new Set(versions.map((version) => version > 0)).size).toBe(2);
  // Incomplete tables only ever have the name of a temporary file.
  expect(left.filter((name) => !/^\.table\.ldb\.[0-9a-f]{12}\.tmp$/.test(name))).toEqual([]);
  if (kills > 20) process.stdout.write(`versions ${versions.join(' ')}; ${left.length} temporary files were left\n`);
});
