import { expect, test } from 'vitest';
import { isCanonicalName, logFileName, manifestFileName, oldTableFileName, parseFileName, tableFileName, temporaryFileName } from '../src/format/file-name.js';

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
