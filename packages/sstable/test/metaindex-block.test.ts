import { fromHex } from '@bloom/fixtures';
import { CorruptionError } from '@bloom/sstable';
import { expect, test } from 'vitest';
import type { Place } from '@bloom/bytes';
import { decodeMetaindex, encodeMetaindex, isForeignFilter, policyNameOf } from '../src/format/metaindex-block.js';
import { blockOf } from './assemble-table.js';
import { caught } from '@bloom/fixtures/caught';
import { hex, utf8 } from './entries.js';

const place: Place = { structure: 'metaindex block', offset: 900, file: 'a.ldb' };

test('a metaindex without filters is the empty block', () => {
  expect(hex(encodeMetaindex(undefined, 16))).toBe('0000000001000000');
  expect(decodeMetaindex(fromHex('0000000001000000'), place)).toEqual([]);
});

// From the table of one entry that LevelDB writes with a Bloom filter.
test('a metaindex with a filter has the bytes that LevelDB writes', () => {
  const policyName = 'leveldb.BuiltinBloomFilter2';
  const contents = encodeMetaindex({ policyName, handle: { offset: 300, size: 18 } }, 16);
  expect(hex(contents)).toBe(`002203${hex(utf8(`filter.${policyName}`))}ac02120000000001000000`);
  const entries = decodeMetaindex(contents, place);
  expect(entries).toEqual([{ name: `filter.${policyName}`, handle: { offset: 300, size: 18 } }]);
  expect(entries.map(policyNameOf)).toEqual([policyName]);
});

test('names outside ASCII are preserved', () => {
  const contents = encodeMetaindex({ policyName: 'größe 名', handle: { offset: 0, size: 0 } }, 16);
  expect(decodeMetaindex(contents, place).map(policyNameOf)).toEqual(['größe 名']);
});

// Names that RocksDB and Pebble write.
test('only names that start with "filter." are names of filters', () => {
  const names = ['filter.rocksdb.BuiltinBloomFilter', 'fullfilter.rocksdb.BuiltinBloomFilter', 'rocksdb.properties'];
  const entries = decodeMetaindex(blockOf(names.map((name) => [utf8(name), fromHex('0102')])), place);
  expect(entries.map(({ name }) => name)).toEqual(names);
  expect(entries.map(policyNameOf)).toEqual(['rocksdb.BuiltinBloomFilter', undefined, undefined]);
});

test('names that start with "fullfilter." or "partitionedfilter." are names of unsupported filters', () => {
  const names = ['fullfilter.rocksdb.BuiltinBloomFilter', 'partitionedfilter.x', 'filter.x', 'a fullfilter.x', 'fullfilter', 'full.x'];
  expect(names.filter((name) => isForeignFilter({ name, handle: undefined }))).toEqual(names.slice(0, 2));
});

test('a handle that cannot be read costs only its entry', () => {
  const entries = decodeMetaindex(
    blockOf([
      [utf8('a'), fromHex('ff')],
      [utf8('b'), fromHex('0102')],
    ]),
    place,
  );
  expect(entries).toEqual([
    { name: 'a', handle: undefined },
    { name: 'b', handle: { offset: 1, size: 2 } },
  ]);
});

test('contents that are not a block are reported as damage to the metaindex', () => {
  const error = caught(() => decodeMetaindex(fromHex('00000000ffffffff'), place));
  expect(error).toBeInstanceOf(CorruptionError);
  expect(error).toMatchObject({ code: 'BLOOM_BAD_BLOCK', structure: 'metaindex block', offset: 900, file: 'a.ldb' });
});

test('more than 4,096 names, or names of more than 1 MiB, are refused', () => {
  const names = (count: number, length: number): Uint8Array =>
    blockOf(Array.from({ length: count }, (_, i) => [utf8(String(i).padStart(length, '0')), new Uint8Array(0)]));
  expect(decodeMetaindex(names(4096, 4), place)).toHaveLength(4096);
  const problem = 'it has more than 4096 names, or names of more than 1048576 bytes';
  const error = { code: 'BLOOM_TOO_LARGE', structure: 'metaindex block', offset: 900, file: 'a.ldb', problem };
  expect(caught(() => decodeMetaindex(names(4097, 4), place))).toMatchObject(error);
  expect(decodeMetaindex(names(4, 2 ** 18), place)).toHaveLength(4);
  expect(caught(() => decodeMetaindex(names(5, 2 ** 18), place))).toMatchObject(error);
});
