import { MemorySource, salvageTable, SyncTable, Table, verifyTable, tableLayout } from '@bloom/sstable';
import { buildTable } from './build-table.js';
import { sameEntries, utf8, hex } from './entries.js';
import { putTogether, takeApart } from './damage.js';
import { encodeBlockHandle } from '../src/block-handle.js';
import { FilterBlockBuilder } from '@bloom/filter-block';
// long prefixes, few restarts
for (const [prefix, restartInterval, blockSize, n] of [[1000, 1000, 8192, 3000], [10000, 1e6, 65536, 20000], [100000, 1e6, 2**20, 50000], [300, 16, 4096, 3000], [50, 1e6, 2**20, 200000]] as const) {
  const p = 'p'.repeat(prefix);
  const e = Array.from({ length: n }, (_, i) => [utf8(p + String(i).padStart(7, '0')), utf8('v')] as const);
  const b = buildTable(e, { restartInterval, blockSize, compression: 'none' });
  const f = await verifyTable(new MemorySource(b));
  let c = 0; const r = await salvageTable(new MemorySource(b), () => { c++; });
  console.log(prefix, restartInterval, blockSize, b.length, 'findings', f.length, f[0]?.code, f[0]?.problem, 'salvaged', c, 'of', n);
}
