// Files of a world that Minecraft's Marketplace encrypted are named, whatever reads them as a table.
import { foreignFolders, folderFiles } from '@bloom/fixtures';
import { CorruptionError, MemorySource, SyncTable, Table, UnsupportedError } from '@bloom/sstable';
import { encryptedContentId } from '@bloom/sstable/internal';
import { verifyTable } from '@bloom/sstable/inspect';
import { expect, test } from 'vitest';
import { caught } from '@bloom/fixtures/caught';

const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const table = folderFiles(foreignFolders().find(({ name }) => name === 'minecraft-marketplace')!.path).get('000005.ldb')!;

/** The table with other bytes from `offset` on. */
function changed(offset: number, ...bytes: readonly number[]): Uint8Array {
  const copy = table.slice();
  copy.set(bytes, offset);
  return copy;
}

test('an encrypted table is refused as such, by Table and SyncTable', async () => {
  const expected = { code: 'BLOOM_UNSUPPORTED_FORMAT', structure: 'file', offset: 0, file: 'a.ldb' };
  for (const error of [await Table.open(new MemorySource(table, 'a.ldb')).catch((thrown: unknown) => thrown), caught(() => SyncTable.open(new MemorySource(table, 'a.ldb')))]) {
    expect(error).toBeInstanceOf(UnsupportedError);
    expect(error).toMatchObject(expected);
    expect((error as UnsupportedError).problem).toContain(`encrypted by Minecraft's Marketplace (content ID ${id})`);
  }
});

test('verifyTable finds that a table is encrypted', async () => {
  const { findings } = await verifyTable(new MemorySource(table));
  expect(findings.map(({ code, structure, offset }) => [code, structure, offset])).toEqual([['BLOOM_UNSUPPORTED_FORMAT', 'file', 0]]);
});

test.each([
  ['another version', changed(0, 1)],
  ['another magic number', changed(4, 0xfd)],
  ['no content ID', changed(16, 0)],
  ['a content ID longer than the header', changed(16, 240)],
  ['a content ID that is no text', changed(17, 0x07)],
  ['fewer bytes than the header', table.subarray(0, 255)],
])('a file with %s is not an encrypted one', (_, bytes) => {
  expect(encryptedContentId(bytes.subarray(0, 256))).toBeUndefined();
  const error = caught(() => SyncTable.open(new MemorySource(bytes)));
  expect(error).toBeInstanceOf(CorruptionError);
  expect(error).toMatchObject({ code: 'BLOOM_NOT_A_TABLE' });
});

test('the content ID may have any length that fits', () => {
  const header = new Uint8Array(256);
  header.set([0xfc, 0xb9, 0xcf, 0x9b], 4);
  for (const length of [1, 8, 239]) {
    header[16] = length;
    header.fill(0x61, 17, 17 + length);
    expect(encryptedContentId(header)).toBe('a'.repeat(length));
  }
});
