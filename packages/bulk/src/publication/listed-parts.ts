/** The parts that a MANIFEST lists, and the objects of a store that should be these parts. */
import type { Signal } from '@bloom/bytes';
import type { Store } from '../store/store.js';
import type { PublishedPart } from './publication.js';

/** The number of parts processed at the same time, which are held in memory. */
const PARALLEL_PARTS = 4;

/** Calls `work` for each part, for several of them at the same time. When a call fails, no further one is made. */
export async function forEachPart(parts: readonly PublishedPart[], work: (part: PublishedPart) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    try {
      for (let part = parts[next++]; part !== undefined; part = parts[next++]) await work(part);
    } catch (error) {
      next = parts.length;
      throw error;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_PARTS }, lane));
}

/** Bytes of all parts. */
export function sizeOf(parts: readonly Pick<PublishedPart, 'size'>[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0);
}

/** Bytes of each object of a store, by its name. */
export async function storedLengths(store: Pick<Store, 'list'>, signal: Signal | undefined): Promise<Map<string, number>> {
  const lengths = new Map<string, number>();
  for await (const { name, byteLength } of store.list(signal)) lengths.set(name, byteLength);
  return lengths;
}
