// Prints the contents of an IndexedDB folder of Chrome: its databases, their stores, and the first two records of each store. Without a
// path, it opens a folder of the test data.
import { join } from 'node:path';
import { inspect } from 'node:util';
import { NodeFolder } from '@bloom/leveldb/node';
import { IndexedDbReader } from '@bloom/web-storage';
import { NodeBlobFolder } from '@bloom/web-storage/node';

const sample = join(import.meta.dirname, '../../tooling/fixtures/data/real/dfindexeddb/chrome/linux_109_64/file__0.indexeddb.leveldb');
const path = process.argv[2] ?? sample;

const reader = await IndexedDbReader.open(new NodeFolder(path), { blobs: NodeBlobFolder.beside(path) });
for (const database of await reader.databases()) {
  console.log('database:', database.name);
  for (const store of database.stores) {
    console.log('store:', store.name);
    for await (const { key, value, error } of reader.records(database, store, { limit: 2 })) {
      console.log(key, error?.message ?? inspect(value, { compact: true, breakLength: Infinity }).slice(0, 60));
    }
  }
}
await reader.close();
