// Keys that are longer than the blocks before them, of which kernels must not copy more than they have room for.
import { Database, type DatabaseOptions } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { collect } from '../collect.js';

const OPTIONS: DatabaseOptions = { compression: 'none', blockSize: 256, writeBufferSize: 2 ** 22, cache: null };
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const order = (a: string, b: string): number => (a < b ? -1 : 1);

let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'bloom-long-keys-'));
});
afterEach(() => rmSync(path, { recursive: true }));

/** So many short keys come first that the blocks of a table are then read 64 KiB at a time. */
const keysOf = (start: number, length: number): string[] =>
  Array.from({ length: 3000 }, (_, i) => String(start + 10 * i).padStart(5, '0').padEnd(i > 2000 && i % 50 === 49 ? length : 8, 'k'));

describe.each([9000, 20_000, 60_000])('where keys of %d bytes follow short ones', (length) => {
  test.each([1, 4])('a walk through %d tables returns all of them, in either direction', async (tables) => {
    const database = await Database.open(new WritableNodeFolder(path), OPTIONS);
    const expected: string[] = [];
    for (let t = 0; t < tables; t++) {
      for (const key of keysOf(t, length)) {
        await database.put(key, `value of ${key.slice(0, 5)}`);
        expected.push(key);
      }
      await database.flush();
    }
    expected.sort(order);
    const walk = async (reverse: boolean): Promise<string[]> => (await collect(database.entries({ reverse }))).map(([key, value]) => `${text(key)} ${text(value)}`);
    const wanted = expected.map((key) => `${key} value of ${key.slice(0, 5)}`);
    expect((await walk(false)).join() === wanted.join()).toBe(true);
    expect((await walk(true)).join() === wanted.reverse().join()).toBe(true);
    await database.compactRange();
    expect((await walk(true)).join() === wanted.join()).toBe(true);
    expect((await walk(false)).join() === wanted.reverse().join()).toBe(true);
    await database.close();
  });
});

test.each([
  ['newer', 9000],
  ['newer', 16_000],
  ['older', 9000],
  ['older', 16_000],
] as const)('a long key of the %s of two tables, of %d bytes, leaves the entries of the other as they are', async (which, length) => {
  const database = await Database.open(new WritableNodeFolder(path), { ...OPTIONS, blockSize: 4096 });
  const expected = new Map<string, string>();
  const put = async (key: string, value: string): Promise<void> => {
    await database.put(key, value);
    expected.set(key, value);
  };
  const tables = {
    short: async () => {
      for (const key of ['a', ...Array.from({ length: 200 }, (_, i) => `c${1000 + i}`)]) await put(key, `value of ${key}`);
      await database.flush();
    },
    long: async () => {
      for (let i = 0; i < 4000; i++) await put(`b${1000 + i}`, `value ${i}`);
      await put('bz'.padEnd(length, 'z'), 'long');
      await put('d', 'last');
      await database.flush();
    },
  };
  for (const name of which === 'newer' ? (['short', 'long'] as const) : (['long', 'short'] as const)) await tables[name]();
  const wanted = [...expected].sort(([a], [b]) => order(a, b));
  const read = async (): Promise<[string, string][]> => (await collect(database.entries())).map(([key, value]) => [text(key), text(value)]);
  expect(await read()).toEqual(wanted);
  await database.compactRange();
  expect(await read()).toEqual(wanted);
  await database.close();
});
