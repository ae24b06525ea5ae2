import { bloomFilterMayMatch, type FilterPolicy, type FilterSink, KeyBuffer, type KeyList } from '@bloom/policy';
import { type PolicyLaw, policyLaws, type PolicyLawsOptions } from '@bloom/policy/contract';
import { BLOOM_SEED, bloomHash, hash, hashRange } from '@bloom/hash';
import { describe, expect, test } from 'vitest';
import { encodeBloomFilter } from '../../src/bloom-filter.js';
import {
  lawsBrokenBy,
  type Mutant,
  Right,
  RightForSpaces,
  RightList,
  setBit,
  signedTailHash,
  spacesIgnored,
  testMutants,
} from './right-policy.js';

/** The example of policy.ts, word for word. */
const checksum = (key: Uint8Array): number => key.reduce((sum, byte) => (sum * 31 + byte) & 0xff, key.length & 0xff);

class ChecksumPolicy implements FilterPolicy {
  readonly name = 'example.Checksum';

  createFilter(keys: KeyList, dst: FilterSink): void {
    const filter = dst.extend(Math.max(1, keys.length));
    for (let i = 0; i < keys.length; i++) filter[i] = checksum(keys.at(i));
  }

  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    return filter.includes(checksum(key));
  }
}

describe("policy.ts's example keeps every law", () => {
  for (const law of policyLaws(() => new ChecksumPolicy())) test(law.name, law.run);
});

/** The laws with those numbers, and all where BLOOM_LONG is set, as in tooling/long-tests: policies of packages that are much alike keep every law in their tests. */
function lawsToTry(numbers: RegExp, make: () => FilterPolicy, options?: PolicyLawsOptions): PolicyLaw[] {
  return policyLaws(make, options).filter(({ name }) => process.env.BLOOM_LONG !== undefined || numbers.test(name));
}

describe('a policy that lists its keys keeps the law', () => {
  for (const law of policyLaws(() => new RightList(), { lendBuffers: true })) test(law.name, law.run);
});

describe('a policy with an equivalence keeps the law', () => {
  for (const law of lawsToTry(/^[149][.]/, () => new RightForSpaces(), { comparator: spacesIgnored, lendBuffers: true })) test(law.name, law.run);
});

/** Asks in ranges as its `keyMayMatch` answers; each mutant breaks that in one place. */
class RightInRanges extends Right {
  keyMayMatchRange(keyBytes: Uint8Array, keyStart: number, keyEnd: number, filterBytes: Uint8Array, filterStart: number, filterEnd: number): boolean {
    return bloomFilterMayMatch(hashRange(keyBytes, keyStart, keyEnd, BLOOM_SEED), filterBytes.subarray(filterStart, filterEnd));
  }
}

describe('a policy that is queried by ranges keeps the law', () => {
  for (const law of lawsToTry(/^[1245][.]/, () => new RightInRanges(), { lendBuffers: true })) test(law.name, law.run);
});

describe('a policy whose subclass replaces keyMayMatch alone is not queried by ranges, and keeps the law', () => {
  class Replaced extends RightInRanges {
    override readonly name = 'test.Replaced';

    override createFilter(keys: KeyList, dst: FilterSink): void {
      super.createFilter(KeyBuffer.from(Array.from(keys, (key) => key.slice(1))), dst);
    }

    override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
      return super.keyMayMatch(key.subarray(1), filter);
    }
  }
  for (const law of lawsToTry(/^[14][.]/, () => new Replaced())) test(law.name, law.run);
});

type AskInRanges = NonNullable<FilterPolicy['keyMayMatchRange']>;

