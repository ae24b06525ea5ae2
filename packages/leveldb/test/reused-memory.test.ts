// Lookups that wait for a block, beside others that read into the memory of evicted ones meanwhile.
import { DatabaseReader, type Folder, type FolderFile, MemoryFolder } from '@bloom/leveldb';
import { BlockCache } from '@bloom/sstable';
import { expect, test } from 'vitest';
import { assembleDatabase } from './assemble-database.js';

const KEYS = Array.from({ length: 600 }, (_, i) => new TextEncoder().encode(`key ${String(i).padStart(3, '0')}`));
const valueOf = (i: number): Uint8Array => new Uint8Array(40).fill(i);

/** Of five reads two wait: a read that is not at hand is asked for again. All that wait are answered together, so that the calls go on among each other. */
function folderOf(files: Map<string, Uint8Array>): Folder {
  const memory = new MemoryFolder(files);
  let reads = 0;
  let waiting: (() => void)[] = [];
  const answer = (): void => {
    const answered = waiting;
    waiting = [];
    for (const resolve of answered) resolve();
  };
  return {
    list: () => memory.list(),
    open(name): FolderFile | undefined {
      const file = memory.open(name);
      return file && {
        byteLength: file.byteLength,
        read: (offset, length) => new Promise((resolve) => {
          if (waiting.push(() => resolve(file.read(offset, length))) === 1) setImmediate(answer);
        }),
        readAtOnce(offset, length, into) {
          if (reads++ % 5 >= 3) return undefined;
          const bytes = into ?? new Uint8Array(length);
          bytes.set(file.read(offset, length));
          return bytes;
        },
      };
    },
  };
}

test.each(['none', 'snappy'] as const)('concurrent lookups of a database with a cache of a few blocks get their own values, compression %s', async (compression) => {
  // Every key is in the deep level, and every third key also, with the value that counts, in the one above it.
  const version = (i: number, isNew: boolean) => ({ key: KEYS[i]!, sequence: isNew ? 1000 + i : 1 + i, value: isNew ? valueOf(i) : valueOf(i % 3 === 0 ? 255 : i) });
  const all = KEYS.map((_, i) => i);
  const files = assembleDatabase({
    tables: [
      { level: 1, number: 2, versions: all.filter((i) => i % 3 === 0).map((i) => version(i, true)) },
      { level: 2, number: 3, versions: all.map((i) => version(i, false)) },
    ],
    build: { blockSize: 300, compression },
  });
  await using reader = await DatabaseReader.open(folderOf(files), { cache: new BlockCache(2000) });
  const wrong: number[] = [];
  const { signal } = new AbortController();
  const caller = async (first: number): Promise<void> => {
    for (let n = 0, i = first; n < 150; n++, i = (i * 7 + 1) % KEYS.length) {
      const value = n % 5 === 4 ? (await reader.getMany([KEYS[i]!, KEYS[0]!]))[0] : await reader.get(KEYS[i]!, n % 2 === 0 ? { signal } : undefined);
      if (value?.length !== 40 || value.some((byte) => byte !== (i & 0xff))) wrong.push(i);
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, c) => caller(c * 31)));
  expect(wrong).toEqual([]);
});
