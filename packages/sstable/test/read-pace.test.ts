import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { FileSource, ReadPace } from '@bloom/sstable/node';
import { afterAll, expect, test } from 'vitest';

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
  const source = await FileSource.open(path, { readsAtOnce: pace });
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

test('a read from a disk sends the next four to a thread, and each that is slow again twice as many, up to 256', () => {
  const pace = new ReadPace();
  const detours: number[] = [];
  for (let i = 0; i < 9; i++) {
    pace.took(0.06);
    detours.push(detourOf(pace));
  }
  expect(detours).toEqual([4, 8, 16, 32, 64, 128, 256, 256, 256]);
});

test('a quick read between two slow ones forgets the first', () => {
  const pace = new ReadPace();
  pace.took(0.06);
  expect(detourOf(pace)).toBe(4);
  pace.took(0.06);
  expect(detourOf(pace)).toBe(8);
  pace.took(0.002);
  pace.took(0.06);
  expect(detourOf(pace)).toBe(4);
});

test('a read that takes as long as a network sends the next 16 to a thread, and another one all of the next 256', () => {
  const pace = new ReadPace();
  const detours: number[] = [];
  for (const ms of [1.5, 20, 0.06, 0.002, 20, 20]) {
    pace.took(ms);
    detours.push(detourOf(pace));
  }
  expect(detours).toEqual([16, 256, 256, 0, 16, 256]);
});
