import { Database, type DatabaseOptions, DatabaseReader, encodeVersionEdit, MemoryFolder, type VersionEdit, WritableMemoryFolder } from '@bloom/leveldb';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { describe, expect, test } from 'vitest';
import { assembleDatabase, logOf, type LogParts, recordOf, type TableParts } from './assemble-database.js';
import { rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';

// What the logs of a folder hold when it is opened for writing. LevelDB's own cases are in leveldb-cases.test.ts.

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

type Files = Map<string, Uint8Array>;
type Operation = readonly [key: string, value?: string];

const batchOf = (sequence: number, ...operations: readonly Operation[]): Uint8Array =>
  recordOf({ sequence, operations: operations.map(([key, value]) => [utf8(key), value === undefined ? undefined : utf8(value)]) });

/** `bytes`, of which one is `value` instead. */
function changed(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const copy = bytes.slice();
  copy[at] = value;
  return copy;
}

/** A database with these logs, by number, and this MANIFEST. */
function filesOf(logs: Readonly<Record<number, Uint8Array>>, fields: VersionEdit = {}): Files {
  const edit = { comparator: 'leveldb.BytewiseComparator', logNumber: 4n, previousLogNumber: 0n, nextFileNumber: 5n, lastSequence: 0n, ...fields };
  const files: Files = new Map(Object.entries(logs).map(([number, log]) => [`${number.padStart(6, '0')}.log`, log]));
  return files.set('MANIFEST-000002', logOf([encodeVersionEdit(edit)])).set('CURRENT', utf8('MANIFEST-000002\n'));
}

interface State {
  readonly entries: string[];
  readonly tables: bigint[];
  readonly lastSequence: bigint;
  readonly log: bigint;
}

/** What the database is right after it was opened. */
async function stateOf(folder: WritableMemoryFolder, options: DatabaseOptions = {}): Promise<State> {
  const database = await Database.open(folder, options);
  const { levels, logs, lastSequence } = database.describe();
  expect(levels.slice(1).flat()).toEqual([]);
  const entries = (await collect(database.entries())).map(([key, value]) => `${text(key)}=${text(value)}`);
  const tables = levels[0]!.map(({ number }) => number).sort((a, b) => Number(a - b));
  await database.close();
  return { entries, tables, lastSequence, log: logs[0]!.number };
}

describe('the logs of a database', () => {
  test('become a table each, the newer log the newer table, and are deleted', async () => {
    const folder = new WritableMemoryFolder(filesOf({ 4: logOf([batchOf(1, ['a', '1'], ['b', '1'])]), 7: logOf([batchOf(3, ['a', '2'], ['b']), batchOf(5, ['c', '2'])]) }));
    expect(await stateOf(folder)).toEqual({ entries: ['a=2', 'c=2'], tables: [6n, 7n], lastSequence: 5n, log: 8n });
    expect(folder.list().sort()).toEqual(['000006.ldb', '000007.ldb', '000008.log', 'CURRENT', 'MANIFEST-000005']);
  });

  test('of which the MANIFEST does not know leave their numbers unused by later logs', async () => {
    const folder = new WritableMemoryFolder(filesOf({ 4: new Uint8Array(0), 30: logOf([batchOf(1, ['a', '1'])]) }));
    expect(await stateOf(folder)).toMatchObject({ tables: [6n], log: 31n });
  });

  test('say the last sequence, unless the MANIFEST has a higher one: that of the last operation, by the batches’ headers', async () => {
    const lastOf = async (lastSequence: bigint, ...batches: Uint8Array[]): Promise<bigint> => (await stateOf(new WritableMemoryFolder(filesOf({ 4: logOf(batches) }, { lastSequence })))).lastSequence;
    const batches = [batchOf(20, ['a', '1'], ['b', '1'], ['c', '1']), batchOf(10, ['d', '1'])];
    expect(await lastOf(0n, ...batches)).toBe(22n);
    expect(await lastOf(21n, ...batches)).toBe(22n);
    expect(await lastOf(23n, ...batches)).toBe(23n);
    expect(await lastOf(0n, batchOf(100))).toBe(99n);
    expect(await lastOf(7n)).toBe(7n);
  });

  test('that hold no operation become no table', async () => {
    expect(await stateOf(new WritableMemoryFolder(filesOf({ 4: new Uint8Array(0), 6: logOf([batchOf(9)]) })))).toMatchObject({ entries: [], tables: [], lastSequence: 8n });
  });

  test('that end in a part of a record are whole without it', async () => {
    const log = logOf([batchOf(1, ['a', '1']), batchOf(2, ['b', '1'])]);
    for (const cut of [1, 17, 23]) expect(await stateOf(new WritableMemoryFolder(filesOf({ 4: log.subarray(0, log.length - cut) })))).toMatchObject({ entries: ['a=1'], lastSequence: 1n });
  });

  test('become a table whenever a memtable is full, by its bytes or by the index that its keys may need', async () => {
    const long = (i: number): Operation => [`${String(i).padStart(3, '0')}${'x'.repeat(1097)}`, ''];
    const log = logOf(Array.from({ length: 60 }, (_, i) => batchOf(i + 1, long(i))));
    /** The last key of each table. */
    const tables = async (options: DatabaseOptions): Promise<number[]> => {
      const database = await Database.open(new WritableMemoryFolder(filesOf({ 4: log })), { compression: 'none', ...options });
      const { levels } = database.describe();
      expect(await collect(database.keys())).toHaveLength(60);
      await database.close();
      return levels[0]!.map(({ largest }) => Number(text(largest.userKey.subarray(0, 3))));
    };
    expect(await tables({})).toEqual([59]);
    expect(await tables({ writeBufferSize: 65_536 })).toHaveLength(2);
    // The index may need 64 bytes for a key besides its own, and has half of a block.
    expect(await tables({ maxBlockBytes: 2 ** 16 })).toEqual([27, 55, 59]);
  });

  test('are read piece by piece, and closed again, also when they are damaged', async () => {
    let open = 0;
    class Counting extends WritableMemoryFolder {
      override open(name: string): ReturnType<WritableMemoryFolder['open']> {
        const file = super.open(name);
        if (file === undefined || !name.endsWith('.log')) return file;
        open++;
        return {
          ...file,
          close: () => {
            open--;
          },
        };
      }
    }
    const log = logOf([batchOf(1, ['a', '1'])]);
    expect(await stateOf(new Counting(filesOf({ 4: log, 6: log })))).toMatchObject({ entries: ['a=1'] });
    expect(open).toBe(0);
    await rejection(Database.open(new Counting(filesOf({ 4: changed(log, 0, 0) }))));
    expect(open).toBe(0);
  });
});

describe('damage of a log', () => {
  const good = batchOf(1, ['a', '1']);
  const damages: { what: string; log: Uint8Array; code: string; structure: string; offset: number; byteLength: number; reason: string; left: string[]; lastSequence: bigint }[] = [
    {
      what: 'a wrong checksum',
      log: changed(logOf([good, batchOf(2, ['b', '1'])]), 7 + good.length, 0),
      ...{ code: 'BLOOM_BAD_LOG', structure: 'log record', offset: 7 + good.length, byteLength: 7 + good.length, reason: 'checksum mismatch', left: ['a=1'], lastSequence: 1n },
    },
    {
      what: 'a batch that ends within an operation, of which those before are applied',
      log: logOf([good, batchOf(2, ['b', '1'], ['c', '1']).slice(0, -1), batchOf(9, ['d', '1'])]),
      ...{ code: 'BLOOM_BAD_WRITE_BATCH', structure: 'write batch', offset: 7 + good.length, byteLength: 21, reason: 'bad WriteBatch Put', left: ['a=1', 'b=1', 'd=1'], lastSequence: 9n },
    },
    {
      what: 'a batch with too high a count, which is believed',
      log: logOf([good, changed(batchOf(2, ['b', '1']), 8, 5)]),
      ...{ code: 'BLOOM_BAD_WRITE_BATCH', structure: 'write batch', offset: 7 + good.length, byteLength: 17, reason: 'WriteBatch has wrong count', left: ['a=1', 'b=1'], lastSequence: 6n },
    },
    {
      what: 'a batch without a whole header',
      log: logOf([good, new Uint8Array(11).fill(1)]),
      ...{ code: 'BLOOM_BAD_WRITE_BATCH', structure: 'write batch', offset: 7 + good.length, byteLength: 11, reason: 'log record too small', left: ['a=1'], lastSequence: 1n },
    },
    {
      what: 'a batch whose last sequence is the greatest one, which stands for all',
      log: logOf([good, batchOf(2, ['b', '1']).fill(0xff, 0, 7)]),
      ...{ code: 'BLOOM_BAD_WRITE_BATCH', structure: 'write batch', offset: 7 + good.length, byteLength: 17, reason: 'its sequence is too high', left: ['a=1'], lastSequence: 1n },
    },
  ];

  test.each(damages)('is an error that leaves the folder as it was: $what', async ({ log, code, structure, offset, byteLength, reason }) => {
    const folder = new WritableMemoryFolder(filesOf({ 4: log }));
    const before = folder.files();
    const error = { code, structure, offset, file: '000004.log', problem: `${reason} (${byteLength} bytes)` };
    expect(await rejection(Database.open(folder))).toMatchObject(error);
    for (const [name, bytes] of before) expect(folder.files().get(name)).toEqual(bytes);
    expect(folder.lostFolder().list()).toEqual([]);
  });

  test.each(damages)('can be passed over, and the log is kept in lost: $what', async ({ log, code, offset, byteLength, reason, left, lastSequence }) => {
    for (const reuseLogs of [false, true]) {
      const folder = new WritableMemoryFolder(filesOf({ 4: log }));
      const database = await Database.open(folder, { damage: 'skip', reuseLogs });
      expect(database.describe().dropped).toEqual([{ file: '000004.log', offset, byteLength, reason, code }]);
      expect((await collect(database.entries())).map(([key, value]) => `${text(key)}=${text(value)}`)).toEqual(left);
      expect(database.lastSequence).toBe(lastSequence);
      await database.close();
      expect(folder.list()).not.toContain('000004.log');
      expect([...folder.lostFolder().files()]).toEqual([['000004.log', log]]);
    }
  });

  test('in several places is listed for each, and each log is kept once', async () => {
    const bad = new Uint8Array(3);
    const folder = new WritableMemoryFolder(filesOf({ 4: logOf([bad, good, bad]), 5: logOf([batchOf(2, ['b', '1'])]), 6: logOf([bad]) }));
    const database = await Database.open(folder, { damage: 'skip' });
    expect(database.describe().dropped.map(({ file, offset }) => [file, offset])).toEqual([
      ['000004.log', 0],
      ['000004.log', 10 + 7 + good.length],
      ['000006.log', 0],
    ]);
    expect(await collect(database.keys())).toEqual([utf8('a'), utf8('b')]);
    await database.close();
    expect(folder.lostFolder().list()).toEqual(['000004.log', '000006.log']);
  });

  test('makes the folder lost, which an undamaged database does not need', async () => {
    let made = 0;
    class Lost extends WritableMemoryFolder {
      override lostFolder(): WritableMemoryFolder {
        made++;
        return super.lostFolder();
      }
    }
    await stateOf(new Lost(filesOf({ 4: logOf([good]) })), { damage: 'skip' });
    expect(made).toBe(0);
    await stateOf(new Lost(filesOf({ 4: logOf([good, new Uint8Array(1)]) })), { damage: 'skip' });
    expect(made).toBeGreaterThan(0);
  });

  test('that is passed over once is gone, also where nothing of the log could be read and the MANIFEST is appended to', async () => {
    const folder = new WritableMemoryFolder(filesOf({ 4: changed(logOf([good]), 0, 0) }));
    expect(await stateOf(folder, { damage: 'skip', reuseLogs: true })).toMatchObject({ entries: [], log: 6n });
    expect(await stateOf(folder, { reuseLogs: true })).toMatchObject({ entries: [], log: 6n });
  });

  test('is a log that is listed and cannot be opened', async () => {
    class Lacking extends WritableMemoryFolder {
      override open(name: string): ReturnType<WritableMemoryFolder['open']> {
        return name === '000004.log' ? undefined : super.open(name);
      }
    }
    expect(await rejection(Database.open(new Lacking(filesOf({ 4: logOf([good]) }), 'words.db')))).toMatchObject({
      code: 'BLOOM_MISSING_FILE',
      structure: 'folder',
      offset: 0,
      file: 'words.db',
      problem: '000004.log is listed but cannot be opened',
    });
  });

  test('is not a batch that needs a larger block, which is refused also where damage is passed over', async () => {
    const log = logOf([good, batchOf(2, ['b', 'x'.repeat(70_000)])]);
    for (const damage of ['strict', 'skip'] as const) {
      const error = await rejection(Database.open(new WritableMemoryFolder(filesOf({ 4: log })), { damage, maxBlockBytes: 2 ** 16, blockSize: 1024 }));
      expect(error).toMatchObject({ code: 'BLOOM_TOO_LARGE', structure: 'write batch', offset: 7 + good.length, file: '000004.log' });
      expect((error as Error).message).toContain('open the database with a larger maxBlockBytes, of up to 1 GiB');
    }
    // A block may be as large as blockSize before the entry is added to it.
    const inHalf = new WritableMemoryFolder(filesOf({ 4: logOf([batchOf(1, ['b', 'x'.repeat(33_000)])]) }));
    expect(await rejection(Database.open(inHalf, { maxBlockBytes: 2 ** 16, blockSize: 2 ** 15 }))).toMatchObject({ code: 'BLOOM_TOO_LARGE' });
    // Batches of an eighth of a block and more are measured, and most of them fit.
    for (const length of [1000, 7000, 7200, 30_000]) {
      const fitting = logOf([batchOf(1, ['b', 'x'.repeat(length)])]);
      expect((await stateOf(new WritableMemoryFolder(filesOf({ 4: fitting })), { maxBlockBytes: 2 ** 16, blockSize: 1024 })).entries).toHaveLength(1);
    }
  });
});

describe('a log that is appended to', () => {
  const logs = { 4: logOf([batchOf(1, ['a', '1'])]), 6: logOf([batchOf(2, ['b', '1'])]) };

  test('is the last one; the others become tables', async () => {
    const folder = new WritableMemoryFolder(filesOf(logs));
    expect(await stateOf(folder, { reuseLogs: true })).toEqual({ entries: ['a=1', 'b=1'], tables: [6n], lastSequence: 2n, log: 6n });
    expect(folder.files().get('000006.log')).toEqual(logs[6]);
  });

  test('continues at its end, and opening changes neither it nor the MANIFEST', async () => {
    for (const log of [logs[4], new Uint8Array(0)]) {
      const folder = new WritableMemoryFolder(filesOf({ 4: log }));
      const manifest = folder.files().get('MANIFEST-000002');
      const database = await Database.open(folder, { reuseLogs: true });
      expect([folder.files().get('000004.log'), folder.files().get('MANIFEST-000002')]).toEqual([log, manifest]);
      await database.put(utf8('c'), utf8('1'));
      await database.close();
      const expected = log.length === 0 ? [batchOf(1, ['c', '1'])] : [batchOf(1, ['a', '1']), batchOf(2, ['c', '1'])];
      expect(folder.files().get('000004.log')).toEqual(logOf(expected));
    }
  });

  test('is one that fills a memtable to exactly its size, or to exactly the index that its keys may need', async () => {
    const isReused = async (lengths: readonly (readonly [number, number])[], options: DatabaseOptions): Promise<boolean> => {
      const log = logOf(lengths.map(([key, value], i) => batchOf(i + 1, ['k'.repeat(key), 'v'.repeat(value)])));
      return (await stateOf(new WritableMemoryFolder(filesOf({ 4: log })), { reuseLogs: true, ...options })).log === 4n;
    };
    // As measured with LevelDB: see memtable-memory.test.ts.
    const measured = [[1, 1], [1, 0], [119, 127], [120, 128], [0, 1000], [3, 1010], [3, 1011], [3, 1012], [3, 1013], [10, 3000], [10, 4060], [10, 5000], [8, 16_383], [8, 16_384], [1000, 0], [1001, 1], [5, 5], [16_375, 3]] as const;
    expect(await isReused(measured, { writeBufferSize: 71_643 })).toBe(true);
    expect(await isReused(measured, { writeBufferSize: 71_642 })).toBe(false);
    // 16 keys of 1,976 bytes, with 8 for the sequence and 64 for an index’s entry.
    const keys = Array.from({ length: 16 }, () => [1976, 0] as const);
    expect(await isReused(keys, { maxBlockBytes: 2 ** 16 })).toBe(true);
    expect(await isReused([...keys, [1976, 0]], { maxBlockBytes: 2 ** 16 })).toBe(false);
  });

  test('is one without operations where reuseLogs is empty, and none where it is false', async () => {
    for (const log of [new Uint8Array(0), logOf([batchOf(1)])]) {
      const isReused = async (reuseLogs: boolean | 'empty'): Promise<boolean> => (await stateOf(new WritableMemoryFolder(filesOf({ 4: log })), { reuseLogs })).log === 4n;
      expect([await isReused(true), await isReused('empty'), await isReused(false)]).toEqual([true, true, false]);
    }
    expect(await stateOf(new WritableMemoryFolder(filesOf({ 4: logs[4] })), { reuseLogs: 'empty' })).toMatchObject({ tables: [6n], log: 7n });
  });

  test('without a whole record is left unchanged if it is torn, and so is the MANIFEST', async () => {
    const folder = new WritableMemoryFolder(filesOf({ 4: logs[4].subarray(0, -1) }));
    const manifest = folder.files().get('MANIFEST-000002');
    expect(await stateOf(folder, { reuseLogs: true })).toMatchObject({ entries: [], log: 6n });
    expect(folder.files().get('MANIFEST-000002')).toEqual(manifest);
  });

  test('is none that ends in a part of a record, is damaged, or filled a memtable', async () => {
    const torn = { 4: logs[4], 6: logs[6].subarray(0, -1) };
    expect(await stateOf(new WritableMemoryFolder(filesOf(torn)), { reuseLogs: true })).toMatchObject({ entries: ['a=1'], tables: [6n], log: 7n });
    const damaged = { 4: logOf([batchOf(1, ['a', '1']), new Uint8Array(3)]) };
    expect(await stateOf(new WritableMemoryFolder(filesOf(damaged)), { reuseLogs: true, damage: 'skip' })).toMatchObject({ entries: ['a=1'], tables: [6n], log: 7n });
    const large = { 4: logOf([batchOf(1, ['a', 'x'.repeat(70_000)]), batchOf(2, ['b', '1'])]) };
    expect(await stateOf(new WritableMemoryFolder(filesOf(large)), { reuseLogs: true, writeBufferSize: 65_536 })).toMatchObject({ tables: [6n, 7n], log: 8n });
  });
});

describe.each([true, 'empty'] as const)('zeros at the end of a file, with reuseLogs: %j,', (reuseLogs) => {
  const zeros = new Uint8Array(100);
  const join = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

  test.each([
    ['a log without records', zeros, []],
    ['a log of one record', join(logOf([batchOf(1, ['a', '1'])]), zeros), ['a=1']],
    ['a log of one record and half of another', join(logOf([batchOf(1, ['a', '1']), batchOf(2, ['b', 'v'.repeat(600)])]).slice(0, 512), zeros), ['a=1']],
  ])('keep %s from being appended to, so that no later write is lost', async (_, log, entries) => {
    const folder = new WritableMemoryFolder(filesOf({ 4: log }));
    const database = await Database.open(folder, { reuseLogs });
    await database.put('later', '2');
    await database.close();
    expect((await stateOf(folder, { reuseLogs })).entries).toEqual([...entries, 'later=2']);
  });

  test('keep a MANIFEST from being appended to, so that no later table is lost', async () => {
    const files = filesOf({ 4: new Uint8Array(0) });
    const manifest = files.get('MANIFEST-000002')!;
    const header = Uint8Array.of(1, 2, 3, 4, 0, 3, 1); // of a record of 768 bytes
    const half = new Uint8Array(512 - manifest.length - header.length).fill(1);
    for (const bytes of [join(manifest, zeros), join(manifest, header, half, new Uint8Array(1000))]) {
      const folder = new WritableMemoryFolder(new Map(files).set('MANIFEST-000002', bytes));
      const database = await Database.open(folder, { reuseLogs });
      await database.put('a', '1');
      await database.flush();
      await database.close();
      const again = await Database.open(folder, { reuseLogs });
      expect(await again.get('a')).toEqual(utf8('1'));
      await again.close();
    }
  });

  test('do not keep a log from being appended to if they are the trailer of a block', async () => {
    const value = 'v'.repeat(32_768 - 7 - 12 - 6 - 3);
    const folder = new WritableMemoryFolder(filesOf({ 4: join(logOf([batchOf(1, ['a', value])]), new Uint8Array(3)) }));
    expect(folder.files().get('000004.log')).toHaveLength(32_768);
    expect(await stateOf(folder, { reuseLogs })).toMatchObject({ log: reuseLogs === true ? 4n : 7n });
  });
});

describe('a record of which only zeros are left at the end of a log', () => {
  const files = (): Files => filesOf({ 4: logOf([batchOf(1, ['a', '1']), batchOf(2, ['b', 'v'.repeat(600)])]).fill(0, 512) });

  test('is left out by readers and by a repair, which reports it as truncated', async () => {
    const reader = await DatabaseReader.open(new MemoryFolder(files()));
    expect((await collect(reader.entries())).map(([key]) => text(key))).toEqual(['a']);
    expect(reader.describe()).toMatchObject({ dropped: [], logs: [{ tail: { problem: 'zeroed end' } }] });
    await reader.close();
    const { lost, entries } = await Database.repair(new WritableMemoryFolder(files()));
    expect([entries, lost]).toMatchObject([1, [{ file: '000004.log', reason: 'zeroed end', code: 'BLOOM_TRUNCATED' }]]);
  });
});

describe('a record that a killed process wrote in part, in space that was allocated ahead,', () => {
  const allocated = (bytes: Uint8Array, left: number): Uint8Array => new Uint8Array(Buffer.concat([bytes.subarray(0, bytes.length - left), new Uint8Array(2 ** 20)]));
  const keys = async (database: Database | DatabaseReader): Promise<string[]> => (await collect(database.keys())).map(text);

  test.each([42, 30, 8, 2])('is left out if %d bytes of it are missing, in a log and in a MANIFEST', async (left) => {
    const log = allocated(logOf([batchOf(1, ['a', '1']), batchOf(2, ['b', 'v'.repeat(26)])]), left);
    const edits = [{ comparator: 'leveldb.BytewiseComparator', logNumber: 4n, nextFileNumber: 5n, lastSequence: 0n }, { comparator: 'one that refuses the database' }];
    const manifest = allocated(logOf(edits.map((edit) => encodeVersionEdit(edit))), Math.min(left, 31));
    const files = filesOf({ 4: log }).set('MANIFEST-000002', manifest);
    const reader = await DatabaseReader.open(new MemoryFolder(files));
    expect(await keys(reader)).toEqual(['a']);
    expect(reader.describe()).toMatchObject({ dropped: [], logs: [{ tail: { problem: 'zeroed end' } }] });
    await reader.close();
    expect((await verifyDatabase(new MemoryFolder(files))).findings).toEqual([]);
    const database = await Database.open(new WritableMemoryFolder(files));
    expect(await keys(database)).toEqual(['a']);
    await database.close();
    const { entries } = await Database.repair(new WritableMemoryFolder(files));
    expect(entries).toBe(1);
  });
});

describe('a changed byte', () => {
  // The tables were never merged, so the newest edit alone lists the newest of them.
  async function grown(): Promise<Files> {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder);
    for (const key of ['a', 'b']) {
      await database.put(key, '1');
      await database.flush();
    }
    await database.put('c', '1');
    await database.put('d', '\0');
    await database.close();
    return folder.files();
  }

  test.each([
    ['MANIFEST-000002', 0],
    ['000006.log', 0],
    ['MANIFEST-000002', 1000],
    ['000006.log', 1000],
  ])('of %s, with %d zeros after it, refuses the database, even a length or one in a last record that ends with zeros, and deletes nothing', async (name, zeros) => {
    const files = await grown();
    const { length } = files.get(name)!;
    const bytes = new Uint8Array(length + zeros);
    bytes.set(files.get(name)!);
    expect(bytes[length - 1]).toBe(0);
    for (let at = 0; at < length; at++) {
      const folder = new WritableMemoryFolder(new Map(files).set(name, changed(bytes, at, bytes[at]! ^ (at % 2 === 0 ? 0x01 : 0x80))));
      expect(await rejection(Database.open(folder)), String(at)).toMatchObject({ code: 'BLOOM_BAD_LOG' });
      expect([...folder.files().keys()].sort()).toEqual([...files.keys()].sort());
      expect(await rejection(DatabaseReader.open(new MemoryFolder(folder.files()))), String(at)).toMatchObject({ code: 'BLOOM_BAD_LOG' });
    }
  });
});

