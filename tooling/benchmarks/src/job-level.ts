// What classic-level and @bloom/level have in common.
import type { ClassicLevel } from 'classic-level';
import type { JobDatabase } from './job-database.js';

const MANY = 1000;

type Level = Pick<ClassicLevel<Uint8Array, Uint8Array>, 'open' | 'close' | 'put' | 'getSync' | 'compactRange'> & {
  batch(operations: { readonly type: 'put'; readonly key: Uint8Array; readonly value: Uint8Array }[]): Promise<void>;
  getMany(keys: Uint8Array[]): Promise<(Uint8Array | undefined)[]>;
  iterator(options: { readonly limit: number }): { nextv(size: number): Promise<[Uint8Array, Uint8Array][]>; close(): Promise<void> };
};

/** Opens a level whose keys and values are bytes. */
export async function jobsOfLevel(level: Level): Promise<JobDatabase> {
  await level.open();
  return {
    put: (key, value) => level.put(key, value),
    batch: (start, end, entryAt) =>
      level.batch(
        Array.from({ length: end - start }, (_, i) => {
          const [key, value] = entryAt(start + i);
          return { type: 'put' as const, key, value };
        }),
      ),
    compact: () => level.compactRange(new Uint8Array(0), new Uint8Array(16).fill(0xff)),
    getSync: (key) => level.getSync(key),
    getMany: (keys) => level.getMany([...keys]),
    walks: {
      async scan(limit, visit) {
        const iterator = level.iterator({ limit });
        for (let entries = await iterator.nextv(MANY); entries.length > 0; entries = await iterator.nextv(MANY)) {
          for (const [key, value] of entries) visit(key, value);
        }
        await iterator.close();
      },
    },
    close: () => level.close(),
  };
}
