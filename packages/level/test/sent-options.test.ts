import { bytewiseComparator } from '@bloom/leveldb';
import { idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { expect, test } from 'vitest';
import type { OpenOptions } from '../src/level-options.js';
import { sentOptions } from '../src/worker/sent-options.js';

test('a page sends the worker all options that are plain data', () => {
  const options: OpenOptions = { createIfMissing: false, cacheSize: 0, bitsPerKey: [10, 12], fitFilters: { extraBytes: 0.1 }, filterPolicy: null, compression: false, maxOpenFiles: 100, damage: 'skip' };
  expect(sentOptions({ ...options, passive: false, multithreading: true })).toEqual(options);
  expect(sentOptions({ bitsPerKey: 'auto', fitFilters: true, comparator: undefined })).toEqual({ bitsPerKey: 'auto', fitFilters: true });
});

const codec = { name: 'none', type: 9, compress: (bytes: Uint8Array) => bytes, decompress: (bytes: Uint8Array) => bytes };
test.each<OpenOptions>([
  { comparator: bytewiseComparator },
  { filterPolicy: idbFilterPolicy },
  { filterPolicies: [] },
  { codecs: [] },
  { compression: codec },
  { onEvent: () => undefined },
  { bitsPerKey: () => 10 },
])('a page refuses %o, which has functions', (options) => {
  const [name] = Object.keys(options);
  expect(() => sentOptions(options)).toThrow(new TypeError(`${name} has functions, which cannot be sent to the worker that has the database open: pass it to serveLevels, in a worker of your own`));
});
