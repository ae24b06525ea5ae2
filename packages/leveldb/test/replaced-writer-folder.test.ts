import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Database, DatabaseReader } from '@bloom/leveldb';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { afterAll, afterEach, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';

const root = mkdtempSync(join(tmpdir(), 'bloom-replaced-'));
const start = process.cwd();
afterEach(() => process.chdir(start));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);
const contents = (path: string): Map<string, string> => new Map(readdirSync(path).map((name) => [name, readFileSync(join(path, name)).toString('latin1')]));

async function fill(database: Database, value: string, count = 200): Promise<void> {
  for (let i = 0; i < count; i++) await database.put(utf8(`key${i}`), utf8(value.repeat(500)));
}

test('a database opened by a relative path writes there after the current directory has changed', async () => {
  const [here, there] = [mkdtempSync(join(root, 'here-')), mkdtempSync(join(root, 'there-'))];
  process.chdir(there);
  const other = await Database.open(new WritableNodeFolder('db'));
  await fill(other, 'other');
  await other.close();
  process.chdir(here);
  const database = await Database.open(new WritableNodeFolder('db'), { writeBufferSize: 65_536 });
  process.chdir(there);
  const before = contents(join(there, 'db'));
  await fill(database, 'mine');
  await database.compactRange();
  const reader = await DatabaseReader.open(new NodeFolder(join(here, 'db')));
  expect((await collect(reader.keys())).length).toBe(200);
  await reader.close();
  await database.close();
  expect(contents(join(there, 'db'))).toEqual(before);
  const again = await Database.open(new WritableNodeFolder(join(here, 'db')));
  expect(text(await again.get(utf8('key199')))).toBe('mine'.repeat(500));
  await again.close();
});

test('a reader opened by a relative path refreshes from there after the current directory has changed', async () => {
  const here = mkdtempSync(join(root, 'here-'));
  process.chdir(here);
  const database = await Database.open(new WritableNodeFolder('db'));
  const reader = await DatabaseReader.open(new NodeFolder('db'));
  process.chdir(root);
  await database.put(utf8('a'), utf8('1'));
  expect(await reader.refresh()).toBe(true);
  expect(text(await reader.get(utf8('a')))).toBe('1');
  await reader.close();
  await database.close();
});

const replacements: [string, (path: string) => Promise<void>][] = [
  [
    'deleted',
    (path) => {
      rmSync(path, { recursive: true });
      return Promise.resolve();
    },
  ],
  [
    'deleted and made again',
    async (path) => {
      rmSync(path, { recursive: true });
      const other = await Database.open(new WritableNodeFolder(path));
      await fill(other, 'new');
      await other.close();
    },
  ],
  [
    'renamed, and another has its name',
    async (path) => {
      renameSync(path, `${path}-before`);
      mkdirSync(path);
      const other = await Database.open(new WritableNodeFolder(path));
      await fill(other, 'new');
      await other.flush();
      await other.close();
    },
  ],
];

test.each(replacements.flatMap(([name, replace]) => (['folder', 'none'] as const).map((lock) => [name, lock, replace] as const)))(
  'a writer whose folder was %s, with lock: %j, stops, and changes nothing of what is there now',
  async (_, lock, replace) => {
    const path = join(mkdtempSync(join(root, 'replaced-')), 'db');
    const database = await Database.open(new WritableNodeFolder(path, { thread: false }), { lock, writeBufferSize: 65_536 });
    await fill(database, 'old', 10);
    await replace(path);
    const list = (): Map<string, string> | undefined => (readdirSync(join(path, '..')).includes('db') ? contents(path) : undefined);
    const before = list();
    let failure: unknown;
    for (let i = 0; i < 1000 && failure === undefined; i++) failure = await rejection(database.put(utf8(`more${i}`), utf8('x'.repeat(500))));
    expect(failure).toMatchObject({ code: 'BLOOM_WRITING_ENDED', cause: { code: 'BLOOM_FOLDER_CHANGED' } });
    // What is in memory can still be read.
    expect(text(await database.get(utf8('key7')))).toBe('old'.repeat(500));
    await database.close();
    expect(list()).toEqual(before);
    if (before === undefined) return;
    const other = await Database.open(new WritableNodeFolder(path));
    expect(text(await other.get(utf8('key7')))).toBe('new'.repeat(500));
    expect(await other.get(utf8('more0'))).toBeUndefined();
    await other.close();
  },
);

test('a synced write is refused once the log was deleted, rather than acknowledged and lost', async () => {
  const path = mkdtempSync(join(root, 'log-'));
  const database = await Database.open(new WritableNodeFolder(path));
  await database.put(utf8('a'), utf8('1'), { sync: true });
  for (const name of readdirSync(path)) if (name.endsWith('.log')) rmSync(join(path, name));
  expect(await rejection(database.put(utf8('b'), utf8('2'), { sync: true }))).toMatchObject({
    code: 'BLOOM_WRITING_ENDED',
    cause: { code: 'BLOOM_FOLDER_CHANGED', message: expect.stringContaining('.log was deleted') as string },
  });
  await database.close();
});
