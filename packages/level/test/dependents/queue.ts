/** A queue with bytes as keys: bounds from a key, and a chained batch that is filled and cleared. */
import { BloomLevel as ClassicLevel } from '@bloom/level';

export class Queue<T> {
  readonly #db: ClassicLevel<Buffer, T>;
  #last = 0;

  constructor(path: string) {
    this.#db = new ClassicLevel<Buffer, T>(path, { keyEncoding: 'buffer', valueEncoding: 'json', compression: true });
  }

  async push(...items: T[]): Promise<number> {
    const batch = this.#db.batch();
    for (const item of items) {
      const key = Buffer.alloc(6);
      key.writeUIntBE(++this.#last, 0, 6);
      batch.put(key, item);
    }
    if (batch.length > 1000) batch.clear();
    await batch.write({ sync: true });
    return batch.length;
  }

  async shift(): Promise<T | undefined> {
    for await (const [key, item] of this.#db.iterator({ limit: 1 })) {
      await this.#db.del(key);
      return item;
    }
    return undefined;
  }

  async trim(before: Buffer): Promise<void> {
    await this.#db.clear({ lt: before, limit: 1000 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#db.close();
  }
}
