import { createHash } from 'node:crypto';
import { entriesSha256, type ExpectedDatabase, folderFiles, type GoldenDatabase, goldenDatabases, type KeyValue } from '@bloom/fixtures';
import { CorruptionError, type DatabaseDescription, DatabaseReader, type Dropped, MemoryFolder, type ReaderOptions, type StoredEntry, SyncDatabaseReader } from '@bloom/leveldb';
import { storedEntries, storedEntriesSync } from '@bloom/leveldb/inspect';
import { NodeFolder, SyncNodeFolder } from '@bloom/leveldb/node';
import { encodeInternalKey } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';
import { reverseComparator } from './reverse-comparator.js';

// Every folder in tooling/fixtures/data/golden-db with a row in index.json gives tests here.

const options: ReaderOptions = { comparators: [reverseComparator] };

/** The error code for a status of LevelDB. */
function codeFor(status: string): string | undefined {
  if (status === 'OK') return undefined;
  if (status.includes('CURRENT file does not end with newline')) return 'BLOOM_BAD_CURRENT';
  if (status.includes('missing files')) return 'BLOOM_MISSING_FILE';
  if (status.includes('log record too small')) return 'BLOOM_BAD_WRITE_BATCH';
  if (status.includes('checksum mismatch')) return 'BLOOM_BAD_LOG';
  throw new Error(`no code is known for: ${status}`);
}

function expectDescription(description: DatabaseDescription, golden: GoldenDatabase): void {
  expect(description.levels.map((files) => files.length)).toEqual(golden.levels);
  expect(description.logs.map(({ number }) => Number(number))).toEqual(golden.logs);
  expect(Number(description.lastSequence)).toBe(golden.lastSequence);
  expect(description.manifest).toBe(golden.manifest);
  const tables = description.levels.flatMap((files, level) =>
    files.map(({ number, byteLength, smallest, largest }) => ({
      level,
      number: Number(number),
      size: byteLength,
      smallest: encodeInternalKey(smallest),
      largest: encodeInternalKey(largest),
    })),
  );
  const byNumber = (a: { number: number }, b: { number: number }): number => a.number - b.number;
  expect(tables.sort(byNumber)).toEqual([...golden.tables!].sort(byNumber));
  const drops = description.dropped.map(({ file, byteLength, reason }) => ({
    log: Number(/(\d+)\.log$/.exec(file)?.[1]),
    bytes: byteLength,
    reason,
  }));
  expect(drops).toEqual(golden.drops);
}

/** Expects the number of entries and their hash. */
function expectEntries(entries: KeyValue[], expected: { readonly entries?: number; readonly entriesSha256?: string }): void {
  expect([entries.length, entriesSha256(entries)]).toEqual([expected.entries, expected.entriesSha256]);
}

function expectGet(get: () => Uint8Array | undefined, { key, expected }: GoldenDatabase['gets'][number]): void {
  const name = Buffer.from(key).toString('latin1');
  if (expected.kind === 'error') {
    expect(caught(get), name).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM' });
    return;
  }
  const value = get();
  if (expected.kind === 'absent') expect(value, name).toBeUndefined();
  else if (expected.kind === 'value') expect(value, name).toEqual(expected.value);
  else expect([value?.length, createHash('sha256').update(value!).digest('hex')], name).toEqual([expected.length, expected.sha256]);
}

function verifiedEntries(golden: GoldenDatabase): { readonly entries?: number; readonly entriesSha256?: string } {
  return golden.verified ?? golden;
}

const all = goldenDatabases();
const opening = all.filter(({ open }) => open === 'OK');

test('the fixtures have databases that open and databases that are refused', () => {
  expect(opening.length).toBeGreaterThanOrEqual(16);
  expect(all.length - opening.length).toBeGreaterThanOrEqual(2);
});

