/** A datastore: strings to bytes, batches as arrays of operations, and queries by prefix. */
import { type BatchOperation, BloomLevel as ClassicLevel, type DatabaseOptions, type IteratorOptions, type OpenOptions } from '@bloom/level';

export class Datastore {
  db: ClassicLevel<string, Uint8Array>;
  private readonly options: OpenOptions;

  constructor(path: string | ClassicLevel<string, Uint8Array>, options: DatabaseOptions<string, Uint8Array> = {}) {
    this.db = typeof path === 'string' ? new ClassicLevel<string, Uint8Array>(path, { ...options, keyEncoding: 'utf8', valueEncoding: 'view' }) : path;
    this.options = { createIfMissing: true, compression: false, ...(options.multithreading === undefined ? {} : { multithreading: options.multithreading }) };
  }

  async open(): Promise<void> {
    try {
      await this.db.open(this.options);
    } catch (error) {
      throw new Error('cannot open', { cause: error });
    }
  }

  async get(key: string): Promise<Uint8Array> {
    const data = await this.db.get(key);
    if (data == null) throw new Error(`not found: ${key}`);
    return data;
  }

  async commit(puts: ReadonlyMap<string, Uint8Array>, deleted: readonly string[]): Promise<void> {
    const operations: BatchOperation<ClassicLevel<string, Uint8Array>, string, Uint8Array>[] = [];
    for (const [key, value] of puts) operations.push({ type: 'put', key, value });
    for (const key of deleted) operations.push({ type: 'del', key });
    await this.db.batch(operations);
  }

  async *query(prefix: string, values: boolean): AsyncGenerator<{ key: string; value: Uint8Array }> {
    const options: IteratorOptions<string, Uint8Array> = { keys: true, values, gte: prefix, lt: `${prefix}\uffff` };
    for await (const [key, value] of this.db.iterator(options)) yield { key, value };
  }

  close(): Promise<void> {
    return this.db.close();
  }
}
