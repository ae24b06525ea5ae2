import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataPath } from '@bloom/fixtures';
import { Database, WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test } from 'vitest';
import { storePlace } from '../src/storage/entry-sources.js';
import { OpenedProfile } from '../src/storage/opened-profile.js';
import { profileOf } from '../src/storage/dropped-profile.js';
import type { RowFacts } from '../src/storage/storage-facts.js';
import { type StorageSearch, WHOLE_PROFILE } from '../src/storage/storage-place.js';
import { externalObjectsKey, filesBelow, noteKey, NOTES, opened, rewrittenNotes, samplePath, work } from './stored-profile.js';

const sample = (): OpenedProfile => opened(filesBelow(samplePath));

async function rowsOf(profile: OpenedProfile, search: Partial<StorageSearch>): Promise<RowFacts[]> {
  const list = profile.list({ ...WHOLE_PROFILE, ...search });
  while ((await profile.more(work(), list, 1000)).state === 'more');
  return profile.rows(list, 0, Infinity);
}

async function linesOf(profile: OpenedProfile, search: Partial<StorageSearch>): Promise<Record<string, unknown>[]> {
  const text = await (await profile.lines(work(), { ...WHOLE_PROFILE, ...search })).text();
  return text.split('\n').slice(0, -1).map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('the sample is described: databases, stores and indexes, origins, tabs', async () => {
  const profile = sample();
  expect((await profile.facts(work())).map(({ path, storage }) => [path, storage])).toEqual([
    [NOTES, 'indexeddb'],
    ['Local Storage/leveldb', 'local-storage'],
    ['Session Storage', 'session-storage'],
  ]);
  const [database] = await profile.outline(NOTES);
  expect(database).toMatchObject({ kind: 'database', title: 'notebook', detail: 'https://notes.example, version 3' });
  expect(database!.children.map(({ title, detail, children }) => [title, detail, children.map((index) => [index.title, index.detail])])).toEqual([
    ['notes', 'key id, numbered', [['by date', 'by changed'], ['by tag', 'by tags, each element']]],
    ['attachments', '', []],
    ['settings', 'key name', []],
  ]);
  expect((await profile.outline('Local Storage/leveldb')).map(({ title }) => title)).toEqual(['https://notes.example', 'https://shop.example']);
  expect((await profile.outline('Session Storage')).map(({ title }) => title).sort()).toEqual(['https://notes.example', 'https://shop.example']);
});

test('a folder of a storage bucket has the origin that its databases name, if one can be read', async () => {
  const files = filesBelow(join(samplePath, NOTES));
  const at = (number: number) => files.map(({ name, bytes }) => ({ name: `WebStorage/${number}/IndexedDB/indexeddb.leveldb/${name}`, bytes: number === 5 ? bytes : new Uint8Array(10) }));
  const profile = opened([...at(5), ...at(6), ...filesBelow(join(samplePath, 'Local Storage/leveldb')).map(({ name, bytes }) => ({ name: `Local Storage/leveldb/${name}`, bytes }))]);
  const facts = await profile.facts(work());
  expect(facts.map(({ title }) => title)).toEqual(['IndexedDB of https://notes.example, storage bucket 5', 'IndexedDB of storage bucket 6', 'Local Storage']);
  expect((await rowsOf(profile, {}))[0]!.where).toBe('notes.example, storage bucket 5 › notebook › notes');
  expect((await linesOf(profile, { folder: facts[0]!.path }))[0]).toMatchObject({ origin: 'https://notes.example', bucket: 5, database: 'notebook', store: 'notes' });
});

test.each([
  ['Local Storage', 'leveldb', 'Local Storage'],
  ['IndexedDB', 'indexeddb.leveldb', 'IndexedDB of https://notes.example, a storage bucket'],
  ['WebStorage', '5/IndexedDB/indexeddb.leveldb', 'IndexedDB of https://notes.example, storage bucket 5'],
  ['File System', 'Origins', 'File systems of origins'],
  ['words', 'some/leveldb', 'some/leveldb'],
])('a folder of %s that is opened alone has the title that it has in a profile', async (name, path, title) => {
  const of = name === 'Local Storage' ? 'Local Storage/leveldb' : NOTES;
  const files = filesBelow(join(samplePath, of)).map((file) => new File([file.bytes as Uint8Array<ArrayBuffer>], file.name));
  const profile = new OpenedProfile({ name, folders: [{ path, files, blobs: [] }], again: undefined });
  expect((await profile.facts(work())).map((facts) => facts.title)).toEqual([title]);
});

test('rows of a store, of an index and of everything are what was stored', async () => {
  const profile = sample();
  const store = { folder: NOTES, database: 1, store: 1 };
  const notes = await rowsOf(profile, store);
  expect(notes).toHaveLength(119);
  expect(notes[0]).toMatchObject({ key: '1', where: '', error: undefined, state: undefined });
  const byTag = await rowsOf(profile, { ...store, index: 32 });
  expect(byTag.slice(0, 2).map(({ key }) => key)).toEqual(['"books"', '"books"']);
  const list = profile.list({ ...WHOLE_PROFILE, ...store, index: 32 });
  await profile.more(work(), list, 3);
  expect(await profile.details(work(), list, 1)).toMatchObject({ key: { text: '"books"' }, primaryKey: { text: '14' }, value: { type: 'Object' } });
  const all = await rowsOf(profile, {});
  expect(all.map(({ where }) => where).filter((where, i, wheres) => wheres.indexOf(where) === i)).toEqual([
    'notes.example › notebook › notes',
    'notes.example › notebook › attachments',
    'notes.example › notebook › settings',
    'Local Storage › notes.example',
    'Local Storage › shop.example',
    'Session Storage › notes.example',
    'Session Storage › shop.example',
  ]);
});

test('a search finds texts in keys and values of all folders', async () => {
  const found = await rowsOf(sample(), { find: 'PEAR tree' });
  expect(new Set(found.map(({ where }) => where.split(' ')[0]))).toEqual(new Set(['notes.example', 'Local', 'Session']));
  expect(await rowsOf(sample(), { find: 'nowhere at all' })).toEqual([]);
});

test('a search that is stopped keeps what it found, and can be continued', async () => {
  const profile = sample();
  const list = profile.list({ ...WHOLE_PROFILE, find: 'cat', folder: NOTES });
  const stopper = new AbortController();
  const stopped = await profile.more({ signal: stopper.signal, progress: (examined) => examined === 5 && stopper.abort() }, list, 100);
  expect(stopped).toMatchObject({ examined: 5, state: 'more' });
  expect(stopped.rowCount).toBeGreaterThan(0);
  const rest = await profile.more(work(), list, 1000);
  expect(rest.state).toBe('end');
  expect(profile.rows(list, 0, 9999)).toEqual(await rowsOf(profile, { find: 'cat', folder: NOTES }));
});

test('a list that was replaced is cancelled', async () => {
  const profile = sample();
  const first = profile.list(WHOLE_PROFILE);
  profile.list(WHOLE_PROFILE);
  expect(() => profile.more(work(), first, 1)).toThrow(expect.objectContaining({ name: 'AbortError' }));
});

test('deleted and overwritten versions are shown with what became of them', async () => {
  const profile = sample();
  const versions = await rowsOf(profile, { folder: NOTES, database: 1, store: 1, hasVersions: true });
  const states = (key: string) => versions.filter((row) => row.key === key).map(({ state }) => state);
  expect(states('5').sort()).toEqual(['current', 'overwritten']);
  expect(states('7').sort()).toEqual(['deleted', 'deletion']);
  expect(states('8')).toEqual(['current']);
  const list = profile.list({ ...WHOLE_PROFILE, folder: NOTES, database: 1, store: 1, hasVersions: true, find: 'how to prune a pear tree' });
  await profile.more(work(), list, 100);
  expect(await profile.details(work(), list, 0)).toMatchObject({ key: { text: '7' }, value: { type: 'Object' }, version: { state: 'deleted', file: '000003.log' } });
});

/** The key of an item of Local Storage. */
const itemKey = (name: string): Buffer => Buffer.from(`_https://a.example\0\x01${name}`, 'latin1');

test('long keys that start alike are different records', async () => {
  const [first, second] = ['1', '2'].map((end) => `${'x'.repeat(500)}${end}`);
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder);
  await database.put('VERSION', '1');
  await database.put(itemKey(first!), '\x01a');
  await database.put(itemKey(second!), '\x01b');
  await database.delete(itemKey(first!));
  await database.close();
  const profile = opened(Array.from(folder.files(), ([name, bytes]) => ({ name: `Local Storage/leveldb/${name}`, bytes })));
  const versions = await rowsOf(profile, { hasVersions: true });
  expect(versions.map(({ value, state }) => [value, state])).toEqual([['a', 'deleted'], ['b', 'current'], ['', 'deletion']]);
});

