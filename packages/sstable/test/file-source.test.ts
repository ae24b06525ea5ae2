import { mkdtemp, open, readdir, readFile, readlink, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { turns } from '@bloom/fixtures/event-loop';
import { CorruptionError, SyncTable, Table } from '@bloom/sstable';
import { fileIdentity, FileSource, ReadPace, SyncFileSource, writeTable } from '@bloom/sstable/node';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { caught, rejection } from '@bloom/fixtures/caught';
import { hasNamedPipes, makeNamedPipe } from '@bloom/fixtures/named-pipe';
import { collect, hex, numberedEntries, sameBytes, sameEntries } from './entries.js';
import { replaceReads } from './replace-reads.js';

const entries = numberedEntries(5000, 100);

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bloom-file-source-'));
  path = join(folder, 'table.ldb');
  await writeTable(path, entries);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

const MIB = 2 ** 20;

/** Makes a sparse file of `byteLength` bytes in which the bytes at `marks` are 1, 2 and so on. */
async function sparseFile(byteLength: number, marks: readonly number[]): Promise<string> {
  const sparse = join(folder, 'sparse');
  await using handle = await open(sparse, 'w');
  await handle.truncate(byteLength);
  for (const [i, offset] of marks.entries()) await handle.write(Uint8Array.of(i + 1), 0, 1, offset);
  return sparse;
}

// Paths that are not regular files. Opening a named pipe waits until somebody writes to it.

/** The number of descriptors that this process has for the table. */
async function openDescriptors(): Promise<number> {
  const links = await Promise.all((await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return links.filter((link) => link === path).length;
}

describe('FileSource', () => {
  test('opens a file at once where files share a pace, and on a thread otherwise', async () => {
    const requests = (): number => process.getActiveResourcesInfo().filter((name) => name === 'FSReqCallback').length;
    const before = requests();
    const atOnce = FileSource.open(path, { readsAtOnce: new ReadPace() });
    expect(requests()).toBe(before);
    const later = [false, true].map((readsAtOnce) => FileSource.open(path, { readsAtOnce }));
    expect(requests()).toBe(before + 2);
    await Promise.all([atOnce, ...later].map(async (opening) => (await opening).close()));
  });

  test('of files that share a pace, those after a slow opening are opened on threads, and their reads are still made at once', async () => {
    const pace = new ReadPace(() => undefined);
    expect(pace.opens.takesNext(0)).toBe(true);
    pace.opens.took(5);
    expect([pace.opens.takesNext(0), pace.takesNext(0)]).toEqual([false, true]);
    await expect(FileSource.open(`${path}-missing`, { readsAtOnce: pace })).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test.each(['break', 'throw', 'return'])('has no open file and no unhandled rejection after a walk that was left by %s', async (way) => {
    const rejections: unknown[] = [];
    const note = (rejected: unknown): void => void rejections.push(rejected);
    process.on('unhandledRejection', note);
    const failure = new Error('enough');
    for (let count = 1; count < 2000; count += 111) {
      const source = await FileSource.open(path);
      const table = await Table.open(source, { cache: null });
      const walk = table.entries();
      let seen = 0;
      // At this point the next blocks are being read.
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
    await turns();
    process.off('unhandledRejection', note);
    expect(rejections).toEqual([]);
    if (process.platform === 'linux') {
      expect(await openDescriptors()).toBe(0);
      await using _ = await FileSource.open(path);
      expect(await openDescriptors()).toBe(1);
    }
  });

  test('concurrent lookups and walks get their own bytes', async () => {
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

  test('has the name and the length of its file', async () => {
    await using source = await FileSource.open(path);
    const table = await Table.open(source);
    expect(source.name).toBe(path);
    expect(source.byteLength).toBe(table.byteLength);
  });

  test("passes on the system's error for a missing file", async () => {
    expect(await rejection(FileSource.open(join(folder, 'missing')))).toMatchObject({ code: 'ENOENT' });
  });

  test('rejects a folder with an error that names it', async () => {
    expect(await rejection(FileSource.open(folder))).toMatchObject({ code: 'EISDIR', path: folder });
  });

  test.runIf(hasNamedPipes)('rejects a named pipe and a device without waiting for their bytes', async () => {
    const pipe = join(folder, 'pipe');
    makeNamedPipe(pipe);
    expect(await rejection(FileSource.open(pipe))).toMatchObject({ code: 'EINVAL', path: pipe });
    expect(await rejection(FileSource.open('/dev/zero'))).toMatchObject({ code: 'EINVAL', path: '/dev/zero' });
  });

  test('splits a large read into pieces of at most 64 MiB, and continues after a short piece', async () => {
    const marks = [10, 10 + 64 * MIB, 9 + 64 * MIB, 9 + 130 * MIB];
    await using source = await FileSource.open(await sparseFile(131 * MIB, marks));
    const lengths: number[] = [];
    replaceReads((readPiece, length) => {
      lengths.push(length);
      // The second piece ends early.
      readPiece(lengths.length === 2 ? 1000 : length);
    });
    const bytes = await source.read(10, 130 * MIB);
    expect(lengths).toEqual([64 * MIB, 64 * MIB, 64 * MIB, 2 * MIB - 1000]);
    expect(bytes.length).toBe(130 * MIB);
    expect(marks.map((offset) => bytes[offset - 10])).toEqual([1, 2, 3, 4]);
  });

  test('reads no further piece after an abort', async () => {
    await using source = await FileSource.open(await sparseFile(200 * MIB, []));
    const controller = new AbortController();
    const reason = new Error('enough');
    let pieces = 0;
    replaceReads((readPiece) => {
      pieces++;
      controller.abort(reason);
      readPiece();
    });
    expect(await rejection(source.read(0, 200 * MIB, controller.signal))).toBe(reason);
    // Closing waits for the pending piece.
    await source.close();
    expect(pieces).toBe(1);
  });

  test('reports a file that is truncated while it is open, and names it', async () => {
    await using source = await FileSource.open(path);
    const table = await Table.open(source);
    await truncate(path, 5000);
    const error = await rejection(table.get(entries[4000]![0]));
    expect(error).toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ code: 'BLOOM_TRUNCATED', structure: 'file', file: path });
    expect(await table.get(entries[0]![0])).toEqual(entries[0]![1]);
  });

  test('reports a file that was truncated before it was opened', async () => {
    await using source = await FileSource.open(path);
    await truncate(path, 5000);
    expect(await rejection(Table.open(source))).toMatchObject({ code: 'BLOOM_TRUNCATED' });
  });

  test('does not start a read with an aborted signal', async () => {
    await using source = await FileSource.open(path);
    const reason = new Error('enough');
    expect(await rejection(source.read(0, 10, AbortSignal.abort(reason)))).toBe(reason);
  });

  test("passes on the system's error for a read after close", async () => {
    const source = await FileSource.open(path);
    const table = await Table.open(source);
    await source.close();
    expect(await rejection(table.get(entries[0]![0]))).toMatchObject({ code: 'EBADF' });
  });

  test('can be closed after its file was refused as not a table', async () => {
    await writeFile(path, 'not a table');
    const source = await FileSource.open(path);
    expect(await rejection(Table.open(source))).toMatchObject({ code: 'BLOOM_NOT_A_TABLE', file: path });
    await source.close();
  });
});

describe('SyncFileSource', () => {
  test('gives a table in which every key is found', () => {
    const source = SyncFileSource.open(path);
    const table = SyncTable.open(source, { cache: null });
    const found = table.getMany(entries.map(([key]) => key));
    expect(entries.filter(([, value], i) => !sameBytes(found[i], value)).map(([key]) => hex(key))).toEqual([]);
    source.close();
  });

  test('can also be read with promises', async () => {
    const source = SyncFileSource.open(path);
    expect(sameEntries(await collect(await Table.open(source)), entries)).toBe(true);
    source.close();
  });

  test("passes on the system's error for a missing file", () => {
    expect(caught(() => SyncFileSource.open(join(folder, 'missing')))).toMatchObject({ code: 'ENOENT' });
  });

  test('rejects a folder with an error that names it', () => {
    expect(caught(() => SyncFileSource.open(folder))).toMatchObject({ code: 'EISDIR', path: folder });
  });

  test.runIf(hasNamedPipes)('rejects a named pipe and a device without waiting for their bytes', () => {
    const pipe = join(folder, 'pipe');
    makeNamedPipe(pipe);
    expect(caught(() => SyncFileSource.open(pipe))).toMatchObject({ code: 'EINVAL', path: pipe });
    expect(caught(() => SyncFileSource.open('/dev/zero'))).toMatchObject({ code: 'EINVAL', path: '/dev/zero' });
  });

  test('returns all bytes of a read of more than 64 MiB', async () => {
    const marks = [10, 10 + 64 * MIB, 9 + 64 * MIB, 9 + 130 * MIB];
    const source = SyncFileSource.open(await sparseFile(131 * MIB, marks));
    const bytes = source.read(10, 130 * MIB);
    expect(bytes.length).toBe(130 * MIB);
    expect(marks.map((offset) => bytes[offset - 10])).toEqual([1, 2, 3, 4]);
    source.close();
  });

  test('reports a file that is truncated while it is open, and names it', async () => {
    const source = SyncFileSource.open(path);
    const table = SyncTable.open(source);
    await truncate(path, 5000);
    const error = caught(() => table.get(entries[4000]![0]));
    expect(error).toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ code: 'BLOOM_TRUNCATED', structure: 'file', file: path });
    source.close();
  });
});

// `pnpm --filter @bloom/long-tests scale`: takes 2.5 GB of memory.
describe.runIf(process.env.BLOOM_SCALE === '1')('a read of more than 2^31 bytes, which is more than Node reads in one call,', () => {
  const byteLength = 2 ** 31 + 100 * MIB;
  const marks = [0, 2 ** 31 - 1, 2 ** 31, byteLength - 1];

  test('of a FileSource returns all of its bytes', async () => {
    await using source = await FileSource.open(await sparseFile(byteLength, marks));
    const bytes = await source.read(0, byteLength);
    expect(bytes.length).toBe(byteLength);
    expect(marks.map((offset) => bytes[offset])).toEqual([1, 2, 3, 4]);
  });

  test('of a SyncFileSource returns all of its bytes', async () => {
    const source = SyncFileSource.open(await sparseFile(byteLength, marks));
    const bytes = source.read(0, byteLength);
    expect(bytes.length).toBe(byteLength);
    expect(marks.map((offset) => bytes[offset])).toEqual([1, 2, 3, 4]);
    source.close();
  });

  test('of more bytes than an array can have is refused with an error that names the argument', async () => {
    await using source = await FileSource.open(await sparseFile(2 ** 43, []));
    const error = await rejection(source.read(0, source.byteLength));
    expect(error).toBeInstanceOf(RangeError);
    expect((error as Error).message).toContain('length must be');
  });
});

describe('the identity of a file', () => {
  afterEach(() => void vi.useRealTimers());

  test('is settled when so much time has passed since its last change that the next one has another time', async () => {
    let { ctimeMs } = await stat(path);
    // A whole second may be that of a file system that stores no more.
    for (; ctimeMs % 1000 === 0; { ctimeMs } = await stat(path)) await writeFile(path, 'later');
    vi.useFakeTimers({ toFake: ['Date'] });
    for (const [passed, isSettled] of [[0, false], [49, false], [51, true], [10_000, true]] as const) {
      vi.setSystemTime(Math.ceil(ctimeMs) + passed);
      await using source = await FileSource.open(path);
      expect([fileIdentity(path)!.isSettled, source.identity.isSettled]).toEqual([isSettled, isSettled]);
    }
  });

  /** Waits until the clock of the file system shows a later time than that of the last change of the file. */
  async function nextTick(): Promise<void> {
    const { ctimeMs } = await stat(path);
    const other = join(folder, 'other');
    do await writeFile(other, '');
    while ((await stat(other)).ctimeMs <= ctimeMs);
  }

  test('is the same for both sources and for the path, and undefined for anything but a file', async () => {
    const source = await FileSource.open(path);
    const sync = SyncFileSource.open(path);
    for (const identity of [sync.identity, fileIdentity(path)]) expect(identity).toEqual(source.identity);
    for (const other of [join(folder, 'missing'), folder, join(path, 'within'), join(folder, 'x'.repeat(300))]) {
      expect(fileIdentity(other)).toBeUndefined();
    }
    await source.close();
    sync.close();
  });

  test('is another state after a write of the same length with the old times, and the open source has changed; after a deletion it has not', async () => {
    const bytes = await readFile(path);
    const { atime, mtime } = await stat(path);
    const source = await FileSource.open(path);
    const sync = SyncFileSource.open(path);
    expect([source.hasChanged(), sync.hasChanged()]).toEqual([false, false]);
    await nextTick();
    await writeFile(path, bytes.reverse());
    await utimes(path, atime, mtime);
    expect([source.hasChanged(), sync.hasChanged()]).toEqual([true, true]);
    const identity = fileIdentity(path)!;
    expect(identity.file).toBe(source.identity.file);
    expect(identity.state).not.toBe(source.identity.state);
    const again = await FileSource.open(path);
    await rm(path);
    expect(again.hasChanged()).toBe(false);
    for (const open of [source, again]) await open.close();
    sync.close();
  });
});
