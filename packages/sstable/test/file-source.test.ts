import { mkdtemp, readdir, readlink, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { CorruptionError, SyncTable, Table } from '@bloom/sstable';
import { FileSource, SyncFileSource, writeTable } from '@bloom/sstable/node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { caught, rejection } from './caught.js';
import { collect, hex, numberedEntries, sameBytes, sameEntries } from './entries.js';

const entries = numberedEntries(5000, 100);

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bloom-file-source-'));
  path = join(folder, 'table.ldb');
  await writeTable(path, entries);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** How often this process has the table open. */
async function openDescriptors(): Promise<number> {
  const links = await Promise.all((await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return links.filter((link) => link === path).length;
}

describe('FileSource', () => {
  test.each(['break', 'throw', 'return'])('a walk that is left by %s leaves no rejection and no open file', async (way) => {
    const rejections: unknown[] = [];
    const note = (rejected: unknown): void => void rejections.push(rejected);
    process.on('unhandledRejection', note);
    const failure = new Error('enough');
    for (let count = 1; count < 2000; count += 111) {
      const source = await FileSource.open(path);
      const table = await Table.open(source, { cache: null });
      const walk = table.entries();
      let seen = 0;
      // By then the blocks behind it are being read.
      const leaving = (async () => {
        for await (const _ of walk) {
          if (++seen < count) continue;
          if (way === 'throw') throw failure;
          if (way === 'break') break;
          await walk.return!();
        }
      })();
      expect(await rejection(leaving)).toBe(way === 'throw' ? failure : undefined);
      expect([seen, await walk.next()]).toEqual([count, { value: undefined, done: true }]);
      await source.close();
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('unhandledRejection', note);
    expect(rejections).toEqual([]);
    if (process.platform === 'linux') {
      expect(await openDescriptors()).toBe(0);
      await using _ = await FileSource.open(path);
      expect(await openDescriptors()).toBe(1);
    }
  });

  test('many lookups and walks at once get their own bytes', async () => {
    await using source = await FileSource.open(path);
    const table = await Table.open(source, { cache: null });
    const [found, forwards, backwards] = await Promise.all([
      Promise.all(entries.map(([key]) => table.get(key))),
      collect(table),
      collect(table.entries({ reverse: true })),
    ]);
    expect(entries.filter(([, value], i) => !sameBytes(found[i], value)).map(([key]) => hex(key))).toEqual([]);
    expect(sameEntries(forwards, entries)).toBe(true);
    expect(sameEntries(backwards.reverse(), entries)).toBe(true);
  });

  test('it has the name and the length of its file', async () => {
    await using source = await FileSource.open(path);
    const table = await Table.open(source);
    expect(source.name).toBe(path);
    expect(source.byteLength).toBe(table.byteLength);
  });

  test('a file that is missing gives the error of the system', async () => {
    expect(await rejection(FileSource.open(join(folder, 'missing')))).toMatchObject({ code: 'ENOENT' });
  });

  test('a folder is refused, and the error names it', async () => {
    expect(await rejection(FileSource.open(folder))).toMatchObject({ code: 'EISDIR', path: folder });
  });

  test('a file that is cut short while it is open is truncated, which is told by name', async () => {
    await using source = await FileSource.open(path);
    const table = await Table.open(source);
    await truncate(path, 5000);
    const error = await rejection(table.get(entries[4000]![0]));
    expect(error).toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ code: 'BLOOM_TRUNCATED', structure: 'file', file: path });
    expect(await table.get(entries[0]![0])).toEqual(entries[0]![1]);
  });

  test('a file that is cut short before it is opened is truncated too', async () => {
    await using source = await FileSource.open(path);
    await truncate(path, 5000);
    expect(await rejection(Table.open(source))).toMatchObject({ code: 'BLOOM_TRUNCATED' });
  });

  test('an aborted signal ends a read before it starts', async () => {
    await using source = await FileSource.open(path);
    const reason = new Error('enough');
    expect(await rejection(source.read(0, 10, AbortSignal.abort(reason)))).toBe(reason);
  });

  test('closed, it passes on the error of the system', async () => {
    const source = await FileSource.open(path);
    const table = await Table.open(source);
    await source.close();
    expect(await rejection(table.get(entries[0]![0]))).toMatchObject({ code: 'EBADF' });
  });

  test('a file that is no table can be closed after it was refused', async () => {
    await writeFile(path, 'not a table');
    const source = await FileSource.open(path);
    expect(await rejection(Table.open(source))).toMatchObject({ code: 'BLOOM_NOT_A_TABLE', file: path });
    await source.close();
  });
});

describe('SyncFileSource', () => {
  test('it gives every key', () => {
    const source = SyncFileSource.open(path);
    const table = SyncTable.open(source, { cache: null });
    const found = table.getMany(entries.map(([key]) => key));
    expect(entries.filter(([, value], i) => !sameBytes(found[i], value)).map(([key]) => hex(key))).toEqual([]);
    source.close();
  });

  test('it can be read with promises too', async () => {
    const source = SyncFileSource.open(path);
    expect(sameEntries(await collect(await Table.open(source)), entries)).toBe(true);
    source.close();
  });

  test('a file that is missing gives the error of the system', () => {
    expect(caught(() => SyncFileSource.open(join(folder, 'missing')))).toMatchObject({ code: 'ENOENT' });
  });

  test('a folder is refused, and the error names it', () => {
    expect(caught(() => SyncFileSource.open(folder))).toMatchObject({ code: 'EISDIR', path: folder });
  });

  test('a file that is cut short while it is open is truncated, which is told by name', async () => {
    const source = SyncFileSource.open(path);
    const table = SyncTable.open(source);
    await truncate(path, 5000);
    const error = caught(() => table.get(entries[4000]![0]));
    expect(error).toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ code: 'BLOOM_TRUNCATED', structure: 'file', file: path });
    source.close();
  });
});
