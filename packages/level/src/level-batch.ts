import { type Database, WriteBatch } from '@bloom/leveldb';
import { AbstractChainedBatch } from 'abstract-level';
import { levelErrorOf } from './level-error.js';
import type { ByteFormats } from './level-host.js';
import type { ChainedBatchWriteOptions } from './level-options.js';
import { bytesOf, type Stored } from './stored-format.js';

/** The chained batch of `BloomLevel.batch()`. */
export class LevelBatch<Level, K, V> extends AbstractChainedBatch<Level, K, V> {
  readonly #database: () => Database;
  readonly #formats: ByteFormats;
  readonly #batch = new WriteBatch();

  /** @param database asked for when the batch is written. */
  constructor(level: Level, database: () => Database, formats: ByteFormats) {
    super(level);
    this.#database = database;
    this.#formats = formats;
  }

  override write(options?: ChainedBatchWriteOptions): Promise<void> {
    return super.write(options!);
  }

  protected _put(key: Stored, value: Stored): void {
    this.#batch.put(bytesOf(this.#formats, key), bytesOf(this.#formats, value));
  }

  protected _del(key: Stored): void {
    this.#batch.delete(bytesOf(this.#formats, key));
  }

  protected _clear(): void {
    this.#batch.clear();
  }

  protected async _write(options: ChainedBatchWriteOptions | undefined): Promise<void> {
    try {
      await this.#database().write(this.#batch, { sync: options?.sync === true });
    } catch (error) {
      throw levelErrorOf(error);
    }
  }
}
