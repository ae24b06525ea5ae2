import { Pacer } from '../folder/pacer.js';
import type { MemtableArrays } from '../folder/table-thread.js';
import type { Memtable } from '../memtable/memtable.js';

/** The number of bytes copied between two checks of the clock. */
const PIECE_BYTES = 2 ** 20;

/** Copies a memtable to which nothing more is added. For a full one of 4 MB that takes 1.5 ms; a walk through its entries takes 9. */
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
