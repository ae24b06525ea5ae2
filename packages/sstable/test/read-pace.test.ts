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
  while (!pace.takesNext()) detour++;
  return detour;
}

test('reads from memory are made at once, until they have held up the event loop for two milliseconds, and again after it has turned', async () => {
  const pace = new ReadPace();
  let reads = 0;
  for (; pace.takesNext(); reads++) pace.took(0.002);
  expect(reads).toBe(1000);
  for (let i = 0; i < 50; i++) expect(pace.takesNext()).toBe(false);
  await Promise.resolve();
  expect(pace.takesNext()).toBe(false);
  await turn();
  expect(pace.takesNext()).toBe(true);
});

test('answers of threads that come in together are one turn of the event loop, in which no read is made at once', async () => {
  const path = join(root, 'file');
  writeFileSync(path, new Uint8Array(100));
  const pace = new ReadPace();
  const source = await FileSource.open(path, { readsAtOnce: pace });
  // From here on the loop first takes the threads' answers and then turns.
  await turn();
  while (pace.takesNext()) pace.took(0.002);
  const taken: boolean[] = [];
  const reads = [1, 2, 3].map((offset) => source.read(offset, 10).then(() => taken.push(pace.takesNext())));
  for (const end = performance.now() + 100; performance.now() < end; );
  await Promise.all(reads);
  expect(taken).toEqual([false, false, false]);
  await turn();
  expect(pace.takesNext()).toBe(true);
  await source.close();
});

test('a read from a disk sends the next four to a thread, and each that is slow again twice as many, up to 256', async () => {
  const pace = new ReadPace();
  const detours: number[] = [];
  for (let i = 0; i < 9; i++) {
    pace.took(0.06);
    detours.push(detourOf(pace));
    await turn();
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

test('a read that takes as long as a network sends all of the next 256 to a thread at once', () => {
  const pace = new ReadPace();
  pace.took(1.5);
  expect(detourOf(pace)).toBe(256);
});
