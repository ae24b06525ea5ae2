import { fromHex } from '@bloom/fixtures';
import { logLayout, LogWriter } from '@bloom/log';
import { encodeInternalKey } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { decodeVersionEdit, encodeVersionEdit, versionEditLayout } from '../src/format/version-edit.js';
import { WriteBatch, writeBatchLayout } from '../src/format/write-batch.js';
import { caught } from '@bloom/fixtures/caught';
import { expectWhole } from './expect-whole.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('layouts of records', () => {
  test('a batch has a label for every field, and the sequence of each operation', () => {
    const record = new WriteBatch().put(utf8('foo'), utf8('bar')).delete(utf8('box')).encode(7n).slice();
    const ranges = writeBatchLayout(record);
    expectWhole(ranges, record.length);
    expect(ranges.map(({ byteLength, label, value }) => [byteLength, label, value])).toEqual([
      [8, 'sequence', '7'],
      [4, 'count', '2'],
      [1, 'operation 0: type', 'put with sequence 7'],
      [1, 'operation 0: key length', '3'],
      [3, 'operation 0: key', undefined],
      [1, 'operation 0: value length', '3'],
      [3, 'operation 0: value', undefined],
      [1, 'operation 1: type', 'deletion with sequence 8'],
      [1, 'operation 1: key length', '3'],
      [3, 'operation 1: key', undefined],
    ]);
  });

  test('a field that continues in the next fragment has two ranges', () => {
    let log = new Uint8Array(0);
    new LogWriter({ append: (bytes) => (log = new Uint8Array(bytes)) }).addRecord(new WriteBatch().put(utf8('key'), new Uint8Array(40_000)).encode(1n));
    const ranges = logLayout(log, writeBatchLayout);
    expectWhole(ranges, log.length);
    expect(ranges.filter(({ label }) => label.includes('operation 0: value') && !label.includes('length'))).toMatchObject([
      { byteLength: 32_768 - 7 - 12 - 1 - 1 - 3 - 3, label: 'record 0: operation 0: value' },
      { label: 'record 0: operation 0: value (continued)' },
    ]);
  });

  test.each([
    ['0000', 'log record too small'],
    ['010000000000000001000000' + '07', 'unknown WriteBatch tag'],
    ['010000000000000001000000' + '0105', 'bad WriteBatch Put'],
    ['010000000000000001000000' + '0005', 'bad WriteBatch Delete'],
  ])('the damaged batch %s is labelled with its problem: %s', (hex, problem) => {
    const record = fromHex(hex);
    const ranges = writeBatchLayout(record);
    expectWhole(ranges, record.length);
    expect(ranges.at(-1)!.label).toBe(problem);
  });

  test('what is before the damage of a batch has its labels', () => {
    const layout = (hex: string): unknown[] => writeBatchLayout(fromHex(hex)).map(({ offset, byteLength, label, value }) => [offset, byteLength, label, value]);
    expect(layout('010000000000000002000000' + '00016b' + '01056b')).toEqual([
      [0, 8, 'sequence', '1'],
      [8, 4, 'count', '2'],
      [12, 1, 'operation 0: type', 'deletion with sequence 1'],
      [13, 1, 'operation 0: key length', '1'],
      [14, 1, 'operation 0: key', undefined],
      [15, 3, 'bad WriteBatch Put', undefined],
    ]);
    expect(layout('010000000000000000000000')).toEqual([
      [0, 8, 'sequence', '1'],
      [8, 4, 'count', '0'],
    ]);
    expect(layout('0100000000000000000000')).toEqual([[0, 11, 'log record too small', undefined]]);
    expect(layout('')).toEqual([]);
    expect(layout('010000000000000001000000' + '010000')).toContainEqual([14, 1, 'operation 0: value length', '0']);
  });

  test('a part without a value has no property for it', () => {
    expect(writeBatchLayout(new WriteBatch().delete(utf8('k')).encode(1n))[4]).toStrictEqual({ offset: 14, byteLength: 1, label: 'operation 0: key' });
    expect(versionEditLayout(encodeVersionEdit({ logNumber: 5n }))).toStrictEqual([
      { offset: 0, byteLength: 1, label: 'log number: tag' },
      { offset: 1, byteLength: 1, label: 'log number: number', value: '5' },
    ]);
  });

  test('layouts refuse what is not bytes', () => {
    for (const layout of [writeBatchLayout, versionEditLayout]) expect(() => layout('record' as unknown as Uint8Array)).toThrow(/^record must/);
  });

  test('a batch with a wrong count has a note at its count', () => {
    const record = fromHex('010000000000000002000000' + '000161');
    expect(writeBatchLayout(record)[1]).toMatchObject({ label: 'count', value: '2: WriteBatch has wrong count, there are 1' });
  });

  test('a version edit has a label for every field, and a truncated one has LevelDB’s message for the damage', () => {
    const file = { number: 5n, size: 300, smallest: encodeInternalKey({ userKey: utf8('a'), sequence: 3n, type: 1 }), largest: utf8('short') };
    const record = encodeVersionEdit({ comparator: 'foo', logNumber: 2n ** 60n, newFiles: [{ level: 3, file }] });
    const ranges = versionEditLayout(record);
    expectWhole(ranges, record.length);
    expect(ranges.map(({ label, value }) => [label, value])).toEqual([
      ['comparator: tag', undefined],
      ['comparator: name length', '3'],
      ['comparator: name', 'foo'],
      ['log number: tag', undefined],
      ['log number: number', String(2n ** 60n)],
      ['new file: tag', undefined],
      ['new file: level', '3'],
      ['new file: number', '5'],
      ['new file: size', '300'],
      ['new file: smallest key length', '9'],
      ['new file: smallest key', 'sequence 3, type 1'],
      ['new file: largest key length', '5'],
      ['new file: largest key', 'too short for an internal key'],
    ]);
    for (let length = 0; length < record.length; length++) {
      const cut = record.subarray(0, length);
      const cutRanges = versionEditLayout(cut);
      expectWhole(cutRanges, length);
      const error = caught(() => decodeVersionEdit(cut, { structure: 'version edit', offset: 0 }));
      expect(cutRanges.find(({ label }) => label === 'damaged')?.value).toBe((error as { problem?: string } | undefined)?.problem);
    }
  });

  test('a comparator is shown with its byte order mark', () => {
    expect(versionEditLayout(encodeVersionEdit({ comparator: '\ufeffname' }))[2]).toMatchObject({ byteLength: 7, value: '\ufeffname' });
  });

  test('each field of a version edit has its own labels', () => {
    const key = encodeInternalKey({ userKey: utf8('k'), sequence: 9n, type: 0 });
    const record = encodeVersionEdit({
      previousLogNumber: 1n,
      nextFileNumber: 300n,
      lastSequence: 4n,
      compactPointers: [{ level: 2, key }],
      deletedFiles: [{ level: 1, number: 7n }],
    });
    expect(versionEditLayout(record).map(({ byteLength, label, value }) => [byteLength, label, value])).toEqual([
      [1, 'previous log number: tag', undefined],
      [1, 'previous log number: number', '1'],
      [1, 'next file number: tag', undefined],
      [2, 'next file number: number', '300'],
      [1, 'last sequence: tag', undefined],
      [1, 'last sequence: number', '4'],
      [1, 'compact pointer: tag', undefined],
      [1, 'compact pointer: level', '2'],
      [1, 'compact pointer: key length', '9'],
      [9, 'compact pointer: key', 'sequence 9, type 0'],
      [1, 'deleted file: tag', undefined],
      [1, 'deleted file: level', '1'],
      [1, 'deleted file: number', '7'],
    ]);
  });
});