/** Faults of `keyMayMatchRange`, which each law that asks finds. */
const inRanges: { fault: string; law: string; says: RegExp; ask: (...question: Parameters<AskInRanges>) => unknown }[] = [
  {
    fault: 'hashes the whole array in place of the key',
    law: '1',
    says: /keyMayMatchRange .* returns false, and keyMayMatch true/,
    ask: (keyBytes, _start, _end, filterBytes, filterStart, filterEnd) => bloomFilterMayMatch(bloomHash(keyBytes), filterBytes.subarray(filterStart, filterEnd)),
  },
  {
    fault: 'looks for the filter at the start of the array',
    law: '1',
    says: /keyMayMatchRange .* returns false, and keyMayMatch true/,
    ask: (keyBytes, start, end, filterBytes, filterStart, filterEnd) => bloomFilterMayMatch(hashRange(keyBytes, start, end, BLOOM_SEED), filterBytes.subarray(0, filterEnd - filterStart)),
  },
  { fault: 'matches every key', law: '4', says: /keyMayMatchRange .* returns true, and keyMayMatch false/, ask: () => true },
  {
    fault: 'throws on a short filter',
    law: '2',
    says: /keyMayMatchRange .* throws RangeError/,
    ask: (keyBytes, start, end, filterBytes, filterStart, filterEnd) => {
      if (filterEnd - filterStart < 9) throw new RangeError('filter too short');
      return bloomFilterMayMatch(hashRange(keyBytes, start, end, BLOOM_SEED), filterBytes.subarray(filterStart, filterEnd));
    },
  },
  {
    fault: 'writes to the byte behind the key',
    law: '5',
    says: /changed/,
    ask: (keyBytes, start, end, filterBytes, filterStart, filterEnd) => {
      keyBytes[end]! ^= 1;
      return bloomFilterMayMatch(hashRange(keyBytes, start, end, BLOOM_SEED), filterBytes.subarray(filterStart, filterEnd));
    },
  },
];

