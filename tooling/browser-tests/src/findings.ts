// The results of the packages for the same input, in Node and in a page.
import { allCodecs } from '@bloom/codecs';
import { BloomFilterPolicy, buildFilter, type FilterPolicy, KeyBuffer } from '@bloom/policy';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';
import { FuseFilterPolicy } from '@bloom/policy-fuse';
import { RibbonFilterPolicy } from '@bloom/policy-ribbon';
import { type Source, Table } from '@bloom/sstable';

/** More keys than the policy handles before it compiles its kernel. */
const KEY_COUNT = 10_000;

/** The policies that are tried, each with a kernel of its own except the one in cache lines. */
export const policies: Readonly<Record<string, () => FilterPolicy>> = {
  'Bloom, 1 bit': () => new BloomFilterPolicy(1),
  'Bloom, 10 bits': () => new BloomFilterPolicy(10),
  'Bloom, 16 bits': () => new BloomFilterPolicy(16),
  'blocked, 10 bits': () => new BlockedBloomFilterPolicy(10),
  'Ribbon, 1%': () => new RibbonFilterPolicy(),
  'Ribbon, 0.1%, width 128': () => new RibbonFilterPolicy({ rate: 0.001, width: 128 }),
  'fuse, 8 bits': () => new FuseFilterPolicy(8),
  'fuse, 16 bits': () => new FuseFilterPolicy(16),
};

/** A filter, and its answers for its keys and as many absent ones: one digit per key. */
export interface FilterFindings {
  readonly policy: string;
  readonly filter: string;
  readonly answers: string;
}

/** All entries of a table, and lookups of some present and absent keys. Keys and values are in hexadecimal. */
export interface TableFindings {
  readonly entries: readonly (readonly [string, string])[];
  readonly lookups: readonly (string | null)[];
}

export function filterFindings(name: string): FilterFindings {
  const policy = policies[name]!();
  const filter = buildFilter(policy, numberedKeys(0, KEY_COUNT));
  const asked = numberedKeys(0, 2 * KEY_COUNT);
  const answers = policy.keysMayMatch?.(KeyBuffer.from(asked), filter) ?? asked.map((key) => Number(policy.keyMayMatch(key, filter)));
  return { policy: name, filter: hex(filter), answers: answers.join('') };
}

export async function tableFindings(source: Source): Promise<TableFindings> {
  const table = await Table.open(source, { codecs: allCodecs });
  const entries: [string, string][] = [];
  const keys: Uint8Array[] = [];
  for await (const [key, value] of table.entries()) {
    entries.push([hex(key), hex(value)]);
    if (entries.length % 50 === 0) keys.push(key.slice(), Uint8Array.of(...key, 0));
  }
  const values = await table.getMany(keys);
  return { entries, lookups: values.map((value) => (value === undefined ? null : hex(value))) };
}

function numberedKeys(from: number, to: number): Uint8Array[] {
  const encoder = new TextEncoder();
  return Array.from({ length: to - from }, (_, i) => encoder.encode(`${(from + i) % 7 === 0 ? 'a longer name for the key ' : 'key '}${from + i}`));
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