test('a version in an obsolete table is current only if the database returns it', async () => {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder);
  await database.put('VERSION', '1');
  await database.put(itemKey('deleted'), '\x01a');
  await database.put(itemKey('overwritten'), '\x01b');
  await database.put(itemKey('kept'), '\x01c');
  await database.flush();
  const before = new Map(folder.files());
  await database.delete(itemKey('deleted'));
  await database.put(itemKey('overwritten'), '\x01d');
  await database.compactRange();
  await database.close();
  const obsolete = [...before].filter(([name]) => name.endsWith('.ldb'));
  expect(obsolete.every(([name]) => !folder.files().has(name))).toBe(true);
  const profile = opened(Array.from([...obsolete, ...folder.files()], ([name, bytes]) => ({ name: `Local Storage/leveldb/${name}`, bytes })));
  const versions = await rowsOf(profile, { hasVersions: true });
  expect(versions.map(({ value, state }) => [value, state]).sort()).toEqual([['a', 'deleted'], ['b', 'overwritten'], ['c', 'current'], ['c', 'current'], ['d', 'current']]);
});

test('versions of a database that cannot be opened have an unknown state', async () => {
  const files = filesBelow(samplePath).map((file) => (file.name === 'Local Storage/leveldb/MANIFEST-000001' ? { ...file, bytes: file.bytes.slice(0, 3) } : file));
  const versions = await rowsOf(opened(files), { folder: 'Local Storage/leveldb', hasVersions: true });
  expect(versions.length).toBeGreaterThan(0);
  expect(new Set(versions.map(({ state }) => state))).toEqual(new Set(['unknown', 'deletion']));
});

