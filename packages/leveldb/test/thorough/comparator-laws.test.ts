import { idbComparator } from '@bloom/leveldb/idb-comparator';
import { comparatorLaws } from '@bloom/sstable/contract';
import { describe, test } from 'vitest';
import { reverseComparator } from '../reverse-comparator.js';

/** An object store's data (index 1) under an encoded key. */
const dataKey = (...encodedKey: number[]): Uint8Array => Uint8Array.of(0, 1, 1, 1, ...encodedKey);
const numberKey = (value: number): Uint8Array => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return dataKey(3, ...bytes);
};

/** Keys of IndexedDB; those with the zeros, with a longer id and with a longer varint are equal to others. */
const idbKeys = [
  ...[0, -0, 1, -1, NaN, Infinity].map(numberKey),
  dataKey(1, 1, 0, 0x61),
  dataKey(1, 0x81, 0, 0, 0x61),
  dataKey(1, 1, 0, 0x62),
  dataKey(6, 2, 0, 0xff),
  dataKey(4, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0),
  Uint8Array.of(0x20, 1, 0, 1, 1, 1, 1, 0, 0x61),
  Uint8Array.of(0, 0, 0, 0, 201, 1, 0, 0x61, 1, 0, 0x62),
  Uint8Array.of(0, 1, 0, 0, 200, 1, 0, 0x61),
  Uint8Array.of(0, 1, 1, 30, 1, 1, 0, 0x61, 0, 1, 1, 0, 0x62),
];

describe('the order of IndexedDB keeps every law', () => {
  for (const law of comparatorLaws(idbComparator, { keys: idbKeys })) test(law.name, law.run);
});

describe('the reverse of bytewise order keeps every law', () => {
  for (const law of comparatorLaws(reverseComparator)) test(law.name, law.run);
});
