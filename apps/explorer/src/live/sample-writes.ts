import { seeded } from '@bloom/bytes/internal';
import { WriteBatch } from '@bloom/leveldb';

/** The number of users: fewer than writes, so that most keys have several versions. */
const USERS = 600;
const OPERATIONS = 1000;
const BATCH_OPERATIONS = 50;
/** One in this many operations is a deletion. */
const DELETION_PERIOD = 10;

/** A thousand generated writes in batches. The same `round` always gives the same writes. */
export function* visits(round: number): Generator<WriteBatch> {
  const encoder = new TextEncoder();
  const random = seeded(round);
  for (let i = 0; i < OPERATIONS; i += BATCH_OPERATIONS) {
    const batch = new WriteBatch();
    for (let j = 0; j < BATCH_OPERATIONS; j++) {
      const key = encoder.encode(`user/${String(random.below(USERS)).padStart(4, '0')}`);
      if (random.below(DELETION_PERIOD) === 0) batch.delete(key);
      else batch.put(key, encoder.encode(`visit ${round * OPERATIONS + i + j}, session ${Array.from({ length: 10 }, () => random.uint32().toString(36)).join('')}`));
    }
    yield batch;
  }
}
