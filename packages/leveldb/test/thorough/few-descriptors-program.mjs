// Writes and reads a database of some hundred tables with the built package: few-descriptors-program.mjs FOLDER. Prints what it found as JSON.
import { readdirSync } from 'node:fs';
import process from 'node:process';
import { Database, DatabaseReader } from '@bloom/leveldb';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';

const [path = ''] = process.argv.slice(2);
const COUNT = 20_000;
/** @param {number} i */
const key = (i) => new TextEncoder().encode(String(i).padStart(8, '0'));
const value = new Uint8Array(1000);

const options = { lock: /** @type {const} */ ('none'), compression: /** @type {const} */ ('none'), writeBufferSize: 65_536, cache: null };
const database = await Database.open(new WritableNodeFolder(path), options);
// In order, so that tables need not be merged, and there are many of them.
for (let i = 0; i < COUNT; i++) await database.put(key(i), value);
await database.idle();
const tables = readdirSync(path).filter((name) => name.endsWith('.ldb')).length;

let found = 0;
for (let i = 0; i < COUNT; i += 7) if ((await database.get(key(i)))?.length === 1000) found++;
for (let i = 3; i < COUNT; i += 70) if (database.getSync(key(i))?.length === 1000) found++;
let scanned = 0;
const cursors = [database.cursor(), database.cursor(), database.cursor()];
for (const cursor of cursors) for (let valid = await cursor.seekToFirst(); valid; valid = await cursor.next()) scanned++;
const reader = await DatabaseReader.open(new NodeFolder(path), { cache: null });
for (let i = 0; i < COUNT; i += 7) if ((await reader.get(key(i)))?.length === 1000) found++;
await reader.close();
for (const cursor of cursors) cursor.close();
// Overlaps everything, so that all tables are merged.
for (let i = 0; i < COUNT; i += 10) await database.put(key(i), value);
await database.compactRange();
let entries = 0;
for await (const entry of database.entries()) entries += entry.length / 2;
const descriptors = readdirSync('/proc/self/fd').length;
await database.close();
process.stdout.write(JSON.stringify({ tables, found, scanned, entries, descriptors }));
