// Publishes a database in a folder, and then an update. An open reader refreshes to it. `@bloom/bulk/s3` does the same with a bucket.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assemble, publish, readPublication, writeParts } from '@bloom/bulk';
import { FolderStore } from '@bloom/bulk/node';
import { DatabaseReader } from '@bloom/leveldb';
import { NodeFolder } from '@bloom/leveldb/node';

const folder = await mkdtemp(join(tmpdir(), 'publish-'));
const store = new FolderStore(folder);

/**
 * @param {bigint} sequence higher than in the last delivery
 * @param {[key: string, value: string | undefined][]} entries in the order of their keys; `undefined` deletes a key
 */
async function deliver(sequence, entries) {
  const bytes = entries.map(([key, value]) => /** @type {const} */ ([Buffer.from(key), value === undefined ? undefined : Buffer.from(value)]));
  const parts = [];
  for await (const part of writeParts(store, [bytes], { sequence })) parts.push(part);
  await publish(store, await assemble(store, parts, { previous: await readPublication(store) }));
}

/** @param {DatabaseReader} reader */
async function show(reader) {
  for await (const [key, value] of reader.entries()) console.log(Buffer.from(key).toString(), Buffer.from(value).toString());
}

await deliver(1n, [['apple', '3'], ['banana', '5']]);
const reader = await DatabaseReader.open(new NodeFolder(folder));
await show(reader);
await deliver(2n, [['apple', undefined], ['cherry', '7']]);
await reader.refresh();
console.log('after the update:');
await show(reader);
await reader.close();
await rm(folder, { recursive: true });
