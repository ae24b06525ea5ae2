import { seeded } from '@bloom/bytes';
import { breathe } from '../worker/serve-calls.js';

export const ABSENT_KEYS = 10_000;
/** Keys from which they are made. */
const MOST_PRESENT = 20_000;
/** After a stored key. */
const RANDOM_BYTES = 4;
/** Keys between two looks at messages. */
export const PORTION = 250;

/**
 * Keys beside keys that are there: absent ones within the tables' ranges, where only a filter saves the read. Each is a stored key
 * with four random bytes after it.
 *
 * @param seed other keys for another one.
 */
export async function absentKeys(stored: AsyncIterable<Uint8Array>, isStored: (key: Uint8Array) => Promise<boolean | undefined>, seed: number, signal: AbortSignal): Promise<Uint8Array[]> {
  const present: Uint8Array[] = [];
  for await (const key of stored) {
    present.push(key.slice());
    if (present.length === MOST_PRESENT) break;
  }
  const random = seeded(seed);
  const keys: Uint8Array[] = [];
  for (let tries = 0; keys.length < ABSENT_KEYS && tries < 2 * ABSENT_KEYS; tries++) {
    const near = present.length === 0 ? new Uint8Array(0) : random.pick(present);
    const key = new Uint8Array(near.length + RANDOM_BYTES);
    key.set(near);
    key.set(random.bytes(RANDOM_BYTES), near.length);
    // One that damage may hide is asked for too: its lookup fails, as any that comes by that block.
    if ((await isStored(key)) !== true) keys.push(key);
    if (tries % PORTION === 0) {
      signal.throwIfAborted();
      await breathe();
    }
  }
  return keys;
}