test('a file that cannot be read is a row among the versions, and the versions of other folders are read', async () => {
  class LockedFile extends File {
    override slice(): Blob {
      const blob = new Blob();
      blob.arrayBuffer = () => Promise.reject(new DOMException('The requested file could not be read.', 'NotReadableError'));
      return blob;
    }
  }
  const files = filesBelow(samplePath).map(({ name, bytes }) => {
    const isLocked = name === `${NOTES}/000003.log`;
    return { path: `profile/${name}`, file: new (isLocked ? LockedFile : File)([bytes as Uint8Array<ArrayBuffer>], name.slice(name.lastIndexOf('/') + 1)) };
  });
  const versions = await rowsOf(new OpenedProfile(profileOf(files)), { hasVersions: true });
  expect(versions[0]).toMatchObject({ key: '', error: '000003.log changed while it was read' });
  expect(versions.slice(1)).toEqual((await rowsOf(sample(), { hasVersions: true })).filter(({ where }) => !where.startsWith('notes.example')));
});

test('a record that is damaged shows its error in its row, and all others are there', async () => {
  const files = await rewrittenNotes(async (database, { value }) => {
    const damaged = value.slice();
    // Behind the envelope and the version of V8: a tag that does not exist.
    damaged.fill(0x01, 20);
    await database.put(noteKey(3), damaged);
    await database.put(noteKey(4), value.subarray(0, 40));
  });
  const profile = opened(Array.from(files, ([name, bytes]) => ({ name: `${NOTES}/${name}`, bytes })));
  const rows = await rowsOf(profile, { database: 1, store: 1 });
  expect(rows).toHaveLength(119);
  expect(rows.flatMap(({ key, error }) => (error === undefined ? [] : [key]))).toEqual(['3', '4']);
  const list = profile.list({ ...WHOLE_PROFILE, database: 1, store: 1 });
  await profile.more(work(), list, 100);
  expect(await profile.details(work(), list, 2)).toMatchObject({ key: { text: '3' }, value: undefined, failure: { code: 'BLOOM_BAD_VALUE' } });
});

