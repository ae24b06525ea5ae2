/** A memtable cannot grow enough for an entry: positions in it have 32 bits, and the host may have too little memory. */
export class MemtableFull extends RangeError {}

/** Positions in the arena, and those of nodes, are stored as uint32. */
const MAX_POSITION = 2 ** 32 - 1;

/** A copy of `array` with room for `length` items, and for as many again where that can be had. @throws MemtableFull when there is no room. */
export function grown<Items extends Uint8Array | Uint32Array>(array: Items, length: number, make: (length: number) => Items): Items {
  if (length > MAX_POSITION) throw new MemtableFull(`a memtable would need ${length} positions, the limit is ${MAX_POSITION}`);
  let larger: Items;
  try {
    larger = make(Math.min(MAX_POSITION, Math.max(length, array.length * 2)));
  } catch {
    try {
      larger = make(length);
    } catch (cause) {
      throw new MemtableFull(`there is not enough memory for a memtable of ${length} positions`, { cause });
    }
  }
  larger.set(array);
  return larger;
}
