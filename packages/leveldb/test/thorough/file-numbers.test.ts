import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, DatabaseReader, encodeVersionEdit, MemoryFolder, SyncDatabaseReader, WritableMemoryFolder, WriteBatch, type VersionEdit } from '@bloom/leveldb';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { nativeDatabase, nativeUnavailableReason } from '@bloom/native';
import { encodeInternalKey } from '@bloom/sstable/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assembleDatabase, logOf, recordOf } from '../assemble-database.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect } from '../collect.js';

const native = nativeDatabase();
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);
const MAX_SEQUENCE = 2n ** 56n - 1n;

let path: string;
beforeAll(() => {
  path = mkdtempSync(join(tmpdir(), 'bloom-numbers-'));
});
afterAll(() => rmSync(path, { recursive: true, force: true }));

/** A database with `a` in a table of level 0 and `b` in a log, and what `change` makes of its MANIFEST. */
function databaseWith({ manifest = 'MANIFEST-000001', table = 5n, log = '000004.log', ...fields }: VersionEdit & { manifest?: string; table?: bigint; log?: string }): Map<string, Uint8Array> {
  const files = assembleDatabase({ tables: [{ level: 0, number: 5, versions: [{ key: utf8('a'), sequence: 1, value: utf8('old') }] }] });
  const key = encodeInternalKey({ userKey: utf8('a'), sequence: 1n, type: 1 });
  const bytes = files.get('000005.ldb')!;
  files.delete('000005.ldb');
  files.delete('MANIFEST-000001');
  files.set(`${String(table).padStart(6, '0')}.ldb`, bytes);
  files.set(log, logOf([recordOf({ sequence: 2, operations: [[utf8('b'), utf8('old')]] })]));
  files.set(
    manifest,
    logOf([
      encodeVersionEdit({ comparator: 'leveldb.BytewiseComparator' }),
      encodeVersionEdit({
        logNumber: 4n,
        previousLogNumber: 0n,
        nextFileNumber: 6n,
        lastSequence: 2n,
        ...fields,
        newFiles: [{ level: 0, file: { number: table, size: bytes.length, smallest: key, largest: key } }],
      }),
    ]),
  );
  files.set('CURRENT', utf8(`${manifest}\n`));
  return files;
}

const entriesOf = (folder: WritableMemoryFolder): Record<string, string> => {
  const database = SyncDatabaseReader.open(folder);
  try {
    return Object.fromEntries([...database.entries()].map(([key, value]) => [text(key)!, text(value)!]));
  } finally {
    database.close();
  }
};

const cases: Record<string, Map<string, Uint8Array>> = {
  'the usual numbers': databaseWith({}),
  'a next file number that the log has': databaseWith({ nextFileNumber: 4n }),
  'a next file number that a table has': databaseWith({ nextFileNumber: 5n }),
  'a next file number of 0': databaseWith({ nextFileNumber: 0n }),
  'a next file number that the MANIFEST has': databaseWith({ manifest: 'MANIFEST-000009', nextFileNumber: 9n }),
  'a next file number below that of the MANIFEST': databaseWith({ manifest: 'MANIFEST-000009', nextFileNumber: 6n }),
  'CURRENT that names a MANIFEST without zeros': databaseWith({ manifest: 'MANIFEST-9', nextFileNumber: 9n }),
  'CURRENT that names a log': databaseWith({ manifest: '000003.log', nextFileNumber: 3n }),
  'CURRENT that names a temporary file': databaseWith({ manifest: '000007.dbtmp', nextFileNumber: 7n }),
  'a log number above the next file number': databaseWith({ logNumber: 4n, previousLogNumber: 2n ** 62n }),
  'a log number that is the next file number': databaseWith({ nextFileNumber: 6n, logNumber: 6n }),
  'a MANIFEST with the highest number': databaseWith({ manifest: `MANIFEST-${2n ** 64n - 1n}` }),
};
for (const number of [2n ** 62n, 2n ** 63n - 2n ** 33n, 2n ** 63n - 2n ** 32n - 2n, 2n ** 63n - 2n ** 32n - 1n, 2n ** 63n - 2n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 2n, 2n ** 64n - 1n]) {
  cases[`an empty log ${number}`] = databaseWith({}).set(`${number}.log`, new Uint8Array(0));
  cases[`a log ${number}`] = databaseWith({ log: `${number}.log` });
  cases[`a table ${number}`] = databaseWith({ table: number });
  cases[`a table ${number} that is none of the database's`] = databaseWith({}).set(`${number}.ldb`, new Uint8Array(3));
  cases[`a temporary file ${number}`] = databaseWith({}).set(`${number}.dbtmp`, utf8('x'));
  cases[`a MANIFEST ${number} that is not current`] = databaseWith({}).set(`MANIFEST-${number}`, utf8('x'));
  cases[`a next file number of ${number}`] = databaseWith({ nextFileNumber: number });
  cases[`a log number of ${number}`] = databaseWith({ logNumber: number });
  cases[`a previous log number of ${number}`] = databaseWith({ previousLogNumber: number });
}
for (const number of [MAX_SEQUENCE - 3n, MAX_SEQUENCE - 2n, MAX_SEQUENCE - 1n, MAX_SEQUENCE, 2n ** 62n, 2n ** 64n - 1n]) {
  cases[`a last sequence of ${number}`] = databaseWith({ lastSequence: number });
}

