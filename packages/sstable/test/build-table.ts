import { MemorySink, TableBuilder, type TableBuilderOptions } from '@bloom/sstable';

/** The bytes of a table of `entries`. */
export function buildTable(
  entries: Iterable<readonly [Uint8Array, Uint8Array]>,
  options: TableBuilderOptions = {},
): Uint8Array {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, options);
  for (const [key, value] of entries) builder.add(key, value);
  builder.finish();
  return sink.toBytes();
}
