// Filters a table with a custom policy: 256 bits, of which each key sets one. `policyLaws` of @bloom/policy/contract tests policies.
import { MemorySink, MemorySource, SyncTable, TableBuilder } from '@bloom/sstable';

/** @import { FilterPolicy } from '@bloom/policy' */

/** @param {Uint8Array} key */
function bitOf(key) {
  return key.reduce((hash, byte) => Math.imul(hash ^ byte, 16777619), 2166136261) >>> 24;
}

/** @type {FilterPolicy} */
const oneBit = {
  name: 'example.OneBit',
  createFilter(keys, dst) {
    const filter = dst.extend(32);
    for (const bit of [...keys].map(bitOf)) filter[bit >> 3] = (filter[bit >> 3] ?? 0) | (1 << (bit & 7));
  },
  keyMayMatch(key, filter) {
    // A filter of another length gets the answer "maybe".
    const bit = bitOf(key);
    return filter.length !== 32 || ((filter[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  },
};

const sink = new MemorySink();
const builder = new TableBuilder(sink, { filterPolicy: oneBit });
for (const word of ['apple', 'banana', 'elder']) builder.add(Buffer.from(word), Buffer.from(`${word.length} letters`));
builder.finish();

const table = SyncTable.open(new MemorySource(sink.toBytes()), { filterPolicies: [oneBit] });
for (const word of ['banana', 'bilberry', 'cherry']) {
  const value = table.get(Buffer.from(word));
  console.log(`${word}: ${value ? Buffer.from(value).toString() : 'absent'}`);
}
console.log(`lookups that the filter answered: ${table.stats.filterNegatives}`);
