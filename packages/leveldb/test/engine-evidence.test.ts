// What names and bytes say of the engine of a folder. `foreign-engine.test.ts` has whole folders.
import { maskedCrc32c } from '@bloom/crc32c';
import { fromHex } from '@bloom/fixtures';
import { describe, expect, test } from 'vitest';
import {
  engineOfEdit,
  engineOfEncryptedFile,
  engineOfLogStart,
  engineOfNames,
  engineOfOptions,
  engineOfPlainManifest,
  engineOfTableEnd,
  foreignEngineOf,
  isForeignName,
} from '../src/format/engine-evidence.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

test.each(['OPTIONS-000007', 'OPTIONS-7', 'IDENTITY', 'KEYREGISTRY', 'MANIFEST', 'marker.format-version.000001.013', 'marker.x', '000012.blob', '1.vlog', 'sst_0', 'sst_6'])(
  'another engine writes %s',
  (name) => {
    expect(isForeignName(name)).toBe(true);
  },
);

test.each([
  ...['OPTIONS-', 'OPTIONS-x', 'OPTIONS-7x', 'xOPTIONS-7', 'options-7', 'IDENTITYx', 'xIDENTITY', 'KEYREGISTRY2', 'MANIFEST-000002', 'marker', 'marker.', 'markerx1'],
  ...['x.blob', '.vlog', '1.blobs', '1.sst', 'sst_7', 'sst_00', 'sst_', 'CURRENT', 'LOCK', 'LOG', '000005.ldb', ''],
])('no other engine is known to write %j', (name) => {
  expect(isForeignName(name)).toBe(false);
});

describe('the names of a folder of Riak', () => {
  const folders = ['sst_0', 'sst_1', 'sst_2', 'sst_3', 'sst_4', 'sst_5', 'sst_6'];
  const names = ['CURRENT', 'LOCK', 'MANIFEST-000002', '000003.log', ...folders];

  test('are those of a database, seven folders for its tables, and no table', () => {
    expect(engineOfNames(names)).toEqual({
      engines: ['Riak'],
      file: 'sst_0',
      text: "is a Riak database, not a LevelDB database (sst_0 to sst_6 hold its tables): open it with Riak or Basho's eleveldb",
    });
  });

  test.each(['CURRENT', ...folders])('include %s', (missing) => {
    expect(engineOfNames(names.filter((name) => name !== missing))).toBeUndefined();
  });

  test.each(['000005.ldb', '000005.sst'])('do not include %s', (table) => {
    expect(engineOfNames([...names, table])).toBeUndefined();
  });
});

describe('an OPTIONS file names its engine', () => {
  test.each([
    ['after comments', '# This is a RocksDB option file.\n#\n\n[Version]\n  rocksdb_version=9.8.1\n  options_file_version=1.1\n\n[DBOptions]\n', 'RocksDB', 'has rocksdb_version=9.8.1'],
    ['as its first line', '[Version]\npebble_version=0.1\n\n[Options]\n', 'Pebble', 'has pebble_version=0.1'],
    ['among other values', '[Version]\n  options_file_version=1.1\n  pebble_version=0.1\n', 'Pebble', 'has pebble_version=0.1'],
    ['with spaces around it', '  [Version]  \n    rocksdb_version=9.8-rc_1   \nnext', 'RocksDB', 'has rocksdb_version=9.8-rc_1'],
    ['with other ends of lines, and none at the end', '[Version]\r\n\trocksdb_version=9', 'RocksDB', 'has rocksdb_version=9'],
    ['with 40 characters', `[Version]\n rocksdb_version=${'1'.repeat(40)}\n`, 'RocksDB', `has rocksdb_version=${'1'.repeat(40)}`],
  ])('%s', (_, text, engine, found) => {
    expect(engineOfOptions(utf8(text))).toEqual({ engines: [engine], found });
  });

  test.each([
    ['an empty file', ''],
    ['no section', 'rocksdb_version=9.8.1\n'],
    ['another section', '[Options]\nrocksdb_version=9.8.1\n'],
    ['the section within a line', 'the [Version]\nrocksdb_version=9.8.1\n'],
    ['more after the section’s name', '[Version] of\nrocksdb_version=9.8.1\n'],
    ['the value in the next section', '[Version]\n[Options]\nrocksdb_version=9.8.1\n'],
    ['the value within a line', '[Version]\nthe rocksdb_version=9.8.1\n'],
    ['no value', '[Version]\nrocksdb_version=\n'],
    ['more after the value', '[Version]\nrocksdb_version=9.8.1 beta\n'],
    ['a value with other characters', '[Version]\nrocksdb_version=9/8\n'],
    ['a value of 41 characters', `[Version]\nrocksdb_version=${'1'.repeat(41)}\n`],
    ['another engine', '[Version]\nleveldb_version=1.23\n'],
  ])('but not with %s', (_, text) => {
    expect(engineOfOptions(utf8(text))).toBeUndefined();
  });
});

