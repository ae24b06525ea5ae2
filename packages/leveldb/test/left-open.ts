// Opens databases without ever closing or keeping them, collects the garbage, and says whether the folders are still locked: left-open FOLDER.
import { join } from 'node:path';
import process from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { Database } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';

const [root = ''] = process.argv.slice(2);
const collectGarbage = (globalThis as { readonly gc?: () => void }).gc!;
const collected: number[] = [];
const registry = new FinalizationRegistry<number>((i) => void collected.push(i));

async function open(i: number): Promise<void> {
  const database = await Database.open(new WritableNodeFolder(join(root, String(i))));
  registry.register(database, i);
  await database.put(new Uint8Array([i]), new Uint8Array(1000));
  await database.flush();
  await database.get(new Uint8Array([i]));
}

for (let i = 0; i < 3; i++) await open(i);
for (let round = 0; round < 20 && collected.length < 3; round++) {
  collectGarbage();
  await setImmediate();
}
const outcomes: string[] = [];
for (let i = 0; i < 3; i++) {
  const outcome = await Database.open(new WritableNodeFolder(join(root, String(i)))).then(
    () => 'opened',
    (error: unknown) => (error as { readonly code: string }).code,
  );
  outcomes.push(outcome);
}
process.stdout.write(JSON.stringify({ collected: collected.length, outcomes }));
