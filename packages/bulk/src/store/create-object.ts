import type { Signal } from '@bloom/bytes';
import { BulkError } from '../part/bulk-error.js';
import { sha256Hex } from '../part/sha256.js';
import { ageMsOf, type NewObject, type Store } from './store.js';

/**
 * The age in milliseconds at which an existing object is written again, so that {@link collectGarbage} sees that it is still needed. Not
 * earlier, because some servers then change its ETag, and open readers have to refresh.
 */
export const RENEWAL_MS = 3_600_000;

/** The number of retries if the object is deleted while it is being created. */
const MAX_ATTEMPTS = 100;

/**
 * Makes sure that an object is in a store and will not soon be collected as garbage.
 *
 * @throws BulkError `BLOOM_OTHER_BYTES` when there are other bytes under its name.
 */
export async function createObject(store: Store, object: NewObject, signal?: Signal): Promise<void> {
  const { name, bytes, sha256 } = object;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (await store.create(object, signal)) return;
    const found = await store.head(name, signal);
    // It was deleted in between.
    if (found === undefined) continue;
    const stored = found.byteLength !== bytes.length ? undefined : (found.sha256 ?? (await storedSha256(store, name, signal)));
    if (stored !== sha256) {
      const problem = `${store.name} has other bytes under the name ${name}: ${found.byteLength} instead of ${bytes.length}, SHA-256 ${stored ?? 'not compared'}`;
      throw new BulkError('BLOOM_OTHER_BYTES', problem, { file: name });
    }
    if (ageMsOf(found) >= RENEWAL_MS) await store.put(object, signal);
    return;
  }
  throw new BulkError('BLOOM_STORE_FAILED', `${store.name} reports that the object ${name} exists, and also that it does not`, { file: name });
}

/** The SHA-256 of an object, computed from its bytes. */
async function storedSha256(store: Store, name: string, signal: Signal | undefined): Promise<string | undefined> {
  const found = await store.get(name, signal);
  return found && sha256Hex(found.bytes);
}
