/** A level that several processes share: opened by whoever gets it, its errors told apart by code. */
import { BloomLevel as ClassicLevel, type DatabaseOptions } from '@bloom/level';

interface Failure extends Error {
  readonly code?: string;
  readonly cause?: { readonly code?: string };
}

export async function openOrWait<K, V>(location: string, options: DatabaseOptions<K, V>, wait: () => Promise<void>): Promise<ClassicLevel<K, V>> {
  const db = new ClassicLevel<K, V>(location, options);
  for (;;) {
    try {
      await db.open();
      return db;
    } catch (error) {
      if ((error as Failure).code !== 'LEVEL_DATABASE_NOT_OPEN' || (error as Failure).cause?.code !== 'LEVEL_LOCKED') throw error;
      await wait();
    }
  }
}

export function describe(db: ClassicLevel<any, any>): string {
  return [db.location, db.status, db.getProperty('leveldb.stats'), String(db.supports.additionalMethods.approximateSize)].join('\n');
}

export const lengthOf = (db: ClassicLevel): number => db.location.length;
