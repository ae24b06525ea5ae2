/** The options of every call by their type names. */
import {
  type AdditionalIteratorOptions,
  type BatchOptions,
  type ChainedBatchWriteOptions,
  BloomLevel as ClassicLevel,
  type DatabaseOptions,
  type DelOptions,
  type GetManyOptions,
  type GetOptions,
  type HasManyOptions,
  type HasOptions,
  type OpenOptions,
  type PutOptions,
  type StartEndOptions,
} from '@bloom/level';

export interface Defaults<K, V> {
  readonly database: DatabaseOptions<K, V>;
  readonly open: OpenOptions;
  readonly get: GetOptions<K, V>;
  readonly getMany: GetManyOptions<K, V>;
  readonly has: HasOptions<K>;
  readonly hasMany: HasManyOptions<K>;
  readonly put: PutOptions<K, V>;
  readonly del: DelOptions<K>;
  readonly batch: BatchOptions<K, V>;
  readonly write: ChainedBatchWriteOptions;
  readonly walk: AdditionalIteratorOptions;
  readonly range: StartEndOptions<K>;
}

export async function tryAll<K, V>(location: string, key: K, value: V, defaults: Defaults<K, V>): Promise<void> {
  const db = new ClassicLevel<K, V>(location, { ...defaults.database, blockSize: 8192, writeBufferSize: 1 << 20, maxOpenFiles: 100, maxFileSize: 1 << 20, blockRestartInterval: 8 });
  await db.open({ ...defaults.open, passive: false });
  await db.put(key, value, defaults.put);
  await db.get(key, defaults.get);
  await db.getMany([key], defaults.getMany);
  await db.has(key, defaults.has);
  await db.hasMany([key], defaults.hasMany);
  await db.del(key, defaults.del);
  await db.batch([{ type: 'put', key, value }], defaults.batch);
  await db.batch().put(key, value).write(defaults.write);
  await db.iterator({ ...defaults.walk, limit: 1 }).all();
  await db.approximateSize(key, key, defaults.range);
  await db.compactRange(key, key, defaults.range);
  await db.close();
}
