// Writes trailing-space.kv, its tables and trailing-space.json into tooling/fixtures/data/golden.

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { formatKv, type GoldenTableRow } from '@bloom/fixtures';
import { nativeLevelDb, nativeUnavailableReason } from './index.js';
import { trailingSpaceEntries } from './trailing-space.js';

const golden = fileURLToPath(new URL('data/golden/', import.meta.resolve('@bloom/fixtures/package.json')));
const comparator = 'trailing-space';
const input = 'trailing-space.kv';

const variants = [
  { table: 'trailing-space-bits10.ldb', blockSize: 4096, blockRestartInterval: 16, bitsPerKey: 10 },
  { table: 'trailing-space-nofilter.ldb', blockSize: 4096, blockRestartInterval: 16, bitsPerKey: null },
  { table: 'trailing-space-block256-restart1-bits10.ldb', blockSize: 256, blockRestartInterval: 1, bitsPerKey: 10 },
  { table: 'trailing-space-block1024-restart3-bits16.ldb', blockSize: 1024, blockRestartInterval: 3, bitsPerKey: 16 },
];

const native = nativeLevelDb();
if (native === undefined) {
  throw new Error(`the goldens are written by LevelDB, which is not available: ${nativeUnavailableReason() ?? ''}`);
}

const entries = trailingSpaceEntries();
writeFileSync(golden + input, formatKv(entries));

const rows = variants.map((variant): GoldenTableRow => {
  const bytes = native.build(entries, { ...variant, comparator });
  writeFileSync(golden + variant.table, bytes);
  return {
    table: variant.table,
    input,
    comparator,
    entries: entries.length,
    blockSize: variant.blockSize,
    blockRestartInterval: variant.blockRestartInterval,
    bitsPerKey: variant.bitsPerKey,
    compression: 'none',
    byteExact: true,
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
});
writeFileSync(`${golden}trailing-space.json`, `[\n${rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n')}\n]\n`);

for (const { table, size } of rows) console.log(`${table}: ${size} bytes`);
