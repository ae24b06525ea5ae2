import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { FileSource, ReadPace } from '@bloom/sstable/node';
import { afterAll, expect, test } from 'vitest';
import { diskBlocksRead } from '../src/node/disk-blocks.js';

const root = mkdtempSync(join(tmpdir(), 'bloom-read-pace-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** How many reads go to a thread until one is made at once again. */
function detourOf(pace: ReadPace): number {
  let detour = 0;
  while (!pace.takesNext(0)) detour++;
  return detour;
}

test('reads from memory are made at once for two milliseconds, and again after the event loop has turned', async () => {
  const pace = new ReadPace();
  for (let i = 0; i < 1000; i++) expect(pace.takesNext(5000 + i / 512)).toBe(true);
  for (let i = 0; i < 50; i++) expect(pace.takesNext(5002 + i)).toBe(false);
  await Promise.resolve();
  expect(pace.takesNext(5052)).toBe(false);
  await turn();
  expect(pace.takesNext(5052)).toBe(true);
});

test('what callers do between two reads counts as well', () => {
  const pace = new ReadPace();
  expect(pace.takesNext(10)).toBe(true);
  pace.took(0.002);
  expect(pace.takesNext(11.5)).toBe(true);
  pace.took(0.002);
  expect(pace.takesNext(12.5)).toBe(false);
});

test('the time in which no read is made does not count', async () => {
  const pace = new ReadPace();
  expect(pace.takesNext(10)).toBe(true);
  await turn();
  for (const now of [1000, 1001, 1001.9]) expect(pace.takesNext(now)).toBe(true);
  expect(pace.takesNext(1002)).toBe(false);
});

test('answers of threads that come in together are one turn of the event loop, in which no read is made at once', async () => {
  const path = join(root, 'file');
  writeFileSync(path, new Uint8Array(100));
  const pace = new ReadPace();
  const source = await FileSource.open(path, { readsAtOnce: false });
  // From here on the loop first takes the threads' answers and then turns.
  await turn();
  expect(pace.takesNext(0)).toBe(true);
  const taken: boolean[] = [];
  const reads = [1, 2, 3].map((offset) => source.read(offset, 10).then(() => taken.push(pace.takesNext(2))));
  for (const end = performance.now() + 100; performance.now() < end; );
  await Promise.all(reads);
  expect(taken).toEqual([false, false, false]);
  await turn();
  expect(pace.takesNext(2)).toBe(true);
  await source.close();
});

test('what waits for a turn of the event loop is resumed by it, and does not wait for a disk', async () => {
  const pace = new ReadPace(() => undefined);
  expect(pace.nextTurn(0)).toBeUndefined();
  expect(pace.takesNext(0)).toBe(true);
  expect(pace.nextTurn(1.9)).toBeUndefined();
  const waiting = pace.nextTurn(2);
  expect(pace.nextTurn(3)).toBe(waiting);
  let hasTurned = false;
  setImmediate(() => (hasTurned = true));
  await waiting;
  // The pace was first to ask for the turn.
  expect(hasTurned).toBe(false);
  expect(pace.takesNext(3)).toBe(true);
  pace.took(1.5);
  expect(pace.nextTurn(9)).toBeUndefined();
});

/** A source whose next read has to wait for a turn. */
async function held(contents: Uint8Array): Promise<FileSource> {
  const path = join(root, 'held');
  writeFileSync(path, contents);
  const pace = new ReadPace();
  const source = await FileSource.open(path, { readsAtOnce: pace });
  await turn();
  pace.takesNext(performance.now() - 10);
  expect(source.readAtOnce(0, 10)).toBeUndefined();
  return source;
}

test('reads that wait for a turn read what others read, also when the file is closed meanwhile', async () => {
  const contents = Uint8Array.from({ length: 1000 }, (_, i) => i);
  const source = await held(contents);
  const reads = [source.read(0, 10), source.read(500, 300), source.read(999, 1), source.read(0, 1000)];
  const closing = source.close();
  expect(await Promise.all(reads)).toEqual([contents.slice(0, 10), contents.slice(500, 800), contents.slice(999), contents]);
  await closing;
  await expect(source.read(0, 1)).rejects.toMatchObject({ code: 'EBADF' });
});

test('a read that waits for a turn is rejected at once by its signal', async () => {
  const source = await held(new Uint8Array(100));
  const controller = new AbortController();
  const reason = new Error('enough');
  const read = source.read(0, 10, controller.signal);
  controller.abort(reason);
  await expect(read).rejects.toBe(reason);
  await source.close();
});

/** Two reads from a disk, one after the other. */
function slowly(pace: ReadPace): void {
  for (let i = 0; i < 2; i++) {
    expect(pace.takesNext(0)).toBe(true);
    pace.took(0.06);
  }
}

test('two reads from a disk send the next four to a thread, and each two that are slow again twice as many, up to 256', () => {
  const pace = new ReadPace(() => undefined);
  const detours: number[] = [];
  for (let i = 0; i < 9; i++) {
    slowly(pace);
    // Which also asks for the first read after it.
    detours.push(detourOf(pace));
  }
  expect(detours).toEqual([4, 8, 16, 32, 64, 128, 256, 256, 256]);
});

test('the first read after a detour does not make another if the second is quick', () => {
  const pace = new ReadPace(() => undefined);
  slowly(pace);
  expect(detourOf(pace)).toBe(4);
  for (let i = 0; i < 5; i++) {
    pace.took(0.06);
    expect(detourOf(pace)).toBe(0);
    pace.took(0.002);
    expect(detourOf(pace)).toBe(0);
  }
});

test('a quick read between two slow ones forgets the first', () => {
  const pace = new ReadPace(() => undefined);
  slowly(pace);
  expect(detourOf(pace)).toBe(4);
  slowly(pace);
  expect(detourOf(pace)).toBe(8);
  pace.took(0.002);
  slowly(pace);
  expect(detourOf(pace)).toBe(4);
});

test('a read that takes as long as a network sends all of the next 256 to a thread at once', () => {
  const pace = new ReadPace(() => undefined);
  const detours: number[] = [];
  for (const ms of [1.5, 20, 0.06, 0.06, 0.002, 20]) {
    pace.took(ms);
    detours.push(detourOf(pace));
  }
  expect(detours).toEqual([256, 256, 0, 256, 0, 256]);
});

/** A pace that is told how much the system has read from disks. */
function counted(): { readonly pace: ReadPace; readonly disk: { blocks: number } } {
  const disk = { blocks: 0 };
  return { pace: new ReadPace(() => disk.blocks), disk };
}

test('a stalled read during which nothing was read from a disk sends none to a thread, unless the next read is slow as well', () => {
  const { pace } = counted();
  pace.took(0.06);
  pace.took(0.002);
  const detours = [20, 0.002, 20, 20, 20, 0.06, 20, 0.002, 20].map((ms) => {
    pace.took(ms);
    return detourOf(pace);
  });
  expect(detours).toEqual([0, 0, 0, 256, 0, 256, 0, 0, 0]);
});

test('one stalled read from a disk sends the next 256 to a thread', () => {
  const { pace, disk } = counted();
  for (const blocks of [8, 8, 16]) {
    disk.blocks += blocks;
    pace.took(1.5);
    expect(detourOf(pace)).toBe(256);
  }
  // What was read from a disk before the last slow read does not count.
  disk.blocks += 8;
  pace.took(0.06);
  pace.took(0.002);
  pace.took(1.5);
  expect(detourOf(pace)).toBe(0);
});

test.runIf(existsSync('/proc/self/io'))('the blocks read from disks are at least those that Linux counts for this process', () => {
  const path = join(root, 'read-from-disk');
  writeFileSync(path, new Uint8Array(2 ** 16), { flush: true });
  // A read past what the system has in memory, where the folder is on a disk. It needs memory that is aligned.
  const into = new Uint8Array(new Memory({ initial: 1 }).buffer);
  const file = openDirect(path);
  const [before, counted] = [diskBlocksRead()!, readBytes()];
  expect(readSync(file, into, 0, 2 ** 16, 0)).toBe(2 ** 16);
  expect(diskBlocksRead()! - before).toBeGreaterThanOrEqual((readBytes() - counted) / 512);
  expect(Number.isInteger(before)).toBe(true);
  closeSync(file);
});

/** Of WebAssembly, whose memory starts at a page. The types of Node.js 20 have no values of it. */
const { Memory } = (globalThis as unknown as { readonly WebAssembly: { readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer } } }).WebAssembly;

/** Opens a file for reads past what the system has in memory; for others where its file system cannot. */
function openDirect(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECT);
  } catch {
    return openSync(path, 'r');
  }
}

/** Bytes that Linux has read from disks for this process, and for other processes that it has started and that are over. */
function readBytes(): number {
  return Number(/^read_bytes: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))![1]);
}
