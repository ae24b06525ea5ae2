import { Database, type WritableFile, WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test } from 'vitest';

const key = (i: number): Uint8Array => new TextEncoder().encode(`key${String(i).padStart(6, '0')}`);

/** Counts the files that are open for writing, and fails to sync the table that it is told to. */
class FailingFolder extends WritableMemoryFolder {
  openFiles = 0;
  /** How many tables may be synced before one fails. */
  tablesUntilFailure = Infinity;

  override create(name: string): WritableFile {
    const file = super.create(name);
    const fails = name.endsWith('.ldb') && --this.tablesUntilFailure < 0;
    this.openFiles++;
    return {
      append: (bytes) => file.append(bytes),
      async sync() {
        // As slow as a disk: the next table is begun meanwhile.
        for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 0));
        if (fails) throw new Error('EIO');
        await file.sync();
      },
      close: () => {
        this.openFiles--;
        return file.close();
      },
    };
  }
}

test.each([0, 1, 2, 3])('a merge whose table %i cannot be synced ends writing, loses nothing, and leaves no file open', async (table) => {
  const folder = new FailingFolder();
  const database = await Database.open(folder, { maxFileSize: 2 ** 20, compression: 'none' });
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 4000; i++) await database.put(key(i), new Uint8Array(900).fill(round));
    await database.flush();
  }
  await database.idle();
  folder.tablesUntilFailure = table;
  await expect(database.compactRange()).rejects.toMatchObject({ code: 'BLOOM_WRITING_ENDED' });
  await expect(database.put(key(0), key(0))).rejects.toMatchObject({ code: 'BLOOM_WRITING_ENDED' });
  for (let i = 0; i < 4000; i += 7) expect((await database.get(key(i)))![0]).toBe(1);
  await database.close();
  expect(folder.openFiles).toBe(0);

  folder.tablesUntilFailure = Infinity;
  const again = await Database.open(folder, { maxFileSize: 2 ** 20, compression: 'none' });
  await again.compactRange();
  for (let i = 0; i < 4000; i += 7) expect((await again.get(key(i)))![0]).toBe(1);
  await again.close();
  expect(folder.openFiles).toBe(0);
});
