import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { turns } from '@bloom/fixtures/event-loop';
import { BlockCache, bytewiseComparator, SyncTable, Table } from '@bloom/sstable';
import { FileSource, openTable, openTableSync, writeTable } from '@bloom/sstable/node';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect, hex, numberedEntries, sameBytes, sameEntries } from './entries.js';
import { replaceReads } from './replace-reads.js';
import { gate } from './sources.js';

const entries = numberedEntries(2000, 100);
const keys = entries.map(([key]) => key);
const missed = (values: readonly (Uint8Array | undefined)[]): string[] =>
  entries.filter(([, value], i) => !sameBytes(values[i], value)).map(([key]) => hex(key));

let folder: string;
let path: string;
const unhandled: unknown[] = [];
const note = (error: unknown): number => unhandled.push(error);

beforeEach(async () => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
  folder = await mkdtemp(join(tmpdir(), 'bloom-file-table-'));
  path = join(folder, 'table.ldb');
  await writeTable(path, entries);
});

afterEach(async () => {
  vi.restoreAllMocks();
  FileSource.prototype.close = closeOfFiles;
  await rm(folder, { recursive: true, force: true });
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

/** Only Linux lists the files that this process has open. */
const isLinux = process.platform === 'linux';

/** The number of descriptors that this process has for the table. */
async function openDescriptors(): Promise<number> {
  const links = await Promise.all((await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return links.filter((link) => link === path).length;
}

const closeOfFiles = FileSource.prototype.close;

/** Replaces how files are closed until the test is over. Not a spy, because a spy would handle unhandled rejections. */
function replaceClose(replacement: (close: () => Promise<void>) => Promise<void>): void {
  FileSource.prototype.close = function (this: FileSource) {
    return replacement(() => closeOfFiles.call(this));
  };
}

/** Openings that fail after the file was opened, with the contents of the file, by default the table, and the options. */
const failures: { name: string; contents?: string; options?: object; error: object }[] = [
  { name: 'the file is not a table', contents: 'not a table'.repeat(10), error: { code: 'BLOOM_NOT_A_TABLE' } },
  { name: 'the file is empty', contents: '', error: { code: 'BLOOM_NOT_A_TABLE' } },
  { name: 'the index is larger than the limit', options: { maxBlockBytes: 100 }, error: { code: 'BLOOM_TOO_LARGE' } },
  { name: 'a codec is not a codec', options: { codecs: [{}] }, error: { name: 'TypeError' } },
  { name: 'tailBytes is too small', options: { tailBytes: 1 }, error: { name: 'RangeError' } },
  {
    name: 'comparator and policy do not agree',
    options: { comparator: { ...bytewiseComparator, keyEquivalence: 'folded' }, filterPolicies: [{ name: 'p', createFilter() {}, keyMayMatch: () => true }] },
    error: { name: 'RangeError' },
  },
];

describe('openTable', () => {
  test('opens a table that has every entry and the name of its file', async () => {
    await using table = await openTable(path);
    expect(table).toBeInstanceOf(Table);
    expect([table.name, table.filterStatus.state]).toEqual([path, 'used']);
    expect(missed(await table.getMany(keys))).toEqual([]);
    expect(sameEntries(await collect(table.entries()), entries)).toBe(true);
  });

  test('takes the options of Table.open', async () => {
    const cache = new BlockCache(2 ** 20);
    await using table = await openTable(path, { filterPolicies: [], cache });
    expect(table.filterStatus.state).toBe('unknown-policy');
    await table.get(keys[0]!);
    expect(cache.byteLength).toBeGreaterThan(0);
  });

  test.runIf(isLinux)('closes the file when the table is closed, and does nothing when it is closed again', async () => {
    const table = await openTable(path);
    expect(await openDescriptors()).toBe(1);
    await table.close();
    expect(await openDescriptors()).toBe(0);
    await table.close();
    expect(await rejection(table.get(keys[0]!))).toMatchObject({ name: 'TypeError', message: 'the table is closed' });
  });

  test.runIf(isLinux)('closes the file at the end of an `await using` block', async () => {
    {
      await using table = await openTable(path);
      expect(await table.get(keys[7]!)).toEqual(entries[7]![1]);
    }
    expect(await openDescriptors()).toBe(0);
  });

  test.runIf(isLinux)('rejects pending calls when the table is closed, and waits for their reads', async () => {
    const table = await openTable(path, { cache: null, readsAtOnce: false });
    const pending = [rejection(table.get(keys[900]!)), rejection(table.getMany(keys)), rejection(collect(table.entries()))];
    await table.close();
    expect(await openDescriptors()).toBe(0);
    for (const error of await Promise.all(pending)) expect(error).toBeInstanceOf(TypeError);
  });

  test('rejects the promise of close() if the file cannot be closed, without an unhandled rejection if nobody awaits it', async () => {
    const failure = new Error('EIO');
    const { opened: hasFailed, open: fails } = gate();
    replaceClose(async (close) => {
      await close();
      fails();
      throw failure;
    });
    const table: Table = await openTable(path);
    void table.close();
    await hasFailed;
    await turns();
    expect(await rejection((await openTable(path)).close())).toBe(failure);
  });

  test('rejects a failed opening after the file was closed, with the reason of the opening even if closing fails too', async () => {
    await writeFile(path, 'not a table');
    let isClosed = false;
    replaceClose(async (close) => {
      await close();
      await turns();
      isClosed = true;
      throw new Error('EIO');
    });
    expect(await rejection(openTable(path))).toMatchObject({ code: 'BLOOM_NOT_A_TABLE' });
    expect(isClosed).toBe(true);
  });

  test.runIf(isLinux).each(failures)('closes the file when $name', async ({ contents, options, error }) => {
    if (contents !== undefined) await writeFile(path, contents);
    expect(await rejection(openTable(path, options))).toMatchObject(error);
    expect(await openDescriptors()).toBe(0);
  });

  test('does not open the file if an option is invalid or the signal is aborted', async () => {
    const missing = join(folder, 'missing');
    const reason = new Error('enough');
    await expect(openTable(missing, { tailSize: 1 } as object)).rejects.toThrow(/^openTable .*tailSize/);
    expect(await rejection(openTable(missing, { readAheadBytes: -1 }))).toBeInstanceOf(RangeError);
    expect(await rejection(openTable(missing, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(await rejection(openTable(missing))).toMatchObject({ code: 'ENOENT' });
  });

  test.runIf(isLinux)('rejects at once on an abort, and closes the file when its read has ended', async () => {
    let release = (): void => undefined;
    const controller = new AbortController();
    const reason = new Error('enough');
    replaceReads((readPiece) => {
      release = readPiece;
      controller.abort(reason);
    });
    expect(await rejection(openTable(path, { signal: controller.signal }))).toBe(reason);
    expect(await openDescriptors()).toBe(1);
    release();
    await vi.waitFor(async () => expect(await openDescriptors()).toBe(0), { timeout: 120_000 });
  });
});

describe('openTableSync', () => {
  test('opens a table that has every entry and the name of its file', () => {
    const table = openTableSync(path);
    expect(table).toBeInstanceOf(SyncTable);
    expect([table.name, table.filterStatus.state]).toEqual([path, 'used']);
    expect(missed(table.getMany(keys))).toEqual([]);
    table.close();
  });

  test('takes the options of SyncTable.open', () => {
    const table = openTableSync(path, { filterPolicies: [], cache: null });
    expect(table.filterStatus.state).toBe('unknown-policy');
    table.close();
  });

  test.runIf(isLinux)('closes the file when the table is closed, and does nothing when it is closed again', async () => {
    const table = openTableSync(path);
    expect(await openDescriptors()).toBe(1);
    table.close();
    expect(await openDescriptors()).toBe(0);
    table.close();
    expect(caught(() => table.get(keys[0]!))).toMatchObject({ name: 'TypeError', message: 'the table is closed' });
  });

  test.runIf(isLinux).each(failures)('closes the file when $name', async ({ contents, options, error }) => {
    if (contents !== undefined) await writeFile(path, contents);
    expect(caught(() => openTableSync(path, options))).toMatchObject(error);
    expect(await openDescriptors()).toBe(0);
  });

  test('does not open the file if an option is unknown, and passes on the system’s errors', () => {
    const missing = join(folder, 'missing');
    expect(() => openTableSync(missing, { tailSize: 1 } as object)).toThrow(/^openTableSync .*tailSize/);
    expect(caught(() => openTableSync(missing))).toMatchObject({ code: 'ENOENT' });
  });
});
