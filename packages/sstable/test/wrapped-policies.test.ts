import { BloomFilterPolicy, type FilterPolicy, type FilterSink, KeyBuffer, type KeyList } from '@bloom/policy';
import { MemorySink, MemorySource, SyncTable, TableBuilder } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator, internalKeyPolicy, VALUE } from '@bloom/sstable/database';
import { beforeEach, expect, test } from 'vitest';

// Policies around others, whose filters are made of other keys: where a table took a short cut past them, keys would be hidden.

const bloom = new BloomFilterPolicy(10);
const calls = { created: 0, asked: 0 };

beforeEach(() => {
  calls.created = calls.asked = 0;
});

const salted = (key: Uint8Array): Uint8Array => key.map((byte) => byte ^ 0x55);

/** The methods of `inner` for salted keys. */
function methodsAround(inner: FilterPolicy): Pick<FilterPolicy, 'createFilter' | 'keyMayMatch'> {
  return {
    createFilter(keys: KeyList, dst: FilterSink) {
      calls.created++;
      inner.createFilter(KeyBuffer.from(Array.from(keys, salted)), dst);
    },
    keyMayMatch(key: Uint8Array, filter: Uint8Array) {
      calls.asked++;
      return inner.keyMayMatch(salted(key), filter);
    },
  };
}

function proxyOf(policy: FilterPolicy): FilterPolicy {
  const methods = methodsAround(policy);
  return new Proxy(policy, {
    get(target, name) {
      const value: unknown = Reflect.get(name in methods ? methods : target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

class Subclass extends BloomFilterPolicy {
  override createFilter(keys: KeyList, dst: FilterSink): void {
    methodsAround(bloom).createFilter(keys, dst);
  }

  override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    return methodsAround(bloom).keyMayMatch(key, filter);
  }
}

const internal = internalKeyPolicy(bloom);
const copyOf = (policy: FilterPolicy): FilterPolicy => Object.create(policy, Object.getOwnPropertyDescriptors(methodsAround(policy))) as FilterPolicy;

test.each<[string, FilterPolicy, boolean]>([
  ['a subclass', new Subclass(), false],
  ['a subclass, on user keys', internalKeyPolicy(new Subclass()), true],
  ['a proxy', proxyOf(bloom), false],
  ['a proxy, on user keys', internalKeyPolicy(proxyOf(bloom)), true],
  ['a proxy of a policy on user keys', proxyOf(internal), true],
  ['an object that inherits', copyOf(bloom), false],
  ['an object that inherits from a policy on user keys', copyOf(internal), true],
  ['an instance with other methods', Object.assign(new BloomFilterPolicy(), methodsAround(bloom)), false],
  ['a copy of a policy on user keys', { ...internal, ...methodsAround(internal) }, true],
  ['a policy that has no function for ranges', Object.assign(methodsAround(bloom), { name: bloom.name, keyMayMatchRange: null as never }), false],
])('%s makes the filters and is asked', (_, filterPolicy, isInternal) => {
  const order = isInternal ? { comparator: internalKeyComparator() } : {};
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { ...order, filterPolicy, compression: 'none' });
  const userKeys = Array.from({ length: 400 }, (_key, i) => new TextEncoder().encode(`key ${String(i).padStart(6, '0')}`));
  const keys = userKeys.map((userKey) => (isInternal ? encodeInternalKey({ userKey, sequence: 1n, type: VALUE }) : userKey));
  for (const key of keys) builder.add(key, new Uint8Array(100));
  builder.finish();
  expect(calls.created).toBeGreaterThan(5);

  const table = SyncTable.open(new MemorySource(sink.toBytes()), { ...order, filterPolicies: [filterPolicy] });
  expect(table.filterStatus.state).toBe('used');
  calls.asked = 0;
  expect(keys.filter((key) => table.get(key) === undefined)).toEqual([]);
  expect(calls.asked).toBeGreaterThanOrEqual(keys.length);
});