test('a damaged key and a damaged description have rows of their own, and all other records are there', async () => {
  const files = await rewrittenNotes(async (database, { value }) => {
    await database.put(Uint8Array.of(0, 1, 1, 1, 9), value);
    // The key path of the store of notes.
    await database.put(Uint8Array.of(0, 1, 0, 0, 50, 1, 1), Uint8Array.of(0, 0, 9));
  });
  const profile = opened(Array.from(files, ([name, bytes]) => ({ name: `${NOTES}/${name}`, bytes })));
  expect((await profile.outline(NOTES))[0]).toMatchObject({ detail: 'https://notes.example, version 3, its description is damaged' });
  const rows = await rowsOf(profile, { database: 1, store: 1 });
  expect(rows.flatMap(({ key, error }) => (error === undefined ? [] : [[key, error]]))).toEqual([
    ['', expect.stringContaining('store 1, key path: unknown type of key path 9') as string],
    ['', expect.stringContaining('unknown type of key 9') as string],
  ]);
  expect(rows).toHaveLength(121);
  const versions = await rowsOf(profile, { database: 1, store: 1, hasVersions: true });
  expect(versions.filter(({ error }) => error !== undefined)).toMatchObject([{ key: '', state: 'current' }]);
  const lines = await linesOf(profile, { database: 1, store: 1 });
  expect(lines.filter(({ error }) => error !== undefined).map(({ key, error }) => [key, (error as { code: string }).code])).toEqual([[undefined, 'BLOOM_BAD_METADATA'], [undefined, 'BLOOM_BAD_KEY']]);
});

test('lines of versions have the members that bloom export gives them, and what became of each', async () => {
  const lines = await linesOf(sample(), { folder: NOTES, database: 1, store: 1, hasVersions: true });
  expect(lines.filter(({ key }) => key === 7).map((line) => Object.keys(line))).toEqual([
    ['origin', 'database', 'store', 'state', 'sequence', 'type', 'file', 'key', 'value'],
    ['origin', 'database', 'store', 'state', 'sequence', 'type', 'file', 'key'],
  ]);
  const [deleted, deletion] = lines.filter(({ key }) => key === 7);
  expect(deleted).toMatchObject({ state: 'deleted', type: 'value', file: '000003.log', sequence: expect.stringMatching(/^\d+$/u) as string });
  expect(deletion).toMatchObject({ state: 'deletion', type: 'deletion' });
});

test('damage of a table is a row, and what lies behind it follows', async () => {
  const files = await rewrittenNotes(async (database, { value }) => {
    for (let i = 1; i <= 3000; i++) await database.put(noteKey(i), value);
    await database.compactRange();
  });
  const [table, bytes] = [...files].filter(([name]) => /\.(?:ldb|sst)$/u.test(name)).sort(([, a], [, b]) => b.length - a.length)[0]!;
  const damaged = bytes.slice();
  damaged.fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 10);
  files.set(table, damaged);
  const profile = opened(Array.from(files, ([name, contents]) => ({ name: `${NOTES}/${name}`, bytes: contents })));
  const all = await rowsOf(profile, { database: 1, store: 1 });
  const errors = all.flatMap(({ error }, i) => (error === undefined ? [] : [i]));
  expect(errors).toHaveLength(1);
  const keys = all.filter(({ error }) => error === undefined).map(({ key }) => Number(key));
  expect(keys.length).toBeGreaterThan(2500);
  expect(keys.length).toBeLessThan(3000);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys.at(-1)).toBe(3000);
});

test('a folder that cannot be opened is a row, and the other folders are read', async () => {
  const files = filesBelow(samplePath).map((file) => (file.name === `${NOTES}/MANIFEST-000001` ? { ...file, bytes: file.bytes.slice(0, 3) } : file));
  const rows = await rowsOf(opened(files), {});
  expect(rows[0]).toMatchObject({ key: '', where: 'IndexedDB of https://notes.example', error: expect.any(String) as string });
  expect(rows.length).toBeGreaterThan(5);
});

