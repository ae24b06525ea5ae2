// Bloom filters that are wrong in one place, each of which breaks a law.
import { seeded } from '@bloom/bytes/internal';
import { triedOf } from '@bloom/fixtures/hash-filter-suite';
import { bloomHash } from '@bloom/hash';
import { BloomFilterPolicy, buildFilter, type FilterPolicy, type FilterSink, type KeyList } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { expect, test } from 'vitest';

const LEVELDB = 'leveldb.BuiltinBloomFilter2';

/** What a variant does otherwise than LevelDB. */
interface Otherwise {
  readonly name?: string;
  readonly hash?: (key: Uint8Array) => number;
  readonly delta?: (h: number, isWritten: boolean) => number;
  /** The bit of a probe; `bits` is how many there are. */
  readonly bit?: (h: number, bits: number, isWritten: boolean) => number;
  readonly probes?: (keys: number) => number;
  readonly bits?: (keys: number) => number;
  readonly readProbes?: (stored: number) => number;
  readonly mask?: (bit: number) => number;
  readonly chosen?: (keys: readonly Uint8Array[]) => readonly Uint8Array[];
  readonly finish?: (filter: Uint8Array, keys: number) => void;
  /** Returns the answer, or undefined where it is as it should be. */
  readonly answers?: (filter: Uint8Array) => unknown;
}

/** LevelDB's filter, written plainly. */
class Variant implements FilterPolicy {
  readonly name: string;
  readonly #is: Required<Otherwise>;

  constructor(otherwise: Otherwise) {
    this.#is = {
      name: 'test.Bloom',
      hash: bloomHash,
      delta: (h) => (h >>> 17) | (h << 15),
      bit: (h, bits) => h % bits,
      probes: () => 6,
      bits: (keys) => keys * 10,
      readProbes: (stored) => stored,
      mask: (bit) => 1 << (bit & 7),
      chosen: (keys) => keys,
      finish: () => undefined,
      answers: () => undefined,
      ...otherwise,
    };
    this.name = this.#is.name;
  }

  createFilter(list: KeyList, dst: FilterSink): void {
    const { probes, bits, chosen, mask, finish } = this.#is;
    const byteLength = Math.ceil(Math.max(64, bits(list.length)) / 8);
    const filter = dst.extend(byteLength + 1);
    filter[byteLength] = probes(list.length);
    for (const key of chosen([...list])) {
      for (const bit of this.#bitsOf(key, probes(list.length), byteLength * 8, true)) filter[bit >> 3]! |= mask(bit);
    }
    finish(filter, list.length);
  }

  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    const answer = this.#is.answers(filter);
    if (answer !== undefined) return answer as boolean;
    if (filter.length < 2) return false;
    const probes = this.#is.readProbes(filter.at(-1)!);
    if (probes > 30) return true;
    for (const bit of this.#bitsOf(key, probes, (filter.length - 1) * 8, false)) if ((filter[bit >> 3]! & (1 << (bit & 7))) === 0) return false;
    return true;
  }

  *#bitsOf(key: Uint8Array, probes: number, bits: number, isWritten: boolean): Generator<number> {
    let h = this.#is.hash(key) >>> 0;
    const delta = this.#is.delta(h, isWritten);
    for (let i = 0; i < probes; i++, h = (h + delta) >>> 0) yield this.#is.bit(h, bits, isWritten);
  }
}

const leveldb = (otherwise: Otherwise): Otherwise => ({ name: LEVELDB, ...otherwise });

