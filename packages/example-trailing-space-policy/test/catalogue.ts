import type { FilterPolicy } from '@bloom/policy';
import { MemorySink, MemorySource, TableBuilder, type TableBuilderOptions } from '@bloom/sstable';
import { trailingSpaceComparator } from '@bloom/example-trailing-space-policy';

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);

type Entries = readonly (readonly [Uint8Array, Uint8Array])[];

/** Imported records: titles padded to a fixed width of 20 bytes, except where somebody trimmed them. */
export const catalogue: Entries = [
  ['Beowulf             ', 'shelf 1'],
  ['Candide', 'shelf 2'],
  ['Dead Souls          ', 'shelf 3'],
  ['Dubliners ', 'shelf 4'],
  ['Emma', 'shelf 5'],
].map(([title, shelf]) => [utf8(title!), utf8(shelf!)] as const);

/** A table of `entries`, in memory. */
export function tableOf(entries: Entries, filterPolicy: FilterPolicy | null, options: TableBuilderOptions = {}): MemorySource {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { comparator: trailingSpaceComparator, filterPolicy, ...options });
  for (const [key, value] of entries) builder.add(key, value);
  builder.finish();
  return new MemorySource(sink.toBytes());
}
