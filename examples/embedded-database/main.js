// Keeps JSON in a database in a temporary folder: puts, a batch, a lookup, a range and a sublevel.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BloomLevel } from '@bloom/level';

/** @typedef {{ title: string, year: number }} Book */

const folder = await mkdtemp(join(tmpdir(), 'embedded-database-'));
/** @type {BloomLevel<string, Book>} */
const level = new BloomLevel(folder, { valueEncoding: 'json' });
await level.put('austen', { title: 'Emma', year: 1815 });
await level.batch([
  { type: 'put', key: 'eliot', value: { title: 'Middlemarch', year: 1871 } },
  { type: 'put', key: 'shelley', value: { title: 'Frankenstein', year: 1818 } },
]);
console.log(await level.get('austen'));
for await (const [author, { title, year }] of level.iterator({ gte: 'e' })) console.log(author, title, year);

const loans = level.sublevel('loans');
await loans.put('eliot', 'Ada');
console.log('lent to', await loans.get('eliot'));
await level.close();
await rm(folder, { recursive: true });