test('a log whose process was killed within a record at the end of a block, and that LevelDB continued, is whole', async () => {
  const killed = logOf([batchOf(1, ['a', '1']), batchOf(2, ['b', 'v'.repeat(40_000)])]).subarray(0, 32_768);
  const files = filesOf({ 4: Buffer.concat([killed, logOf([batchOf(2, ['c', '1'])])]) });
  expect((await verifyDatabase(new MemoryFolder(files))).findings).toEqual([]);
  const reader = await DatabaseReader.open(new MemoryFolder(files));
  expect((await collect(reader.keys())).map(text)).toEqual(['a', 'c']);
  await reader.close();
  expect(await Database.repair(new WritableMemoryFolder(files))).toMatchObject({ entries: 2, lost: [] });
  const database = await Database.open(new WritableMemoryFolder(files));
  expect((await collect(database.keys())).map(text)).toEqual(['a', 'c']);
  await database.close();
});

describe('zeros in the middle of a log', () => {
  // The first record ends with its block, the second fills the next one, and only zeros are left of it.
  const value = (byteLength: number): string => 'v'.repeat(byteLength);
  const filler = 32_768 - 7 - 12 - 6;
  const files = (): Files => filesOf({ 4: logOf([batchOf(1, ['a', value(filler)]), batchOf(2, ['b', value(filler)]), batchOf(3, ['c', '1'])]).fill(0, 32_768, 65_536) });
  const damage = { offset: 32_768, code: 'BLOOM_BAD_LOG' };

  test('are damage, as the records in their place are lost', async () => {
    expect(await rejection(Database.open(new WritableMemoryFolder(files())))).toMatchObject({ ...damage, file: '000004.log' });
    expect(await rejection(DatabaseReader.open(new MemoryFolder(files())))).toMatchObject(damage);
    expect((await verifyDatabase(new MemoryFolder(files()))).findings).toMatchObject([{ ...damage, file: '000004.log', problem: 'zeros in the middle (32768 bytes)' }]);
    const { entries, lost } = await Database.repair(new WritableMemoryFolder(files()));
    expect([entries, lost]).toMatchObject([2, [{ ...damage, file: '000004.log' }]]);
  });

  test('are left out with damage: skip, and the log is kept', async () => {
    const folder = new WritableMemoryFolder(files());
    const database = await Database.open(folder, { damage: 'skip' });
    expect((await collect(database.keys())).map(text)).toEqual(['a', 'c']);
    expect(database.describe().dropped).toMatchObject([damage]);
    await database.close();
    expect(folder.lostFolder().list()).toEqual(['000004.log']);
  });
});

