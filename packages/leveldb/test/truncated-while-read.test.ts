import { DatabaseReader, type Folder, MemoryFolder, SyncDatabaseReader, type SyncFolder, type SyncFolderFile } from '@bloom/leveldb';
import { describe, expect, test } from 'vitest';
import { asMap, entriesOf, someDatabase } from './some-database.js';
import { collect } from './collect.js';

/** A folder in which a file is truncated between being opened and being read, as often as `times` says. */
class TruncatedFolder extends MemoryFolder {
  readonly #pattern: RegExp;
  #times: number;

  constructor(files: ReadonlyMap<string, Uint8Array>, pattern: RegExp, times: number) {
    super(files);
    this.#pattern = pattern;
    this.#times = times;
  }

  override open(name: string): SyncFolderFile | undefined {
    const file = super.open(name);
    if (file === undefined || !this.#pattern.test(name) || this.#times === 0) return file;
    this.#times--;
    // The writer had allocated a mebibyte of zeros.
    const byteLength = file.byteLength + 2 ** 20;
    return { byteLength, name, read: (offset, length) => file.read(Math.min(offset, file.byteLength), Math.max(0, Math.min(length, file.byteLength - offset))) };
  }
}

/** The same with promises. */
const slow = (folder: SyncFolder): Folder => ({ list: () => Promise.resolve(folder.list()), open: (name) => Promise.resolve(folder.open(name)) });

describe.each([
  { kind: 'log', pattern: /log$/ },
  { kind: 'MANIFEST', pattern: /^MANIFEST/ },
])('a $kind that its writer truncates while it is read', ({ pattern }) => {
  test.each(['strict', 'skip'] as const)('is read again, with damage: %j', async (damage) => {
    const { files, entries } = await someDatabase(4);
    const reader = SyncDatabaseReader.open(new TruncatedFolder(files, pattern, 1), { damage });
    expect(asMap([...reader.entries()])).toEqual(entries);
    expect(reader.describe().dropped).toEqual([]);
    reader.close();
    const other = await DatabaseReader.open(slow(new TruncatedFolder(files, pattern, 1)), { damage });
    expect(asMap(await collect(other.entries()))).toEqual(entries);
    await other.close();
  });

  test('is an error if it is not as long as it says when it is read again', async () => {
    const { files } = await someDatabase(4);
    expect(() => SyncDatabaseReader.open(new TruncatedFolder(files, pattern, Infinity))).toThrow(expect.objectContaining({ code: 'BLOOM_TRUNCATED' }));
    await expect(DatabaseReader.open(slow(new TruncatedFolder(files, pattern, Infinity)))).rejects.toMatchObject({ code: 'BLOOM_TRUNCATED' });
  });
});

describe('a log in which a writer replaces zeros by records while it is read', () => {
  /** A folder whose log has zeros in place of some records, as often as `times` says. */
  async function zeroedFolder(times: number): Promise<{ readonly folder: SyncFolder; readonly entries: Map<string, string> }> {
    const { files, entries } = await someDatabase(4);
    const folder = new MemoryFolder(files);
    let left = times;
    const read = (name: string): Uint8Array => {
      const bytes = files.get(name)!.slice();
      return name.endsWith('.log') && left-- > 0 ? bytes.fill(0, 100, 200) : bytes;
    };
    return { folder: { list: () => folder.list(), open: (name) => (files.has(name) ? new MemoryFolder(new Map([[name, read(name)]])).open(name) : undefined) }, entries };
  }

  test('is read again, and is damaged if they are still there', async () => {
    const { folder, entries } = await zeroedFolder(1);
    const reader = SyncDatabaseReader.open(folder);
    expect(asMap([...reader.entries()])).toEqual(entries);
    reader.close();
    const other = await DatabaseReader.open(slow((await zeroedFolder(1)).folder));
    expect(asMap(await collect(other.entries()))).toEqual(entries);
    await other.close();
    for (const maxRestarts of [0, 100]) {
      const damaged = (await zeroedFolder(Infinity)).folder;
      expect(() => SyncDatabaseReader.open(damaged, { maxRestarts })).toThrow(expect.objectContaining({ code: 'BLOOM_BAD_LOG' }));
    }
  });
});

test.each(['strict', 'skip'] as const)('a table that is short only for a moment is opened again, with damage: %j', async (damage) => {
  const { files, entries } = await someDatabase(4);
  let shortened = 1;
  const folder = new MemoryFolder(files);
  const open = folder.open.bind(folder);
  folder.open = (name) => {
    const file = open(name);
    if (file === undefined || !name.endsWith('.ldb') || shortened-- <= 0) return file;
    return { byteLength: file.byteLength - 1, name, read: (offset, length) => file.read(offset, length) };
  };
  const reader = SyncDatabaseReader.open(folder, { damage });
  expect(asMap([...reader.entries()])).toEqual(entries);
  expect(reader.describe().dropped).toEqual([]);
  reader.close();
  expect(asMap(await entriesOf(new MemoryFolder(files)))).toEqual(entries);
});
