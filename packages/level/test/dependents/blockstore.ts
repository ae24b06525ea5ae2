/** A blockstore: an option of any level, `getMany` over an async source, and a range without bounds. */
import type { AbstractLevel } from 'abstract-level';
import { BloomLevel as ClassicLevel } from '@bloom/level';

type Source<T> = AsyncIterable<T> | Iterable<T>;

export class Blockstore {
  public store: AbstractLevel<string | Buffer | Uint8Array, string, Uint8Array>;

  constructor(path: string | AbstractLevel<string | Buffer | Uint8Array, string, Uint8Array>) {
    this.store = typeof path === 'string' ? new ClassicLevel<string, Uint8Array>(path, { keyEncoding: 'utf8', valueEncoding: 'view' }) : path;
  }

  async *getMany(source: Source<string>): AsyncGenerator<Uint8Array> {
    for await (const key of source) {
      const value = await this.store.get(key);
      if (value !== undefined) yield value;
    }
  }

  async has(key: string): Promise<boolean> {
    return this.store.has(key);
  }

  async *getAll(): AsyncGenerator<[string, Uint8Array]> {
    yield* this.store.iterator();
  }

  async open(): Promise<void> {
    await this.store.open();
  }
}
