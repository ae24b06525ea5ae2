import { crc32c } from '@bloom/crc32c';
import { MemoryFolder } from '@bloom/leveldb';
import { LogReader } from '@bloom/log';
import { bytewiseComparator } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { PIECE_LENGTH } from '../src/folder/file-pieces.js';
import type { FolderFile } from '../src/folder/folder.js';
import { runSync } from '../src/folder/folder-reading.js';
import { readRecords, StoredRecords } from '../src/folder/stored-records.js';
import { keyOrderOf } from '../src/format/database-key.js';
import { type LogMemtable, replayLog } from '../src/memtable/log-memtable.js';
import { MemtableCursor } from '../src/memtable/memtable-cursor.js';
import { logOf, recordOf } from './assemble-database.js';
import { caught } from '@bloom/fixtures/caught';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const order = keyOrderOf(bytewiseComparator);
const folder = new MemoryFolder(new Map());

const put = (sequence: number, ...keys: readonly string[]): Uint8Array => recordOf({ sequence, operations: keys.map((key) => [utf8(key), utf8('v')]) });
const join = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));
const changed = (bytes: Uint8Array, at: number, value: number): Uint8Array => bytes.map((byte, i) => (i === at ? value : byte));

interface CountedFile extends FolderFile {
  readonly reads: [offset: number, length: number][];
}

/** A file with these bytes, which counts what is read of it. */
function fileOf(bytes: Uint8Array, more: Partial<FolderFile> = {}): CountedFile {
  const reads: [number, number][] = [];
  const read = (offset: number, length: number): Uint8Array => {
    reads.push([offset, length]);
    return bytes.subarray(offset, offset + length);
  };
  return { byteLength: bytes.length, read, readSync: read, reads, ...more };
}

interface ReplayOptions {
  readonly isStrict?: boolean;
  readonly previous?: LogMemtable | undefined;
  readonly visible?: bigint;
}

function replay(file: FolderFile, { isStrict = false, previous, visible = 0n }: ReplayOptions = {}): LogMemtable {
  return runSync(folder, replayLog(9n, file, order, isStrict, previous, visible));
}

/** The user keys of a memtable, each with its sequence. */
function entriesOf({ memtable }: LogMemtable): string[] {
  const cursor = new MemtableCursor(memtable);
  const found: string[] = [];
  for (cursor.seekToFirst(); cursor.valid; cursor.next()) {
    const { keyBytes, keyStart, keyEnd } = cursor.entry;
    found.push(`${new TextDecoder().decode(keyBytes.subarray(keyStart, keyEnd - 8))}@${keyBytes[keyEnd - 7]}`);
  }
  return found;
}

describe('a log that is replayed into a memtable', () => {
  test('has the operations, the last sequence, and what is needed to read on', () => {
    const bytes = logOf([put(3, 'b', 'a'), put(5, 'c')]);
    const identity = { version: 1 } as unknown as NonNullable<FolderFile['identity']>;
    const log = replay(fileOf(bytes, { identity, name: 'somewhere/000009.log' }));
    expect(entriesOf(log)).toEqual(['a@4', 'b@3', 'c@5']);
    const { number, name, byteLength, lastSequence, dropped, finalDrops, tail, prefix } = log;
    expect({ number, name, byteLength, lastSequence, dropped, finalDrops, tail }).toEqual({ number: 9n, name: '000009.log', byteLength: bytes.length, lastSequence: 5n, dropped: [], finalDrops: 0, tail: undefined });
    expect(prefix).toEqual({ byteLength: bytes.length, checksum: crc32c(bytes), identity });
  });

  test('may be empty', () => {
    const log = replay(fileOf(new Uint8Array(0)));
    expect([log.memtable.count, log.lastSequence, log.prefix.byteLength]).toEqual([0, 0n, 0]);
  });

  test('is known up to its last whole record', () => {
    const whole = logOf([put(1, 'a')]);
    const cut = logOf([put(1, 'a'), put(2, 'b')]).slice(0, -1);
    const log = replay(fileOf(cut), { isStrict: true });
    expect(entriesOf(log)).toEqual(['a@1']);
    expect(log.prefix).toEqual({ byteLength: whole.length, checksum: crc32c(whole), identity: undefined });
    expect(log.tail).toEqual({ offset: whole.length, byteLength: cut.length - whole.length, problem: 'cut payload' });
  });

  test('gives the memtable room for its entries at once, at most 4 MiB', () => {
    const room = (byteLength: number): number => replay(fileOf(new Uint8Array(byteLength))).memtable.arena.length;
    expect(room(10_001)).toBe(12_502);
    expect(room(PIECE_LENGTH)).toBe(PIECE_LENGTH);
    expect(room(PIECE_LENGTH + 1)).toBe(PIECE_LENGTH);
  });

  test('is refused above 2 GiB, before it is read', () => {
    const fails = (): never => {
      throw new RangeError('it was read');
    };
    const sized = (byteLength: number, name?: string): FolderFile => ({ byteLength, name, read: fails, readSync: fails });
    expect(caught(() => replay(sized(2 ** 31 + 1)))).toMatchObject({
      code: 'BLOOM_TOO_LARGE', structure: 'file', offset: 0, file: '000009.log', problem: 'it has 2147483649 bytes, but a log can be at most 2147483648 bytes',
    });
    expect(caught(() => replay(sized(2 ** 31 + 1, 'a name')))).toMatchObject({ file: 'a name' });
    expect(String(caught(() => replay(sized(2 ** 31))))).toContain('it was read');
  });
});

