import { allocationsOf } from '@bloom/fixtures/allocations';
import { Database, DatabaseReader, encodeVersionEdit, type Folder, MemoryFolder, SyncDatabaseReader, type SyncFolderFile, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { HttpFolder } from '@bloom/leveldb/http';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { LogWriter } from '@bloom/log';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { MemorySource } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { assembleDatabase, logOf, recordOf } from '../assemble-database.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect } from '../collect.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);
const BLOCK = 32_768;

/** A log with a record that never ends, of `byteLength` bytes: behind its first block all blocks are the same, so that it takes no memory. */
function endlessRecord(byteLength: number): { source: SyncFolderFile; bytesRead: () => number } {
  const start = logOf([recordOf({ sequence: 9, operations: [[utf8('z'), new Uint8Array(3 * BLOCK)]] })]);
  const chunk = new Uint8Array(4 * 2 ** 20);
  for (let position = 0; position < chunk.length; position += BLOCK) chunk.set(start.subarray(BLOCK, 2 * BLOCK), position);
  const first = chunk.slice();
  first.set(start.subarray(0, BLOCK));
  let bytesRead = 0;
  const source: SyncFolderFile = {
    byteLength,
    name: '000006.log',
    read(offset, length) {
      bytesRead += length;
      return (offset === 0 ? first : chunk).subarray(0, length);
    },
  };
  return { source, bytesRead: () => bytesRead };
}

const small = (): Map<string, Uint8Array> =>
  assembleDatabase({
    tables: [{ level: 0, number: 5, versions: [{ key: utf8('a'), sequence: 1, value: utf8('v') }] }],
    logs: [{ number: 6, batches: [{ sequence: 2, operations: [[utf8('b'), utf8('v')]] }] }],
  });

/** The database, with `source` in place of its log. */
function withLog(source: SyncFolderFile): WritableMemoryFolder {
  const folder = new WritableMemoryFolder(small());
  const { open } = folder;
  folder.open = (name) => (name === '000006.log' ? source : open.call(folder, name));
  return folder;
}

describe('a record of more than 1 GiB', () => {
  const LENGTH = 2 ** 31 - BLOCK;

  test('is refused with its place by readers and by the writer, before it is put together', async () => {
    const expected = { name: 'CorruptionError', code: 'BLOOM_TOO_LARGE', structure: 'log record', offset: 0, file: '000006.log' };
    const { source, bytesRead } = endlessRecord(LENGTH);
    const { largest } = await allocationsOf(async () => {
      expect(caught(() => SyncDatabaseReader.open(withLog(source)))).toMatchObject(expected);
      expect(bytesRead()).toBeLessThan(1.1 * 2 ** 30);
      const folder = withLog(source);
      const files = [...folder.files()];
      expect(await rejection(Database.open(folder))).toMatchObject(expected);
      expect([...folder.files()]).toEqual(files);
    });
    expect(largest).toBeLessThan(8 * 2 ** 20);
  });

  test('costs a repair that record alone, and is found by verifyDatabase', async () => {
    const { source } = endlessRecord(LENGTH);
    const folder = withLog(source);
    const { findings } = await verifyDatabase(folder);
    expect(findings).toMatchObject([{ file: '000006.log', code: 'BLOOM_TOO_LARGE', structure: 'log record', offset: 0 }]);
    const { lost, kept } = await Database.repair(folder);
    expect(kept).toEqual(['000005.ldb']);
    expect(lost).toMatchObject([{ file: '000006.log', offset: 0, reason: 'record too large', code: 'BLOOM_TOO_LARGE' }]);
  });
});

