// Options may come from a prototype: defaults with Object.create, or a class with accessors.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { BloomFilterPolicy, FittedBloomFilterPolicy } from '@bloom/policy';
import type { Codec } from '@bloom/sstable';
import { Database, type DatabaseOptions, WritableMemoryFolder } from '@bloom/leveldb';
import { HttpFolder } from '@bloom/leveldb/http';
import { describe, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';
import { reverseComparator as reverse } from './reverse-comparator.js';

const inheriting = <Options extends object>(options: Options, own: object = {}): Options => Object.assign(Object.create(options) as Options, own);

const codec: Codec = {
  type: 4,
  name: 'deflate',
  compress: (contents) => new Uint8Array(deflateRawSync(contents)),
  decompress: (compressed, maxOutputLength) => new Uint8Array(inflateRawSync(compressed, { maxOutputLength })),
};

describe('an inherited option counts', () => {
  test.each<[string, DatabaseOptions]>([
    ['with fitFilters', { fitFilters: true }],
    ['with a policy that is fitted', { filterPolicy: new FittedBloomFilterPolicy(10) }],
    ['with another policy', { filterPolicy: new BloomFilterPolicy(10) }],
  ])('when a database is opened %s', async (_, own) => {
    const folder = new WritableMemoryFolder();
    expect(await rejection(Database.open(folder, inheriting<DatabaseOptions>({ createIfMissing: false }, own)))).toMatchObject({ code: 'BLOOM_DATABASE_MISSING' });
    class Given {
      readonly #creates = false;
      get createIfMissing(): boolean {
        return this.#creates;
      }
    }
    expect(await rejection(Database.open(folder, Object.assign(new Given(), own)))).toMatchObject({ code: 'BLOOM_DATABASE_MISSING' });
    expect(folder.list()).toEqual([]);
  });

  test('when a database is repaired', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, { comparator: reverse });
    await database.put('a', '1');
    await database.close();
    expect((await Database.repair(folder, inheriting({ comparator: reverse }))).written).toHaveLength(1);
  });

  test('when a database gets other filters', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, { comparator: reverse });
    await database.put('a', '1');
    await database.compactRange();
    await database.close();
    expect(await Database.refilter(folder, inheriting({ comparator: reverse }))).toMatchObject({ written: 1 });
  });

  test('for new tables that get the compression of the others', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, { comparator: reverse, compression: codec });
    await database.put('a', new Uint8Array(100));
    await database.compactRange();
    await database.close();
    const again = await Database.open(folder, inheriting<DatabaseOptions>({ comparator: reverse, codecs: [codec] }));
    for (const key of ['a', 'b', 'c']) await again.put(key, new Uint8Array(100));
    await again.compactRange();
    await again.close();
    const reader = await Database.open(folder, { comparator: reverse, codecs: [codec], createIfMissing: false });
    expect((await collect(reader.keys())).map((key) => new TextDecoder().decode(key))).toEqual(['c', 'b', 'a']);
    await reader.close();
  });

  test('when a folder is read over HTTP', async () => {
    const urls: string[] = [];
    const fetch = (url: string): Promise<Response> => (urls.push(url), Promise.resolve(new Response(null, { status: 404 })));
    const folder = new HttpFolder('https://example.com/db', inheriting({ fetch: fetch as never }));
    expect(await folder.open('CURRENT')).toBeUndefined();
    expect(urls).not.toEqual([]);
  });
});
