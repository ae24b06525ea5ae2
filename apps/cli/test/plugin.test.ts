import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';
import { describe, expect, test } from 'vitest';
import { Failure } from '../src/failure.js';
import { statusText } from '../src/outputs/filter-text.js';
import { loadCodecs, loadComparator, loadPolicy } from '../src/plugins/plugin.js';
import { allShippedPolicies, shippedPoliciesOf } from '../src/plugins/shipped-policy.js';
import { Scratch } from './bloom-process.js';

const scratch = new Scratch();
const ORDER = "name: 'test.Order', compare: (a, b) => b.length - a.length, findShortestSeparator: (key) => key, findShortSuccessor: (key) => key";
const POLICY = "name = 'test.Policy'; createFilter() {} keyMayMatch() { return true; }";

function module(name: string, text: string): string {
  scratch.write(name, text);
  return scratch.at(name);
}

describe('a module', () => {
  test.each([
    ['default.mjs', `export default { ${ORDER} };`, ''],
    ['only.mjs', `export const other = 1; export const order = { ${ORDER} };`, ''],
    ['named.mjs', `export const a = { ${ORDER} }; export const b = { ${ORDER} };`, '#b'],
    ['common.cjs', `module.exports = { ${ORDER} };`, ''],
    ['common-named.cjs', `exports.order = { ${ORDER} };`, ''],
  ])('%s gives its comparator', async (name, text, suffix) => {
    const comparator = await loadComparator(module(name, text) + suffix);
    expect([comparator.name, comparator.compare(new Uint8Array(1), new Uint8Array(3))]).toEqual(['test.Order', 2]);
  });

  test('with a comparator that calls different keys equal fails with both keys and the member that is missing', async () => {
    const comparator = await loadComparator(module('equal.mjs', `export default { ${ORDER} };`));
    const error: unknown = await Promise.resolve().then(() => comparator.compare(Buffer.from('pear'), Buffer.from('plum'))).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(Failure);
    expect(String(error)).toMatch(/^Failure: .*equal\.mjs: the comparator "test\.Order" calls the keys "pear" and "plum" equal, and has no keyEquivalence: /);
  });

  test.each([
    ['class.mjs', `export class Policy { ${POLICY} } export class Other { constructor() { throw new Error('made'); } }`],
    ['object.mjs', `class Policy { ${POLICY} } export default new Policy();`],
  ])('%s gives its policy', async (name, text) => {
    expect((await loadPolicy(module(name, text))).name).toBe('test.Policy');
  });

  test('gives one codec or several', async () => {
    const codec = "{ type: 9, name: 'nine', decompress: (bytes) => bytes }";
    expect((await loadCodecs(module('codec.mjs', `export default ${codec};`))).map(({ type }) => type)).toEqual([9]);
    expect((await loadCodecs(module('codecs.mjs', `export const codecs = [${codec}, ${codec}];`))).length).toBe(2);
  });

  test.each([
    ['nothing.mjs', '', '', /the module exports no comparator, which has name, compare.*: it exports nothing$/],
    ['two.mjs', `export const a = { ${ORDER} }; export const b = { ${ORDER} };`, '', /more than one comparator: choose one, such as .*two\.mjs#a, of a, b$/],
    ['other.mjs', 'export const a = {};', '#a', /#a: is not a comparator/],
    ['missing-export.mjs', 'export const a = {};', '#b', /does not export b: it exports a$/],
    ['throws.mjs', "throw new Error('no luck');", '', /cannot be imported: Error: no luck$/],
    ['syntax.mjs', 'export default', '', /cannot be imported: SyntaxError/],
    ['imports.mjs', "import 'not-installed-anywhere';", '', /imports one that is not installed: not-installed-anywhere$/],
    ['text.xyz', '', '', /no package of this name is installed|cannot import it/],
  ])('%s is refused', async (name, text, suffix, problem) => {
    const given = module(name, text) + suffix;
    await expect(loadComparator(given)).rejects.toThrow(problem);
    await expect(loadComparator(given)).rejects.toThrow(given);
  });

  test('that does not exist is refused', async () => {
    await expect(loadComparator('./no-such-order.mjs')).rejects.toThrow(/no such module/);
    await expect(loadComparator('not-installed-anywhere')).rejects.toThrow(/no package of this name is installed/);
    await expect(loadComparator('#b')).rejects.toThrow(/must be MODULE or MODULE#EXPORT/);
  });
});

describe('what bloom has', () => {
  test('is known by its name', async () => {
    expect((await loadComparator('idb_cmp1')).name).toBe('idb_cmp1');
    expect(await loadPolicy('blocked:12')).toMatchObject({ bitsPerKey: 12 });
    expect(await loadPolicy('blocked')).toBeInstanceOf(BlockedBloomFilterPolicy);
    expect(await loadPolicy('ribbon:0.001')).toMatchObject({ rate: 0.001 });
    expect((await loadPolicy('fuse:16')).name).toBe('bloom.BinaryFuseFilter');
    expect(await loadPolicy('goleveldb-bloom:7')).toMatchObject({ name: 'leveldb.BuiltinBloomFilter', bitsPerKey: 7 });
  });

  test('is used without an option, except for filters whose name other programs used for other filters', async () => {
    const names = ['leveldb.BuiltinBloomFilter', 'leveldb.BuiltinBloomFilter2', 'bloom.RibbonFilter'];
    expect((await shippedPoliciesOf(names)).map(({ name }) => name)).toEqual(names.slice(1));
    expect((await allShippedPolicies()).map(({ name }) => name)).not.toContain(names[0]);
    expect(statusText({ state: 'unknown-policy', policyNames: names.slice(0, 1) })).toBe(
      'of an unknown policy, not used: leveldb.BuiltinBloomFilter, which goleveldb writes, and LevelDB wrote before 1.18: use them with --policy goleveldb-bloom',
    );
    expect(statusText({ state: 'unknown-policy', policyNames: ['other.Filter'] })).toBe('of an unknown policy, not used: other.Filter');
  });

  test.each(['bloom:1.5', 'fuse:9', 'ribbon:2', 'ribbon:', 'blocked:x', 'blocked:0'])('refuses %s', async (given) => {
    await expect(loadPolicy(given)).rejects.toThrow(`--policy ${given}: the part after the colon is the`);
  });
});
