import { setImmediate } from 'node:timers/promises';
import { Database, type WritableFile, WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test } from 'vitest';

const key = (i: number): Uint8Array => new TextEncoder().encode(`key${String(i).padStart(6, '0')}`);

/** Counts the files that are open for writing, and fails the sync or the write of a table that it is told to. */
class FailingFolder extends WritableMemoryFolder {
  openFiles = 0;
  /** How many tables may be synced before one fails. */
  tablesUntilFailure = Infinity;
  /** How many chunks may be written to tables before one fails. */
  chunksUntilFailure = Infinity;

  override create(name: string): WritableFile {
    const file = super.create(name);
    const isTable = name.endsWith('.ldb');
    const fails = isTable && --this.tablesUntilFailure < 0;
    this.openFiles++;
    return {
      append: (bytes) => (isTable ? this.#appendLater(file, bytes) : file.append(bytes)),
      async sync() {
        // As slow as a disk: the next table is begun meanwhile.
        for (let i = 0; i < 5; i++) await setImmediate();
        if (fails) throw new Error('EIO');
        await file.sync();
      },
      close: () => {
        this.openFiles--;
        return file.close();
      },
    };
  }

  async #appendLater(file: WritableFile, bytes: Uint8Array): Promise<void> {
    // As slow as a disk: the next chunk is filled meanwhile.
    await setImmediate();
    if (--this.chunksUntilFailure < 0) throw new Error('ENOSPC');
    await file.append(bytes);
  }
}

const syncs = [0, 1, 2, 3].map((n) => ({ what: `table ${n} cannot be synced`, failure: { tablesUntilFailure: n } }));
// The table has 15 chunks or so: the first, those that the next chunk follows, and the last.
const writes = [0, 1, 2, 3, 4, 7, 14].map((n) => ({ what: `chunk ${n} cannot be written`, failure: { chunksUntilFailure: n } }));

test.each([...syncs, ...writes])('a merge of which $what ends writing, loses nothing, and leaves no file open', async ({ failure }) => {
  const folder = new FailingFolder();
  const database = await Database.open(folder, { maxFileSize: 2 ** 20, compression: 'none' });
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 4000; i++) await database.put(key(i), new Uint8Array(900).fill(round));
    await database.flush();
  }
  await database.idle();
  Object.assign(folder, failure);
  await expect(database.compactRange()).rejects.toMatchObject({ code: 'BLOOM_WRITING_ENDED' });
  await expect(database.put(key(0), key(0))).rejects.toMatchObject({ code: 'BLOOM_WRITING_ENDED' });
  for (let i = 0; i < 4000; i += 7) expect((await database.get(key(i)))![0]).toBe(1);
  await database.close();
  expect(folder.openFiles).toBe(0);

  folder.tablesUntilFailure = folder.chunksUntilFailure = Infinity;
  const again = await Database.open(folder, { maxFileSize: 2 ** 20, compression: 'none' });
  await again.compactRange();
  for (let i = 0; i < 4000; i += 7) expect((await again.get(key(i)))![0]).toBe(1);
  await again.close();
  expect(folder.openFiles).toBe(0);
});