describe('maxBlockBytes', () => {
  const options = { maxBlockBytes: 2 ** 16, compression: 'none' } as const;

  test('of a database is that of its tables: an entry that would need a larger block is refused by put, and all others are kept', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, options);
    const limit = 2 ** 16 - 4096 - 64 - 8 - 1;
    const error = await rejection(database.put(utf8('k'), new Uint8Array(limit + 1)));
    expect(error).toBeInstanceOf(RangeError);
    expect((error as Error).message).toContain('maxBlockBytes is 65536');
    expect(await rejection(database.put(new Uint8Array(2 ** 15), utf8('')))).toBeInstanceOf(RangeError);
    const batch = new WriteBatch().put(utf8('a'), utf8('1')).put(utf8('k'), new Uint8Array(limit + 1));
    expect(await rejection(database.write(batch))).toBeInstanceOf(RangeError);
    expect(await database.get(utf8('a'))).toBeUndefined();
    for (let i = 0; i < 9; i++) await database.put(utf8(`k${i}`.slice(0, 1 + (i % 2))), new Uint8Array(limit - 1).fill(i));
    await database.compactRange();
    await database.close();
    const again = await Database.open(folder, options);
    expect((await again.get(utf8('k')))!.every((byte) => byte === 8)).toBe(true);
    await again.close();
    const reader = await DatabaseReader.open(folder, { maxBlockBytes: options.maxBlockBytes });
    expect(await collect(reader.keys())).toHaveLength(5);
    await reader.close();
  });

  test('is never exceeded by the index of a memtable, a merged table or a recovered log, however long the keys are', async () => {
    for (const reuseLogs of [false, true]) {
      const folder = new WritableMemoryFolder();
      const model = new Map<string, number>();
      let random = 7;
      const next = (below: number): number => (random = (random * 48_271) % 0x7fffffff) % below;
      for (let round = 0; round < 4; round++) {
        const database = await Database.open(folder, { ...options, reuseLogs, blockSize: 1024, maxFileSize: 2 ** 20 });
        for (let i = 0; i < 80; i++) {
          const key = new Uint8Array(next(3) === 0 ? next(16_000) : next(2000)).fill(1 + next(200));
          await database.put(key, Uint8Array.of(i));
          model.set(String(key), i);
        }
        if (round === 2) await database.compactRange();
        expect(database.stats).toBeDefined();
        await database.close();
      }
      const reader = await DatabaseReader.open(folder, { maxBlockBytes: options.maxBlockBytes });
      const found = new Map((await collect(reader.entries())).map(([key, value]) => [String(key), value[0]]));
      expect(found).toEqual(model);
      await reader.close();
      expect((await verifyDatabase(folder, { maxBlockBytes: options.maxBlockBytes })).findings).toEqual([]);
    }
  });

  test('names itself where a log has a larger entry, changes nothing, and opens the database once it is raised', async () => {
    const large = new Uint8Array(2 ** 17).fill(7);
    const files = small();
    files.set('000006.log', logOf([recordOf({ sequence: 2, operations: [[utf8('b'), utf8('v')]] }), recordOf({ sequence: 3, operations: [[utf8('c'), large]] })]));
    const folder = new WritableMemoryFolder(files);
    const error = (await rejection(Database.open(folder, options))) as Error;
    expect(error).toMatchObject({ code: 'BLOOM_TOO_LARGE', structure: 'write batch', offset: 24, file: '000006.log' });
    expect(error.message).toContain('maxBlockBytes is 65536: open the database with a larger maxBlockBytes');
    expect([...folder.files()].sort()).toEqual([...files].sort());
    expect(await rejection(Database.repair(folder, { maxBlockBytes: options.maxBlockBytes }))).toMatchObject({ code: 'BLOOM_TOO_LARGE' });
    expect([...folder.files().keys()].filter((name) => name.endsWith('.log'))).toEqual(['000006.log']);
    const database = await Database.open(folder, { ...options, maxBlockBytes: 2 ** 18 });
    expect(Buffer.compare((await database.get(utf8('c')))!, large)).toBe(0);
    await database.close();
    const reader = await DatabaseReader.open(folder, { maxBlockBytes: options.maxBlockBytes });
    const failure = (await rejection(reader.get(utf8('c')))) as Error;
    expect(failure).toMatchObject({ code: 'BLOOM_TOO_LARGE' });
    expect(failure.message).toContain('maxBlockBytes');
    await reader.close();
  });

  test('out of its bounds is refused by name', async () => {
    for (const maxBlockBytes of [0, 1.5, 2 ** 30 + 1]) {
      const error = await rejection(Database.open(new WritableMemoryFolder(), { maxBlockBytes }));
      expect(error).toBeInstanceOf(RangeError);
      expect((error as Error).message).toContain('maxBlockBytes');
    }
  });
});

describe('filters that would need too large a block', () => {
  const huge: FilterPolicy = { name: 'test.Huge', createFilter: (_keys, out) => void out.extend(50_000), keyMayMatch: () => true };
  const cases: Record<string, { readonly filterRange: number; readonly filterPolicy?: FilterPolicy; readonly maxBlockBytes: number }> = {
    'a range of one byte': { filterRange: 1, maxBlockBytes: 2 ** 18 },
    'a range of one byte and the usual limit': { filterRange: 1, maxBlockBytes: 2 ** 28 },
    'very many bits for each key': { filterRange: 2 ** 40, filterPolicy: new BloomFilterPolicy(2 ** 16), maxBlockBytes: 2 ** 17 },
    'filters of a policy that are huge': { filterRange: 2048, filterPolicy: huge, maxBlockBytes: 2 ** 17 },
  };
  for (const [name, { filterRange, filterPolicy, maxBlockBytes }] of Object.entries(cases)) {
    test(`because of ${name} are left out, and no write is lost`, async () => {
      const folder = new WritableMemoryFolder();
      const settings = { filterRange, maxBlockBytes, compression: 'none', ...(filterPolicy && { filterPolicy }) } as const;
      const values = new Map<string, Uint8Array>();
      for (let round = 0; round < 3; round++) {
        const database = await Database.open(folder, settings);
        for (let i = 0; i < 40; i++) {
          const value = new Uint8Array(i % 8 === 0 ? 60_000 : 1000).fill(round + i);
          await database.put(utf8(`${round % 2}-${i}`), value);
          values.set(`${round % 2}-${i}`, value);
        }
        if (round === 1) await database.compactRange();
        await database.close();
      }
      const database = await Database.open(folder, settings);
      await database.compactRange();
      for (const [key, value] of values) expect(Buffer.compare((await database.get(utf8(key)))!, value)).toBe(0);
      if (maxBlockBytes < 2 ** 28) expect(database.filterStatus.state).toBe('absent');
      await database.close();
    });
  }
});

