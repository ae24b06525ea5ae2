/** A store of quads: ranges of one level under several indexes, written by chained batches, with any kind of level. */
import type { AbstractLevel } from 'abstract-level';
import { BloomLevel as ClassicLevel } from '@bloom/level';

interface QuadStoreOptions {
  readonly backend: AbstractLevel<any, any, any>;
  readonly prefixes?: readonly string[];
}

export class QuadStore {
  readonly db: AbstractLevel<any, string, Uint8Array>;

  constructor({ backend }: QuadStoreOptions) {
    this.db = backend;
  }

  async put(quads: readonly { readonly terms: readonly string[]; readonly value: Uint8Array }[]): Promise<void> {
    const batch = this.db.batch();
    for (const { terms, value } of quads) batch.put(terms.join('\u0000'), value, { valueEncoding: 'view' });
    await batch.write();
  }

  async count(gte: string, lte: string): Promise<number> {
    let count = 0;
    for await (const key of this.db.keys({ gte, lte, keyEncoding: 'utf8' })) count += key.length > 0 ? 1 : 0;
    return count;
  }

  async first(gte: string): Promise<Uint8Array | undefined> {
    const iterator = this.db.iterator({ gte, limit: 1, valueEncoding: 'view' });
    try {
      return (await iterator.next())?.[1];
    } finally {
      await iterator.close();
    }
  }
}

export const open = (path: string): QuadStore => new QuadStore({ backend: new ClassicLevel(path) });
