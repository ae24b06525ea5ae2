import { folderFiles, goldenDatabases } from '@bloom/fixtures';
import { encodeVersionEdit, MemoryFolder } from '@bloom/leveldb';
import { comparatorName, comparatorNameSync } from '@bloom/leveldb/inspect';
import { describe, expect, test } from 'vitest';
import { logOf } from './assemble-database.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const manifestOf = (comparator: string | undefined): Uint8Array => logOf([encodeVersionEdit({ comparator, logNumber: 1n })]);

/** What both functions say of a folder. */
async function nameIn(files: Readonly<Record<string, Uint8Array>>): Promise<string | undefined> {
  const folder = new MemoryFolder(files);
  const name = await comparatorName(folder);
  expect(comparatorNameSync(folder)).toBe(name);
  return name;
}

test.each(goldenDatabases().filter(({ comparator }) => comparator?.startsWith('test.')))('says the comparator of $name, which a reader would refuse', async ({ path, comparator }) => {
  expect(await nameIn(Object.fromEntries(folderFiles(path)))).toBe(comparator);
});

describe('the name of the comparator is that of', () => {
  test('the MANIFEST that CURRENT names, although there is a newer one', async () => {
    const files = { CURRENT: utf8('MANIFEST-000002\n'), 'MANIFEST-000002': manifestOf('two'), 'MANIFEST-000003': manifestOf('three') };
    expect(await nameIn(files)).toBe('two');
  });

  test('the newest MANIFEST that has it if CURRENT is missing, damaged or names a missing file', async () => {
    const files = { 'MANIFEST-000002': manifestOf('two'), 'MANIFEST-000010': manifestOf('ten'), 'MANIFEST-000011': manifestOf(undefined) };
    expect(await nameIn(files)).toBe('ten');
    expect(await nameIn({ ...files, CURRENT: utf8('MANIFEST-000002') })).toBe('ten');
    expect(await nameIn({ ...files, CURRENT: utf8('MANIFEST-000009\n') })).toBe('ten');
  });

  test('a record after a damaged one', async () => {
    const manifest = logOf([Uint8Array.of(99), encodeVersionEdit({ comparator: 'behind' })]);
    expect(await nameIn({ CURRENT: utf8('MANIFEST-000002\n'), 'MANIFEST-000002': manifest })).toBe('behind');
  });
});

test('a folder without a MANIFEST has no name of a comparator', async () => {
  expect(await nameIn({ '000004.log': Uint8Array.of(1, 2, 3) })).toBeUndefined();
});

test('a folder that cannot be listed is refused', async () => {
  await expect(comparatorName({ open: () => undefined })).rejects.toThrow(TypeError);
});
