import { realTables } from '@bloom/fixtures';
import { BloomFilterPolicy } from '@bloom/policy';
import { MemorySource, snappyCodec, type Source } from '@bloom/sstable';
import { DatabaseTable, encodeInternalKey, internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import { outlineTable, profileTable } from '@bloom/sstable/inspect';
import { expect, test } from 'vitest';
import { buildTable } from './build-table.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const entries = Array.from({ length: 500 }, (_, i) => [utf8(`key ${String(i).padStart(4, '0')}`), utf8(`value ${i} `.repeat(20))] as const);
const sound = buildTable(entries);

test('blocks are counted by their codec', async () => {
  const { dataBlocks, codecs } = await profileTable(new MemorySource(sound));
  expect(dataBlocks).toBeGreaterThan(5);
  expect(codecs).toEqual({ snappy: dataBlocks });
  expect((await profileTable(new MemorySource(buildTable(entries, { compression: 'none' })))).codecs).toEqual({ none: dataBlocks });
  expect(snappyCodec.name).toBe('snappy');
});

test('the deletions of a database’s table are counted', async () => {
  let all = 0;
  for (const { bytes } of realTables().filter(({ file }) => /^(forensicsim|dfindexeddb)/.test(file))) {
    const source = new MemorySource(bytes());
    const table = await DatabaseTable.open(source);
    let deletions = 0;
    for await (const { kind } of table) if (kind === 'deletion') deletions++;
    await table.close();
    const profile = await profileTable(source, { comparator: internalKeyComparator() });
    expect(profile.deletions).toBe(deletions);
    all += deletions;
  }
  expect(all).toBeGreaterThan(0);
  expect((await profileTable(new MemorySource(sound))).deletions).toBeUndefined();
});

test('what can be read of a damaged table is counted where damage is skipped', async () => {
  const { offsets, sizes } = await outlineTable(new MemorySource(sound));
  const whole = await profileTable(new MemorySource(sound));
  expect(whole).toEqual(await profileTable(new MemorySource(sound), { damage: 'skip' }));
  expect(whole.damagedBlocks).toBe(0);
  const damaged = sound.slice();
  damaged[offsets[1]! + 9]! ^= 1;
  await expect(profileTable(new MemorySource(damaged))).rejects.toMatchObject({ code: 'BLOOM_BAD_CHECKSUM' });
  const skipped = await profileTable(new MemorySource(damaged), { damage: 'skip' });
  expect(skipped).toMatchObject({ damagedBlocks: 1, dataBlocks: whole.dataBlocks, storedDataBytes: whole.storedDataBytes, codecs: whole.codecs });
  expect(skipped.entries).toBeLessThan(whole.entries);
  expect(skipped.entries).toBeGreaterThan(0);

  const unknownCodec = sound.slice();
  unknownCodec[offsets[1]! + sizes[1]!] = 77;
  expect((await profileTable(new MemorySource(unknownCodec), { damage: 'skip' })).codecs).toEqual({ snappy: whole.dataBlocks - 1, 'type 77': 1 });
});

test('a table without a footer, or with a damaged filter, has no filters in use where damage is skipped', async () => {
  const noTable = await profileTable(new MemorySource(sound.slice(0, -1)), { damage: 'skip' });
  expect(noTable).toMatchObject({ entries: 0, dataBlocks: 0, filters: 0 });
  const { kinds, offsets } = await outlineTable(new MemorySource(sound));
  const damaged = sound.slice();
  damaged[offsets[kinds.indexOf(1)]! + 2]! ^= 1;
  expect(await profileTable(new MemorySource(damaged), { damage: 'skip' })).toMatchObject({ entries: entries.length, filters: 0, filterBytes: 0 });
});

test('any other word for damage is refused', async () => {
  await expect(profileTable(new MemorySource(sound), { damage: 'ignore' as never })).rejects.toThrow("damage must be 'fail' or 'skip'");
});

test('the filters of a remote table are counted', async () => {
  // The filters of so many keys do not come with the end of the file.
  const local = new MemorySource(buildTable(Array.from({ length: 60_000 }, (_, i) => [utf8(String(1e6 + i)), utf8('')] as const)));
  const remote: Source = { byteLength: local.byteLength, isRemote: true, read: (offset, length) => local.read(offset, length) };
  const profile = await profileTable(remote);
  expect(profile.filters).toBeGreaterThan(0);
  expect(profile).toEqual(await profileTable(local));
  expect(profile).toEqual(await profileTable(remote, { damage: 'skip' }));
});

test('the filters of a table of a database are found with its comparator', async () => {
  const comparator = internalKeyComparator();
  const keys = Array.from({ length: 300 }, (_, i) => encodeInternalKey({ userKey: utf8(`key ${String(i).padStart(4, '0')}`), sequence: 7n, type: 1 }));
  const bytes = buildTable(keys.map((key) => [key, utf8('value')] as const), { comparator, filterPolicy: internalKeyPolicy(new BloomFilterPolicy()) });
  const { filters, filterBytes } = await profileTable(new MemorySource(bytes), { comparator, filterPolicies: [internalKeyPolicy(new BloomFilterPolicy())] });
  expect(filters).toBeGreaterThan(0);
  expect(await profileTable(new MemorySource(bytes), { comparator })).toMatchObject({ filters, filterBytes });
  expect(await profileTable(new MemorySource(bytes), { comparator, filterPolicies: [] })).toMatchObject({ filters: 0, filterBytes: 0 });
});
