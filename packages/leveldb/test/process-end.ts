// Calls writes without waiting for them, and ends the process: process-end FOLDER CASE.
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Database, WriteBatch } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';

const [root = '', name = ''] = process.argv.slice(2);
const value = new Uint8Array(name === 'more than a memtable' ? 100_000 : 100).fill(7);

async function opened(): Promise<Database> {
  return Database.open(new WritableNodeFolder(join(root, name)), name === 'more than a memtable' ? { writeBufferSize: 65_536 } : {});
}

function putTen(database: Database): void {
  for (let i = 0; i < 10; i++) void database.put(`key ${i}`, value);
}

const cases: Record<string, () => Promise<void>> = {
  async 'after puts'() {
    putTen(await opened());
    process.exit();
  },
  async 'in the turn of an awaited put'() {
    const database = await opened();
    await database.put('key 0', value);
    putTen(database);
    process.exit();
  },
  async 'after close was called'() {
    const database = await opened();
    putTen(database);
    void database.close();
    process.exit();
  },
  async 'by an error'() {
    putTen(await opened());
    throw new Error('expected');
  },
  async 'with listeners that write'() {
    const before = await opened();
    process.on('exit', () => {
      putTen(before);
    });
    await before.put('key 0', value);
    process.on('exit', () => void before.put('key 10', value));
    process.exit();
  },
  async 'more than a memtable'() {
    putTen(await opened());
    process.exit();
  },
  async 'a batch of 200,000'() {
    const database = await opened();
    const batch = new WriteBatch();
    for (let i = 0; i < 200_000; i++) batch.put(`key ${i}`, value);
    void database.write(batch);
    void database.put('last', value);
    process.exit();
  },
  async 'in a worker thread'() {
    const worker = new Worker(new URL(import.meta.url), { argv: [root, 'after puts'] });
    await new Promise((resolve) => worker.on('exit', resolve));
  },
  async 'announced without an end'() {
    const database = await opened();
    putTen(database);
    process.emit('exit', 0);
    await setTimeout(1);
    const writing = database.put('key 10', value, { sync: true });
    putTen(database);
    await writing;
    await database.close();
    // Node has set it, because this module is still running.
    process.exitCode = 0;
  },
  async 'without a listener'() {
    const before = process.listenerCount('exit');
    const [database, other] = [await opened(), await Database.open(new WritableNodeFolder(join(root, `${name} 2`)))];
    const during = process.listenerCount('exit');
    await database.close();
    await other.close();
    process.exitCode = during === before + 1 && process.listenerCount('exit') === before ? 0 : 2;
  },
};

await cases[name]!();
