// Opens a database, writes to it, and prints the result: open-database FOLDER LOCK.
import process from 'node:process';
import { Database, type DatabaseOptions } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';

const [path = '', lock] = process.argv.slice(2);
try {
  const database = await Database.open(new WritableNodeFolder(path), {
    lock: lock as DatabaseOptions['lock'],
    onEvent(event) {
      if (event.kind === 'lock-limited') process.stdout.write(`${event.message}\n`);
    },
  });
  await database.put(new Uint8Array([1]), new Uint8Array([2]), { sync: true });
  process.stdout.write(`wrote ${String(await database.get(new Uint8Array([1])))}\n`);
  await database.close();
} catch (error) {
  const { name, code, message } = error as Error & { readonly code?: string };
  process.stdout.write(`${name} ${code}: ${message}\n`);
}