test('a MANIFEST without a number is Badger’s if it begins with Bdgr', () => {
  expect(engineOfPlainManifest(utf8('Bdgr'))).toEqual({ engines: ['Badger'], found: 'begins with Bdgr' });
  for (const start of ['', 'Bdg', 'bdgr', 'Bdgs', 'Bdgr2']) expect(engineOfPlainManifest(utf8(start))).toBeUndefined();
});

describe('a record of a MANIFEST', () => {
  const named = (name: string): number[] => [1, utf8(name).length, ...utf8(name)];
  const comparator = named('leveldb.BytewiseComparator');
  const varint = (value: number): number[] => (value < 0x80 ? [value] : [(value % 0x80) | 0x80, Math.floor(value / 0x80)]);
  const edit = (...bytes: number[]): unknown => engineOfEdit(Uint8Array.from(bytes));

  test.each([
    [['RocksDB'], [10, 200, 201, 203, 300, 400, 401, 8192, 8193, 8224]],
    [['RocksDB', 'Pebble'], [100, 101, 103]],
    [['Pebble'], [104, 106, 108]],
  ])('is of %j by its first tag that LevelDB does not have', (engines, tags) => {
    for (const tag of tags) {
      const evidence = { engines, found: `has a version edit with tag ${tag}` };
      expect(edit(...comparator, ...varint(tag), 1, 2)).toEqual({ hasComparator: true, evidence });
      expect(edit(2, 7, ...varint(tag))).toEqual({ hasComparator: false, evidence });
      expect(edit(...varint(tag))).toEqual({ hasComparator: false, evidence });
    }
  });

  test('is of no engine by a tag that none has, or with another damage', () => {
    for (const tag of [0, 8, 11, 50, 99, 109, 150, 199, 204, 299, 301, 399, 402, 8191, 8225, 16_000]) {
      expect(edit(...comparator, ...varint(tag), 1, 2)).toEqual({ hasComparator: true, evidence: undefined });
    }
    // A tag that does not end, a field that does not, and a foreign tag after an unknown one.
    for (const damage of [[0x80], [2], [3, 0x80], [8, 100]]) expect(edit(...comparator, ...damage)).toEqual({ hasComparator: true, evidence: undefined });
  });

  test('is LevelDB’s with LevelDB’s fields, whose values may be tags of others', () => {
    expect(edit()).toEqual({ hasComparator: false, evidence: undefined });
    expect(edit(2, 100, 9, 103, 3, 104, 4, 10)).toEqual({ hasComparator: false, evidence: undefined });
    expect(edit(2, 100, ...comparator, 3, 5)).toEqual({ hasComparator: true, evidence: undefined });
  });

  test.each([
    ['leveldb.BytewiseComparator', true],
    ['idb_cmp1', true],
    ['my own order~', true],
    ['ab', true],
    ['a', false],
    ['', false],
    [' ab', false],
    ['\0ab', false],
    ['a\0', false],
    ['ab\0', false],
    ['ab\n', false],
    ['ab\x7f', false],
    ['\x7fab', false],
    ['äb', false],
    ['abä', false],
  ])('names a comparator if it can be a name: %j', (name, hasComparator) => {
    expect(edit(...named(name))).toEqual({ hasComparator, evidence: undefined });
  });
});

test.each([
  ['57fb808b247547db', 'LevelDB'],
  ['f7cff485b741e288', { engines: ['RocksDB'], found: 'is a RocksDB table (block-based format 1 or later)' }],
  ['f09faab3f09fa680', { engines: ['Pebble'], found: 'is a Pebble blob file' }],
  ['0000000000000000', undefined],
  ['', undefined],
])('the end %j of a table names its engine', (end, engine) => {
  expect(engineOfTableEnd(fromHex(end))).toEqual(engine);
});