const mutants: Mutant[] = [
  {
    fault: 'drops the last key',
    law: '1',
    says: /was added and does not match/,
    make: () => () =>
      new (class extends Right {
        override createFilter(keys: KeyList, dst: FilterSink): void {
          super.createFilter(KeyBuffer.from([...keys].slice(0, -1)), dst);
        }
      })(),
  },
  {
    fault: 'is off by one in the modulus',
    law: '1',
    says: /was added and does not match/,
    make: () => () =>
      new (class extends Right {
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          if (filter.length < 2) return false;
          const bits = (filter.length - 1) * 8;
          const bit = bloomHash(key) % (bits - 1);
          return (filter[bit >> 3]! & (1 << (bit & 7))) !== 0 && super.keyMayMatch(key, filter);
        }
      })(),
  },
  {
    fault: 'reads with signed tail bytes what it wrote with unsigned ones',
    law: '1',
    says: /was added and does not match/,
    make: () => () =>
      new (class extends Right {
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          return bloomFilterMayMatch(signedTailHash(key), filter);
        }
      })(),
  },
  {
    fault: 'drops a key that was added twice',
    law: '1',
    says: /was added and does not match/,
    make: () => () =>
      new (class extends Right {
        override createFilter(keys: KeyList, dst: FilterSink): void {
          const all = Array.from(keys, (key) => Buffer.from(key).toString('hex'));
          const once = all.filter((key) => all.filter((other) => other === key).length === 1);
          super.createFilter(KeyBuffer.from(once.map((key) => Buffer.from(key, 'hex'))), dst);
        }
      })(),
  },
  {
    fault: 'throws on a short filter',
    law: '2',
    says: /throws RangeError/,
    make: () => () =>
      new (class extends Right {
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          if (filter.length < 9) throw new RangeError('filter too short');
          return super.keyMayMatch(key, filter);
        }
      })(),
  },
  {
    fault: 'returns a number',
    law: '2',
    says: /returns [01]/,
    make: () => () =>
      new (class extends Right {
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          return Number(super.keyMayMatch(key, filter)) as unknown as boolean;
        }
      })(),
  },
  {
    fault: 'adds the keys of earlier filters',
    law: '3',
    says: /one that was used before/,
    make: () => () =>
      new (class extends Right {
        readonly #all: Uint8Array[] = [];
        override createFilter(keys: KeyList, dst: FilterSink): void {
          for (const key of keys) this.#all.push(key.slice());
          super.createFilter(KeyBuffer.from(this.#all), dst);
        }
      })(),
  },
  {
    fault: 'hashes the bytes past the keys',
    law: '3',
    says: /past the keys/,
    make: () => () =>
      new (class extends Right {
        override createFilter(keys: KeyList, dst: FilterSink): void {
          super.createFilter(keys, dst);
          dst.extend(1)[0] = 6;
          dst.extend(1)[0] = keys.bytes.at(-1)!;
        }
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          return filter.length < 3 || super.keyMayMatch(key, filter.subarray(0, -2));
        }
      })(),
  },
  {
    fault: 'answers at random',
    law: '4',
    says: /answers differently/,
    make: () => () =>
      new (class extends Right {
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          return super.keyMayMatch(key, filter) || Math.random() < 0.5;
        }
      })(),
  },
  {
    fault: 'answers from memory instead of the filter',
    law: '4',
    says: /answers differently/,
    make: () => () =>
      new (class extends Right {
        readonly #seen = new Set<string>();
        override createFilter(keys: KeyList, dst: FilterSink): void {
          for (const key of keys) this.#seen.add(Buffer.from(key).toString('hex'));
          super.createFilter(keys, dst);
        }
        override keyMayMatch(key: Uint8Array): boolean {
          return this.#seen.has(Buffer.from(key).toString('hex'));
        }
      })(),
  },
  {
    fault: 'changes the keys',
    law: '5',
    says: /changed the keys' bytes/,
    make: () => () =>
      new (class extends Right {
        override createFilter(keys: KeyList, dst: FilterSink): void {
          super.createFilter(keys, dst);
          for (const key of keys) key.reverse();
        }
      })(),
  },
  {
    fault: 'writes into the filter when keyMayMatch is called',
    law: '5',
    says: /keyMayMatch changed the filter/,
    make: () => () =>
      new (class extends Right {
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          const answer = super.keyMayMatch(key, filter);
          if (filter.length > 1) filter[0]! |= 1;
          return answer;
        }
      })(),
  },
  {
    fault: 'keeps the key list',
    law: '6',
    says: /once the key list is overwritten/,
    make: () => () =>
      new (class extends Right {
        #keys: KeyList | undefined;
        override createFilter(keys: KeyList, dst: FilterSink): void {
          this.#keys = keys;
          super.createFilter(keys, dst);
        }
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          const kept = this.#keys && [...this.#keys].some((one) => Buffer.compare(one, key) === 0);
          return kept ?? super.keyMayMatch(key, filter);
        }
      })(),
  },
  {
    fault: 'writes to a part after createFilter has returned',
    law: '6',
    says: /lent to an earlier call/,
    make: () => () =>
      new (class extends Right {
        #part: Uint8Array | undefined;
        override createFilter(keys: KeyList, dst: FilterSink): void {
          this.#part?.fill(0xff);
          super.createFilter(keys, { extend: (byteLength) => (this.#part = dst.extend(byteLength)) });
        }
      })(),
  },
  {
    fault: 'writes beyond its part',
    law: '7',
    says: /outside the part/,
    make: () => () =>
      new (class extends Right {
        override createFilter(keys: KeyList, dst: FilterSink): void {
          super.createFilter(keys, {
            extend: (byteLength) => {
              const part = dst.extend(byteLength);
              const behind = part.byteOffset + part.length;
              if (behind < part.buffer.byteLength) new Uint8Array(part.buffer)[behind] = 0;
              return part;
            },
          });
        }
      })(),
  },
  {
    fault: 'makes a filter of no bytes',
    law: '7',
    says: /no byte for [0-9]+ keys/,
    make: () => () =>
      new (class extends Right {
        override createFilter(): void {}
        override keyMayMatch(): boolean {
          return true;
        }
      })(),
  },
  {
    fault: 'puts its tuning into its name',
    law: '8',
    says: /one instance is named test\.Bits10, another test\.Bits20/,
    make: () => () => named('test.Bits10'),
    options: { tunedOtherwise: [() => named('test.Bits20')] },
  },
  {
    fault: 'cannot read what the same policy made with other settings',
    law: '8',
    says: /policies named test\.Fixed differ/,
    make: () => () => fixedProbes(6),
    options: { tunedOtherwise: [() => fixedProbes(9)] },
  },
  {
    fault: "uses LevelDB's name for another hash",
    law: '8',
    says: /leveldb\.BuiltinBloomFilter2/,
    make: () => () =>
      new (class extends Right {
        override readonly name = 'leveldb.BuiltinBloomFilter2';
        override createFilter(keys: KeyList, dst: FilterSink): void {
          const filter = dst.extend(9);
          filter[8] = 1;
          for (const key of keys) setBit(filter, hash(key, 0) % 64);
        }
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          const bit = hash(key, 0) % 64;
          return filter.length !== 9 || (filter[bit >> 3]! & (1 << (bit & 7))) !== 0;
        }
      })(),
  },
  {
    fault: "uses LevelDB's name for a hash with signed tail bytes",
    law: '8',
    says: /leveldb\.BuiltinBloomFilter2/,
    make: () => () =>
      new (class extends Right {
        override readonly name = 'leveldb.BuiltinBloomFilter2';
        override createFilter(keys: KeyList, dst: FilterSink): void {
          const filter = dst.extend(Math.ceil(Math.max(64, keys.length * 10) / 8) + 1);
          filter[filter.length - 1] = 1;
          for (const key of keys) setBit(filter, signedTailHash(key) % ((filter.length - 1) * 8));
        }
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          return bloomFilterMayMatch(signedTailHash(key), filter);
        }
      })(),
  },
  {
    fault: 'declares that spaces do not count, and counts them',
    law: '9',
    says: /the same key to the comparator, does not match/,
    make: () => () =>
      new (class extends RightForSpaces {
        override createFilter(keys: KeyList, dst: FilterSink): void {
          encodeBloomFilter(keys, 10, dst);
        }
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          return bloomFilterMayMatch(bloomHash(key), filter);
        }
      })(),
    options: { comparator: spacesIgnored },
  },
  {
    fault: 'has another equivalence than the comparator',
    law: '9',
    says: /the policy's keyEquivalence is none, that of test\.SpacesIgnored is "trailing-spaces"/,
    make: () => () => new Right(),
    options: { comparator: spacesIgnored },
  },
  {
    fault: 'ignores spaces and does not declare it',
    law: '9',
    says: /with a space at the end, but has no keyEquivalence/,
    make: () => () =>
      new (class extends RightForSpaces {
        override readonly keyEquivalence = undefined;
      })(),
  },
  {
    fault: 'matches half of the absent keys',
    law: 'at most 2% of absent keys match',
    says: /% of absent keys match/,
    make: () => () =>
      new (class extends Right {
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          return super.keyMayMatch(key, filter) || bloomHash(key) % 2 === 0;
        }
      })(),
    options: { maxFalsePositiveRate: 0.02 },
  },
];

