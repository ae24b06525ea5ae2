// Builds the README's catalogue with the wrong policy and with the right one, and looks titles up.
import { MemorySink, MemorySource, SyncTable, TableBuilder, type TableBuilderOptions } from '@bloom/sstable';
import { trailingSpaceComparator as comparator, TrailingSpacePolicy } from './index.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Titles as they were imported, some padded to 20 bytes, and where each book is. */
const books = [
  ['Beowulf             ', 'shelf 1'],
  ['Candide', 'shelf 2'],
  ['Dead Souls          ', 'shelf 3'],
] as const;

function tableOf(options: TableBuilderOptions): MemorySource {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, options);
  for (const [title, shelf] of books) builder.add(utf8(title), utf8(shelf));
  builder.finish();
  return new MemorySource(sink.toBytes());
}

try {
  tableOf({ comparator });
} catch (error) {
  console.log(`without TrailingSpacePolicy: ${String(error).split('. ')[0]}`);
}

const policy = new TrailingSpacePolicy();
const table = SyncTable.open(tableOf({ comparator, filterPolicy: policy }), { comparator, filterPolicies: [policy] });
for (const title of ['Beowulf', 'Candide ', 'Dead Souls', ' Candide', 'Carmilla']) {
  const shelf = table.get(utf8(title));
  console.log(`"${title}": ${shelf === undefined ? 'not here' : new TextDecoder().decode(shelf)}`);
}
console.log(`lookups that the filters ended without a read: ${table.stats.filterNegatives}`);
