// The law about the rate: what it draws, and how much more than the rate it notices.
import type { FilterPolicy, FilterSink, KeyList } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { hash64Range } from '@bloom/hash';
import { describe, expect, test } from 'vitest';

function rateLaw(make: () => FilterPolicy, maxFalsePositiveRate: number, seed = 1): () => void {
  return policyLaws(make, { maxFalsePositiveRate, seed, budgetMs: 60_000 }).at(-1)!.run;
}

/** Matches other keys with a rate that is known: `rateOf` gives it for the number of a filter's keys and a hash of the first. */
class KnownRate implements FilterPolicy {
  readonly name = 'test.KnownRate';
  readonly #rateOf: (count: number, hash: number) => number;
  readonly #lanes = new Uint32Array(2);

  constructor(rateOf: (count: number, hash: number) => number) {
    this.#rateOf = rateOf;
  }

  createFilter({ bytes, offsets, length }: KeyList, dst: FilterSink): void {
    hash64Range(bytes, offsets[0]!, offsets[1]!, 1, this.#lanes);
    const filter = dst.extend(8);
    const view = new DataView(filter.buffer, filter.byteOffset, 8);
    view.setUint32(0, this.#lanes[0]!);
    view.setFloat32(4, this.#rateOf(length, this.#lanes[1]!));
  }

  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    const view = new DataView(filter.buffer, filter.byteOffset, 8);
    hash64Range(key, 0, key.length, view.getUint32(0), this.#lanes);
    return this.#lanes[1]! < view.getFloat32(4) * 2 ** 32;
  }
}

describe.each([0.01, 1 / 256, 2 ** -16])('with a rate of %f', (rate) => {
  const seeds = rate === 0.01 ? [1, 2] : [1];

  test('a policy that has just that rate passes, whatever is drawn', () => {
    for (const seed of seeds) expect(rateLaw(() => new KnownRate(() => rate), rate, seed)).not.toThrow();
  }, 300_000);

  test('so does one whose small filters differ, where their mean has that rate', () => {
    const make = (): FilterPolicy => new KnownRate((count, hash) => (count > 10 ? rate : (hash & 1) * 2 * rate));
    for (const seed of seeds) expect(rateLaw(make, rate, seed)).not.toThrow();
  }, 300_000);
});

test.each([10, 100, 1000, 10_000])('a policy whose filters of %i keys match 1.4 times as many fails', (size) => {
  const make = (): FilterPolicy => new KnownRate((count) => (count === size ? 0.014 : 0.01));
  expect(rateLaw(make, 0.01)).toThrow(`match filters of ${size} keys`);
}, 300_000);

test('a policy that never matches another key passes with a rate of 0, and one that matches all with a rate of 1', () => {
  expect(rateLaw(() => new KnownRate(() => 0), 0)).not.toThrow();
  expect(rateLaw(() => new KnownRate(() => 0.0005), 0)).toThrow('match filters of 10 keys');
  expect(rateLaw(() => new KnownRate(() => 1), 1)).not.toThrow();
}, 300_000);

test('keys are drawn that do not depend on whether a step was interrupted', () => {
  // Steps of 200, 200, 100 and 100 filters.
  const enough = 600;
  const draws = (interruptedAt: number): string[] => {
    const drawn: string[] = [];
    let made = 0;
    const make = (): FilterPolicy => {
      const policy = new KnownRate(() => 0.01);
      const createFilter = (keys: KeyList, dst: FilterSink): void => {
        if (++made === interruptedAt) for (;;) continue;
        if (drawn.length === enough) throw new Error('enough');
        drawn.push(Buffer.from(keys.at(0)).toString('hex'));
        policy.createFilter(keys, dst);
      };
      return { name: policy.name, createFilter, keyMayMatch: (key, filter) => policy.keyMayMatch(key, filter) };
    };
    expect(rateLaw(make, 0.01)).toThrow('enough');
    return drawn;
  };
  const drawn = draws(0);
  // In the first step of random keys, the second; it is tried again from its start.
  expect(draws(203)).toEqual([...drawn.slice(0, 202), ...drawn.slice(200)].slice(0, enough));
}, 300_000);
