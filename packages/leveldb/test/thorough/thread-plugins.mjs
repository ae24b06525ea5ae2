// The plug-ins of table-thread-program.mjs, for its thread and for itself.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { bytewiseComparator } from '@bloom/sstable';
import { BloomFilterPolicy } from '@bloom/policy';

/** Descending keys. @type {import('@bloom/sstable').Comparator} */
export const comparator = {
  name: 'test.Descending',
  compare: (a, b) => bytewiseComparator.compare(b, a),
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};

const bloom = new BloomFilterPolicy(20);

/** @type {import('@bloom/policy').FilterPolicy} */
export const filterPolicy = {
  name: 'test.Policy',
  createFilter: (keys, dst) => bloom.createFilter(keys, dst),
  keyMayMatch: (key, filter) => bloom.keyMayMatch(key, filter),
};

/** @type {import('@bloom/sstable').Codec} */
export const codec = {
  type: 200,
  name: 'test.deflate',
  compress: (contents) => deflateRawSync(contents),
  decompress: (compressed, maxOutputLength) => inflateRawSync(compressed, { maxOutputLength }),
};

/** @param {string[]} names of what to leave out. */
export async function threadPlugins(names) {
  await Promise.resolve();
  return {
    comparators: names.includes('comparator') ? [] : [comparator],
    filterPolicies: names.includes('filterPolicy') ? [] : [filterPolicy],
    codecs: names.includes('codec') ? [] : [codec],
  };
}