const broken: [fault: string, law: string, otherwise: Otherwise][] = [
  ['takes the remainder of a signed hash under the name of LevelDB', '8.', leveldb({ bit: (h, bits) => Math.abs(h | 0) % bits })],
  ['rotates the hash the other way under the name of LevelDB', '8.', leveldb({ delta: (h) => (h >>> 15) | (h << 17) })],
  ['multiplies in place of a remainder under the name of LevelDB', '8.', leveldb({ bit: (h, bits) => Math.floor((h * bits) / 2 ** 32) })],
  ['denies keys of filters with 31 probes under the name of LevelDB', '8.', leveldb({ answers: (filter) => (filter.at(-1)! > 30 ? false : undefined) })],
  ['reads at most 12 probes under the name of LevelDB', '8.', leveldb({ readProbes: (stored) => (stored > 30 ? stored : Math.min(12, stored)) })],
  ['reads at most 29 probes under the name of LevelDB', '8.', leveldb({ readProbes: (stored) => (stored > 30 ? stored : Math.min(29, stored)) })],
  ['takes the remainder of a signed hash when it is asked', '1.', { bit: (h, bits, isWritten) => (isWritten ? h : Math.abs(h | 0)) % bits }],
  ['asks for the same bit again and again', '1.', { delta: (h, isWritten) => (isWritten ? 0 : (h >>> 17) | (h << 15)) }],
  ['reads one probe more', '1.', { readProbes: (stored) => stored + 1 }],
  ['sets the bits of a byte from the highest', '1.', { mask: (bit) => 128 >> (bit & 7) }],
  ['keeps the number of a bit in 16 bits when it is asked', '1.', { bit: (h, bits, isWritten) => (isWritten ? h % bits : (h % bits) & 0xffff) }],
  ['leaves the last byte of bits zero', '1.', { finish: (filter) => filter.fill(0, -2, -1) }],
  ['leaves the first bit zero in filters of more than 3,000 keys', '1.', { finish: (filter, keys) => { if (keys > 3000) filter[0]! &= 254; } }],
  ['loses the last bit in filters of more than 3,000 keys', '1.', { finish: (filter, keys) => { if (keys > 3000) filter[filter.length - 2]! &= 127; } }],
  ['loses the last of 10,000 to 60,000 keys', '1.', { chosen: (keys) => (keys.length > 10_000 && keys.length < 60_000 ? keys.slice(0, -1) : keys) }],
  ['loses the last of 2,050 to 3,000 keys', '1.', { chosen: (keys) => (keys.length > 2050 && keys.length < 3000 ? keys.slice(0, -1) : keys) }],
  ['throws for 45 probes', '2.', { answers: (filter) => { if (filter.at(-1) === 45) throw new RangeError('45'); return undefined; } }],
  ['answers null for 100 probes', '2.', { answers: (filter) => (filter.at(-1) === 100 ? null : undefined) }],
  ['sets one bit for each key', 'at most', { delta: () => 0 }],
  ['sets neighbouring bits', 'at most', { delta: () => 1 }],
  ['has a step of four bits', 'at most', { delta: (h) => h >>> 28 }],
  ['keeps the number of a bit in 16 bits', 'at most', { bit: (h, bits) => (h % bits) & 0xffff }],
  ['keeps the number of a bit in 18 bits', 'at most', { bit: (h, bits) => (h % bits) & 0x3ffff }],
  ['has at most 4,096 bits', 'at most', { bits: (keys) => Math.min(keys * 10, 4096) }],
  ['has at most 200,000 bits', 'at most', { bits: (keys) => Math.min(keys * 10, 200_000) }],
  ['has five bits for each key', 'at most', { bits: (keys) => keys * 5 }],
  ['has one probe', 'at most', { probes: () => 1 }],
  ['has one probe for more than 30,000 keys', 'at most', { probes: (keys) => (keys > 30_000 ? 1 : 6) }],
  ['has one probe for fewer than six keys', 'at most', { probes: (keys) => (keys < 6 ? 1 : 6) }],
  ['has one probe for 200 to 800 keys', 'at most', { probes: (keys) => (keys > 200 && keys < 800 ? 1 : 6) }],
  ['hashes to 16 bits', 'at most', { hash: (key) => Math.imul(bloomHash(key) & 0xffff, 0x10001) }],
  ['hashes to 22 bits', 'at most', { hash: (key) => Math.imul(bloomHash(key) & 0x3fffff, 0x9e3779b1) }],
  ['hashes the first 100 bytes', 'at most', { hash: (key) => bloomHash(key.subarray(0, 100)) }],
  ['hashes the first 16 bytes', 'at most', { hash: (key) => bloomHash(key.subarray(0, 16)) }],
  ['hashes every second byte of long keys', 'at most', { hash: (key) => bloomHash(key.length < 32 ? key : key.filter((_, i) => i % 2 === 0)) }],
  ['hashes the exclusive or of the words of a key', 'at most', { hash: (key) => Math.imul(key.reduce((sum, byte, i) => sum ^ (byte << (8 * (i & 3))), key.length), 0x9e3779b1) }],
  ['hashes the sum of the bytes of a key', 'at most', { hash: (key) => Math.imul(key.reduce((sum, byte) => sum + byte, 0), 0x9e3779b1) }],
];

const options = { maxFalsePositiveRate: 0.012, budgetMs: 60_000 };

test.each(triedOf(broken))('a Bloom filter that %s breaks law %s', (_, law, otherwise) => {
  const [own] = policyLaws(() => new Variant(otherwise), options).filter(({ name }) => name.startsWith(law));
  expect(own!.run).toThrow(law);
}, 300_000);

test('the one that is right makes the filters of the Bloom policy, which keeps every law, and gives its answers', () => {
  const [plain, bloom] = [new Variant({}), new BloomFilterPolicy()];
  const random = seeded(5);
  for (const count of [0, 1, 5, 6, 7, 500, 2500, 4000, 70_000]) {
    const keys = Array.from({ length: count }, () => random.bytes(random.below(40)));
    const filter = buildFilter(plain, keys);
    expect(filter).toEqual(buildFilter(bloom, keys));
    for (let i = 0; i < 1000; i++) {
      const damaged = filter.subarray(0, random.below(4) === 0 ? random.below(filter.length + 1) : filter.length).slice();
      if (i % 2 === 0 && damaged.length > 0) damaged[damaged.length - 1] = random.below(256);
      const key = keys[random.below(2 * count + 1)] ?? random.bytes(random.below(40));
      expect(plain.keyMayMatch(key, damaged)).toBe(bloom.keyMayMatch(key, damaged));
    }
  }
});
