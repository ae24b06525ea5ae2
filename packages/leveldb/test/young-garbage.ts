// Opens, uses and closes databases, and prints how many bytes each leaves in V8's old generation.
import process from 'node:process';
import { getHeapSpaceStatistics } from 'node:v8';
import { Database, WritableMemoryFolder } from '@bloom/leveldb';

const ROUNDS = 20;
const DATABASES_PER_ROUND = 10;
const collect = (globalThis as unknown as { readonly gc: (options?: { readonly type: 'minor' }) => void }).gc;
const oldBytes = (): number => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')!.space_used_size;

async function useDatabase(): Promise<void> {
  const database = await Database.open(new WritableMemoryFolder());
  await database.put('key', 'value');
  await database.get('key');
  for await (const [key] of database.entries()) if (key.length === 0) throw new Error('no key');
  await database.close();
}

async function useMany(): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < DATABASES_PER_ROUND; i++) await useDatabase();
    // What survives two collections of the young generation moves to the old one.
    collect({ type: 'minor' });
    collect({ type: 'minor' });
  }
}

await useMany();
collect();
const before = oldBytes();
await useMany();
const after = oldBytes();
process.stdout.write(String(Math.round((after - before) / (ROUNDS * DATABASES_PER_ROUND))));
