import { expect, test } from 'vitest';
import { isCanonicalName, logFileName, manifestFileName, namesByAge, numberedFiles, oldTableFileName, parseFileName, tableFileName, temporaryFileName } from '../src/format/file-name.js';

// LevelDB, db/filename_test.cc.

test.each([
  ['100.log', 'log', 100n],
  ['0.log', 'log', 0n],
  ['0.sst', 'table', 0n],
  ['0.ldb', 'table', 0n],
  ['MANIFEST-2', 'manifest', 2n],
  ['MANIFEST-7', 'manifest', 7n],
  ['18446744073709551615.log', 'log', 18_446_744_073_709_551_615n],
  ['000000000000000000000000000001.ldb', 'table', 1n],
  ['000002.dbtmp', 'temporary', 2n],
])('%s is a %s file of number %d', (name, type, number) => {
  expect(parseFileName(name)).toEqual({ type, number });
});

test.each([
  ['CURRENT', 'current'],
  ['LOCK', 'lock'],
  ['LOG', 'info log'],
  ['LOG.old', 'info log'],
])('%s is the %s file', (name, type) => {
  expect(parseFileName(name)).toEqual({ type });
});

test.each([
  ...['', 'foo', 'foo-dx-100.log', '.log', '', 'manifest', 'CURREN', 'CURRENTX', 'MANIFES', 'MANIFEST', 'MANIFEST-', 'XMANIFEST-3'],
  ...['MANIFEST-3x', 'LOC', 'LOCKx', 'LO', 'LOGx', '18446744073709551616.log', '184467440737095516150.log', '100', '100.', '100.lop'],
  ...['-1.log', '+1.log', ' 1.log', '1.log ', '1.log\n', '1.LOG', '١.log', '1'.repeat(100_000) + '.log', 'lost', 'OPTIONS-000005'],
])('%j is not the name of a database file', (name) => {
  expect(parseFileName(name)).toBeUndefined();
});

test('numbers in file names have at least six digits', () => {
  expect([logFileName(192n), tableFileName(200n), oldTableFileName(7n), manifestFileName(100n), temporaryFileName(999n)]).toEqual([
    '000192.log',
    '000200.ldb',
    '000007.sst',
    'MANIFEST-000100',
    '000999.dbtmp',
  ]);
  expect(logFileName(2n ** 64n - 1n)).toBe('18446744073709551615.log');
});

test.each(['CURRENT', 'LOCK', 'LOG', 'LOG.old', '000099.log', '1000000.log', '000099.ldb', '000099.sst', 'MANIFEST-000099', '000099.dbtmp'])(
  'LevelDB opens %s under the number that it has',
  (name) => {
    expect(isCanonicalName(name)).toBe(true);
  },
);

test.each(['99.log', '0000099.log', '99.ldb', '99.sst', '0000099.sst', 'MANIFEST-99', 'MANIFEST-0000099', '99.dbtmp', 'other', ''])(
  'LevelDB never opens %j, though it may take a number from it',
  (name) => {
    expect(isCanonicalName(name)).toBe(false);
  },
);

const names = ['CURRENT', '000012.log', '1000000.ldb', 'MANIFEST-000010', '000009.sst', 'LOCK', '7.log', '000009.ldb', 'other', 'MANIFEST-000002', '000011.ldb', '000013.dbtmp', 'lost'];

test('files of the wanted types are listed by number, and the one called .ldb before the one called .sst, in whatever order they come', () => {
  const tables = [{ name: '000009.ldb', number: 9n }, { name: '000009.sst', number: 9n }, { name: '000011.ldb', number: 11n }, { name: '1000000.ldb', number: 1_000_000n }];
  expect(numberedFiles(names, 'table')).toEqual(tables);
  expect(numberedFiles([...names].reverse(), 'table')).toEqual(tables);
  expect(numberedFiles(names, 'manifest', 'log')).toEqual([
    { name: 'MANIFEST-000002', number: 2n },
    { name: '7.log', number: 7n },
    { name: 'MANIFEST-000010', number: 10n },
    { name: '000012.log', number: 12n },
  ]);
  expect(numberedFiles(['CURRENT', 'other'], 'log', 'manifest', 'table')).toEqual([]);
});

test('the names of files by age begin with the highest number', () => {
  expect(namesByAge('table', names)).toEqual(['1000000.ldb', '000011.ldb', '000009.sst', '000009.ldb']);
  expect(namesByAge('log', names)).toEqual(['000012.log', '7.log']);
  expect(namesByAge('manifest', names)).toEqual(['MANIFEST-000010', 'MANIFEST-000002']);
  expect(namesByAge('log', [])).toEqual([]);
});
