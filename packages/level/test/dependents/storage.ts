/** A storage as a function that returns methods, with the encoding as a parameter. */
import { BloomLevel as ClassicLevel } from '@bloom/level';

export interface Storage<V> {
  put(hash: string, data: V): Promise<void>;
  del(hash: string): Promise<void>;
  get(hash: string): Promise<V | undefined>;
  iterator(options?: { amount?: number; reverse?: boolean }): AsyncGenerator<[string, V]>;
  merge(other: Storage<V>): Promise<void>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

export async function createStorage<V = Uint8Array>({ path = './level', valueEncoding = 'view' }: { path?: string; valueEncoding?: string } = {}): Promise<Storage<V>> {
  const db = new ClassicLevel<string, V>(path, { valueEncoding, createIfMissing: true });
  await db.open();
  const put = async (hash: string, data: V): Promise<void> => db.put(hash, data);
  return {
    put,
    del: (hash) => db.del(hash),
    get: (hash) => db.get(hash),
    async *iterator({ amount, reverse } = {}) {
      for await (const [key, value] of db.iterator({ limit: amount ?? -1, reverse: reverse ?? false })) yield [key, value];
    },
    async merge(other) {
      for await (const [key, value] of other.iterator()) await put(key, value);
    },
    clear: () => db.clear(),
    close: () => db.close(),
  };
}