describe('the first record of a log', () => {
  /** A record with a header of `headerLength` bytes whose checksum is right: four bytes, the length of the data, the type, and zeros. */
  function recordOf(type: number, headerLength: number, data: Uint8Array, length = data.length): Uint8Array {
    const record = new Uint8Array(headerLength + data.length);
    const view = new DataView(record.buffer);
    view.setUint16(4, length, true);
    record[6] = type;
    record.set(data, headerLength);
    view.setUint32(0, maskedCrc32c(record.subarray(6)), true);
    return record;
  }

  const data = utf8('some data');

  test.each([
    [5, 11, ['RocksDB', 'Pebble']],
    [6, 11, ['RocksDB', 'Pebble']],
    [8, 11, ['RocksDB', 'Pebble']],
    [9, 19, ['Pebble']],
    [11, 19, ['Pebble']],
    [12, 19, ['Pebble']],
    [9, 7, ['RocksDB']],
    [10, 7, ['RocksDB']],
  ])('with type %i and a header of %i bytes is of %j', (type, headerLength, engines) => {
    const evidence = { engines, found: `has a record of type ${type}` };
    expect(engineOfLogStart(recordOf(type, headerLength, data))).toEqual(evidence);
    expect(engineOfLogStart(recordOf(type, headerLength, new Uint8Array(0)))).toEqual(evidence);
    expect(engineOfLogStart(recordOf(type, headerLength, new Uint8Array(300).fill(7)))).toEqual(evidence);
    const within = Uint8Array.of(1, 2, 3, ...recordOf(type, headerLength, data), 4, 5, 6);
    expect(engineOfLogStart(within.subarray(3))).toEqual(evidence);
  });

  test.each([0, 1, 4, 13, 255])('with type %i is of no other engine', (type) => {
    for (const headerLength of [7, 11, 19]) expect(engineOfLogStart(recordOf(type, headerLength, data))).toBeUndefined();
  });

  test.each([[5, 19], [9, 11], [8, 7], [11, 7]])('with type %i and a header of %i bytes is of no engine', (type, headerLength) => {
    expect(engineOfLogStart(recordOf(type, headerLength, data))).toBeUndefined();
  });

  test.each([[5, 11], [9, 19], [9, 7]])('with type %i and a header of %i bytes is of no engine when it is cut, or has a byte changed', (type, headerLength) => {
    const record = recordOf(type, headerLength, data);
    for (let length = 0; length < record.length; length++) expect(engineOfLogStart(record.subarray(0, length))).toBeUndefined();
    for (let i = 0; i < record.length; i++) {
      const changed = record.slice();
      changed[i]! ^= 1;
      expect(engineOfLogStart(changed)).toBeUndefined();
    }
    // Longer than the bytes that there are, with their checksum.
    expect(engineOfLogStart(recordOf(type, headerLength, data, data.length + 1))).toBeUndefined();
  });
});

test('an encrypted file is known by its header, and its content ID is told', () => {
  const header = new Uint8Array(256);
  header.set([0, 0, 0, 0, 0xfc, 0xb9, 0xcf, 0x9b]);
  header[16] = 7;
  header.set(utf8('some-id'), 17);
  const found = "is encrypted by Minecraft's Marketplace (content ID some-id): only Minecraft opens it, for an account that owns the content";
  expect(engineOfEncryptedFile(header)).toEqual({ engines: ["Minecraft's Marketplace"], found });
  expect(foreignEngineOf({ engines: ["Minecraft's Marketplace"], found }, 'CURRENT', ['CURRENT', 'IDENTITY'])).toEqual({
    engines: ["Minecraft's Marketplace"],
    file: 'CURRENT',
    text: found,
  });
  header[4] = 0;
  expect(engineOfEncryptedFile(header)).toBeUndefined();
});

describe('the text for a foreign folder', () => {
  const both = { engines: ['RocksDB', 'Pebble'], found: 'has a record of type 5' } as const;

  test.each([
    ['Badger', 'with Badger or its tool badger'],
    ['Pebble', 'with Pebble or its tool pebble'],
    ['RocksDB', 'with RocksDB or its tool ldb'],
  ] as const)('names %s and what opens it, whatever other files there are', (engine, tool) => {
    const expected = { engines: [engine], file: 'FILE', text: `is a ${engine} database, not a LevelDB database (FILE is so): open it ${tool}` };
    for (const names of [[], ['FILE', 'IDENTITY'], ['FILE', 'marker.x'], ['IDENTITY', 'marker.x']]) {
      expect(foreignEngineOf({ engines: [engine], found: 'is so' }, 'FILE', names)).toEqual(expected);
    }
  });

  test.each([
    ['without files that only one of them has', ['000003.log', 'CURRENT', 'a-marker.']],
    ['with files of each of them', ['000003.log', 'IDENTITY', 'marker.format-version.000001.013']],
    ['in an empty list', []],
  ])('names both engines that write the same bytes, %s', (_, names) => {
    expect(foreignEngineOf(both, '000003.log', names)).toEqual({
      engines: ['RocksDB', 'Pebble'],
      file: '000003.log',
      text: 'is a RocksDB or Pebble database, not a LevelDB database (000003.log has a record of type 5): open it with RocksDB or its tool ldb, or with Pebble or its tool pebble',
    });
  });

  test('names the one of them that has a file of its own in the folder', () => {
    expect(foreignEngineOf(both, '000003.log', ['000003.log', 'IDENTITY'])).toMatchObject({
      engines: ['RocksDB'],
      text: 'is a RocksDB database, not a LevelDB database (000003.log has a record of type 5): open it with RocksDB or its tool ldb',
    });
    expect(foreignEngineOf(both, '000003.log', ['000003.log', 'marker.manifest.000001.MANIFEST-000001'])).toMatchObject({
      engines: ['Pebble'],
      text: 'is a Pebble database, not a LevelDB database (000003.log has a record of type 5): open it with Pebble or its tool pebble',
    });
  });
});
