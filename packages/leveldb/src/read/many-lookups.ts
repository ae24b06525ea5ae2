import { inParallel } from '../folder/folder-reading.js';
import { turn } from '../folder/pacer.js';

/**
 * Looks up the keys of a call from the first one whose blocks are not in memory, or after which other work is to run.
 *
 * Synchronous reads must let the event loop turn from time to time. A lookup that waits for that has ended after the next turn, and the blocks
 * of the following keys can be read synchronously again, so the keys are looked up one after another. When up to 16 lookups waited for the same
 * turn, each with its own promises, keys of uncached blocks took about a tenth more time. A lookup that has not ended after a turn waits for a
 * disk or for a thread: from then on several keys are looked up at the same time.
 *
 * @param begun the lookup of the first key.
 * @param count the number of keys that follow it.
 * @param lookUp begins the lookup of the `n`th of those. It returns undefined if everything was in memory.
 * @param readsAtOnce whether a block was read synchronously in this call, or other work is to run after the first lookup. If not, several
 *   keys are looked up at the same time from the start.
 */
export async function lookUpTheRest(begun: Promise<void>, count: number, lookUp: (n: number) => Promise<void> | undefined, readsAtOnce: boolean): Promise<void> {
  let next = 0;
  while (readsAtOnce && (await isOverInTurn(begun))) {
    let following: Promise<void> | undefined;
    while (following === undefined) {
      if (next === count) return;
      following = lookUp(next++);
    }
    begun = following;
  }
  const slow = begun;
  await inParallel(1 + count - next, (n) => (n === 0 ? slow : lookUp(next + n - 1)));
}

/** Whether a lookup has ended after the event loop's next turn. */
function isOverInTurn(lookup: Promise<void>): Promise<boolean> {
  return Promise.race([lookup.then(() => true), turn().then(() => false)]);
}
