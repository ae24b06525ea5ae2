// What readers and databases have in common: reads with promises and without, versions, and closing.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClosedError, Database, DatabaseReader, type Folder, MemoryFolder, SyncDatabaseReader, WritableMemoryFolder } from '@bloom/leveldb';
import { storedEntries, storedEntriesSync } from '@bloom/leveldb/inspect';
import { BackgroundThread, WritableNodeFolder } from '@bloom/leveldb/node';
import { seeded } from '@bloom/bytes/internal';
import { expect, test } from 'vitest';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const small = { writeBufferSize: 65_536, maxFileSize: 2 ** 20, blockSize: 1024 };

/**
 * A database with entries in memory, in level 0 and deeper, some of them deleted or overwritten.
 *
 * @param hold the number of the last writes that are not seen at its oldest snapshot, which is never released.
 */
async function filled(folder: WritableMemoryFolder | WritableNodeFolder, hold = 0): Promise<Database> {
  const database = await Database.open(folder, { ...small, cache: null });
  const random = seeded(3);
  for (let i = 0; i < 3000; i++) {
    if (i === 3000 - hold) database.snapshot();
    const key = utf8(`key ${random.below(700)}`);
    if (random.below(5) === 0) await database.delete(key);
    else await database.put(key, random.bytes(random.below(200)));
    if (i === 1000) await database.compactRange();
    if (i === 2000) await database.flush();
  }
  await database.idle();
  return database;
}

test.each(['in memory', 'in Node.js'])('the reads of a database without promises give what those with promises give, %s', async (kind) => {
  const path = await mkdtemp(join(tmpdir(), 'bloom-sync-'));
  try {
    const database = await filled(kind === 'in memory' ? new WritableMemoryFolder() : new WritableNodeFolder(path, { thread: false }), 700);
    const keys = Array.from({ length: 710 }, (_, i) => utf8(`key ${i}`));
    for (const options of [{}, { sequence: database.lastSequence - 700n }]) {
      expect(database.getManySync(keys, options)).toEqual(await database.getMany(keys, options));
      expect(database.hasManySync(keys, options)).toEqual(await database.hasMany(keys, options));
      const wrong: number[] = [];
      for (const [i, key] of keys.entries()) {
        const value = await database.get(key, options);
        if (database.hasSync(key, options) !== (value !== undefined) || (await database.has(key, options)) !== (value !== undefined)) wrong.push(i);
        const versions = database.versionsSync(key, options);
        if (JSON.stringify(versions.map(String)) !== JSON.stringify((await database.versions(key, options)).map(String))) wrong.push(i);
        // The newest version up to the sequence is what is visible.
        const [newest] = versions;
        if ((newest?.kind === 'value' ? newest.value : undefined)?.join() !== value?.join()) wrong.push(i);
      }
      expect(wrong).toEqual([]);
      for (const range of [options, { ...options, reverse: true }, { ...options, gt: keys[20]!, lte: keys[400]!, limit: 100 }]) {
        const entries = await collect(database.entries(range));
        expect(entries.length).toBeGreaterThan(50);
        expect([...database.entriesSync(range)]).toEqual(entries);
        expect([...database.keysSync(range)]).toEqual(entries.map(([key]) => key));
        expect([...database.valuesSync(range)]).toEqual(entries.map(([, value]) => value));
      }
      const [cursor, later] = [database.cursorSync(options), database.cursor(options)];
      expect([cursor.seek(keys[333]!), cursor.next(), cursor.prev(), cursor.next()]).toEqual([await later.seek(keys[333]!), await later.next(), await later.prev(), await later.next()]);
      expect([new Uint8Array(cursor.key), new Uint8Array(cursor.value)]).toEqual([new Uint8Array(later.key), new Uint8Array(later.value)]);
      cursor.close();
      later.close();
    }
    await database.close();
  } finally {
    await rm(path, { recursive: true });
  }
});

test('a walk without promises shows the state in which it began, while the database is written and compacted', async () => {
  const database = await filled(new WritableMemoryFolder());
  const expected = [...database.entriesSync()];
  const walk = database.entriesSync();
  const seen = Array.from({ length: 5 }, () => walk.next().value as [Uint8Array, Uint8Array]);
  for (let i = 0; i < 700; i++) await database.delete(utf8(`key ${i}`));
  await database.compactRange();
  expect([...seen, ...walk]).toEqual(expected);
  expect([...database.entriesSync()]).toEqual([]);
  const left = database.keysSync();
  await database.close();
  expect(caught(() => left.next())).toEqual(new ClosedError('the database is closed'));
});

test('the reads of a database without promises refuse a folder that answers with promises', async () => {
  const files = new WritableMemoryFolder();
  await (await filled(files)).close();
  class Promising extends WritableMemoryFolder {
    override open(name: string): ReturnType<WritableMemoryFolder['open']> {
      return Promise.resolve(super.open(name)) as never;
    }
  }
  const database = await Database.open(new Promising(files.files()));
  const cursor = database.cursorSync();
  const calls = [() => [...database.entriesSync()], () => cursor.seekToFirst(), () => database.versionsSync(utf8('key 5'))];
  for (const call of calls) expect((caught(call) as Error).message).toContain('the folder returned a promise');
  cursor.close();
  await database.close();
});

