import { AbstractChainedBatch, type AbstractChainedBatchDelOptions, type AbstractChainedBatchPutOptions } from 'abstract-level';
import { BATCH_FORMS, type CallForm, isPlain, mustBeArguments } from './call-options.js';
import type { ChainedBatchWriteOptions } from './level-options.js';
import type { StoreBatch } from './level-store.js';
import type { Stored } from './encoding-formats.js';

/** Whether the arguments after an entry are nothing but options in which nothing has to be checked. */
function arePlain(form: CallForm, given: readonly unknown[]): boolean {
  return given.length === 1 && isPlain(form, given[0]);
}

/** The chained batch of `BloomLevel.batch()`. */
export class LevelBatch<Level, K, V> extends AbstractChainedBatch<Level, K, V> {
  readonly #batch: StoreBatch;

  constructor(level: Level, batch: StoreBatch) {
    super(level);
    this.#batch = batch;
  }

  override put(key: K, value: V): this;
  override put<K2 = K, V2 = V>(key: K2, value: V2, options: AbstractChainedBatchPutOptions<Level, K2, V2>): this;
  override put(key: unknown, value: unknown, ...given: unknown[]): this {
    if (given.length > 0 && !arePlain(BATCH_FORMS.put, given)) mustBeArguments('BloomLevel.batch().put', BATCH_FORMS.put, [key, value, ...given]);
    return super.put(key as K, value as V, given[0] as object);
  }

  override del(key: K): this;
  override del<K2 = K>(key: K2, options: AbstractChainedBatchDelOptions<Level, K2>): this;
  override del(key: unknown, ...given: unknown[]): this {
    if (given.length > 0 && !arePlain(BATCH_FORMS.del, given)) mustBeArguments('BloomLevel.batch().del', BATCH_FORMS.del, [key, ...given]);
    return super.del(key as K, given[0] as object);
  }

  override clear(): this;
  override clear(...given: unknown[]): this {
    if (given.length > 0) mustBeArguments('BloomLevel.batch().clear', BATCH_FORMS.clear, given);
    return super.clear();
  }

  override write(options?: ChainedBatchWriteOptions): Promise<void>;
  override write(...given: unknown[]): Promise<void> {
    try {
      if (given.length > 0) mustBeArguments('BloomLevel.batch().write', BATCH_FORMS.write, given);
    } catch (error) {
      return Promise.reject(error);
    }
    return super.write(given[0] as ChainedBatchWriteOptions);
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
