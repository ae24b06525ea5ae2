/** The filter policies of `bloom`. All except LevelDB's are loaded on demand. */
import { BloomFilterPolicy, type FilterPolicy, FittedBloomFilterPolicy, GoleveldbBloomFilterPolicy } from '@bloom/policy';
import { Failure } from '../failure.js';

interface ShippedPolicy {
  /** The name of its filters in a table. */
  readonly storedName: string;
  /** Whether it is used only if it was given, because another policy reads its filters, or other programs used its name for other filters. */
  readonly isOnRequest?: boolean;
  /** The meaning of the number after the colon. */
  readonly parameter: string;
  /** @throws RangeError for an invalid parameter. */
  readonly make: (parameter: number | undefined) => Promise<FilterPolicy>;
}

/** The policies by their names on the command line. */
export const shippedPolicies = {
  bloom: {
    storedName: 'leveldb.BuiltinBloomFilter2',
    parameter: 'bits per key',
    make: (bitsPerKey) => Promise.resolve(new BloomFilterPolicy(bitsPerKey)),
  },
  fitted: {
    storedName: 'leveldb.BuiltinBloomFilter2',
    // Read as LevelDB's own.
    isOnRequest: true,
    parameter: 'bits per key',
    make: (bitsPerKey) => Promise.resolve(new FittedBloomFilterPolicy(bitsPerKey)),
  },
  'goleveldb-bloom': {
    storedName: 'leveldb.BuiltinBloomFilter',
    isOnRequest: true,
    parameter: 'bits per key',
    make: (bitsPerKey) => Promise.resolve(new GoleveldbBloomFilterPolicy(bitsPerKey)),
  },
  blocked: {
    storedName: 'bloom.BlockedBloomFilter',
    parameter: 'bits per key',
    make: async (bitsPerKey) => new (await import('@bloom/policy-blocked')).BlockedBloomFilterPolicy(bitsPerKey),
  },
  ribbon: {
    storedName: 'bloom.RibbonFilter',
    parameter: 'rate of false positives',
    make: async (rate) => new (await import('@bloom/policy-ribbon')).RibbonFilterPolicy({ rate }),
  },
  fuse: {
    storedName: 'bloom.BinaryFuseFilter',
    parameter: 'bits of a fingerprint, 8 or 16',
    // The constructor checks that the number is one of these two.
    make: async (bits) => new (await import('@bloom/policy-fuse')).FuseFilterPolicy(bits as 8 | 16 | undefined),
  },
} satisfies Record<string, ShippedPolicy>;

export type ShippedPolicyName = keyof typeof shippedPolicies;

/** The policy named on the command line, such as `ribbon` or `ribbon:0.001`; undefined if `bloom` has no policy of that name. */
export async function shippedPolicy(given: string): Promise<FilterPolicy | undefined> {
  const colon = given.indexOf(':');
  const name = colon < 0 ? given : given.slice(0, colon);
  if (!Object.hasOwn(shippedPolicies, name)) return undefined;
  const { parameter, make }: ShippedPolicy = shippedPolicies[name as ShippedPolicyName];
  const text = colon < 0 ? undefined : given.slice(colon + 1);
  const isNumber = text === undefined || /^\d*\.?\d+(?:e-?\d+)?$/i.test(text);
  try {
    if (!isNumber) throw new RangeError(`${JSON.stringify(text)} is not a number`);
    return await make(text === undefined ? undefined : Number(text));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Failure(`--policy ${given}: the part after the colon is the ${parameter}: ${error.message}`, { cause: error });
  }
}

/** The policies that are used by default. */
function usualPolicies(): ShippedPolicy[] {
  return Object.values<ShippedPolicy>(shippedPolicies).filter(({ isOnRequest }) => isOnRequest !== true);
}

/** The default policies whose filters have one of these names. */
export function shippedPoliciesOf(storedNames: readonly string[]): Promise<FilterPolicy[]> {
  return Promise.all(usualPolicies().filter(({ storedName }) => storedNames.includes(storedName)).map(({ make }) => make(undefined)));
}

/** All default policies, for files whose filters are not known yet. */
export function allShippedPolicies(): Promise<FilterPolicy[]> {
  return Promise.all(usualPolicies().map(({ make }) => make(undefined)));
}