test('a blob file that cannot be read is the error of its record, and the records after it are read', async () => {
  class LockedFile extends File {
    override arrayBuffer(): Promise<ArrayBuffer> {
      return Promise.reject(new DOMException('The requested file could not be read.', 'NotReadableError'));
    }
  }
  const files = await rewrittenNotes(async (database) => {
    // The value is in blob 9, of 4 bytes, without a type.
    await database.put(noteKey(3), Uint8Array.of(1, 0xff, 0x11, 1, 4, 0));
    await database.put(externalObjectsKey(3), Uint8Array.of(0, 9, 0, 4));
  });
  const blobs = NOTES.replace('.leveldb', '.blob');
  const profile = new OpenedProfile(
    profileOf([
      ...Array.from(files, ([name, bytes]) => ({ path: `profile/${NOTES}/${name}`, file: new File([bytes as Uint8Array<ArrayBuffer>], name) })),
      { path: `profile/${blobs}/1/00/9`, file: new LockedFile([Uint8Array.of(0xff, 15, 0x49, 2)], '9') },
    ]),
  );
  const rows = await rowsOf(profile, { database: 1, store: 1 });
  expect(rows).toHaveLength(119);
  expect(rows.flatMap(({ key, error }) => (error === undefined ? [] : [[key, error]]))).toEqual([['3', 'blob at offset 0: the file 1/00/9 cannot be read: NotReadableError']]);
  expect(await linesOf(profile, { database: 1, store: 1 })).toHaveLength(119);
  const versions = await rowsOf(profile, { database: 1, store: 1, hasVersions: true });
  expect(versions.filter(({ error }) => error !== undefined)).toMatchObject([{ key: '3' }]);
});

test('the lines of Local and Session Storage are what the page read back in Chromium', async () => {
  interface Stored {
    readonly local: readonly { readonly key: string; readonly value: string }[];
    readonly session: readonly { readonly key: string; readonly value: string }[];
  }
  const stored = JSON.parse(readFileSync(dataPath('web-storage/stored.json'), 'utf8')) as Stored;
  const profile = opened(filesBelow(join(dataPath('web-storage'), '.')).filter(({ name }) => name.includes('/')));
  expect((await profile.facts(work())).map(({ path, storage }) => [path, storage])).toEqual([
    ['page.indexeddb.leveldb', 'indexeddb'],
    ['local-storage', 'local-storage'],
    ['session-storage', 'session-storage'],
  ]);
  const text = (json: unknown): unknown => (typeof json === 'string' ? json : String.fromCharCode(...(json as { utf16: string }).utf16.match(/.{4}/gu)!.map((unit) => Number.parseInt(unit, 16))));
  for (const [folder, expected] of [['local-storage', stored.local], ['session-storage', stored.session]] as const) {
    const lines = await linesOf(profile, { folder });
    const pairs = lines.map(({ key, value }) => [text(key), text(value)]).sort();
    expect(pairs).toEqual(expected.map(({ key, value }) => [JSON.parse(key), JSON.parse(value)] as unknown[]).sort());
  }
  const records = await linesOf(profile, { folder: 'page.indexeddb.leveldb' });
  expect(records.filter(({ error }) => error !== undefined)).toEqual([]);
  expect(records).toHaveLength(67);
});

test('items without text, and with characters that cannot be seen, are in quotes in their rows', async () => {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder);
  const utf16 = (text: string): Buffer => Buffer.concat([Buffer.of(0), Buffer.from(text, 'utf16le')]);
  await database.put(Buffer.from('VERSION'), Buffer.from('1'));
  for (const [key, value] of [['', 'no key'], ['bidi\u202e', ''], ['plain', 'שלום']] as const) {
    await database.put(Buffer.concat([Buffer.from('_https://a.example\0'), utf16(key)]), utf16(value));
  }
  await database.close();
  const profile = opened(Array.from(folder.files(), ([name, bytes]) => ({ name: `Local Storage/leveldb/${name}`, bytes })));
  expect((await rowsOf(profile, {})).map(({ key, value }) => [key, value]).sort()).toEqual([
    ['""', 'no key'],
    [String.raw`"bidi\u202e"`, '""'],
    ['plain', 'שלום'],
  ]);
});

test('a row names a database and a store without a name as the outline does', () => {
  const { labels, names } = storePlace({ path: NOTES, title: 'IndexedDB of https://notes.example', bucket: undefined }, { id: 1, origin: 'https_notes.example_0@1', name: '' }, { id: 2, name: '' });
  expect(labels).toEqual(['https://notes.example', 'unnamed database', 'unnamed store']);
  expect(names).toMatchObject({ database: '', store: '' });
});
