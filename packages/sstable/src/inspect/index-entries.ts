import { type Place, VarintReader } from '@bloom/bytes';
import { type BlockHandle, readBlockHandle } from '../format/block-handle.js';
import { WholeBlockWalk } from '../format/whole-block-walk.js';
import type { FindingList } from './finding.js';

/** An entry of an index that may be damaged. */
export interface IndexEntry {
  /** A view that is valid until the next entry. */
  readonly separator: Uint8Array;
  /** Undefined when the handle cannot be read. */
  readonly handle: BlockHandle | undefined;
  /** Position of the entry in the index block. */
  readonly entryStart: number;
}

/** The most restarts to sort if they are not ascending. */
const MAX_SORTED_RESTARTS = 2 ** 20;

/**
 * Goes through an index, and past damage: after an entry that cannot be read, it continues at the next restart.
 *
 * The same contents always give the same entries.
 *
 * @param findings receives what is wrong with the block itself.
 */
export function* indexEntries(contents: Uint8Array, place: Place, findings: FindingList): Generator<IndexEntry, void, undefined> {
  const walk = new WholeBlockWalk(place.structure, place.file);
  try {
    walk.reset(contents, place.offset);
  } catch (error) {
    findings.addError(error);
    return;
  }
  /** The number of the first restart at which no entry was found yet. */
  let restart = 0;
  let reached = -1;
  let isDamaged = false;
  for (const number of restartsInOrder(walk)) {
    if (walk.restartOffset(number) <= reached) continue;
    try {
      for (let more = walk.seekToRestart(number); more; more = walk.next()) {
        const { entryStart } = walk;
        reached = entryStart;
        if (restart < walk.restartCount && walk.restartOffset(restart) === entryStart) restart++;
        yield { separator: walk.key, handle: readBlockHandle(new VarintReader(contents, walk.valueStart, walk.valueEnd)), entryStart };
      }
      break;
    } catch (error) {
      reached = Math.max(reached, walk.restartOffset(number));
      isDamaged = true;
      if (findings.addError(error).code === 'BLOOM_TOO_LARGE') return;
    }
  }
  // A block without entries has one restart, where no entry starts.
  if (restart < walk.restartCount && !isDamaged && !(reached < 0 && walk.restartCount === 1)) {
    const offset = walk.restartOffset(restart);
    findings.add('BLOOM_BAD_RESTART', place, () => `restart ${restart} is at byte ${offset}, where no entry starts or an earlier restart points`);
  }
}

/** The numbers of the restarts, in ascending order of their offsets. */
function* restartsInOrder(walk: WholeBlockWalk): Generator<number, void, undefined> {
  const { restartCount } = walk;
  let isAscending = true;
  for (let i = 1; i < restartCount && isAscending; i++) isAscending = walk.restartOffset(i) > walk.restartOffset(i - 1);
  if (isAscending || restartCount > MAX_SORTED_RESTARTS) {
    for (let i = 0; i < restartCount; i++) yield i;
    return;
  }
  const numbers = Uint32Array.from({ length: restartCount }, (_, i) => i);
  yield* numbers.sort((a, b) => walk.restartOffset(a) - walk.restartOffset(b) || a - b);
}
