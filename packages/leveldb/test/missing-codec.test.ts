import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Database, type DatabaseOptions, WritableMemoryFolder } from '@bloom/leveldb';
import type { Codec, Comparator } from '@bloom/sstable';
import { expect, test } from 'vitest';
import { reverseComparator } from './reverse-comparator.js';
import { rejection } from '@bloom/fixtures/caught';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const value = utf8('value '.repeat(30));

const codec: Codec = {
  type: 4,
  name: 'deflate',
  compress: (contents) => new Uint8Array(deflateRawSync(contents)),
  decompress: (compressed, maxBytes) => new Uint8Array(inflateRawSync(compressed, { maxOutputLength: maxBytes })),
};
const plain: DatabaseOptions = { compression: 'none', codecs: [codec] };
const compressed: DatabaseOptions = { compression: codec };

/** Writes a table of the keys, compressed or not. */
async function addTable(folder: WritableMemoryFolder, options: DatabaseOptions, keys: readonly string[]): Promise<void> {
  const database = await Database.open(folder, options);
  for (const key of keys) await database.put(utf8(key), value);
  await database.flush();
  await database.close();
}

const keysFrom = (prefix: string): string[] => Array.from({ length: 100 }, (_, i) => `${prefix}${i}`);

test('opening a database without its codec is refused, the error names the package that provides it, and nothing changes', async () => {
  const folder = new WritableMemoryFolder();
  await addTable(folder, compressed, keysFrom('a'));
  await addTable(folder, plain, keysFrom('b'));
  const before = folder.files();
  const error = await rejection(Database.open(folder));
  expect(error).toMatchObject({ code: 'BLOOM_UNSUPPORTED_CODEC', message: expect.stringContaining('@bloom/codecs') as string });
  expect(folder.files()).toEqual(before);
  const database = await Database.open(folder, { codecs: [codec] });
  expect(await database.get(utf8('a7'))).toEqual(value);
  await database.compactRange();
  await database.close();
});

test('a table of an unknown codec that opening did not see fails what needs it, and nothing else', async () => {
  const folder = new WritableMemoryFolder();
  await addTable(folder, plain, keysFrom('a'));
  await addTable(folder, compressed, keysFrom('m'));
  await addTable(folder, plain, keysFrom('z'));
  const database = await Database.open(folder);
  expect(await rejection(database.get(utf8('m7')))).toMatchObject({ code: 'BLOOM_UNSUPPORTED_CODEC' });
  expect(await database.get(utf8('a7'))).toEqual(value);
  // Over all keys, so that all tables are merged.
  for (const key of ['a0', 'm0', 'z0']) await database.put(utf8(key), utf8('new'));
  expect(await rejection(database.compactRange())).toMatchObject({ code: 'BLOOM_UNSUPPORTED_CODEC', file: expect.stringMatching(/ldb$/) as string });
  await database.put(utf8('later'), utf8('1'), { sync: true });
  await database.flush();
  expect(await database.get(utf8('later'))).toEqual(utf8('1'));
  await database.close();
  const again = await Database.open(folder, { codecs: [codec] });
  expect(await again.get(utf8('m7'))).toEqual(value);
  await again.compactRange();
  expect(await again.get(utf8('m7'))).toEqual(value);
  await again.close();
});

test('writing ends with the codec as its reason only when level 0 is full of tables that cannot be merged', async () => {
  const folder = new WritableMemoryFolder();
  // The first two are in levels 2 and 1, the others in level 0.
  for (const options of [plain, plain, plain, compressed, plain]) await addTable(folder, options, keysFrom('k'));
  const database = await Database.open(folder);
  let failure: unknown;
  let flushes = 0;
  for (; flushes < 20 && failure === undefined; flushes++) {
    failure = await rejection(database.put(utf8('k1'), utf8(String(flushes))));
    if (failure === undefined) await database.flush().catch((error: unknown) => (failure = error));
    await database.idle();
  }
  expect(failure).toMatchObject({ code: 'BLOOM_WRITING_ENDED', cause: { code: 'BLOOM_UNSUPPORTED_CODEC' } });
  expect(flushes).toBeGreaterThan(6);
  expect(await database.get(utf8('k1'))).toEqual(utf8(String(flushes - 1)));
  await database.close();
});

test('a table of an unknown codec stops no merge of other tables, and no write', async () => {
  const folder = new WritableMemoryFolder();
  // The first two are in levels 2 and 1, the others in level 0.
  for (const options of [plain, plain, plain, compressed, plain]) await addTable(folder, options, keysFrom('k'));
  const chosen: number[] = [];
  const database = await Database.open(folder, {
    compression: 'none',
    onEvent: (event) => {
      if (event.kind === 'compaction-chosen' && !event.isMove) chosen.push(event.inputs[0].length);
    },
  });
  // The merge of level 0 fails once. From then on, only the other tables of the level are merged.
  for (const key of ['k1', ...Array.from({ length: 30 }, () => 'a')]) {
    await database.put(utf8(key), value);
    await database.flush();
    await database.idle();
  }
  expect(chosen[0]).toBe(4);
  expect(chosen.length).toBeGreaterThan(20);
  expect(Math.max(...chosen.slice(1))).toBeLessThan(4);
  expect(database.property('leveldb.num-files-at-level0')).toBe('4');
  expect(await database.get(utf8('a'))).toEqual(value);
  await database.close();
});

test('a comparator that throws while another compaction is looked for ends writing, and the database can be closed', async () => {
  let isThrowing = false;
  const comparator: Comparator = {
    ...reverseComparator,
    compare(a, b) {
      if (isThrowing) throw new Error('no order');
      return reverseComparator.compare(a, b);
    },
  };
  let watched: string | undefined;
  class WatchedFolder extends WritableMemoryFolder {
    override open(name: string): ReturnType<WritableMemoryFolder['open']> {
      // The merge fails at this table without comparing keys, so the next comparison is that of the search for another one.
      if (name === watched) isThrowing = true;
      return super.open(name);
    }
  }
  const folder = new WatchedFolder();
  // The first two are in levels 2 and 1, the others in level 0.
  for (const options of [plain, plain, plain, compressed]) await addTable(folder, { ...options, comparator }, keysFrom('k'));
  const unreadable = folder.list().filter((name) => name.endsWith('.ldb')).sort().at(-1);
  await addTable(folder, { ...plain, comparator }, keysFrom('k'));
  const database = await Database.open(folder, {
    comparator,
    compression: 'none',
    onEvent: (event) => {
      if (event.kind === 'compaction-chosen' && !event.isMove) watched = unreadable;
    },
  });
  await database.put(utf8('k1'), value);
  await database.flush();
  await database.idle();
  expect(isThrowing).toBe(true);
  isThrowing = false;
  expect(await rejection(database.put(utf8('k2'), value))).toMatchObject({ code: 'BLOOM_WRITING_ENDED', cause: { message: 'no order' } });
  await database.close();
});
