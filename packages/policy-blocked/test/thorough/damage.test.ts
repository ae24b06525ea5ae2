// Damaged filters get an answer, from single calls and batches, with and without WebAssembly, that no other bytes decide.
import { seeded } from '@bloom/fixtures';
import { damageProblems } from '@bloom/fixtures/filter-damage';
import { buildFilter, KeyBuffer } from '@bloom/policy';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
});

const random = seeded(29);
const warmUp = KeyBuffer.from(Array.from({ length: 5000 }, () => random.bytes(4)));

/** A policy that has seen so many keys that it has a kernel, where the host allows one. */
function warm(make: () => BlockedBloomFilterPolicy): BlockedBloomFilterPolicy {
  const policy = make();
  buildFilter(policy, warmUp);
  return policy;
}

test.each<[string, () => BlockedBloomFilterPolicy]>([
  ['10 bits', () => new BlockedBloomFilterPolicy()],
  ['44 bits', () => new BlockedBloomFilterPolicy(44)],
])('%s', (_, make) => {
  const kernel = warm(make);
  vi.stubGlobal('WebAssembly', undefined);
  const plain = warm(make);
  vi.unstubAllGlobals();
  for (const count of [0, 1, 3, 20, 90]) {
    const keys = Array.from({ length: count }, () => random.bytes(random.below(12)));
    const asked = [...keys.slice(0, 3), new Uint8Array(0), ...Array.from({ length: 70 }, () => random.bytes(random.below(12)))];
    const filter = buildFilter(make(), KeyBuffer.from(keys));
    expect(damageProblems([kernel, plain], filter, asked, (some) => KeyBuffer.from(some))).toEqual([]);
  }
}, 120_000);
