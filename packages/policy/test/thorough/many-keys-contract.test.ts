// LevelDB's policy, which keeps every law in `bloom-contract.test.ts`, with faults in `keysMayMatch`.
import { triedOf } from '@bloom/fixtures/hash-filter-suite';
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

/** The answers of LevelDB's policy, some of which are changed. */
const changing = (change: (answers: Uint8Array, keys: KeyList, filter: Uint8Array) => void): (() => FilterPolicy) => asking((right) => (keys, filter, given) => {
  const answers = right.keysMayMatch(keys, filter, given);
  change(answers, keys, filter);
  return answers;
});

/** Asks for each key by itself, and writes to an array that may be too short. */
const oneByOne = (right: BloomFilterPolicy, keys: KeyList, filter: Uint8Array, answers: Uint8Array): Uint8Array => {
  for (let i = 0; i < Math.min(keys.length, answers.length); i++) answers[i] = right.keyMayMatch(keys.at(i), filter) ? 1 : 0;
  return answers;
};

/** LevelDB's policy, where an array of answers is too short. */
const tooShort = (answer: (right: BloomFilterPolicy, keys: KeyList, filter: Uint8Array, answers: Uint8Array) => Uint8Array): (() => FilterPolicy) =>
  asking((right) => (keys, filter, answers) => (answers === undefined || answers.length >= keys.length ? right.keysMayMatch(keys, filter, answers) : answer(right, keys, filter, answers)));

/** The answers of LevelDB's policy, after which something else is changed. */
const changingElse = (change: (keys: KeyList, filter: Uint8Array, answers: Uint8Array) => void): (() => FilterPolicy) => asking((right) => (keys, filter, given) => {
  const answers = right.keysMayMatch(keys, filter, given);
  change(keys, filter, answers);
  return answers;
});

const flipAt = (array: Uint8Array, offset: number): void => {
  const all = new Uint8Array(array.buffer);
  if (offset >= 0 && offset < all.length) all[offset]! ^= 1;
};

