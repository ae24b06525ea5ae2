import { decodeVersionEdit, encodeVersionEdit, Database, SyncDatabaseReader, WritableMemoryFolder, MemoryFolder } from '@bloom/leveldb';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { readLog } from '@bloom/log';
import { describe, expect, test } from 'vitest';
import { assembleDatabase, logOf } from './assemble-database.js';
import { caught } from '@bloom/fixtures/caught';

// iq80's LevelDB in Java asks its table builder for the length of a table that a compaction has made, and gets four bytes more than the
// file has. thorough/peer-turns.test.ts has such folders of its own.

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Two levels, with a deletion in the upper one, whose MANIFEST counts `excess` bytes too many for the lower table. */
function filesWithExcess(excess: number): Map<string, Uint8Array> {
  const files = assembleDatabase({
    tables: [
      { level: 0, number: 6, versions: [{ key: utf8('b'), sequence: 9, value: undefined }] },
      { level: 1, number: 5, versions: ['a', 'b', 'c'].map((key, i) => ({ key: utf8(key), sequence: i + 1, value: utf8(`value of ${key}`) })) },
    ],
  });
  const records = readLog(files.get('MANIFEST-000001')!).records.map(({ bytes }) => decodeVersionEdit(bytes, { structure: 'version edit', offset: 0 }));
  const longer = records.map(({ newFiles = [], ...edit }) => ({
    ...edit,
    newFiles: newFiles.map(({ level, file }) => ({ level, file: level === 0 ? file : { ...file, size: file.size + excess } })),
  }));
  return files.set('MANIFEST-000001', logOf(longer.map(encodeVersionEdit)));
}

describe('a folder whose MANIFEST counts 4 bytes too many for a table', () => {
  const hint = "iq80's LevelDB in Java counts 4 bytes too many for the tables that it compacts: if it wrote this folder, a repair keeps exactly the folder's entries";

  test('is refused with an error that says whose folder it may be, and what a repair does', async () => {
    const folder = new MemoryFolder(filesWithExcess(4));
    expect(caught(() => SyncDatabaseReader.open(folder))).toMatchObject({ code: 'BLOOM_TRUNCATED', problem: expect.stringContaining(hint) as string });
    expect((await verifyDatabase(folder)).findings).toMatchObject([{ file: '000005.ldb', code: 'BLOOM_TRUNCATED', problem: expect.stringContaining(hint) as string }]);
  });

  test('has exactly the same entries after a repair, and deleted keys stay deleted', async () => {
    const folder = new WritableMemoryFolder(filesWithExcess(4));
    const { lost } = await Database.repair(folder);
    expect(lost).toEqual([]);
    const entries = [...SyncDatabaseReader.open(folder).entries()].map(([key, value]) => [key, value].map((bytes) => new TextDecoder().decode(bytes)));
    expect(entries).toEqual([
      ['a', 'value of a'],
      ['c', 'value of c'],
    ]);
  });
});

test.each([1, 3, 5, 100])('a table that lacks %i bytes is not taken for one of iq80', (excess) => {
  const error = caught(() => SyncDatabaseReader.open(new MemoryFolder(filesWithExcess(excess))));
  expect(error).toMatchObject({ code: 'BLOOM_TRUNCATED', problem: expect.stringMatching(/^the MANIFEST says that it has \d+ bytes, it has \d+$/) as string });
});
