// Opens the database of a folder right after it looked at standard input, and says how that went.
import { fstatSync } from 'node:fs';
import process from 'node:process';
import { Database } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';

fstatSync(0);
try {
  const database = await Database.open(new WritableNodeFolder(process.argv[2]!, { thread: false }));
  await database.close();
  process.stdout.write('opened\n');
} catch (error) {
  process.stdout.write(`${String(error)}\n`);
}
