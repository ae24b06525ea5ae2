// The filter that each policy makes of the same keys, and its answers, on any host.
import { BloomFilterPolicy, buildFilter, type FilterPolicy, KeyBuffer } from '@bloom/policy';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';
import { FuseFilterPolicy } from '@bloom/policy-fuse';
import { RibbonFilterPolicy } from '@bloom/policy-ribbon';

const policies: readonly FilterPolicy[] = [
  new BloomFilterPolicy(10),
  new BlockedBloomFilterPolicy(10),
  new RibbonFilterPolicy(),
  new RibbonFilterPolicy({ rate: 0.001, width: 128 }),
  new FuseFilterPolicy(8),
  new FuseFilterPolicy(16),
];

/** More keys than a policy has before it compiles its kernel, and as few as a filter of another form is made of. */
const COUNTS = [3, 10_000];

/** Bytes of a filter, and its answers for its keys and as many absent ones, in hexadecimal and digits. */
export interface PolicyFigures {
  readonly policy: string;
  readonly filter: string;
  readonly answers: string;
}

export function policyFigures(): PolicyFigures[] {
  const encoder = new TextEncoder();
  return COUNTS.flatMap((count) => {
    const asked = Array.from({ length: 2 * count }, (_, i) => encoder.encode(`${i % 7 === 0 ? 'a longer name for the key ' : 'key '}${i}`));
    return policies.map((policy) => {
      const filter = buildFilter(policy, asked.slice(0, count));
      const answers = policy.keysMayMatch?.(KeyBuffer.from(asked), filter) ?? asked.map((key) => Number(policy.keyMayMatch(key, filter)));
      return {
        policy: `${policy.name} of ${count} keys`,
        filter: Array.from(filter, (byte) => byte.toString(16).padStart(2, '0')).join(''),
        answers: answers.join(''),
      };
    });
  });
}