describe('a log that ends in the middle of a record', () => {
  const cut = (...kept: Uint8Array[]): Uint8Array => logOf([...kept, batchOf(2, ['b', '1'])]).slice(0, -5);
  const whole = batchOf(1, ['a', '1']);
  const later = logOf([batchOf(3, ['c', '1'])]);
  const damage = { code: 'BLOOM_BAD_LOG', offset: 24, problem: 'it ends in the middle of a record, and a later log has records (19 bytes)' };
  const keysOf = async (database: Database | DatabaseReader): Promise<string> => (await collect(database.keys())).map(text).join('');

  test('is damaged if a later log has records', async () => {
    // The log between them has none.
    const files = filesOf({ 4: cut(whole), 5: new Uint8Array(0), 6: later });
    const folder = new WritableMemoryFolder(files);
    expect(await rejection(Database.open(folder))).toMatchObject({ ...damage, file: '000004.log' });
    expect([...folder.files().keys()]).toEqual([...files.keys()]);
    expect(await rejection(DatabaseReader.open(new MemoryFolder(files)))).toMatchObject({ ...damage, file: '000004.log' });
    expect((await verifyDatabase(new MemoryFolder(files))).findings).toMatchObject([{ ...damage, file: '000004.log' }]);
  });

  test('is damaged also where the later log was already opened to be appended to, which is closed again', async () => {
    let open = 0;
    class Counting extends WritableMemoryFolder {
      override openForAppend(name: string): ReturnType<WritableMemoryFolder['openForAppend']> {
        const file = super.openForAppend(name);
        open++;
        const close = file.close.bind(file);
        file.close = () => {
          open--;
          return close();
        };
        return file;
      }
    }
    const folder = new Counting(filesOf({ 4: cut(whole), 6: later }));
    expect(await rejection(Database.open(folder, { reuseLogs: true }))).toMatchObject({ ...damage, file: '000004.log' });
    expect(open).toBe(0);
  });

  test('is not damaged if no later log has records', async () => {
    for (const logs of [{ 4: cut(whole) }, { 4: cut(whole), 5: new Uint8Array(0) }, { 4: cut(whole), 5: cut() }, { 4: cut(), 5: logOf([whole]) }]) {
      const files = filesOf(logs);
      expect((await verifyDatabase(new MemoryFolder(files))).findings).toEqual([]);
      const reader = await DatabaseReader.open(new MemoryFolder(files));
      expect(await keysOf(reader)).toBe('a');
      await reader.close();
      const database = await Database.open(new WritableMemoryFolder(files));
      expect(await keysOf(database)).toBe('a');
      await database.close();
    }
  });

  test.each([false, true, 'empty'] as const)('is kept in lost with damage: skip, and is then obsolete, with reuseLogs: %j', async (reuseLogs) => {
    const files = filesOf({ 4: cut(whole), 6: later });
    const reader = await DatabaseReader.open(new MemoryFolder(files), { damage: 'skip' });
    expect(await keysOf(reader)).toBe('ac');
    expect(reader.describe().dropped).toMatchObject([{ code: 'BLOOM_BAD_LOG', file: '000004.log' }]);
    await reader.close();
    const folder = new WritableMemoryFolder(files);
    const database = await Database.open(folder, { damage: 'skip', reuseLogs });
    expect(await keysOf(database)).toBe('ac');
    expect(database.describe().dropped).toMatchObject([{ code: 'BLOOM_BAD_LOG', file: '000004.log' }]);
    await database.close();
    expect(folder.lostFolder().list()).toEqual(['000004.log']);
    const again = await Database.open(folder);
    expect(await keysOf(again)).toBe('ac');
    await again.close();
  });
});

