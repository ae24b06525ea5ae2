import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { goldenDatabases, realDatabases } from '@bloom/fixtures';
import { exampleSuite } from '@bloom/fixtures/example-suite';

exampleSuite({
  root: join(import.meta.dirname, '../..'),
  atLeast: 8,
  // Those for browsers are tested there.
  includes: (code) => !code.includes('@bloom/leveldb/opfs'),
  prepare(folder) {
    cpSync(goldenDatabases().find(({ name }) => name === 'levels')!.path, join(folder, 'path/to/database'), { recursive: true });
    const indexedDb = realDatabases().find(({ comparator, open }) => comparator === 'idb_cmp1' && open === 'OK')!;
    cpSync(indexedDb.path, join(folder, 'https_example.org_0.indexeddb.leveldb'), { recursive: true });
  },
});
