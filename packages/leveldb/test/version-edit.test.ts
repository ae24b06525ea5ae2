import { createHash } from 'node:crypto';
import { folderFiles, fromHex, goldenDatabases, realDatabases } from '@bloom/fixtures';
import { readLog } from '@bloom/log';
import { decodeVersionEdit, encodeVersionEdit, WriteBatch, WriteBatchReader } from '@bloom/leveldb';
import { encodeInternalKey } from '@bloom/sstable/database';
import { expect, test } from 'vitest';
import { caught } from './caught.js';

// LevelDB, db/version_edit_test.cc.

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const place = { structure: 'version edit', offset: 0, file: 'MANIFEST-000002' } as const;

test('EncodeDecode: an edit with all fields has 288 bytes and survives decoding and encoding', () => {
  const big = 2n ** 50n;
  const indices = [0n, 1n, 2n, 3n];
  const edit = {
    comparator: 'foo',
    logNumber: big + 100n,
    nextFileNumber: big + 200n,
    lastSequence: big + 1000n,
    compactPointers: indices.map((i) => ({ level: Number(i), key: encodeInternalKey({ userKey: utf8('x'), sequence: big + 900n + i, type: 1 }) })),
    deletedFiles: indices.map((i) => ({ level: 4, number: big + 700n + i })),
    newFiles: indices.map((i) => ({
      level: 3,
      file: {
        number: big + 300n + i,
        size: Number(big + 400n + i),
        smallest: encodeInternalKey({ userKey: utf8('foo'), sequence: big + 500n + i, type: 1 }),
        largest: encodeInternalKey({ userKey: utf8('zoo'), sequence: big + 600n + i, type: 0 }),
      },
    })),
  };
  const bytes = encodeVersionEdit(edit);
  expect(bytes).toHaveLength(288);
  expect(createHash('sha256').update(bytes).digest('hex')).toMatch(/^9b8d210b.*5a46$/);
  expect(decodeVersionEdit(bytes, place)).toEqual(edit);
  expect(hex(encodeVersionEdit(decodeVersionEdit(bytes, place)))).toBe(hex(bytes));
});

test.each([
  ['00', 'unknown tag'],
  ['08', 'unknown tag'],
  ['64', 'unknown tag'],
  ['01', 'comparator name'],
  ['0105', 'comparator name'],
  ['0107', 'comparator name'],
  ['02', 'log number'],
  ['09', 'previous log number'],
  ['03ffff', 'next file number'],
  ['04', 'last sequence number'],
  ['0507', 'compaction pointer'],
  ['050000', 'compaction pointer'],
  ['060700', 'deleted file'],
  ['0600', 'deleted file'],
  ['07', 'new-file entry'],
  ['0700050a00', 'new-file entry'],
  ['070005ffffffffffffffff7f0161', 'new-file entry'],
  ['ff', 'invalid tag'],
])('%s is a bad edit: %s', (bytes, problem) => {
  expect(caught(() => decodeVersionEdit(fromHex(bytes), place))).toMatchObject({
    code: 'BLOOM_BAD_VERSION_EDIT',
    problem: `VersionEdit: ${problem}`,
    structure: 'version edit',
    file: 'MANIFEST-000002',
  });
});

test('the keys of an edit are copies, also of a record in a Buffer', () => {
  const key = encodeInternalKey({ userKey: utf8('x'), sequence: 7n, type: 1 });
  const record = Buffer.from(encodeVersionEdit({ compactPointers: [{ level: 1, key }] }));
  const edit = decodeVersionEdit(record, place);
  record.fill(0);
  expect(edit).toEqual({ compactPointers: [{ level: 1, key }] });
});

test('the edit of a flush lists the new table', () => {
  const edit = decodeVersionEdit(fromHex('0204 0900 0306 0405 07 02 05 c9a404 0d 6170706c65 0003000000000000 0c 706c756d 0104000000000000'), place);
  expect(edit).toMatchObject({ logNumber: 4n, previousLogNumber: 0n, nextFileNumber: 6n, lastSequence: 5n });
  expect(edit.newFiles).toMatchObject([{ level: 2, file: { number: 5n, size: 70_217 } }]);
});

test('deleted files are written in order and without duplicates', () => {
  const deletedFiles = [
    { level: 1, number: 9n },
    { level: 0, number: 2n ** 60n },
    { level: 1, number: 9n },
    { level: 0, number: 7n },
  ];
  expect(decodeVersionEdit(encodeVersionEdit({ deletedFiles }), place).deletedFiles).toEqual([
    { level: 0, number: 7n },
    { level: 0, number: 2n ** 60n },
    { level: 1, number: 9n },
  ]);
});

test('all edits and batches of the golden and real databases are encoded to the same bytes after decoding', () => {
  let edits = 0;
  let batches = 0;
  for (const { path } of [...goldenDatabases(), ...realDatabases()]) {
    for (const [name, bytes] of folderFiles(path)) {
      for (const record of readLog(/^MANIFEST|\.log$/.test(name) ? bytes : new Uint8Array(0)).records) {
        if (name.startsWith('MANIFEST')) {
          expect(hex(encodeVersionEdit(decodeVersionEdit(record.bytes, place)))).toBe(hex(record.bytes));
          edits++;
          continue;
        }
        const reader = new WriteBatchReader(record.bytes);
        const batch = new WriteBatch();
        while (reader.next()) {
          if (reader.type === 1) batch.put(reader.key, reader.value);
          else batch.delete(reader.key);
        }
        if (reader.problem === undefined) expect(Buffer.compare(batch.encode(reader.sequence), record.bytes)).toBe(0);
        batches++;
      }
    }
  }
  expect(edits).toBeGreaterThan(60);
  expect(batches).toBeGreaterThan(10_000);
});