describe('a database', () => {
  for (const reuseLogs of [false, true]) {
    for (const [name, files] of Object.entries(cases)) {
      test(`with ${name}${reuseLogs ? ', whose log and MANIFEST are appended to,' : ''} is refused unchanged, or has each acknowledged write when it is opened again`, async () => {
        const folder = new WritableMemoryFolder(files);
        const expected = entriesOf(folder);
        for (let round = 0; round < 3; round++) {
          const before = folder.files();
          let database: Database;
          try {
            database = await Database.open(folder, { reuseLogs });
          } catch (error) {
            expect(error).toMatchObject({ name: 'CorruptionError', code: 'BLOOM_BAD_VERSION' });
            expect((error as { readonly file?: string }).file).toMatch(/^(MANIFEST-|[0-9]+\.log)/);
            expect([...folder.files()].sort()).toEqual([...before].sort());
            // Nothing was acknowledged by an opening that made this one impossible.
            expect(entriesOf(folder)).toEqual(expected);
            return;
          }
          const shown = async (): Promise<unknown> => Object.fromEntries((await collect(database.entries())).map(([key, value]) => [text(key), text(value)]));
          expect(await shown()).toEqual(expected);
          // At first `a` stays what it was, so that a table that was overwritten is noticed.
          for (const key of [round === 0 ? 'd' : 'a', `round ${round}`, 'c']) {
            const value = `value ${round}`;
            const error = await rejection(database.put(utf8(key), utf8(value), { sync: true }));
            if (error === undefined) expected[key] = value;
            else expect(error).toMatchObject({ name: 'DatabaseError', code: 'BLOOM_NO_ROOM' });
          }
          expect(await shown()).toEqual(expected);
          if (round === 1) await database.compactRange();
          await database.close();
          expect(entriesOf(folder)).toEqual(expected);
          expect((await verifyDatabase(folder)).findings).toEqual([]);
        }
      });
    }
  }

  test('with sequences for two more operations takes a batch of two, and refuses three, also where they would share a record', async () => {
    const folder = new WritableMemoryFolder(databaseWith({ lastSequence: MAX_SEQUENCE - 4n }));
    const database = await Database.open(folder);
    const batch = (...keys: string[]): WriteBatch => keys.reduce((all, key) => all.put(utf8(key), utf8('v')), new WriteBatch());
    const outcomes = await Promise.all([batch('c'), batch('x', 'y', 'z'), batch('d', 'e'), batch('f')].map((one) => rejection(database.write(one))));
    expect(outcomes.map((error) => (error as { code?: string } | undefined)?.code)).toEqual([undefined, 'BLOOM_NO_ROOM', undefined, 'BLOOM_NO_ROOM']);
    expect(database.lastSequence).toBe(MAX_SEQUENCE - 1n);
    expect(text(await database.get(utf8('e')))).toBe('v');
    await database.write(new WriteBatch());
    await database.compactRange();
    await database.close();
    const again = await Database.open(folder);
    expect((await collect(again.keys())).map(text)).toEqual(['a', 'b', 'c', 'd', 'e']);
    const problem = (operations: string): RegExp => new RegExp(`too few sequence numbers for ${operations}, or too few file numbers`);
    expect(await rejection(again.delete(utf8('a')))).toMatchObject({ code: 'BLOOM_NO_ROOM', message: expect.stringMatching(problem('1 more operation')) as string });
    expect(await rejection(again.write(batch('a', 'b')))).toMatchObject({ code: 'BLOOM_NO_ROOM', message: expect.stringMatching(problem('2 more operations')) as string });
    await again.close();
  });

  test('that was repaired can be opened and written, whatever the numbers of its files were', async () => {
    for (const files of Object.values(cases)) {
      const folder = new WritableMemoryFolder(files);
      const expected = entriesOf(folder);
      const { manifest } = await Database.repair(folder);
      // A MANIFEST whose numbers leave none is not gone by, so that no log is obsolete.
      if (manifest === undefined && [...files].some(([name, { length }]) => /^[0-9]+\.log$/.test(name) && length > 0)) expected.b = 'old';
      expect(entriesOf(folder)).toEqual(expected);
      const database = await Database.open(folder);
      await database.put(utf8('c'), utf8('new'));
      await database.close();
      expect(entriesOf(folder)).toMatchObject({ c: 'new' });
    }
  });

  test('with a batch whose sequences are too high is refused by readers too', () => {
    for (const sequence of [MAX_SEQUENCE, 2n ** 60n, 2n ** 64n - 1n]) {
      const record = recordOf({ sequence: 7, operations: [[utf8('c'), utf8('v')]] });
      new DataView(record.buffer).setBigUint64(0, sequence, true);
      const files = databaseWith({}).set('000006.log', logOf([record]));
      expect(caught(() => SyncDatabaseReader.open(new MemoryFolder(files)))).toMatchObject({ code: 'BLOOM_BAD_WRITE_BATCH', offset: 0 });
      const reader = SyncDatabaseReader.open(new MemoryFolder(files), { damage: 'skip' });
      expect([...reader.keys()].map(text)).toEqual(['a', 'b']);
      expect(reader.describe().dropped).toMatchObject([{ file: '000006.log', reason: 'its sequence is too high' }]);
    }
  });

  if (native === undefined) test.skip(`cannot compare with LevelDB itself: ${nativeUnavailableReason()?.split('\n')[0] ?? ''}`, () => {});
  test.runIf(native !== undefined)('with a next file number that is too low, written by us, is read by LevelDB', async () => {
    for (const nextFileNumber of [0n, 4n, 5n, 6n]) {
      const folder = join(path, `low-${nextFileNumber}`);
      const memory = new WritableMemoryFolder(databaseWith({ nextFileNumber, manifest: 'MANIFEST-000006' }));
      const database = await Database.open(memory);
      await database.put(utf8('a'), utf8('new'), { sync: true });
      await database.close();
      const disk = await Database.open(new WritableNodeFolder(folder));
      await disk.close();
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
      for (const [name, bytes] of memory.files()) writeFileSync(join(folder, name), bytes);
      const entries = native!.dump(folder).entries.map(([key, value]) => [text(key), text(value)]);
      expect(entries).toEqual([['a', 'new'], ['b', 'old']]);
    }
  });
});

