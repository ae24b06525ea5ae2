import { expect, test } from 'vitest';
import { listedLogs, missingFiles, missingNumbers, missingTables, neededLogs } from '../src/format/needed-files.js';
import type { FileMetadata } from '../src/format/version-edit.js';

const file = (number: bigint): FileMetadata => ({ number, size: 1, smallest: new Uint8Array(8), largest: new Uint8Array(8) });
const numbers = (files: readonly FileMetadata[]): bigint[] => files.map(({ number }) => number);

test('logs are listed in the order of their numbers, under the names that their numbers give', () => {
  const names = ['1000000.log', '000010.log', '000009.log', '99.log', '0000011.log', '000012.ldb', 'MANIFEST-000013', 'CURRENT', 'LOG', 'other.log', '000001.log'];
  expect(listedLogs(names)).toEqual([1n, 9n, 10n, 1_000_000n]);
});

test('a database needs the logs from its log number on, and the previous log; a missing log is not an error', () => {
  const names = ['000003.log', '000005.log', '000006.log', '000008.log', '000009.log'];
  expect(neededLogs(names, { logNumber: 8n, previousLogNumber: 0n })).toEqual([8n, 9n]);
  expect(neededLogs(names, { logNumber: 8n, previousLogNumber: 5n })).toEqual([5n, 8n, 9n]);
  expect(neededLogs(names, { logNumber: 7n, previousLogNumber: 4n })).toEqual([8n, 9n]);
  expect(neededLogs(names, { logNumber: 10n, previousLogNumber: 0n })).toEqual([]);
});

test('a table is missing unless a table of its number is there, with the old or the new extension', () => {
  const files = [file(30n), file(20n), file(7n), file(5n), file(6n), file(8n)];
  const names = ['000005.ldb', '000006.sst', '000007.log', '8.ldb', 'MANIFEST-000020', 'CURRENT', 'LOCK', 'other'];
  expect(numbers(missingTables(files, names))).toEqual([7n, 8n, 20n, 30n]);
  expect(numbers(missingTables(files, [...names, '000007.ldb', '000030.ldb']))).toEqual([8n, 20n]);
});

test('for LevelDB a file of any type with the number of a table is enough, also with other zeros in front', () => {
  const files = [file(30n), file(20n), file(7n), file(5n), file(8n)];
  expect(numbers(missingNumbers(files, ['000005.ldb', '000007.log', '8.ldb', 'MANIFEST-000020', 'CURRENT', 'LOCK', 'other']))).toEqual([30n]);
});

test('the error for missing tables says how many there are and names the first', () => {
  const place = { code: 'BLOOM_MISSING_FILE', structure: 'MANIFEST', offset: 0, file: 'MANIFEST-000002' };
  expect(missingFiles([file(5n)], place)).toMatchObject({ ...place, problem: 'it lists 1 missing table, 000005.ldb' });
  expect(missingFiles([file(5n), file(9n)], place)).toMatchObject({ ...place, problem: 'it lists 2 missing tables, such as 000005.ldb' });
});
