// The command `count` of tooling/native/src/leveldb-database.cc, with Database: count-database FOLDER SECONDS EVERY [BALLAST].
//
// It continues from the last count in the database, and prints every EVERYth count once it is written. Every SYNCED_COUNTth
// write is synced. BALLAST is the most bytes of padding. With much of it, buffers are large too, so that a worker thread writes
// the tables.
import { writeSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { Database, WriteBatch } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';

const SYNCED_COUNT = 20;

const [path = '', seconds = '1', every = '64', ballast = '600'] = process.argv.slice(2);
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const open = (): Promise<Database> => Database.open(new WritableNodeFolder(path), { writeBufferSize: Number(ballast) * 107, maxFileSize: 1 << 20 });

/** Prints synchronously, because buffered output is lost when the process is killed. Waits while the pipe is full, because its reader is busy. */
async function print(line: string): Promise<void> {
  for (;;) {
    try {
      writeSync(1, line);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      await delay(1);
    }
  }
}

const end = Date.now() + Number(seconds) * 1000;
let database = await open();
const before = await database.get(utf8('count'));
for (let i = Number(before === undefined ? 0 : new TextDecoder().decode(before)) + 1; Date.now() < end; i++) {
  const batch = new WriteBatch()
    .put(utf8('count'), utf8(`${i}`))
    .put(utf8(`slot${i % 200}`), utf8(`${i} ${'x'.repeat((i * 7919) % Number(ballast))}`))
    .put(utf8(`gone${i % 10}`), utf8(`${i}`))
    .delete(utf8(`gone${(i - 1) % 10}`));
  await database.write(batch, { sync: i % SYNCED_COUNT === 0 });
  if (i % Number(every) === 0) await print(`${i}\n`);
  if (i % 5000 === 0) {
    await database.close();
    database = await open();
  }
}
await database.close();
