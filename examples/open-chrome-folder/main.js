// Lists the databases and counts the entries in a folder that Chrome's IndexedDB wrote. Without a path it opens a folder of the test data.
import { join } from 'node:path';
import { DatabaseReader } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { NodeFolder } from '@bloom/leveldb/node';

const sample = join(import.meta.dirname, '../../tooling/fixtures/data/real/dfindexeddb/chrome/linux_109_64/file__0.indexeddb.leveldb');

/** Keys that begin so have the origin and the name of a database, each as a length and UTF-16 code units, the high bytes first. */
const DATABASE_NAME = Buffer.from([0, 0, 0, 0, 201]);

/** @param {Uint8Array} key */
function databaseName(key) {
  const nameStart = DATABASE_NAME.length + 1 + 2 * (key[DATABASE_NAME.length] ?? 0) + 1;
  return Buffer.from(key.subarray(nameStart)).swap16().toString('utf16le');
}

const folder = new NodeFolder(process.argv[2] ?? sample);
const database = await DatabaseReader.open(folder, { comparators: [idbComparator], filterPolicies: [idbFilterPolicy] });
let entries = 0;
for await (const key of database.keys()) {
  entries++;
  if (DATABASE_NAME.equals(key.subarray(0, DATABASE_NAME.length))) console.log('database:', databaseName(key));
}
console.log('entries:', entries);
await database.close();
