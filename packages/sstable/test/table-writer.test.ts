// Writes and syncs are under way while entries are added: what fails then must not be lost.
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SyncTable } from '@bloom/sstable';
import { SyncFileSource, TableWriter } from '@bloom/sstable/node';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { utf8 } from './entries.js';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bloom-table-writer-'));
  path = join(folder, 'table.ldb');
});

afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

/** Makes the system fail once with `code` in a call on an open file. */
async function failOnce(call: 'writev' | 'datasync', code: string): Promise<void> {
  const file = await open(folder);
  const files = Object.getPrototypeOf(file) as typeof file;
  await file.close();
  vi.spyOn(files, call).mockImplementationOnce(() => Promise.reject(Object.assign(new Error(`${code}: it failed, ${call}`), { code })));
}

/** Adds entries of so many MiB in total, of values that do not compress, and drains whenever that is due. */
async function addMiB(writer: TableWriter, count: number): Promise<void> {
  const value = new Uint8Array(2 ** 15).map((_, i) => (Math.imul(i, 0x9e3779b1) >>> 13) & 0xff);
  for (let i = 0; i < count * 32; i++) {
    writer.add(utf8(`key ${String(writer.entries).padStart(8, '0')}`), value);
    if (writer.isDrainDue) await writer.drain();
  }
}

test('a write that fails is thrown by the next drain, and nothing is left', async () => {
  const writer = await TableWriter.create(path, { compression: 'none' });
  await failOnce('writev', 'ENOSPC');
  expect(await rejection(addMiB(writer, 3))).toMatchObject({ code: 'ENOSPC' });
  await writer.abandon();
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ['the last write', 'writev', 0],
  ['a sync on the way', 'datasync', 40],
] as const)('%s that fails is thrown in the end, and the table gets no name', async (_, call, mebibytes) => {
  const writer = await TableWriter.create(path, { compression: 'none' });
  await failOnce(call, 'EIO');
  await addMiB(writer, mebibytes);
  expect(await rejection(writer.finish())).toMatchObject({ code: 'EIO' });
  await writer.abandon();
  expect(await readdir(folder)).toEqual([]);
});

test('what is added while a write is under way is in the table', async () => {
  const writer = await TableWriter.create(path, { compression: 'none' });
  await addMiB(writer, 20);
  const { entries, byteLength } = await writer.finish();
  expect(entries).toBe(640);
  const source = SyncFileSource.open(path);
  expect(source.byteLength).toBe(byteLength);
  let count = 0;
  for (const [, value] of SyncTable.open(source).entries()) if (value.length === 2 ** 15) count++;
  expect(count).toBe(640);
  source.close();
  expect(await readdir(folder)).toEqual(['table.ldb']);
});

test('finish throws the error of a write even if no drain was awaited', async () => {
  const writer = await TableWriter.create(path, { compression: 'none', blockSize: 100 });
  await failOnce('writev', 'ENOSPC');
  for (let i = 0; i < 3; i++) {
    for (let k = 0; k < 50; k++) writer.add(utf8(`key ${i} ${String(k).padStart(2, '0')}`), 'value');
    void writer.drain();
  }
  expect(await rejection(writer.finish())).toMatchObject({ code: 'ENOSPC' });
  await writer.abandon();
  expect(await readdir(folder)).toEqual([]);
});

test('drains that are not awaited write one after another', async () => {
  const writer = await TableWriter.create(path, { compression: 'none', blockSize: 100 });
  for (let i = 0; i < 100; i++) {
    for (let k = 0; k < 50; k++) writer.add(utf8(`key ${String(i).padStart(2, '0')} ${String(k).padStart(2, '0')}`), 'value');
    void writer.drain();
  }
  const { byteLength } = await writer.finish();
  const source = SyncFileSource.open(path);
  expect(source.byteLength).toBe(byteLength);
  expect(Array.from(SyncTable.open(source).entries())).toHaveLength(5000);
  source.close();
});

test('an abandoned writer refuses entries and keeps none', async () => {
  const writer = await TableWriter.create(path);
  writer.add('a', 'b');
  await writer.abandon();
  expect(() => writer.add('c', 'd')).toThrow(new TypeError('the table is abandoned'));
  expect(await rejection(writer.finish())).toEqual(new TypeError('the table is abandoned'));
  await writer.drain();
  await writer.abandon();
  expect(await readdir(folder)).toEqual([]);
});

test('a writer that is abandoned with a full buffer drops it', async () => {
  const writer = await TableWriter.create(path, { compression: 'none' });
  while (!writer.isDrainDue) writer.add(String(writer.entries).padStart(8, '0'), 'x'.repeat(4096));
  await writer.abandon();
  expect(writer.isDrainDue).toBe(false);
  await writer.drain();
});