describe('the logs that a database needs', () => {
  const stray: Record<string, Map<string, Uint8Array>> = {
    'an empty 99.log': databaseWith({}).set('99.log', new Uint8Array(0)),
    'a 99.log with entries': databaseWith({}).set('99.log', logOf([recordOf({ sequence: 9, operations: [[utf8('z'), utf8('v')]] })])),
    '99.log beside 000099.log': databaseWith({}).set('99.log', new Uint8Array(0)).set('000099.log', new Uint8Array(0)),
    'two names of the log': databaseWith({}).set('4.log', new Uint8Array(0)).set('00000004.log', utf8('damaged')),
    'the log under another name alone': databaseWith({ log: '4.log' }),
    '0005.ldb beside 000005.ldb': databaseWith({}).set('0005.ldb', utf8('damaged')),
    'MANIFEST-1 beside MANIFEST-000001': databaseWith({}).set('MANIFEST-1', utf8('damaged')),
    'MANIFEST-1 alone': databaseWith({ manifest: 'MANIFEST-1' }),
    'a folder named like a log that is too long': databaseWith({}).set('00099.log', utf8('x')),
  };
  for (const [name, files] of Object.entries(stray)) {
    test(`are the same for both readers, the writer, verifyDatabase${native === undefined ? '' : ' and LevelDB'} with ${name}`, async () => {
      const reader = SyncDatabaseReader.open(new MemoryFolder(files));
      const entries = [...reader.entries()].map(([key, value]) => [text(key), text(value)]);
      const { logs } = reader.describe();
      const promised = await DatabaseReader.open(new MemoryFolder(files));
      expect((await collect(promised.entries())).map(([key, value]) => [text(key), text(value)])).toEqual(entries);
      expect((await verifyDatabase(new MemoryFolder(files))).logs).toEqual(logs.map((log) => log.name));

      const folder = new WritableMemoryFolder(files);
      const database = await Database.open(folder);
      expect((await collect(database.entries())).map(([key, value]) => [text(key), text(value)])).toEqual(entries);
      await database.put(utf8('n'), utf8('new'), { sync: true });
      await database.close();
      expect(entriesOf(folder)).toEqual({ ...Object.fromEntries(entries), n: 'new' });
      // A file that bears another name than the database's is no file of the database.
      for (const other of files.keys()) if (/^(0{0,5}[0-9]{1,5}|0{2,}000004)\.log$|^0005|^MANIFEST-1$/.test(other) && !/^[0-9]{6}\.log$/.test(other)) expect(folder.files().get(other)).toEqual(files.get(other));

      if (native === undefined) return;
      const disk = mkdtempSync(join(path, 'stray-'));
      for (const [file, bytes] of files) writeFileSync(join(disk, file), bytes);
      expect(native.dump(disk).entries.map(([key, value]) => [text(key), text(value)])).toEqual(entries);
      expect(readFileSync(join(disk, 'CURRENT')).length).toBeGreaterThan(0);
    });
  }

  test('do not allow opening a database for writing that lacks a table, even if another file has its number', async () => {
    for (const other of ['5.ldb', '5.log', '000005.log', '000005.dbtmp', 'MANIFEST-000005']) {
      const files = databaseWith({});
      files.set(other, files.get('000005.ldb')!);
      files.delete('000005.ldb');
      const folder = new WritableMemoryFolder(files);
      expect(await rejection(Database.open(folder))).toMatchObject({ code: 'BLOOM_MISSING_FILE', problem: 'it lists 1 missing table, 000005.ldb' });
      expect([...folder.files()].sort()).toEqual([...files].sort());
      expect(caught(() => SyncDatabaseReader.open(new MemoryFolder(files)))).toMatchObject({ name: 'CorruptionError' });
    }
  });
});
