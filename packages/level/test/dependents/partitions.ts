/** A wrapper around a level or a sublevel: partitions, signals, and a factory that callers replace. */
import type { AbstractBatchOperation, AbstractDatabaseOptions, AbstractIteratorOptions, AbstractLevel } from 'abstract-level';
import { BloomLevel as ClassicLevel } from '@bloom/level';

export type LevelDatabase<V> = AbstractLevel<string | Buffer | Uint8Array, string, V>;
export type LevelDatabaseOptions<V> = AbstractDatabaseOptions<string, V>;

export async function createLevelDatabase<V>(location: string, options?: LevelDatabaseOptions<V>): Promise<LevelDatabase<V>> {
  return new ClassicLevel<string, V>(location, options);
}

export interface PartitionConfig<V> {
  location: string;
  createLevelDatabase?: typeof createLevelDatabase;
  options?: LevelDatabaseOptions<V>;
}

export class Partition<V> {
  private db: LevelDatabase<V> | undefined;

  constructor(private readonly config: PartitionConfig<V>, db?: LevelDatabase<V>) {
    this.db = db;
  }

  async open(): Promise<void> {
    while (this.db?.status === 'opening' || this.db?.status === 'closing') await new Promise((resolve) => setTimeout(resolve, 10));
    this.db ??= await (this.config.createLevelDatabase ?? createLevelDatabase)<V>(this.config.location, { keyEncoding: 'utf8', ...this.config.options });
    if (this.db.status === 'closed') await this.db.open();
  }

  async partition(name: string): Promise<Partition<V>> {
    await this.open();
    return new Partition(this.config, this.db!.sublevel<string, V>(name, { keyEncoding: 'utf8' }));
  }

  async *iterator(options: AbstractIteratorOptions<string, V>, signal?: AbortSignal): AsyncGenerator<[string, V]> {
    signal?.throwIfAborted();
    for await (const entry of this.db!.iterator(options)) yield entry;
  }

  async batch(operations: AbstractBatchOperation<LevelDatabase<V>, string, V>[]): Promise<void> {
    await this.db!.batch(operations);
  }

  async clear(): Promise<void> {
    await this.db!.clear();
  }
}
