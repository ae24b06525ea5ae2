import { type KeyValue, seeded } from '@bloom/fixtures';
import { MemorySource, SyncTable, Table } from '@bloom/sstable';
import { profileTable, verifyTable } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { buildTable } from '../build-table.js';
import { collect, numberedEntries, sameBytes, sameEntries, utf8 } from '../entries.js';

const MIB_8 = 2 ** 23;
const random = seeded(8);
const noise = random.bytes(MIB_8);

/** The problems with reading a table in each way. */
async function faults(bytes: Uint8Array, entries: readonly KeyValue[]): Promise<string[]> {
  const found: string[] = [];
  const syncTable = SyncTable.open(new MemorySource(bytes));
  const table = await Table.open(new MemorySource(bytes));
  const filterless = syncTable.filterStatus.state === 'used' ? [] : ['the filters are not used'];
  for (const [i, [key, value]] of entries.entries()) {
    if (!sameBytes(syncTable.get(key), value)) found.push(`SyncTable.get ${i}`);
    if (!sameBytes(await table.get(key), value)) found.push(`Table.get ${i}`);
    if (syncTable.get(Uint8Array.of(0, ...key.subarray(0, 20))) !== undefined) found.push(`absent ${i}`);
  }
  if (!sameEntries(syncTable.entries(), entries)) found.push('SyncTable.entries');
  if (!sameEntries(await collect(table), entries)) found.push('Table.entries');
  if (!sameEntries([...syncTable.entries({ reverse: true })].reverse(), entries)) found.push('reverse');
  const { findings } = await verifyTable(new MemorySource(bytes));
  return [...filterless, ...found, ...findings.map(({ code }) => code)];
}

describe.each(['none', 'snappy'] as const)('with compression %s', (compression) => {
  test('keys of 8 MiB that differ in their last byte are read back', async () => {
    const keys = [utf8('a'), ...[0, 1, 0xff].map((last) => new Uint8Array(Buffer.concat([utf8('k'), noise.subarray(2), Uint8Array.of(last)]))), utf8('z')];
    expect(keys[1]).toHaveLength(MIB_8);
    const entries = keys.map((key, i): KeyValue => [key, utf8(`value ${i}`)]);
    const bytes = buildTable(entries, { compression });
    // Keys share bytes within a block only. Each block has at least one whole key, and the index has a key for each block.
    expect(bytes.length).toBeGreaterThan(MIB_8);
    expect(await faults(bytes, entries)).toEqual([]);
  });

  test.each([
    ['that cannot be compressed', noise],
    ['of zeros', new Uint8Array(MIB_8)],
  ])('values of 8 MiB %s are read back, and so are the values between them', async (_, value) => {
    const entries = numberedEntries(7).map(([key, small], i): KeyValue => [key, i % 3 === 1 ? value : small]);
    const bytes = buildTable(entries, { compression });
    expect(bytes.length > 2 * MIB_8).toBe(compression === 'none' || value === noise);
    expect(await faults(bytes, entries)).toEqual([]);
  });

  test('the first, last and middle entries of a block of 8 MiB are found', async () => {
    const entries = numberedEntries(70_000, 120);
    const bytes = buildTable(entries, { compression, blockSize: MIB_8 });
    const table = SyncTable.open(new MemorySource(bytes));
    expect([table.blockCount, (await profileTable(new MemorySource(bytes))).rawDataBytes > MIB_8]).toEqual([2, true]);
    expect(sameEntries(table.entries(), entries)).toBe(true);
    expect(sameEntries([...table.entries({ reverse: true })].reverse(), entries)).toBe(true);
    const some = entries.filter((__, i) => i % 997 === 0 || i > 69_995);
    const wanted = some.map(([key]) => key);
    const given = some.map(([, value]) => value);
    expect(table.getMany(wanted)).toEqual(given);
    expect(await (await Table.open(new MemorySource(bytes))).getMany(wanted)).toEqual(given);
    expect(table.getMany(some.map(([key]) => Uint8Array.of(...key, 0))).filter((value) => value !== undefined)).toEqual([]);
    expect((await verifyTable(new MemorySource(bytes))).findings).toEqual([]);
  });
});
