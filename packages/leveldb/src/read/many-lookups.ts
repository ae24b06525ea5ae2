import { inParallel } from '../folder/folder-reading.js';
import { turn } from '../folder/pacer.js';

/**
 * Looks up the keys of a call from the first on that is not at hand.
 *
 * Where files are read at once, one after another, until a read takes longer than the event loop takes to turn: one that waits for the
 * event loop alone is over then, and the blocks of the next keys are at hand again. When each of several lookups waited for it in a way of
 * its own, keys of uncached blocks took a tenth more. All others several at once.
 *
 * @param begun the lookup of the first key.
 * @param left the numbers of those after it.
 * @param lookUp begins to look up a key, by its number. It returns undefined where all that it needs was at hand.
 */
export async function lookUpTheRest(begun: Promise<void>, left: readonly number[], lookUp: (i: number) => Promise<void> | undefined, readsAtOnce: boolean): Promise<void> {
  let next = 0;
  while (readsAtOnce && (await isOverInTurn(begun))) {
    let following: Promise<void> | undefined;
    while (following === undefined) {
      if (next === left.length) return;
      following = lookUp(left[next++]!);
    }
    begun = following;
  }
  const slow = begun;
  await inParallel(1 + left.length - next, (n) => (n === 0 ? slow : lookUp(left[next + n - 1]!)));
}

/** Whether a lookup is over when the event loop has turned. */
function isOverInTurn(lookup: Promise<void>): Promise<boolean> {
  return Promise.race([lookup.then(() => true), turn().then(() => false)]);
}
