// Code that is loaded on demand, and cannot be loaded: a page is offline, or its site was replaced.
import type * as Library from '@bloom/leveldb';
import { afterEach, expect, test, vi } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';

afterEach(() => {
  vi.doUnmock('../src/write/fitted-policy.js');
  vi.doUnmock('../src/write/repair/repair.js');
  vi.doUnmock('../src/write/refilter.js');
  vi.resetModules();
});

test.each<[string, string, (library: typeof Library, folder: never) => Promise<unknown>]>([
  ['opened with fitFilters', 'write/fitted-policy', async ({ Database }, folder) => (await Database.open(folder, { fitFilters: true })).close()],
  ['repaired', 'write/repair/repair', ({ Database }, folder) => Database.repair(folder)],
  ['given other filters', 'write/refilter', ({ Database }, folder) => Database.refilter(folder)],
])('a database is not %s, and can be later', async (_, name, call) => {
  vi.resetModules();
  const path = `../src/${name}.js`;
  vi.doMock(path, () => {
    throw new TypeError('Failed to fetch dynamically imported module');
  });
  const library = await import('@bloom/leveldb');
  const folder = new library.WritableMemoryFolder();
  await (await library.Database.open(folder)).close();
  const before = folder.files();
  expect(await rejection(call(library, folder as never))).toMatchObject({ name: 'DatabaseError', code: 'BLOOM_NOT_LOADED', cause: expect.any(Error) as Error });
  expect(folder.files()).toEqual(before);
  vi.doUnmock(path);
  expect(await rejection(call(library, folder as never))).toBeUndefined();
});
