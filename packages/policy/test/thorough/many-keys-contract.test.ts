import { BloomFilterPolicy, type FilterPolicy, type KeyList } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { expect, test } from 'vitest';

const LAW = '12.';

type KeysMayMatch = NonNullable<FilterPolicy['keysMayMatch']>;

/** LevelDB's policy, whose `keysMayMatch` is replaced. */
const asking = (keysMayMatch: (right: BloomFilterPolicy) => KeysMayMatch): (() => FilterPolicy) => () => {
  const policy = new BloomFilterPolicy();
  const { name } = policy;
  return {
    name,
    createFilter: (keys, dst) => policy.createFilter(keys, dst),
    keyMayMatch: (key, filter) => policy.keyMayMatch(key, filter),
    keysMayMatch: keysMayMatch(policy),
  };
};

const broken: [string, () => FilterPolicy][] = [
  ['forgets the last key', asking((right) => (keys, filter, answers) => { const all = right.keysMayMatch(keys, filter, answers); if (keys.length > 0) all[keys.length - 1] = 0; return all; })],
  ['says true instead of 1', asking((right) => (keys, filter, answers = new Uint8Array(keys.length)) => { right.keysMayMatch(keys, filter, answers); for (let i = 0; i < keys.length; i++) if (answers[i] === 1) answers[i] = 255; return answers; })],
  ['returns an array of its own', asking((right) => (keys, filter) => right.keysMayMatch(keys, filter))],
  ['returns all of an array that is longer', asking((right) => (keys, filter, answers = new Uint8Array(keys.length + 8)) => right.keysMayMatch(keys, filter, answers))],
  ['clears what is behind the answers', asking((right) => (keys, filter, answers = new Uint8Array(keys.length)) => right.keysMayMatch(keys, filter, answers.fill(0)))],
  ['takes offsets from the start of the buffer', asking((right) => (keys, filter, answers = new Uint8Array(keys.length)) => {
    for (let i = 0; i < keys.length; i++) answers[i] = right.keyMayMatch(keys.bytes.subarray(keys.offsets[i]! - keys.offsets[0]!, keys.offsets[i + 1]! - keys.offsets[0]!), filter) ? 1 : 0;
    return answers;
  })],
  ['asks four keys at a time, and not the rest', asking((right) => (keys: KeyList, filter, answers = new Uint8Array(keys.length)) => {
    for (let i = 0; i < keys.length - (keys.length % 4); i++) answers[i] = right.keyMayMatch(keys.at(i), filter) ? 1 : 0;
    return answers;
  })],
  ['says no of damaged filters', asking((right) => (keys, filter, answers = new Uint8Array(keys.length)) => (filter.at(-1) === 6 ? right.keysMayMatch(keys, filter, answers) : (answers.fill(0, 0, keys.length), answers)))],
  ['keeps the answers to many keys within 16 bits', asking((right) => (keys, filter, answers = new Uint8Array(keys.length)) => { right.keysMayMatch(keys, filter, answers); for (let i = 65_536; i < keys.length; i++) answers[i] = answers[i - 65_536]!; return answers; })],
  ['is inherited by a class that has another keyMayMatch', () => new (class extends BloomFilterPolicy { override keyMayMatch(): boolean { return true; } })()],
];

test.each(broken)('a policy that %s breaks the law of many keys', (_, make) => {
  const [law] = policyLaws(make, { budgetMs: 60_000 }).filter(({ name }) => name.startsWith(LAW));
  expect(law!.run).toThrow(LAW);
}, 600_000);

test('the right one keeps it', () => {
  const [law] = policyLaws(() => new BloomFilterPolicy(), { budgetMs: 60_000 }).filter(({ name }) => name.startsWith(LAW));
  law!.run();
}, 600_000);