describe('a log that has grown since it was replayed', () => {
  const first = [put(3, 'a'), put(4, 'b')];

  test('is read on from where it ended, into the same memtable', () => {
    const before = replay(fileOf(logOf(first)));
    const bytes = logOf([...first, put(5, 'c')]);
    const file = fileOf(bytes);
    const log = replay(file, { previous: before, visible: 4n });
    expect(log.memtable).toBe(before.memtable);
    expect(entriesOf(log)).toEqual(['a@3', 'b@4', 'c@5']);
    expect(file.reads).toEqual([[before.byteLength, bytes.length - before.byteLength]]);
    expect([log.lastSequence, log.byteLength]).toEqual([5n, bytes.length]);
    expect(log.prefix).toMatchObject({ byteLength: bytes.length, checksum: crc32c(bytes) });
  });

  test('keeps its last sequence where the new batches have lower ones that are not visible yet', () => {
    const before = replay(fileOf(logOf(first)));
    const log = replay(fileOf(logOf([...first, put(2, 'c')])), { previous: before, visible: 1n });
    expect(log.memtable).toBe(before.memtable);
    expect(log.lastSequence).toBe(4n);
  });

  test('is replayed into another memtable where a new batch changes what is visible', () => {
    for (const [sequence, isSame] of [[3, false], [4, false], [5, true]] as const) {
      const before = replay(fileOf(logOf(first)));
      const log = replay(fileOf(logOf([...first, put(6, 'c'), put(sequence, 'd'), put(7, 'e')])), { previous: before, visible: 4n });
      expect(log.memtable === before.memtable).toBe(isSame);
      expect(entriesOf(log)).toEqual(['a@3', 'b@4', 'c@6', `d@${sequence}`, 'e@7']);
      expect(log.lastSequence).toBe(7n);
      // What was added before the batch was met is above what is visible.
      if (!isSame) expect(entriesOf(before)).toEqual(['a@3', 'b@4', 'c@6']);
    }
  });

  test('is not read where its length is the same and all of it was read', () => {
    const bytes = logOf(first);
    const before = replay(fileOf(bytes));
    const identity = { version: 2 } as unknown as NonNullable<FolderFile['identity']>;
    const file = fileOf(bytes, { identity });
    const log = replay(file, { previous: before, visible: 4n });
    expect(file.reads).toEqual([]);
    expect(log).toEqual({ ...before, prefix: { ...before.prefix, identity } });
    expect(log.memtable).toBe(before.memtable);
  });

  test('is read on even if its length is the same, because its writer may have allocated space ahead as zeros', () => {
    const records = logOf([...first, put(5, 'c')]);
    const begun = logOf(first);
    const before = replay(fileOf(join(begun, new Uint8Array(records.length - begun.length))));
    expect(entriesOf(before)).toEqual(['a@3', 'b@4']);
    const log = replay(fileOf(records), { previous: before, visible: 4n });
    expect(entriesOf(log)).toEqual(['a@3', 'b@4', 'c@5']);
  });
});

