import { createHash } from 'node:crypto';
import { fromHex } from '@bloom/fixtures';
import { encodeInternalKey } from '@bloom/sstable/database';
import { expect, test } from 'vitest';
import { decodeVersionEdit, encodeVersionEdit, type FileMetadata, hasSameBounds } from '../src/format/version-edit.js';
import { caught } from '@bloom/fixtures/caught';

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
  ['05 ffffffffff 0161', 'compaction pointer'],
  ['06 ffffffffff 05', 'deleted file'],
  ['07 ffffffffff 05 00 0161 0162', 'new-file entry'],
  ['07 00 05 ffffffffffffffffffff 0161 0162', 'new-file entry'],
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
  const sameNumber = [0, 1].map((level) => ({ level, number: 9n }));
  expect(decodeVersionEdit(encodeVersionEdit({ deletedFiles: sameNumber }), place).deletedFiles).toEqual(sameNumber);
  expect(decodeVersionEdit(encodeVersionEdit({ deletedFiles }), place).deletedFiles).toEqual([
    { level: 0, number: 7n },
    { level: 0, number: 2n ** 60n },
    { level: 1, number: 9n },
  ]);
});

test('each field is written with its tag, in the order 1 2 9 3 4 5 6 7, however the edit lists them', () => {
  const edit = {
    newFiles: [{ level: 2, file: { number: 5n, size: 300, smallest: utf8('s'), largest: utf8('la') } }],
    deletedFiles: [{ level: 1, number: 128n }],
    compactPointers: [{ level: 6, key: utf8('k') }],
    lastSequence: 2n ** 63n,
    nextFileNumber: 4n,
    previousLogNumber: 3n,
    logNumber: 2n,
    comparator: 'c',
  };
  const record = fromHex('01 01 63 · 02 02 · 09 03 · 03 04 · 04 80808080808080808001 · 05 06 01 6b · 06 01 8001 · 07 02 05 ac02 01 73 02 6c61'.replaceAll('·', ''));
  expect(hex(encodeVersionEdit(edit))).toBe(hex(record));
  expect(decodeVersionEdit(record, place)).toEqual(edit);
});

test('fields are read in any order, and of a field that comes twice the last counts', () => {
  const edit = decodeVersionEdit(fromHex('0405 0306 0903 0202 0207 010161 010162'), place);
  expect(edit).toEqual({ comparator: 'b', logNumber: 7n, previousLogNumber: 3n, nextFileNumber: 6n, lastSequence: 5n });
  expect(decodeVersionEdit(new Uint8Array(0), place)).toEqual({});
});

test('a comparator keeps its byte order mark, and a long one is written whole', () => {
  for (const comparator of ['\ufeffname', '', 'x'.repeat(255), 'x'.repeat(10_000)]) {
    expect(decodeVersionEdit(encodeVersionEdit({ comparator, logNumber: 1n }), place)).toEqual({ comparator, logNumber: 1n });
  }
});

test('levels are 0 to 6, keys have one byte or more, and a table has 0 to 2^53 - 1 bytes', () => {
  const empty = { newFiles: [{ level: 0, file: { number: 0n, size: 0, smallest: utf8('a'), largest: utf8('b') } }] };
  expect(decodeVersionEdit(encodeVersionEdit(empty), place)).toEqual(empty);
  expect(decodeVersionEdit(fromHex('050601 61'), place)).toEqual({ compactPointers: [{ level: 6, key: utf8('a') }] });
  const largest = { level: 6, file: { number: 2n ** 64n - 1n, size: Number.MAX_SAFE_INTEGER, smallest: utf8('a'), largest: utf8('b') } };
  const record = encodeVersionEdit({ newFiles: [largest] });
  expect(decodeVersionEdit(record, place)).toEqual({ newFiles: [largest] });
  const larger = fromHex(hex(record).replace('ffffffffffffff0f', '8080808080808010'));
  expect(caught(() => decodeVersionEdit(larger, place))).toMatchObject({ problem: 'VersionEdit: new-file entry' });
});

test('an error has the place of the record', () => {
  const at = { structure: 'version edit', offset: 77, file: 'MANIFEST-000009' } as const;
  expect(caught(() => decodeVersionEdit(fromHex('08'), at))).toMatchObject(at);
});

test('two tables have the same bounds when both keys have the same bytes, whatever else differs', () => {
  const file = (number: bigint, smallest: string, largest: string): FileMetadata => ({ number, size: Number(number), smallest: utf8(smallest), largest: utf8(largest) });
  expect(hasSameBounds(file(1n, 'a', 'b'), file(2n, 'a', 'b'))).toBe(true);
  expect(hasSameBounds(file(1n, 'a', 'b'), file(1n, 'a', 'c'))).toBe(false);
  expect(hasSameBounds(file(1n, 'a', 'c'), file(1n, 'b', 'c'))).toBe(false);
  expect(hasSameBounds(file(1n, 'a', 'b'), file(1n, 'a', 'bb'))).toBe(false);
  expect(hasSameBounds(file(1n, 'a', 'b'), file(1n, 'b', 'a'))).toBe(false);
});