describe('a MANIFEST', () => {
  test('that claims to have a TiB is refused immediately, even over HTTP, and is verified and repaired nevertheless', async () => {
    const TIB = 2 ** 40;
    let requests = 0;
    const files = small();
    const folder = new HttpFolder('http://example.org', {
      files: [...files.keys()],
      fetch: ((url: string, init: RequestInit = {}) => {
        requests++;
        const name = new URL(url).pathname.slice(1);
        const bytes = files.get(name)!;
        const byteLength = name === 'MANIFEST-000001' ? TIB : bytes.length;
        if (init.method === 'HEAD') return Promise.resolve(new Response(null, { headers: { 'content-length': String(byteLength) } }));
        const [, first, last] = /^bytes=([0-9]+)-([0-9]+)$/.exec(new Headers(init.headers).get('range') ?? '') ?? [];
        const length = Number(last) - Number(first) + 1;
        return Promise.resolve(new Response(new Uint8Array(length), { status: 206, headers: { 'content-range': `bytes ${first}-${last}/${byteLength}` } }));
      }),
    });
    files.set('CURRENT', utf8('MANIFEST-000001\n'));
    const served: Folder = {
      list: () => [...files.keys()],
      open: (name) => (name === 'MANIFEST-000001' ? folder.open(name) : new MemorySource(files.get(name)!, name)),
    };
    expect(await rejection(DatabaseReader.open(served))).toMatchObject({ code: 'BLOOM_TOO_LARGE', structure: 'MANIFEST' });
    expect(requests).toBeLessThan(4);

    const memory = new WritableMemoryFolder(files);
    const { open } = memory;
    const zeros = new Uint8Array(4 * 2 ** 20);
    memory.open = (name) => (name === 'MANIFEST-000001' ? { byteLength: TIB, name, read: (_offset, length) => zeros.subarray(0, length) } : open.call(memory, name));
    expect(await rejection(Database.open(memory))).toMatchObject({ code: 'BLOOM_TOO_LARGE', file: 'MANIFEST-000001' });
    expect((await verifyDatabase(memory)).findings).toMatchObject([{ file: 'MANIFEST-000001', code: 'BLOOM_TOO_LARGE' }]);
    await Database.repair(memory);
    memory.open = open;
    const database = await Database.open(memory);
    expect((await collect(database.keys())).map(text)).toEqual(['a', 'b']);
    await database.close();
  });

  test('of a comparator with a name of 20 MB is refused with a short message', async () => {
    const name = 'x'.repeat(20_000_000);
    const files = small();
    const edits = [encodeVersionEdit({ comparator: name }), encodeVersionEdit({ logNumber: 6n, nextFileNumber: 9n, lastSequence: 3n })];
    files.set('MANIFEST-000001', logOf(edits));
    const errors = [
      caught(() => SyncDatabaseReader.open(new MemoryFolder(files))),
      await rejection(Database.open(new WritableMemoryFolder(files))),
      await rejection(Database.repair(new WritableMemoryFolder(files))),
    ];
    for (const error of errors) {
      expect(error).toMatchObject({ code: 'BLOOM_UNKNOWN_COMPARATOR' });
      expect((error as Error).message.length).toBeLessThan(1000);
      expect((error as Error).message).toContain('20000000 characters');
    }
    for (const { problem } of (await verifyDatabase(new MemoryFolder(files))).findings) expect(problem.length).toBeLessThan(1000);
    files.set('MANIFEST-000001', logOf([...edits, encodeVersionEdit({ comparator: `${name}y` })]));
    const error = caught(() => SyncDatabaseReader.open(new MemoryFolder(files))) as Error;
    expect(error).toMatchObject({ code: 'BLOOM_BAD_VERSION' });
    expect(error.message.length).toBeLessThan(1000);
  });
});

test('the log of a batch of a valid size is written and read back whatever its record length is', () => {
  const parts: Uint8Array[] = [];
  const writer = new LogWriter({ append: (bytes) => parts.push(bytes) });
  writer.addRecord(recordOf({ sequence: 2, operations: [[utf8('b'), new Uint8Array(3_000_000)]] }));
  const files = small().set('000006.log', new Uint8Array(Buffer.concat(parts)));
  expect(SyncDatabaseReader.open(new MemoryFolder(files)).get(utf8('b'))).toHaveLength(3_000_000);
});
