import { bloomFilterMayMatch, BloomFilterPolicy, buildFilter, type FilterPolicy, type FilterSink, type KeyList } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { bloomHash, hash } from '@bloom/hash';
import { expect, onTestFinished, test, vi } from 'vitest';
import { encodeBloomFilter } from '../../src/bloom-filter.js';
import { lawsBrokenBy, type Mutant, Right, RightForSpaces, setBit, signedTailHash, spacesIgnored, testMutants } from './right-policy.js';

/** One bit per key, by a hash that LevelDB does not use. */
class OwnFormat extends Right {
  constructor(override readonly name: string) {
    super();
  }

  override createFilter(keys: KeyList, dst: FilterSink): void {
    const filter = dst.extend(9 + (keys.length >> 1));
    filter[filter.length - 1] = 1;
    for (const key of keys) setBit(filter, hash(key, 0) % ((filter.length - 1) * 8));
  }

  override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    return filter.length < 9 || bloomFilterMayMatch(hash(key, 0), filter);
  }
}

class SignedTail extends OwnFormat {
  override createFilter(keys: KeyList, dst: FilterSink): void {
    const filter = dst.extend(Math.ceil(Math.max(64, keys.length * 10) / 8) + 1);
    filter[filter.length - 1] = 1;
    for (const key of keys) setBit(filter, signedTailHash(key) % ((filter.length - 1) * 8));
  }

  override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    return bloomFilterMayMatch(signedTailHash(key), filter);
  }
}

function mutant(fault: string, says: RegExp, make: () => FilterPolicy, law = '8'): Mutant {
  return { fault, law, says, make: () => make };
}

/** LevelDB's filters, except where `other` says otherwise. */
function likeLevelDb(
  fault: string,
  says: RegExp,
  other: { createFilter?: (keys: KeyList, dst: FilterSink) => boolean; keyMayMatch?: (key: Uint8Array, filter: Uint8Array) => boolean | undefined },
): Mutant {
  return mutant(fault, says, () =>
    new (class extends Right {
      override readonly name = 'leveldb.BuiltinBloomFilter2';
      override createFilter(keys: KeyList, dst: FilterSink): void {
        if (other.createFilter?.(keys, dst) !== true) super.createFilter(keys, dst);
      }
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        return other.keyMayMatch?.(key, filter) ?? super.keyMayMatch(key, filter);
      }
    })(),
  );
}

const foreign = /belongs to another project's filters/;
const differ = /leveldb\.BuiltinBloomFilter2?, a known format, (differ about|returns true)/;

const mutants: Mutant[] = [
  mutant("uses LevelDB's old name for a format of its own", differ, () => new OwnFormat('leveldb.BuiltinBloomFilter')),
  mutant("uses LevelDB's old name for a hash with signed tail bytes", differ, () => new SignedTail('leveldb.BuiltinBloomFilter')),
  mutant("uses LevelDB's name for a format of its own", differ, () => new OwnFormat('leveldb.BuiltinBloomFilter2')),
  mutant("uses a name that begins like LevelDB's", foreign, () => new OwnFormat('leveldb.BuiltinBloomFilter3')),
  mutant("uses RocksDB's name for LevelDB's filters", foreign, () =>
    new (class extends Right {
      override readonly name = 'rocksdb.BuiltinBloomFilter';
    })(),
  ),
  ...['rocksdb.BuiltinBloomFilter', 'rocksdb.internal.FastLocalBloomFilter', 'RocksDB.RibbonFilter', 'bloomfilter', 'ribbonfilter', 'binaryfuse', 'bloom2', 'speedb.PairedBloomFilter', 'speedb_paired_bloom_filter'].map((name) =>
    mutant(`uses the name ${name} for a format of its own`, foreign, () => new OwnFormat(name)),
  ),
  likeLevelDb("has LevelDB's name, and denies keys in filters with a reserved number of probes", differ, {
    keyMayMatch: (_, filter) => (filter.length > 1 && filter.at(-1)! > 30 ? false : undefined),
  }),
  likeLevelDb("has LevelDB's name, and uses its own number of probes instead of the filter's", differ, {
    keyMayMatch: (key, filter) => (filter.length > 1 && filter.at(-1)! <= 30 ? bloomFilterMayMatch(bloomHash(key), Uint8Array.of(...filter.subarray(0, -1), 9)) : undefined),
  }),
  {
    ...likeLevelDb("has LevelDB's name, and other filters of more than 65,000 keys", differ, {
      createFilter: (keys, dst) => {
        if (keys.length > 65_000) encodeBloomFilter(keys, 10, { extend: (byteLength) => dst.extend(byteLength + 1).subarray(1) });
        return keys.length > 65_000;
      },
      keyMayMatch: (key, filter) => (filter.length > 80_000 ? bloomFilterMayMatch(bloomHash(key), filter.subarray(1)) : undefined),
    }),
  },
  mutant('has no name', /the policy has no name/, () => new OwnFormat('')),
  mutant('has a number as its name', /the policy has no name/, () => new OwnFormat(7 as unknown as string)),
  mutant('has a name that is not valid Unicode', /cannot be written as UTF-8/, () => new OwnFormat('test.\ud800')),
  mutant('changes its name after 100 filters', /the name was test\.Changes, and is test\.Changed/, () => {
    let made = 0;
    const policy = new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        made++;
        super.createFilter(keys, dst);
      }
    })();
    return Object.defineProperty(policy, 'name', { get: () => (made > 100 ? 'test.Changed' : 'test.Changes') });
  }),
  {
    fault: 'numbers its instances',
    law: '8',
    says: /one instance is named test\.[0-9]+, another test\.[0-9]+/,
    make: () => {
      let made = 0;
      return () => new OwnFormat(`test.${made++}`);
    },
  },
  {
    fault: 'has a keyEquivalence that is not a string',
    law: '9',
    says: /keyEquivalence must be a string, got a boolean/,
    make: () => () =>
      new (class extends RightForSpaces {
        override readonly keyEquivalence = true as unknown as string;
      })(),
    options: { comparator: spacesIgnored },
  },
  {
    fault: 'has a keyEquivalence only in every other instance',
    law: '9',
    says: /keyEquivalence differs between instances/,
    make: () => {
      let made = 0;
      return () =>
        new (class extends RightForSpaces {
          override readonly keyEquivalence = made++ % 2 === 0 ? 'trailing-spaces' : undefined;
        })();
    },
    options: { comparator: spacesIgnored },
  },
];

