import type { PackedEntries } from '../folder/table-thread.js';
import type { Memtable } from '../memtable/memtable.js';
import type { Pacer } from '../folder/pacer.js';

/** Copies the entries of a memtable that nothing is added to any more. */
export async function packedEntries(memtable: Memtable, pacer: Pacer): Promise<PackedEntries> {
  const places = new Uint32Array(3 * memtable.count);
  let end = 0;
  let i = 0;
  for (let node = memtable.first; node !== 0; node = memtable.after(node)) {
    if (memtable.isCopy(node)) continue;
    const start = memtable.keyStart(node);
    const keyLength = memtable.keyLength(node);
    const valueLength = memtable.valueLength(node);
    places[i++] = start;
    places[i++] = keyLength;
    places[i++] = valueLength;
    end = Math.max(end, start + keyLength + valueLength);
    if (pacer.isDue()) await pacer.pause();
  }
  const bytes = new Uint8Array(end);
  bytes.set(memtable.arena.subarray(0, end));
  return { bytes, places: places.slice(0, i) };
}