describe('a table of the MANIFEST', () => {
  const tables: TableParts[] = [5, 6].map((number) => ({ level: 1, number, versions: [{ key: utf8(`key ${number}`), sequence: number, value: utf8('1') }] }));
  const logs: LogParts[] = [];

  test('that is missing refuses the folder, by its name', async () => {
    const files = assembleDatabase({ tables, logs });
    files.delete('000006.ldb');
    expect(await rejection(Database.open(new WritableMemoryFolder(files, 'words.db')))).toMatchObject({
      code: 'BLOOM_MISSING_FILE',
      structure: 'MANIFEST',
      file: 'words.db',
      problem: 'it lists 1 missing table, 000006.ldb',
    });
  });

  test('may have its old name, and a folder need not know the identities of files', async () => {
    const files = assembleDatabase({ tables, logs });
    files.set('000006.sst', files.get('000006.ldb')!).delete('000006.ldb');
    class Plain extends WritableMemoryFolder {}
    Object.defineProperty(Plain.prototype, 'identityOf', { value: undefined });
    for (const folder of [new WritableMemoryFolder(files), new Plain(files)]) {
      const database = await Database.open(folder);
      expect(await collect(database.keys())).toEqual([utf8('key 5'), utf8('key 6')]);
      await database.close();
    }
  });

  test('that is listed and is not a file counts as missing', async () => {
    class Odd extends WritableMemoryFolder {
      override identityOf(name: string): ReturnType<WritableMemoryFolder['identityOf']> {
        return name === '000005.ldb' || name === '000005.sst' ? undefined : super.identityOf(name);
      }
    }
    expect(await rejection(Database.open(new Odd(assembleDatabase({ tables, logs }))))).toMatchObject({ code: 'BLOOM_MISSING_FILE', problem: 'it lists 1 missing table, 000005.ldb' });
  });
});
