// What tables, sources and cursors have in common: `has`, and closing at the end of a `using` block.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, MemorySource, type Source, SyncTable, Table } from '@bloom/sstable';
import { DatabaseTable, internalKeyComparator, kindOfType, SyncDatabaseTable, typeOfKind } from '@bloom/sstable/database';
import { HttpSource } from '@bloom/sstable/http';
import { FileSource, openTable, openTableSync, SyncFileSource, writeTable } from '@bloom/sstable/node';
import { expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { numberedEntries, utf8 } from './entries.js';

const entries = numberedEntries(2000);
const absent = entries.map(([key]) => utf8(`${new TextDecoder().decode(key)}!`));

test.each([
  ['with filters', { comparator: bytewiseComparator, filterPolicy: new BloomFilterPolicy(10) }],
  ['without filters', { comparator: bytewiseComparator, filterPolicy: null }],
  ['in an order of its own', { comparator: { ...bytewiseComparator }, filterPolicy: null }],
])('has is true for stored keys alone, and counts as get does, %s', async (_, options) => {
  const source = new MemorySource(buildTable(entries, options));
  for (const filters of ['at-opening', 'when-needed'] as const) {
    const opening = { filters, tailBytes: 48, comparator: options.comparator };
    const [table, other, sync, otherSync] = [await Table.open(source, opening), await Table.open(source, opening), SyncTable.open(source, opening), SyncTable.open(source, opening)];
    const wrong: Uint8Array[] = [];
    for (const [i, [key]] of entries.entries()) {
      if (!((await table.has(key)) && sync.has(key)) || (await table.has(absent[i]!)) || sync.has(absent[i]!)) wrong.push(key);
      for (const each of [key, absent[i]!]) {
        await other.get(each);
        otherSync.get(each);
      }
    }
    expect(wrong).toEqual([]);
    expect(table.stats).toEqual(other.stats);
    expect(sync.stats).toEqual(otherSync.stats);
  }
});

test('has copies its key before it waits, ends with its signal, and fails once the table is closed', async () => {
  const memory = new MemorySource(buildTable(entries));
  let gate = Promise.resolve();
  const source: Source = { byteLength: memory.byteLength, read: async (offset, length) => (await gate, memory.read(offset, length)) };
  const table = await Table.open(source);
  const key = new Uint8Array(entries[700]![0]);
  const found = table.has(key);
  key.fill(0);
  expect(await found).toBe(true);
  expect(await rejection(table.has(entries[0]![0], { signal: AbortSignal.abort() }))).toMatchObject({ name: 'AbortError' });
  gate = new Promise(() => undefined);
  const pending = rejection(table.has(entries[1500]![0]));
  await table.close();
  expect(await pending).toBeInstanceOf(TypeError);
  expect(await rejection(table.has(entries[0]![0]))).toBeInstanceOf(TypeError);
});

test('what is opened with a promise closes with one, and what is opened without closes without: using, too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bloom-using-'));
  try {
    const path = join(folder, 'x.ldb');
    await writeTable(path, entries);
    const key = entries[0]![0];
    const source = new MemorySource(buildTable([], { comparator: internalKeyComparator() }));

    for (const table of [await Table.open(new MemorySource(buildTable(entries))), await openTable(path)]) {
      await table[Symbol.asyncDispose]();
      await table.close();
      expect(await rejection(table.get(key))).toMatchObject({ message: 'the table is closed' });
    }
    for (const table of [SyncTable.open(new MemorySource(buildTable(entries))), openTableSync(path)]) {
      table[Symbol.dispose]();
      table.close();
      expect(caught(() => table.get(key))).toMatchObject({ message: 'the table is closed' });
    }
    const table = await DatabaseTable.open(source);
    await table[Symbol.asyncDispose]();
    expect(await rejection(table.get(key))).toMatchObject({ message: 'the table is closed' });
    const sync = SyncDatabaseTable.open(source);
    sync[Symbol.dispose]();
    expect(caught(() => sync.get(key))).toMatchObject({ message: 'the table is closed' });

    const file = await FileSource.open(path);
    await file[Symbol.asyncDispose]();
    expect(await rejection(file.read(0, 1))).toMatchObject({ code: 'EBADF' });
    const syncFile = SyncFileSource.open(path);
    syncFile[Symbol.dispose]();
    expect(caught(() => syncFile.read(0, 1))).toMatchObject({ message: 'the file is closed' });
    const http = await HttpSource.open('https://example.org/x.ldb', { byteLength: 100 });
    await http[Symbol.asyncDispose]();
    expect(await rejection(http.read(0, 1))).toBeInstanceOf(TypeError);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('each type byte has a kind, and each kind its byte', () => {
  const types = Array.from({ length: 256 }, (_, type) => type);
  expect([kindOfType(0), kindOfType(1), kindOfType(2)]).toEqual(['deletion', 'value', 2]);
  expect(types.map((type) => typeOfKind(kindOfType(type)))).toEqual(types);
});
