import { Pacer } from '../folder/pacer.js';
import type { Memtable } from './memtable.js';

/**
 * A memtable as arrays that can be sent to a thread. What they hold is up to this version of the package: only its own threads can read
 * them.
 */
export interface MemtableArrays {
  /** Keys and values. */
  readonly arena: Uint8Array;
  /** The skip list. */
  readonly nodes: Uint32Array;
}

/** How many bytes are copied from one look at the clock to the next. */
const PIECE_BYTES = 2 ** 20;

/** Copies a memtable that nothing is added to any more. That takes a tenth of the time of a walk through its entries. */
export async function copiedMemtable(memtable: Memtable): Promise<MemtableArrays> {
  const { arena, nodes } = memtable.arrays;
  const pacer = new Pacer(1);
  return {
    arena: await copied(arena, new Uint8Array(arena.length), pacer),
    nodes: await copied(nodes, new Uint32Array(nodes.length), pacer),
  };
}

async function copied<T extends Uint8Array | Uint32Array>(from: T, to: T, pacer: Pacer): Promise<T> {
  const pieceLength = PIECE_BYTES / from.BYTES_PER_ELEMENT;
  for (let start = 0; start < from.length; start += pieceLength) {
    to.set(from.subarray(start, start + pieceLength), start);
    if (pacer.isDue()) await pacer.pause();
  }
  return to;
}