testMutants(mutants);

test("a correct reader of LevelDB's filters under the name that goleveldb uses breaks no law", () => {
  const make = (): FilterPolicy =>
    new (class extends BloomFilterPolicy {
      override readonly name = 'leveldb.BuiltinBloomFilter' as 'leveldb.BuiltinBloomFilter2';
    })();
  expect([...lawsBrokenBy(make, {}, '8')]).toEqual([]);
});

test("accepts another project's name only with filters of that project that the policy reads", () => {
  const keys = ['a', 'b', 'c'].map((text) => new TextEncoder().encode(text));
  const filter = buildFilter(new OwnFormat('any'), keys);
  const make = (): FilterPolicy => new OwnFormat('rocksdb.BuiltinBloomFilter');
  expect([...lawsBrokenBy(make, { knownFilters: [{ keys, filter }] }, '8')]).toEqual([]);
  const others = { keys: ['x', 'y', 'z'].map((text) => new TextEncoder().encode(text)), filter };
  expect(lawsBrokenBy(make, { knownFilters: [others] }, '8').get('8')?.message).toMatch(/does not match the known filter/);
  expect(lawsBrokenBy(make, { knownFilters: [{ keys: [], filter }] }, '8').get('8')?.message).toMatch(foreign);
});

test('rejects a makePolicy that does not return policies, and says why', () => {
  const Class = BloomFilterPolicy as unknown as FilterPolicy;
  expect(() => policyLaws(() => Class)).toThrow('the value that makePolicy returns must be a FilterPolicy, got a function: if BloomFilterPolicy is a class');
  expect(() => policyLaws(() => undefined as unknown as FilterPolicy)).toThrow(new TypeError('the value that makePolicy returns must be a FilterPolicy, got undefined'));
  const half = { name: 'x', keyMayMatch: () => true } as unknown as FilterPolicy;
  expect(() => policyLaws(() => new Right(), { tunedOtherwise: [() => half] })).toThrow('got an object without createFilter');
});

test.each([0, -1, Number.NaN])('rejects a budget of %d ms', (budgetMs) => {
  expect(() => policyLaws(() => new Right(), { budgetMs })).toThrow(RangeError);
  expect(() => policyLaws(() => new Right(), { budgetMs })).toThrow('budgetMs');
});

test('a law whose budget is used up reports that it was stopped early', () => {
  // As if each call took a millisecond of processor time.
  let worked = 0;
  vi.spyOn(process, 'cpuUsage').mockImplementation(() => ({ user: worked * 1000, system: 0 }));
  onTestFinished(() => void vi.restoreAllMocks());
  const slow = (): FilterPolicy =>
    new (class extends Right {
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        worked++;
        return super.keyMayMatch(key, filter);
      }
    })();
  const error = lawsBrokenBy(slow, { budgetMs: 300 }, '1').get('1');
  expect(error?.message).toMatch(/stopped early: its budget of 300 ms was used up in step [0-9]+\. .* set a larger budgetMs/);
});
