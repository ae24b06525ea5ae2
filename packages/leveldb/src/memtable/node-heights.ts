import { ParkMiller } from './park-miller.js';

/** The most levels of a skip list. */
export const MAX_HEIGHT = 12;
/** One node in this many reaches the next level. */
const BRANCHING = 4;

/**
 * The heights of nodes, the same in every memtable, as in LevelDB: it counts their memory, and switches logs by it.
 *
 * Source: LevelDB, util/random.h and db/skiplist.h, `RandomHeight`.
 */
export class NodeHeights {
  readonly #random = new ParkMiller(0xdeadbeef);

  next(): number {
    let height = 1;
    while (height < MAX_HEIGHT && this.#random.next() % BRANCHING === 0) height++;
    return height;
  }
}
