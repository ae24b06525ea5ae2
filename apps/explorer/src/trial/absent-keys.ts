import { seeded } from '@bloom/bytes/internal';
import { commonTail, neighboursOf } from '@bloom/policy/internal';
import { KeySet } from '@bloom/report';
import { breather } from '../worker/serve-calls.js';

export const ABSENT_KEYS = 10_000;
/** The most stored keys from which absent keys are made. */
const MOST_PRESENT = 20_000;
/** The number of random bytes after a stored key. */
const RANDOM_BYTES = 4;
/** The number of keys between two checks for messages. */
export const PORTION = 250;

/**
 * Absent keys close to stored ones, within the tables' ranges, where only a filter saves the read. Each is a stored key
 * with four random bytes after it.
 *
 * @param seed a different seed gives different keys.
 */
export async function absentKeys(stored: AsyncIterable<Uint8Array>, isStored: (key: Uint8Array) => Promise<boolean | undefined>, seed: number, signal: AbortSignal): Promise<Uint8Array[]> {
  const present = await firstOf(stored);
  const random = seeded(seed);
  const breathe = breather();
  const keys: Uint8Array[] = [];
  for (let tries = 0; keys.length < ABSENT_KEYS && tries < 2 * ABSENT_KEYS; tries++) {
    const near = present.length === 0 ? new Uint8Array(0) : random.pick(present);
    const key = new Uint8Array(near.length + RANDOM_BYTES);
    key.set(near);
    key.set(random.bytes(RANDOM_BYTES), near.length);
    // A key that may be hidden by damage is kept too. Its lookup fails, like every lookup that reaches the damaged block.
    if ((await isStored(key)) !== true) keys.push(key);
    if (tries % PORTION === 0) {
      signal.throwIfAborted();
      await breathe();
    }
  }
  return keys;
}

/**
 * The absent neighbours of stored keys: keys whose number is greater or less by one to three, nearest first. There may be
 * fewer than {@link ABSENT_KEYS}; in a table of all numbers, only the keys after its last one.
 *
 * @param seed a different seed gives different keys if there are more than enough.
 */
export async function absentNeighbours(stored: AsyncIterable<Uint8Array>, isStored: (key: Uint8Array) => Promise<boolean | undefined>, seed: number, signal: AbortSignal): Promise<Uint8Array[]> {
  const present = await firstOf(stored);
  const random = seeded(seed);
  const order = Array.from(present, (_, i) => i);
  for (let i = order.length - 1; i > 0; i--) {
    const other = random.below(i + 1);
    [order[i], order[other]] = [order[other]!, order[i]!];
  }
  const keys: Uint8Array[] = [];
  const seen = new KeySet();
  const breathe = breather();
  for (const [n, i] of order.entries()) {
    if (keys.length >= ABSENT_KEYS) break;
    const key = present[i]!;
    const beside = present[i === 0 ? 1 : i - 1];
    for (const neighbour of neighboursOf(key, beside === undefined ? 0 : commonTail(beside, key))) {
      if ((await isStored(neighbour)) === true) continue;
      if (seen.add(neighbour)) keys.push(neighbour);
      break;
    }
    if (n % PORTION === 0) {
      signal.throwIfAborted();
      await breathe();
    }
  }
  return keys;
}

async function firstOf(stored: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const keys: Uint8Array[] = [];
  for await (const key of stored) {
    keys.push(key.slice());
    if (keys.length === MOST_PRESENT) break;
  }
  return keys;
}
