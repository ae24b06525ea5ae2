// Fitted Bloom filters keep every law, and so do LevelDB's when fitted ones are read; faults of fitting break one.
import { BLOOM_SEED, hashRange } from '@bloom/hash';
import { BloomFilterPolicy, fillBloomFilter, type FilterSink, FittedBloomFilterPolicy, type KeyList } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { describe, expect, test } from 'vitest';
import { fittedShape, shapesFor } from '../../src/filter-fit.js';

const options = { maxFalsePositiveRate: 0.02, maxNeighbourRate: 0.003, budgetMs: 60_000 };

describe('the fitted Bloom policy keeps every law', () => {
  const tunedOtherwise = [
    () => new BloomFilterPolicy(10),
    () => new FittedBloomFilterPolicy(10, { extraBytes: 0 }),
    () => new FittedBloomFilterPolicy(10, { extraBytes: 1 }),
    ...[1, 44].map((bitsPerKey) => () => new FittedBloomFilterPolicy(bitsPerKey)),
  ];
  for (const law of policyLaws(() => new FittedBloomFilterPolicy(), { ...options, tunedOtherwise, lendBuffers: true })) test(law.name, law.run, 120_000);
});

/** Fits filters in the plain way, with a fault. */
class FaultyFit extends BloomFilterPolicy {
  readonly #shapeOf: typeof fittedShape;
  readonly #finish: (filter: Uint8Array) => void;

  constructor(shapeOf: typeof fittedShape, finish: (filter: Uint8Array) => void = () => undefined) {
    super(10);
    this.#shapeOf = shapeOf;
    this.#finish = finish;
  }

  override createFilter(keys: KeyList, dst: FilterSink): void {
    if (keys.length === 0 || keys.length > 200) {
      super.createFilter(keys, dst);
      return;
    }
    const hashes = Uint32Array.from({ length: keys.length }, (_, i) => hashRange(keys.bytes, keys.offsets[i]!, keys.offsets[i + 1]!, BLOOM_SEED));
    const { bytes, probes } = this.#shapeOf(keys, hashes, shapesFor(keys.length, 10, 0.05));
    const filter = dst.extend(bytes + 1);
    fillBloomFilter(filter, hashes, probes);
    this.#finish(filter);
  }
}

let calls = 0;
const broken: [fault: string, law: string, make: () => FaultyFit][] = [
  // All stored keys match filters of any shape, so the first shape always wins.
  ['judges by stored keys', 'at most 0.3%', () => new FaultyFit((_keys, _hashes, { lengths }) => ({ bytes: lengths[0]!, probes: 6 }))],
  ['takes the last length instead of the best', 'at most 0.3%', () => new FaultyFit((keys, hashes, shapes) => fittedShape(keys, hashes, { ...shapes, lengths: shapes.lengths.slice(-1) }))],
  ['writes LevelDB\'s number of probes instead of the fitted one', '1.', () => new FaultyFit(fittedShape, (filter) => (filter[filter.length - 1] = 6))],
  ['takes another shape at each call', '3.', () => new FaultyFit((_keys, _hashes, { lengths, minProbes }) => ({ bytes: lengths[calls++ % lengths.length]!, probes: minProbes }))],
];

test.each(broken)('a fitted policy that %s breaks law %s', (_, law, make) => {
  const [own] = policyLaws(make, options).filter(({ name }) => name.startsWith(law) && (law !== 'at most 0.3%' || name.includes('numbers')));
  expect(own!.run).toThrow(law);
}, 300_000);

test('LevelDB\'s own shapes let more than ten times as many absent numbers pass', () => {
  expect(policyLaws(() => new BloomFilterPolicy(), { ...options, maxNeighbourRate: 0.03 }).at(-1)!.run).toThrow('absent decimal numbers of 16 digits between stored ones match');
}, 60_000);
