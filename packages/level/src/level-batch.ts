import { AbstractChainedBatch } from 'abstract-level';
import type { ChainedBatchWriteOptions } from './level-options.js';
import type { StoreBatch } from './level-store.js';
import type { Stored } from './stored-format.js';

/** The chained batch of `BloomLevel.batch()`. */
export class LevelBatch<Level, K, V> extends AbstractChainedBatch<Level, K, V> {
  readonly #batch: StoreBatch;

  constructor(level: Level, batch: StoreBatch) {
    super(level);
    this.#batch = batch;
  }

  override write(options?: ChainedBatchWriteOptions): Promise<void> {
    return super.write(options!);
  }

  protected _put(key: Stored, value: Stored): void {
    this.#batch.put(key, value);
  }

  protected _del(key: Stored): void {
    this.#batch.delete(key);
  }

  protected _clear(): void {
    this.#batch.clear();
  }

  protected _write(options: ChainedBatchWriteOptions | undefined): Promise<void> {
    return this.#batch.write(options?.sync === true);
  }
}
