import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { goldenTables, type KeyValue } from '@bloom/fixtures';
import { MemorySource, SyncTable } from '@bloom/sstable';
import { writeTable } from '@bloom/sstable/node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { rejection } from './caught.js';
import { numberedEntries, sameBytes, sameEntries, utf8 } from './entries.js';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bloom-write-table-'));
  path = join(folder, 'table.ldb');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function* awaited<T>(items: Iterable<T>): AsyncGenerator<T> {
  for (const item of items) {
    await Promise.resolve();
    yield item;
  }
}

describe('a written table', () => {
  // The default policy has 10 bits per key.
  const goldens = goldenTables().filter(({ byteExact, options }) => byteExact && (options.bitsPerKey ?? 10) === 10);

  test.each(goldens)('$name is that of LevelDB, byte for byte', async (golden) => {
    const { blockSize, blockRestartInterval: restartInterval, compression, bitsPerKey } = golden.options;
    const info = await writeTable(path, golden.input(), {
      blockSize,
      restartInterval,
      compression,
      ...(bitsPerKey === null && { filterPolicy: null }),
    });
    expect(sameBytes(await readFile(path), golden.bytes())).toBe(true);
    expect(info).toMatchObject({ byteLength: golden.size, entries: golden.entries });
    expect(await readdir(folder)).toEqual(['table.ldb']);
  });

  const large = numberedEntries(3000, 1500);

  test('has the same bytes from a list, a generator and an asynchronous iterable', async () => {
    const expected = buildTable(large);
    const inputs = [large, large.values(), awaited(large)];
    const same: boolean[] = [];
    for (const input of inputs) {
      await writeTable(path, input);
      same.push(sameBytes(await readFile(path), expected));
    }
    expect(same).toEqual([true, true, true]);
  });

  test('may reuse the memory of its keys and values', async () => {
    const key = new Uint8Array(8);
    const value = new Uint8Array(100);
    function* reused(): Generator<readonly [Uint8Array, Uint8Array]> {
      for (let i = 0; i < 2000; i++) {
        new DataView(key.buffer).setUint32(4, i);
        value.fill(i);
        yield [key, value];
      }
    }
    await writeTable(path, reused());
    const copies = Array.from(reused(), ([k, v]): KeyValue => [k.slice(), v.slice()]);
    expect(copies[0]![0]).toEqual(new Uint8Array(8));
    expect(sameEntries(SyncTable.open(new MemorySource(await readFile(path))).entries(), copies)).toBe(true);
  });

  test('takes the place of the one before', async () => {
    await writeTable(path, numberedEntries(10));
    await writeTable(path, numberedEntries(20));
    expect([...SyncTable.open(new MemorySource(await readFile(path))).keys()]).toHaveLength(20);
    expect(await readdir(folder)).toEqual(['table.ldb']);
  });

  test('goes where a link leads, and the link stays', async () => {
    await mkdir(join(folder, 'elsewhere'));
    const target = join(folder, 'elsewhere', 'real.ldb');
    await writeFile(target, 'old');
    await symlink(target, path);
    await writeTable(path, numberedEntries(10));
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
    expect(sameBytes(await readFile(target), buildTable(numberedEntries(10)))).toBe(true);
    expect(await readdir(join(folder, 'elsewhere'))).toEqual(['real.ldb']);
  });

  test('tells how far it is, up to the number of entries', async () => {
    const seen: number[] = [];
    await writeTable(path, large, { compression: 'none', onProgress: (entries) => seen.push(entries) });
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(large.length);
  });

  test('of 300 MB takes less than 120 MB of memory to write', { timeout: 30_000 }, async () => {
    const script = fileURLToPath(new URL('write-300-mb.ts', import.meta.url));
    const args = ['--expose-gc', '--conditions=bloom-source', '--import', 'tsx', script, path];
    const cwd = fileURLToPath(new URL('.', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
    const { byteLength, growth } = JSON.parse(stdout) as { byteLength: number; growth: number };
    expect(byteLength).toBeGreaterThan(300e6);
    expect(growth).toBeLessThan(120e6);
  });
});

describe('a table that fails to be written', () => {
  const old = utf8('what was there before');

  // Past the first write, so that part of the file is on disk.
  const many = numberedEntries(2500, 1000);
  const failure = new Error('no more entries');

  function* throwing(): Generator<KeyValue> {
    yield* many;
    throw failure;
  }

  async function* throwingLater(): AsyncGenerator<KeyValue> {
    yield* many;
    throw failure;
  }

  const unsorted = [...many, many[0]!];

  function aborting(controller: AbortController): Iterable<KeyValue> {
    return (function* (): Generator<KeyValue> {
      for (const [i, entry] of many.entries()) {
        if (i === 1000) controller.abort(failure);
        yield entry;
      }
    })();
  }

  test.each([
    ['keys out of order', () => writeTable(path, unsorted, { compression: 'none' }), RangeError],
    ['keys out of order, asynchronously', () => writeTable(path, awaited(unsorted), { compression: 'none' }), RangeError],
    ['entries that throw', () => writeTable(path, throwing(), { compression: 'none' }), failure],
    ['entries that throw asynchronously', () => writeTable(path, throwingLater(), { compression: 'none' }), failure],
    ['a signal aborted before', () => writeTable(path, many, { signal: AbortSignal.abort(failure) }), failure],
    [
      'a signal aborted on the way',
      () => {
        const controller = new AbortController();
        return writeTable(path, aborting(controller), { compression: 'none', signal: controller.signal });
      },
      failure,
    ],
    [
      'a signal aborted at the last entry',
      () => {
        const controller = new AbortController();
        const entries = (function* (): Generator<KeyValue> {
          yield* many;
          controller.abort(failure);
        })();
        return writeTable(path, entries, { compression: 'none', signal: controller.signal });
      },
      failure,
    ],
    ['a wrong option', () => writeTable(path, many, { blockSize: 0 }), RangeError],
    [
      'progress that throws',
      () =>
        writeTable(path, many, {
          compression: 'none',
          onProgress: () => {
            throw failure;
          },
        }),
      failure,
    ],
  ])('for %s leaves the old file as it was, and no other', async (_, write, expected) => {
    await writeFile(path, old);
    const error = await rejection(write());
    if (typeof expected === 'function') expect(error).toBeInstanceOf(expected);
    else expect(error).toBe(expected);
    expect(await readdir(folder)).toEqual(['table.ldb']);
    expect(sameBytes(await readFile(path), old)).toBe(true);
  });

  test('by a signal that is aborted on the way takes no more entries than the next MiB', async () => {
    const controller = new AbortController();
    let taken = 0;
    const entries = (function* (): Generator<KeyValue> {
      for (const entry of aborting(controller)) {
        taken++;
        yield entry;
      }
    })();
    const error = await rejection(writeTable(path, entries, { compression: 'none', signal: controller.signal }));
    expect(error).toBe(failure);
    expect(taken).toBeLessThan(2200);
  });

  test('leaves no file where there was none', async () => {
    await rejection(writeTable(path, throwing(), { compression: 'none' }));
    expect(await readdir(folder)).toEqual([]);
  });

  test('ends the iterables that it was reading', async () => {
    const ended: string[] = [];
    const controller = new AbortController();
    function* watched(): Generator<KeyValue> {
      try {
        yield* aborting(controller);
      } finally {
        ended.push('generator');
      }
    }
    async function* watchedLater(): AsyncGenerator<KeyValue> {
      try {
        yield* unsorted;
      } finally {
        ended.push('asynchronous generator');
      }
    }
    await rejection(writeTable(path, watched(), { compression: 'none', signal: controller.signal }));
    await rejection(writeTable(path, watchedLater()));
    expect(ended).toEqual(['generator', 'asynchronous generator']);
  });

  test('in a folder that is missing, says so, and makes none', async () => {
    const error = await rejection(writeTable(join(folder, 'missing', 'table.ldb'), many));
    expect(error).toMatchObject({ code: 'ENOENT' });
    expect(await readdir(folder)).toEqual([]);
  });

  test('over a folder, leaves the folder', async () => {
    await mkdir(path);
    await writeFile(join(path, 'inside'), old);
    const error = await rejection(writeTable(path, many.slice(0, 10)));
    expect((error as NodeJS.ErrnoException).code).toMatch(/^(EISDIR|ENOTEMPTY|EEXIST|EPERM)$/);
    expect(await readdir(folder)).toEqual(['table.ldb']);
    expect(await readdir(path)).toEqual(['inside']);
  });

  test('below a file, leaves the file', async () => {
    await writeFile(path, old);
    const error = await rejection(writeTable(join(path, 'table.ldb'), many.slice(0, 10)));
    expect((error as NodeJS.ErrnoException).code).toMatch(/^(ENOTDIR|ENOENT)$/);
    expect(await readdir(folder)).toEqual(['table.ldb']);
    expect(sameBytes(await readFile(path), old)).toBe(true);
  });

  // To root, and on Windows, the mode of a folder means nothing.
  const modesHold = process.platform !== 'win32' && process.getuid?.() !== 0;

  test.runIf(modesHold)('in a folder that must not be written to, leaves nothing', async () => {
    const closed = join(folder, 'closed');
    await mkdir(closed);
    await chmod(closed, 0o500);
    expect(await rejection(writeTable(join(closed, 'table.ldb'), many))).toMatchObject({ code: 'EACCES' });
    await chmod(closed, 0o700);
    expect(await readdir(closed)).toEqual([]);
  });
});