test('versions up to a sequence are those that were written until then, in all readers', async () => {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder);
  const key = utf8('a');
  await database.put(key, utf8('1'));
  await database.flush();
  await database.delete(key);
  await database.put(key, utf8('3'));
  const kinds = (versions: readonly { readonly kind: string; readonly sequence: bigint }[]): string => versions.map(({ kind, sequence }) => `${sequence} ${kind}`).join(', ');
  const reader = await DatabaseReader.open(new MemoryFolder(folder.files()));
  const syncReader = SyncDatabaseReader.open(new MemoryFolder(folder.files()));
  for (const [sequence, expected] of [
    [undefined, '3 value, 2 deletion, 1 value'],
    [2n ** 64n, '3 value, 2 deletion, 1 value'],
    [2n, '2 deletion, 1 value'],
    [1n, '1 value'],
    [0n, ''],
  ] as const) {
    const found = [await database.versions(key, { sequence }), database.versionsSync(key, { sequence }), await reader.versions(key, { sequence }), syncReader.versions(key, { sequence })];
    expect(found.map(kinds)).toEqual(Array.from(found, () => expected));
  }
  expect((await database.versions(key))[0]).toEqual({ kind: 'value', key, sequence: 3n, value: utf8('3'), file: expect.stringMatching(/\.log$/) as string, level: undefined });
  expect(await rejection(database.versions(key, { signal: AbortSignal.abort(new Error('enough')) }))).toMatchObject({ message: 'enough' });
  await database.close();
  await reader.close();
  syncReader.close();
});

test('readers, cursors, snapshots and threads close at the end of a using block', async () => {
  const written = new WritableMemoryFolder();
  const database = await Database.open(written);
  await database.put(utf8('a'), utf8('1'));
  await database.flush();
  const snapshot = database.snapshot();
  await database.put(utf8('a'), utf8('2'));
  await database.flush();
  await database.compactRange();
  expect(await database.versions(utf8('a'))).toHaveLength(2);
  snapshot[Symbol.dispose]();
  await database.put(utf8('a'), utf8('3'));
  await database.compactRange();
  // Nobody holds the old version any more.
  expect(await database.versions(utf8('a'))).toHaveLength(1);
  const folder = new MemoryFolder(written.files());
  const reader = await DatabaseReader.open(folder);
  const syncReader = SyncDatabaseReader.open(folder);
  const cursors = [database.cursor(), database.cursorSync(), reader.cursor(), syncReader.cursor()];
  for (const cursor of cursors) {
    cursor[Symbol.dispose]();
    cursor.close();
    expect(await rejection(Promise.resolve().then(() => cursor.next()))).toEqual(new TypeError('the cursor is closed'));
  }
  syncReader[Symbol.dispose]();
  expect(caught(() => syncReader.get(utf8('a')))).toEqual(new ClosedError('the reader is closed'));
  await reader[Symbol.asyncDispose]();
  expect(await rejection(reader.get(utf8('a')))).toEqual(new ClosedError('the reader is closed'));
  await database[Symbol.asyncDispose]();
  expect(caught(() => database.getSync(utf8('a')))).toEqual(new ClosedError('the database is closed'));
  const thread = new BackgroundThread();
  await thread[Symbol.asyncDispose]();
  expect(thread.attach(undefined as never, undefined as never)).toBeUndefined();
});

test('a signal that is given where options are wanted is refused, not ignored', async () => {
  const folder = new MemoryFolder(new WritableMemoryFolder().files());
  const written = new WritableMemoryFolder();
  await (await Database.open(written)).close();
  const reader = await DatabaseReader.open(new MemoryFolder(written.files()));
  const signal = AbortSignal.abort() as never;
  const message = (call: string): object => ({ message: `the options of ${call} must be an object, got an AbortSignal: pass { signal }` });
  expect(await rejection(reader.refresh(signal))).toMatchObject(message('DatabaseReader.refresh'));
  expect(await rejection(reader.versions(utf8('a'), signal))).toMatchObject(message('DatabaseReader.versions'));
  expect(await rejection(DatabaseReader.open(folder, signal))).toMatchObject(message('DatabaseReader.open'));
  await reader.close();
});

test('storedEntries and storedEntriesSync blame themselves for an option that they do not have', async () => {
  const folder = new MemoryFolder({});
  const wrong = { damge: 'skip' } as never;
  expect(((await rejection(storedEntries(folder as Folder, wrong).next())) as Error).message).toMatch(/^storedEntries has no option "damge"/);
  expect((caught(() => storedEntriesSync(folder, wrong).next()) as Error).message).toMatch(/^storedEntriesSync has no option "damge"/);
});

test('approximateSize ends with its signal', async () => {
  const database = await filled(new WritableMemoryFolder());
  const [start, limit] = [utf8('a'), utf8('z')];
  expect(await database.approximateSize(start, limit)).toBeGreaterThan(0);
  expect(await rejection(database.approximateSize(start, limit, { signal: AbortSignal.abort(new Error('enough')) }))).toMatchObject({ message: 'enough' });
  await database.close();
});

test('a background thread takes the URL of a module with plug-ins, and nothing else', () => {
  expect(caught(() => new BackgroundThread({ plugins: new URL('file:///order.js') as never }))).toEqual(new TypeError('plugins must be { module }, with the URL of a module'));
  expect(caught(() => new BackgroundThread({ plugin: { module: 'file:///order.js' } } as never))).toBeInstanceOf(TypeError);
});
