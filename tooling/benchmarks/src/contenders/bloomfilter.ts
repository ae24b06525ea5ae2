// bloomfilter's part, with as many bits and probes as LevelDB's filter has. Keys are strings.
import { BloomFilter } from 'bloomfilter';
import { serve, type Work } from '../work.js';
import { allKeys, BITS_PER_KEY, LOOKUPS, lookupKeys, separate } from '../workload.js';

const PROBES = 6;

function strings(keys: Uint8Array): string[] {
  return separate(keys).map((key) => Buffer.from(key).toString('latin1'));
}

function filterOf(keys: readonly string[]): BloomFilter {
  const filter = new BloomFilter(keys.length * BITS_PER_KEY, PROBES);
  for (const key of keys) filter.add(key);
  return filter;
}

function build(n: number): Work {
  const keys = strings(allKeys(n));
  let filter: BloomFilter | undefined;
  return {
    units: n,
    run() {
      filter = filterOf(keys);
    },
    check: () => (filter?.test(keys[0]!) === true ? 1 : 0),
  };
}

function probe(n: number, present: boolean): Work {
  const filter = filterOf(strings(allKeys(n)));
  const lookups = strings(lookupKeys(n, present));
  let matches = 0;
  return {
    units: LOOKUPS,
    run() {
      matches = 0;
      for (const key of lookups) if (filter.test(key)) matches++;
    },
    check: () => matches,
  };
}

await serve({
  'build-filter-from-list': build,
  'probe-present': (n) => probe(n, true),
  'probe-absent': (n) => probe(n, false),
});
