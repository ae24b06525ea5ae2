/** A controller of bytes to bytes behind an interface of one's own, with options of reading and a size. */
import { BloomLevel as ClassicLevel, type IteratorOptions, type KeyIteratorOptions, type ValueIteratorOptions } from '@bloom/level';

export interface FilterOptions<K> {
  gt?: K;
  gte?: K;
  lt?: K;
  lte?: K;
  reverse?: boolean;
  limit?: number;
}

export interface KeyValue<K, V> {
  key: K;
  value: V;
}

export interface DatabaseController<K, V> {
  get(key: K): Promise<V | null>;
  batchPut(items: KeyValue<K, V>[]): Promise<void>;
  keysStream(options?: FilterOptions<K>): AsyncIterable<K>;
  entries(options?: FilterOptions<K>): Promise<KeyValue<K, V>[]>;
  values(options?: FilterOptions<K>): Promise<V[]>;
  approximateSize(start: K, end: K): Promise<number>;
  compactRange(start: K, end: K): Promise<void>;
  close(): Promise<void>;
}

enum Status {
  started = 'started',
  closed = 'closed',
}

export class LevelDbController implements DatabaseController<Uint8Array, Uint8Array> {
  private status = Status.started;

  constructor(private readonly db: ClassicLevel<Uint8Array, Uint8Array>) {}

  static async create(name: string): Promise<LevelDbController> {
    const db = new ClassicLevel<Uint8Array, Uint8Array>(name, { keyEncoding: 'binary', valueEncoding: 'binary', multithreading: true });
    try {
      await db.open();
    } catch (error) {
      if ((error as { cause?: { code?: string } }).cause?.code === 'LEVEL_LOCKED') throw new Error('already in use');
      throw error;
    }
    return new LevelDbController(db);
  }

  async get(key: Uint8Array): Promise<Uint8Array | null> {
    return (await this.db.get(key)) ?? null;
  }

  getMany(keys: Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.db.getMany(keys);
  }

  batchPut(items: KeyValue<Uint8Array, Uint8Array>[]): Promise<void> {
    return this.db.batch(items.map(({ key, value }) => ({ type: 'put', key, value })));
  }

  batchDelete(keys: Uint8Array[]): Promise<void> {
    return this.db.batch(keys.map((key) => ({ type: 'del', key })));
  }

  keysStream(options: FilterOptions<Uint8Array> = {}): AsyncIterable<Uint8Array> {
    const given: KeyIteratorOptions<Uint8Array> = options;
    return this.db.keys(given);
  }

  async entries(options: FilterOptions<Uint8Array> = {}): Promise<KeyValue<Uint8Array, Uint8Array>[]> {
    const given: IteratorOptions<Uint8Array, Uint8Array> = options;
    return (await this.db.iterator(given).all()).map(([key, value]) => ({ key, value }));
  }

  values(options: FilterOptions<Uint8Array> = {}): Promise<Uint8Array[]> {
    const given: ValueIteratorOptions<Uint8Array, Uint8Array> = options;
    return this.db.values(given).all();
  }

  approximateSize(start: Uint8Array, end: Uint8Array): Promise<number> {
    return this.db.approximateSize(start, end);
  }

  compactRange(start: Uint8Array, end: Uint8Array): Promise<void> {
    return this.db.compactRange(start, end);
  }

  async close(): Promise<void> {
    if (this.status === Status.closed) return;
    this.status = Status.closed;
    await this.db.close();
  }
}