describe.each(opening)('$name: $written', (golden) => {
  test('SyncDatabaseReader, skipping damage, finds the same levels, entries and drops as LevelDB', () => {
    for (const folder of [new MemoryFolder(folderFiles(golden.path)), new SyncNodeFolder(golden.path)]) {
      const database = SyncDatabaseReader.open(folder, { ...options, damage: 'skip' });
      expectDescription(database.describe(), golden);
      expectEntries([...database.entries()], verifiedEntries(golden));
      expectEntries([...database.entries({ reverse: true })].reverse(), verifiedEntries(golden));
      for (const get of golden.gets) expectGet(() => database.get(get.key), get);
      database.close();
    }
  });

  test('DatabaseReader, skipping damage, finds the same levels, entries and drops as LevelDB', async () => {
    for (const folder of [new MemoryFolder(folderFiles(golden.path)), new NodeFolder(golden.path)]) {
      const database = await DatabaseReader.open(folder, { ...options, damage: 'skip' });
      expectDescription(database.describe(), golden);
      expectEntries(await collect(database.entries()), verifiedEntries(golden));
      expectEntries((await collect(database.entries({ reverse: true }))).reverse(), verifiedEntries(golden));
      for (const get of golden.gets) {
        const outcome = await database.get(get.key).then(
          (value) => () => value,
          (error: unknown) => () => {
            throw error;
          },
        );
        expectGet(outcome, get);
      }
      await database.close();
    }
  });

  test('in strict mode opens if and only if LevelDB opens it with paranoid checks, and gives all entries or an error', async () => {
    const folder = new MemoryFolder(folderFiles(golden.path));
    const code = codeFor(golden.openParanoid);
    if (code !== undefined) {
      expect(caught(() => SyncDatabaseReader.open(folder, options))).toMatchObject({ code });
      expect(await rejection(DatabaseReader.open(folder, options))).toMatchObject({ code });
      return;
    }
    const database = SyncDatabaseReader.open(folder, options);
    if (golden.verified !== undefined) {
      expect(caught(() => [...database.entries()])).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM', structure: 'data block' });
      expect(caught(() => [...database.entries({ reverse: true })])).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM' });
      return;
    }
    expectEntries([...database.entries()], golden);
    expectEntries(await collect((await DatabaseReader.open(folder, options)).entries()), golden);
    for (const get of golden.gets) expectGet(() => database.get(get.key), get);
  });

  test('has the same entries with maxOpenFiles: 11', async () => {
    const folder = new MemoryFolder(folderFiles(golden.path));
    const database = SyncDatabaseReader.open(folder, { ...options, damage: 'skip', maxOpenFiles: 11 });
    expectEntries([...database.entries()], verifiedEntries(golden));
    expectEntries([...database.entries({ reverse: true })].reverse(), verifiedEntries(golden));
    for (const get of golden.gets) expectGet(() => database.get(get.key), get);
    const other = await DatabaseReader.open(folder, { ...options, damage: 'skip', maxOpenFiles: 11 });
    expectEntries(await collect(other.entries()), verifiedEntries(golden));
  });

  test('has as many stored entries in its logs and tables as LevelDB counts', async () => {
    const used = new Set([...(golden.logs ?? []), ...(golden.tables ?? []).map(({ number }) => number)]);
    const isUsed = ({ file }: StoredEntry): boolean => used.has(Number.parseInt(file, 10));
    const folder = new MemoryFolder(folderFiles(golden.path));
    const dropped: Dropped[] = [];
    const onDropped = (drop: Dropped): unknown => dropped.push(drop);
    const entries = [...storedEntriesSync(folder, { damage: 'skip', onDropped })];
    expect(entries.filter(isUsed)).toHaveLength(golden.internalEntries!);
    const asKv = (all: StoredEntry[]): KeyValue[] => all.map(({ key, value }) => [key, value]);
    const promised = await collect(storedEntries(folder, { damage: 'skip' }));
    expect([promised.length, entriesSha256(asKv(promised))]).toEqual([entries.length, entriesSha256(asKv(entries))]);
    const isDamaged = golden.damage !== undefined && (golden.verified !== undefined || golden.drops.length > 0);
    expect(dropped.length > 0).toBe(isDamaged);
    expect(caught(() => [...storedEntriesSync(folder)]) instanceof CorruptionError).toBe(isDamaged);
  });
});

describe.each(all.filter(({ open }) => open !== 'OK'))('$name: $written', (golden) => {
  test('is refused with the code that matches LevelDB’s status', async () => {
    const code = codeFor(golden.open);
    for (const damage of ['strict', 'skip'] as const) {
      const folder = new MemoryFolder(folderFiles(golden.path), golden.name);
      expect(caught(() => SyncDatabaseReader.open(folder, { ...options, damage }))).toMatchObject({ code, message: expect.stringContaining(golden.name === 'missing-table' ? '000007.ldb' : 'newline') as string });
      expect(await rejection(DatabaseReader.open(folder, { ...options, damage }))).toMatchObject({ code });
    }
  });
});

describe.each(all.filter(({ cuts }) => cuts.length > 0))('the log of $name', (golden) => {
  test.each(golden.cuts)('gives the first $entries entries when it is truncated to $length bytes', ({ length, entries, entriesSha256: sha256, lastSequence }) => {
    const files = folderFiles(golden.path);
    const log = [...files.keys()].find((name) => name.endsWith('.log'))!;
    files.set(log, files.get(log)!.subarray(0, length));
    const database = SyncDatabaseReader.open(new MemoryFolder(files), options);
    expectEntries([...database.entries()], { entries, entriesSha256: sha256 });
    expect(Number(database.lastSequence)).toBe(lastSequence);
  });
});

describe.each(all.filter((golden: ExpectedDatabase) => golden.openBytewise !== undefined))('$name, which has another comparator', (golden) => {
  test('is refused without its comparator, and the error names a remedy', () => {
    const error = caught(() => SyncDatabaseReader.open(new MemoryFolder(folderFiles(golden.path))));
    expect(error).toMatchObject({ code: 'BLOOM_UNKNOWN_COMPARATOR' });
    for (const word of [golden.comparator!, 'storedEntries', 'insistOnBytewise']) expect((error as Error).message).toContain(word);
  });

  test('is read in bytewise order with insistOnBytewise', () => {
    const database = SyncDatabaseReader.open(new MemoryFolder(folderFiles(golden.path)), { insistOnBytewise: true, damage: 'skip' });
    expect(database.describe().comparator).toBe(golden.comparator);
    expect(caught(() => [...database.entries()])).toBeUndefined();
  });
});
