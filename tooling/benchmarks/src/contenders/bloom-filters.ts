// bloom-filters' part, with as many bits and probes as LevelDB's filter has. Keys are Buffers.
import bloomFilters from 'bloom-filters';
import { serve, type Work } from '../work.js';
import { allKeys, BITS_PER_KEY, LOOKUPS, lookupKeys, separate } from '../workload.js';

const PROBES = 6;

function buffers(keys: Uint8Array): Buffer[] {
  return separate(keys).map((key) => Buffer.from(key));
}

function filterOf(keys: readonly Buffer[]): bloomFilters.BloomFilter {
  const filter = new bloomFilters.BloomFilter(keys.length * BITS_PER_KEY, PROBES);
  for (const key of keys) filter.add(key);
  return filter;
}

function build(n: number): Work {
  const keys = buffers(allKeys(n));
  let filter: bloomFilters.BloomFilter | undefined;
  return {
    units: n,
    run() {
      filter = filterOf(keys);
    },
    check: () => (filter?.has(keys[0]!) === true ? 1 : 0),
  };
}

function probe(n: number, present: boolean): Work {
  const filter = filterOf(buffers(allKeys(n)));
  const lookups = buffers(lookupKeys(n, present));
  let matches = 0;
  return {
    units: LOOKUPS,
    run() {
      matches = 0;
      for (const key of lookups) if (filter.has(key)) matches++;
    },
    check: () => matches,
  };
}

await serve({
  'build-filter-from-list': build,
  'probe-present': (n) => probe(n, true),
  'probe-absent': (n) => probe(n, false),
});
