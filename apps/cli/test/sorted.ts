import type { Entry } from '../src/formats/entry.js';
import type { SortedEntries } from '../src/inputs/sorted-entries.js';

/** Adds an entry. */
export function add(entries: SortedEntries, key: Uint8Array, value: Uint8Array): void {
  entries.add(Buffer.concat([key, value]), 0, key.length, key.length + value.length);
}

/** Copies of the entries in order. */
export function sortedOf(entries: SortedEntries): Entry[] {
  const sorted: Entry[] = [];
  entries.give(0, (bytes, start, keyEnd, end) => {
    sorted.push([bytes.slice(start, keyEnd), bytes.slice(keyEnd, end)]);
    return true;
  });
  return sorted;
}