describe('damage of a log', () => {
  /** A block of a log with one record, which is a batch, and the same with damage. */
  const value = new Uint8Array(32_743).fill(2);
  const block = logOf([recordOf({ sequence: 1, operations: [[utf8('x'), value]] })]);
  const damagedBlock = changed(block, 100, 1);
  const noBatch = new Uint8Array(3);
  const blockDamage = { file: '000009.log', offset: 0, byteLength: 32_768, reason: 'checksum mismatch', code: 'BLOOM_BAD_LOG' };

  test('is an error where reading is strict', () => {
    expect(block).toHaveLength(32_768);
    expect(caught(() => replay(fileOf(damagedBlock), { isStrict: true }))).toMatchObject({
      code: 'BLOOM_BAD_LOG', structure: 'log record', offset: 0, file: '000009.log', problem: 'checksum mismatch (32768 bytes)',
    });
    expect(caught(() => replay(fileOf(logOf([put(1, 'a'), noBatch]), { name: 'a name' }), { isStrict: true }))).toMatchObject({
      code: 'BLOOM_BAD_WRITE_BATCH', structure: 'write batch', offset: logOf([put(1, 'a')]).length, file: 'a name', problem: expect.stringMatching(/ \(3 bytes\)$/) as string,
    });
  });

  test('of a batch is final: it is not met again when the log is read on', () => {
    const bytes = logOf([put(1, 'a'), noBatch, put(2, 'b')]);
    const log = replay(fileOf(bytes));
    expect(log.dropped).toHaveLength(1);
    expect(log.finalDrops).toBe(1);
    expect(entriesOf(log)).toEqual(['a@1', 'b@2']);
    const before = replay(fileOf(logOf([put(1, 'a'), noBatch])));
    expect([before.dropped.length, before.finalDrops]).toEqual([1, 1]);
    const more = replay(fileOf(bytes), { previous: before, visible: 1n });
    expect(more.dropped).toEqual(log.dropped);
    expect(more.finalDrops).toBe(1);
  });

  test('of log records is final once a record follows it, and until then is met again', () => {
    const before = replay(fileOf(damagedBlock));
    expect([before.dropped, before.finalDrops, before.prefix.byteLength]).toEqual([[blockDamage], 0, 0]);
    const whole = join(damagedBlock, logOf([put(2, 'b')]));
    const log = replay(fileOf(whole), { previous: before, visible: 0n });
    expect([log.dropped, log.finalDrops, log.prefix.byteLength]).toEqual([[blockDamage], 1, whole.length]);
    expect(entriesOf(log)).toEqual(['b@2']);
    const last = join(whole, logOf([put(3, 'c')]));
    const on = replay(fileOf(last), { previous: log, visible: 2n });
    expect([on.dropped, on.finalDrops]).toEqual([[blockDamage], 1]);
  });
});

describe('the records of a file', () => {
  test('are read 4 MiB at a time, and a longer one is read again for the checksum', () => {
    const records = [new Uint8Array(2 * PIECE_LENGTH + 5).fill(7), Uint8Array.of(1)];
    const bytes = logOf(records);
    const file = fileOf(bytes);
    const lengths: number[] = [];
    const { prefix, tail } = runSync(folder, readRecords(new LogReader({ record: ({ length }) => lengths.push(length) }), file));
    expect(lengths).toEqual(records.map(({ length }) => length));
    expect(tail).toBeUndefined();
    expect(prefix).toEqual({ byteLength: bytes.length, checksum: crc32c(bytes), identity: undefined });
    expect(file.reads).toEqual([
      [0, PIECE_LENGTH], [PIECE_LENGTH, PIECE_LENGTH], [2 * PIECE_LENGTH, bytes.length - 2 * PIECE_LENGTH],
      [0, PIECE_LENGTH], [PIECE_LENGTH, PIECE_LENGTH],
    ]);
  });

  test('are read from the end of the last reading to a given end, and without a checksum if no one continues reading', () => {
    const records = [put(1, 'a'), put(2, 'b'), put(3, 'c')];
    const ends = [1, 2, 3].map((count) => logOf(records.slice(0, count)).length);
    const bytes = logOf(records);
    const offsets: number[] = [];
    const file = fileOf(bytes);
    const before = { byteLength: ends[0]!, checksum: crc32c(bytes.subarray(0, ends[0])), identity: undefined };
    const reader = (): LogReader => new LogReader({ record: (_, offset) => offsets.push(offset) }, before.byteLength);
    const { prefix } = runSync(folder, readRecords(reader(), file, before, ends[1]));
    expect(offsets).toEqual([ends[0]]);
    expect(file.reads).toEqual([[ends[0], ends[1]! - ends[0]!]]);
    expect(prefix).toEqual({ byteLength: ends[1], checksum: crc32c(bytes.subarray(0, ends[1])), identity: undefined });
    const stored = new StoredRecords(new LogReader({ record: (_, offset) => offsets.push(offset) }), file);
    while (runSync(folder, stored.readPiece()));
    expect(offsets).toEqual([ends[0], 0, ends[0], ends[1]]);
  });
});
