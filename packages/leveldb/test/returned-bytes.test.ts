// Bytes that are returned have an ArrayBuffer, as their type says, also where the folder's bytes lie in a SharedArrayBuffer.
import { Database, DatabaseReader, MemoryFolder, SyncDatabaseReader, WritableMemoryFolder } from '@bloom/leveldb';
import { storedEntries } from '@bloom/leveldb/inspect';
import { MemorySource, SyncTable, Table } from '@bloom/sstable';
import { DatabaseTable } from '@bloom/sstable/database';
import { salvagedEntries } from '@bloom/sstable/inspect';
import { beforeAll, expect, test } from 'vitest';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

const files = new Map<string, Uint8Array>();
let table: Uint8Array;

// Half of it in a table, half in a log, with short and long values.
beforeAll(async () => {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder, { lock: 'none', compression: 'none' });
  const valueOf = (i: number): Uint8Array => utf8(`value ${i} `.repeat(i % 3 === 0 ? 1 : 300));
  for (let i = 0; i < 60; i++) await database.put(utf8(`key ${i}`), valueOf(i));
  await database.flush();
  for (let i = 60; i < 120; i++) await database.put(utf8(`key ${i}`), valueOf(i));
  await database.close();
  for (const [name, bytes] of folder.files()) {
    files.set(name, shared(bytes));
    if (name.endsWith('.ldb')) table = shared(bytes);
  }
});

function kindsOf(all: Iterable<Uint8Array>): Set<string> {
  return new Set(Array.from(all, ({ buffer }) => Object.prototype.toString.call(buffer)));
}

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

const ordinary = new Set(['[object ArrayBuffer]']);

test('by a database', async () => {
  const folder = new MemoryFolder(files);
  const keys = Array.from({ length: 120 }, (_, i) => utf8(`key ${i}`));
  expect(kindsOf(files.values())).toEqual(new Set(['[object SharedArrayBuffer]']));
  const reader = await DatabaseReader.open(folder);
  const entries = await collect(reader.entries());
  expect(entries).toHaveLength(120);
  const versions = (await Promise.all(keys.map((key) => reader.versions(key)))).flat();
  const stored = await collect(storedEntries(folder));
  expect([versions.length, stored.length]).toEqual([120, 120]);
  expect(kindsOf([...entries.flat(), ...versions.flatMap(({ key, value }) => [key, value]), ...stored.flatMap(({ key, value }) => [key, value])])).toEqual(ordinary);
  expect(kindsOf((await reader.getMany(keys)).map((value) => value!))).toEqual(ordinary);
  expect(kindsOf(await Promise.all(keys.map(async (key) => (await reader.get(key))!)))).toEqual(ordinary);
  const direct = SyncDatabaseReader.open(folder);
  expect(kindsOf([...direct.entries()].flat().concat(keys.map((key) => direct.get(key)!)))).toEqual(ordinary);
  expect(kindsOf(new WritableMemoryFolder(files).files().values())).toEqual(ordinary);
});

test('by a table', async () => {
  const source = new MemorySource(table);
  const open = await Table.open(source);
  const direct = SyncTable.open(source);
  const entries = await collect(open);
  const keys = entries.map(([key]) => key);
  expect(keys).toHaveLength(60);
  expect(kindsOf([...entries.flat(), ...(await open.getMany(keys)).map((value) => value!), ...[...direct].flat()])).toEqual(ordinary);
  expect(kindsOf(keys.flatMap((key) => [direct.get(key)!, ...direct.find(key, () => true)!]))).toEqual(ordinary);
  const versions = await collect((await DatabaseTable.open(source)).entries());
  expect(kindsOf(versions.flatMap(({ key, value }) => [key, value]))).toEqual(ordinary);
  const salvaged = await collect(salvagedEntries(source));
  expect(salvaged).toHaveLength(60);
  expect(kindsOf(salvaged.flat())).toEqual(ordinary);
});