const broken: [string, () => FilterPolicy][] = [
  ['fills as much as there is of answers that are too short', tooShort(oneByOne)],
  ['returns another array where answers are too short', tooShort((right, keys, filter) => right.keysMayMatch(keys, filter))],
  ['fills answers that are too short, and then throws', tooShort((right, keys, filter, answers) => { oneByOne(right, keys, filter, answers); throw new RangeError('answers'); })],
  ['throws a TypeError where answers are too short', tooShort(() => { throw new TypeError('answers'); })],
  ['returns nothing where answers are too short', tooShort(() => undefined as unknown as Uint8Array)],
  ['throws unless there are just as many answers as keys', asking((right) => (keys, filter, answers) => { if (answers !== undefined && answers.length !== keys.length) throw new RangeError('answers'); return right.keysMayMatch(keys, filter, answers); })],
  ['wants room after the answers', asking((right) => (keys, filter, answers) => { if (answers !== undefined && answers.length <= keys.length) throw new RangeError('answers'); return right.keysMayMatch(keys, filter, answers); })],
  ['writes from the start of the buffer of the answers', asking((right) => (keys, filter, answers) => { if (answers === undefined || answers.length < keys.length) return right.keysMayMatch(keys, filter, answers); new Uint8Array(answers.buffer).set(right.keysMayMatch(keys, filter)); return answers; })],
  ['clears up to a whole word of the buffer of the answers', changingElse(({ length }, _, answers) => {
    const end = answers.byteOffset + length;
    new Uint8Array(answers.buffer).fill(0, end, (end + 3) & ~3);
  })],
  ['clears the fourth byte after the answers', changingElse(({ length }, _, answers) => { if (answers.length > length + 3) answers[length + 3] = 0; })],
  ['swaps two answers in an array at an odd offset', changing((answers, { length }) => { if (answers.byteOffset % 4 === 3 && length > 1) answers[1]! ^= 1; })],
  ['adds to the answers that were there', asking((right) => (keys, filter, answers) => { const own = right.keysMayMatch(keys, filter); if (answers === undefined || answers.length < keys.length) return right.keysMayMatch(keys, filter, answers); own.forEach((answer, i) => (answers[i]! |= answer)); return answers; })],
  ['writes up to the last key that matches', asking((right) => (keys, filter, answers) => { const own = right.keysMayMatch(keys, filter); if (answers === undefined || answers.length < keys.length) return right.keysMayMatch(keys, filter, answers); answers.set(own.subarray(0, own.lastIndexOf(1) + 1)); return answers; })],
  ['repeats the answer to the key before for keys with the same end', changing((answers, keys) => {
    for (let i = 1; i < keys.length; i++) {
      const [key, before] = [keys.at(i), keys.at(i - 1)];
      if (key.length > 8 && key.length === before.length && key.every((byte, at) => at < 8 || byte === before[at])) answers[i] = answers[i - 1]!;
    }
  })],
  ['repeats the answer to the key before for keys with the same start', changing((answers, keys) => {
    for (let i = 1; i < keys.length; i++) {
      const [key, before] = [keys.at(i), keys.at(i - 1)];
      if (key.length > 8 && before.length > 8 && key.subarray(0, 8).join() === before.subarray(0, 8).join()) answers[i] = answers[i - 1]!;
    }
  })],
  ['forgets the last of just 512 keys', changing((answers, { length }) => { if (length === 512) answers[511] = 0; })],
  ['forgets the last of just 16,384 keys', changing((answers, { length }) => { if (length === 16_384) answers[16_383] = 0; })],
  ['forgets the last of just 32,767 keys', changing((answers, { length }) => { if (length === 32_767) answers[32_766] = 0; })],
  ['forgets a key of lists of 9,000 to 16,000', changing((answers, { length }) => { if (length > 9000 && length < 16_000) answers[7] = 0; })],
  ['forgets the 65,537th key', changing((answers, { length }) => { if (length > 65_536) answers[65_536] = 0; })],
  ['forgets the last of nine keys or fewer in filters of more than 65,535 bytes', changing((answers, { length }, filter) => { if (filter.length > 65_535 && length > 0 && length < 10) answers[length - 1] = 0; })],
  ['says yes of all keys to filters of more than 65,535 bytes', changing((answers, { length }, filter) => { if (filter.length > 65_535) answers.fill(1, 0, length); })],
  ['denies keys of 1,000 to 60,000 bytes', changing((answers, keys) => { for (let i = 0; i < keys.length; i++) if (keys.at(i).length > 1000 && keys.at(i).length < 60_000) answers[i] = 0; })],
  ['writes into the answers of the call before', () => {
    let last: Uint8Array | undefined;
    return changingElse((_, __, answers) => { if (last !== undefined && last.length > 0) last[0] = 1; last = answers; })();
  }],
  ['returns an array that it uses again for more than a thousand keys', () => {
    const own = new Uint8Array(100_000);
    return asking((right) => (keys, filter, answers) => right.keysMayMatch(keys, filter, answers ?? (keys.length > 1000 ? own.subarray(0, keys.length) : undefined)))();
  }],
  ['writes behind the last offset', changingElse((keys) => { keys.offsets[keys.length + 1] = 7; })],
  ['sets the first offset to zero', changingElse((keys) => { keys.offsets[0] = 0; })],
  ['changes the byte before the keys in their buffer', changingElse((keys) => { flipAt(keys.bytes, keys.bytes.byteOffset - 1); })],
  ['changes the byte before the filter in its buffer', changingElse((_, filter) => { flipAt(filter, filter.byteOffset - 1); })],
  ['changes the byte behind the filter in its buffer', changingElse((_, filter) => { flipAt(filter, filter.byteOffset + filter.length); })],
  ['takes the first offset for zero', asking((right) => (keys, filter, answers) => {
    const [first] = keys.offsets;
    keys.offsets[0] = 0;
    const all = right.keysMayMatch(keys, filter, answers);
    keys.offsets[0] = first!;
    return all;
  })],
  ['forgets the last key', asking((right) => (keys, filter, answers) => { const all = right.keysMayMatch(keys, filter, answers); if (keys.length > 0) all[keys.length - 1] = 0; return all; })],
  ['says true instead of 1', asking((right) => (keys, filter, answers = new Uint8Array(keys.length)) => { right.keysMayMatch(keys, filter, answers); for (let i = 0; i < keys.length; i++) if (answers[i] === 1) answers[i] = 255; return answers; })],
  ['returns an array of its own', asking((right) => (keys, filter) => right.keysMayMatch(keys, filter))],
  ['returns all of an array that is longer', asking((right) => (keys, filter, answers = new Uint8Array(keys.length + 8)) => right.keysMayMatch(keys, filter, answers))],
  ['clears what is after the answers', asking((right) => (keys, filter, answers = new Uint8Array(keys.length)) => right.keysMayMatch(keys, filter, answers.fill(0)))],
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
  ['denies keys whose length does not fit into 16 bits', changing((answers, keys) => { for (let i = 0; i < keys.length; i++) if (keys.at(i).length > 65_535) answers[i] = 0; })],
  ['gives the fifth of sixteen keys of sixteen bytes the answer of the last', changing((answers, keys) => {
    for (let from = 0; from + 16 <= keys.length; from += 16) {
      if (Array.from({ length: 16 }, (_, i) => keys.at(from + i).length).every((length) => length === 16)) answers[from + 4] = answers[from + 15]!;
    }
  })],
  ['forgets the key that is alone after the last 1,024', changing((answers, { length }) => { if (length > 1 && length % 1024 === 1) answers[length - 1] = 0; })],
  ['forgets the last key of the first 4,096', changing((answers, { length }) => { if (length > 4095) answers[4095] = 0; })],
  ['forgets the last key of lists of five modulo sixteen keys', changing((answers, { length }) => { if (length % 16 === 5) answers[length - 1] = 0; })],
  ['forgets the key after the last whole group of eight', changing((answers, { length }) => { if (length % 8 > 0) answers[length - (length % 8)] = 0; })],
  ['answers for the keys of the last group in reverse', changing((answers, { length }) => { answers.subarray(length - (length % 4), length).reverse(); })],
  ['answers for the next key in lists of thirty-three', changing((answers, { length }) => { if (length === 33) answers.copyWithin(0, 1, length); })],
  ['swaps the answers to neighbours', changing((answers, { length }) => { for (let i = 0; i + 1 < length; i += 2) [answers[i], answers[i + 1]] = [answers[i + 1]!, answers[i]!]; })],
  ['answers for all keys in reverse', changing((answers, { length }) => { answers.subarray(0, length).reverse(); })],
  ['denies an empty key that is the last', changing((answers, keys) => { if (keys.length > 0 && keys.at(keys.length - 1).length === 0) answers[keys.length - 1] = 0; })],
  ['passes over empty keys, so that those after them get the answers of others', asking((right) => (keys, filter, answers = new Uint8Array(keys.length)) => {
    let at = 0;
    for (const key of keys) if (key.length > 0) answers[at++] = right.keyMayMatch(key, filter) ? 1 : 0;
    while (at < keys.length) answers[at++] = 0;
    return answers;
  })],
  ['says yes only, and leaves the rest as it was', asking((right) => (keys, filter, answers = new Uint8Array(keys.length)) => { for (let i = 0; i < keys.length; i++) if (right.keyMayMatch(keys.at(i), filter)) answers[i] = 1; return answers; })],
  ['says yes of all keys', changing((answers, { length }) => { answers.fill(1, 0, length); })],
  ['throws at no keys', asking((right) => (keys, filter, answers) => { if (keys.length === 0) throw new RangeError('none'); return right.keysMayMatch(keys, filter, answers); })],
  ['returns nothing for no keys', asking((right) => (keys, filter, answers) => (keys.length === 0 ? (undefined as unknown as Uint8Array) : right.keysMayMatch(keys, filter, answers)))],
  ['throws at a damaged filter and a hundred keys', asking((right) => (keys, filter, answers) => { if (keys.length > 99 && filter.at(-1) !== 6) throw new RangeError('probes'); return right.keysMayMatch(keys, filter, answers); })],
  ['says no of damaged filters to a hundred keys', changing((answers, { length }, filter) => { if (length > 99 && filter.length > 1 && filter.at(-1)! > 30) answers.fill(0, 0, length); })],
  ['says no of damaged filters once it has been asked for many keys', () => {
    let seen = 0;
    return changing((answers, { length }, filter) => { seen += length; if (seen > 60_000 && length > 64 && filter.at(-1)! > 30) answers.fill(0, 0, length); })();
  }],
  ['asks for lists of forty-one in pairs once it has been asked for many keys', () => {
    let seen = 0;
    return changing((answers, { length }) => { seen += length; if (seen > 60_000 && length === 41) answers[40] = 0; })();
  }],
  ['keeps a copy of the filter for as long as its array is the same', () => {
    let array: Uint8Array | undefined;
    let copy = new Uint8Array(0);
    return asking((right) => (keys, filter, answers) => { if (array !== filter) { array = filter; copy = filter.slice(); } return right.keysMayMatch(keys, copy, answers); })();
  }],
  ['keeps its answers for as long as list and filter are the same objects', () => {
    const kept: { keys?: KeyList; filter?: Uint8Array; answers?: Uint8Array } = {};
    return asking((right) => (keys, filter, answers = new Uint8Array(keys.length)) => {
      if (kept.keys !== keys || kept.filter !== filter) Object.assign(kept, { keys, filter, answers: right.keysMayMatch(keys, filter).slice() });
      answers.set(kept.answers!.subarray(0, keys.length));
      return answers;
    })();
  }],
  ['returns an array that it uses again', () => {
    let own = new Uint8Array(0);
    return asking((right) => (keys, filter, answers) => {
      if (answers === undefined && own.length !== keys.length) own = new Uint8Array(keys.length);
      return right.keysMayMatch(keys, filter, answers ?? own);
    })();
  }],
  ['writes into the filter', asking((right) => (keys, filter, answers) => { const all = right.keysMayMatch(keys, filter, answers); if (filter.length > 1) filter[0]! ^= 1; return all; })],
  ['writes into the keys', asking((right) => (keys, filter, answers) => { const all = right.keysMayMatch(keys, filter, answers); if (keys.length > 0) keys.bytes[keys.offsets[0]!] = 0x77; return all; })],
  ['takes the filter from the start of its buffer', asking((right) => (keys, filter, answers) => right.keysMayMatch(keys, new Uint8Array(filter.buffer, 0, filter.length), answers))],
  ['reads the offsets as numbers of 16 bits', asking((right) => (keys, filter, answers = new Uint8Array(keys.length)) => {
    for (let i = 0; i < keys.length; i++) {
      const start = keys.offsets[i]! & 0xffff;
      answers[i] = right.keyMayMatch(keys.bytes.subarray(start, start + keys.offsets[i + 1]! - keys.offsets[i]!), filter) ? 1 : 0;
    }
    return answers;
  })],
  ['is inherited by a class that has another keyMayMatch', () => new (class extends BloomFilterPolicy { override keyMayMatch(): boolean { return true; } })()],
];

test('there are twenty broken variants and more', () => {
  expect(broken.length).toBeGreaterThanOrEqual(20);
});

test.each(triedOf(broken, 12))('a policy that %s breaks the law of many keys', (_, make) => {
  const [law] = policyLaws(make, { budgetMs: 60_000 }).filter(({ name }) => name.startsWith(LAW));
  expect(law!.run).toThrow(LAW);
}, 600_000);
