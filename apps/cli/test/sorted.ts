import type { Entry } from '../src/formats/entry.js';
import { EntryBatch } from '../src/formats/entry-batch.js';
import type { SortedEntries } from '../src/inputs/sorted-entries.js';

/** Adds an entry. */
export function add(entries: SortedEntries, key: Uint8Array, value: Uint8Array): void {
  entries.add(Buffer.concat([key, value]), 0, key.length, key.length + value.length);
}

/** Copies of the entries in order. */
export function sortedOf(entries: SortedEntries): Entry[] {
  const batch = new EntryBatch();
  entries.fill(batch, 0, Infinity);
  return Array.from({ length: batch.length }, (_, i) => [batch.key(i).slice(), batch.value(i).slice()]);
}