function named(name: string): FilterPolicy {
  return new (class extends Right {
    override readonly name = name;
  })();
}

function fixedProbes(bitsPerKey: number): FilterPolicy {
  return new (class extends Right {
    override readonly name = 'test.Fixed';
    override createFilter(keys: KeyList, dst: FilterSink): void {
      encodeBloomFilter(keys, bitsPerKey, dst);
    }
    override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
      if (filter.length < 2) return false;
      return bloomFilterMayMatch(bloomHash(key), Uint8Array.of(...filter.subarray(0, -1), bitsPerKey));
    }
  })();
}

testMutants([
  ...mutants,
  ...inRanges.map(({ fault, law, says, ask }) => ({
    fault: `${fault} when it is asked in ranges`,
    law,
    says,
    make: () => () => Object.assign(new RightInRanges(), { keyMayMatchRange: ask as AskInRanges }),
  })),
]);

test('the error of a broken law shows the smallest example and the seed', () => {
  const error = lawsBrokenBy(mutants[0]!.make(), { seed: 42 }, '1').get('1')!;
  expect(error.message).toMatch(/^1\. no false negatives/);
  // The smallest example is a single empty key.
  expect(error.message).toContain('<> was added');
  expect(error.message).toContain('keys: [<>]');
  expect(error).toMatchObject({ seed: 42 });
  expect(error.message).toContain('seed: 42');
});

test('rejects an equivalence without a comparator to check it with', () => {
  expect(lawsBrokenBy(() => new RightForSpaces(), {}, '9').get('9')?.message).toContain('pass the option comparator');
});

test('asks for the option equivalents when the laws find no equal keys', () => {
  const canonical = (key: Uint8Array): Uint8Array => {
    const reversed = key.slice().reverse();
    return Buffer.compare(key, reversed) < 0 ? key : reversed;
  };
  const comparator = {
    name: 'test.EitherWay',
    keyEquivalence: 'either way',
    compare: (a: Uint8Array, b: Uint8Array) => Buffer.compare(canonical(a), canonical(b)),
  };
  const make = (): FilterPolicy =>
    new (class extends Right {
      override readonly keyEquivalence = 'either way';
      override createFilter(keys: KeyList, dst: FilterSink): void {
        super.createFilter(KeyBuffer.from(Array.from(keys, canonical)), dst);
      }
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        return super.keyMayMatch(canonical(key), filter);
      }
    })();
  expect(lawsBrokenBy(make, { comparator }, '9').get('9')?.message).toContain('pass the option equivalents');
  const equivalents = (key: Uint8Array): Uint8Array[] => [key.slice().reverse()];
  for (const law of ['1', '9']) expect([...lawsBrokenBy(make, { comparator, equivalents }, law)]).toEqual([]);
});

test('rejects an invalid rate', () => {
  expect(() => policyLaws(() => new Right(), { maxFalsePositiveRate: 2 })).toThrow(RangeError);
});
