import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeDatabase, nativeUnavailableReason } from '@bloom/native';
import { Database, DatabaseReader, type DatabaseEvent, type DatabaseOptions, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { seeded } from '@bloom/fixtures';
import { rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';
import { PowerCutFolder } from './power-cut-folder.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const small: DatabaseOptions = { writeBufferSize: 65_536, maxFileSize: 2 ** 20, compression: 'none' };

async function fill(database: Database, count: number, prefix = 'key', valueBytes = 100): Promise<void> {
  for (let start = 0; start < count; start += 100) {
    const batch = new WriteBatch();
    for (let i = start; i < Math.min(count, start + 100); i++) batch.put(utf8(`${prefix}${i}`), new Uint8Array(valueBytes).fill(i));
    await database.write(batch);
  }
}

async function keysOf(database: Database | DatabaseReader, options = {}): Promise<string[]> {
  return (await collect(database.keys(options))).map(text);
}

type CompactionChosen = Extract<DatabaseEvent, { kind: 'compaction-chosen' }>;

/** The merge that was chosen last, if it has not ended. */
function openMerge(events: readonly DatabaseEvent[]): CompactionChosen | undefined {
  for (const event of [...events].reverse()) {
    if (event.kind === 'compaction-ended') return undefined;
    if (event.kind === 'compaction-chosen' && !event.isMove) return event;
  }
  return undefined;
}

/** Takes events, and lets callers wait for a merge to begin. */
class MergeWatch {
  events: DatabaseEvent[] = [];
  #begun: (event: CompactionChosen) => void = () => undefined;

  readonly take = (event: DatabaseEvent): void => {
    this.events.push(event);
    if (event.kind === 'compaction-chosen' && !event.isMove) this.#begun(event);
  };

  /** The next merge that begins. */
  next(): Promise<CompactionChosen> {
    return new Promise((resolve) => (this.#begun = resolve));
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('clear', () => {
  test.each([undefined, true, false])('while there is a snapshot, with sync: %s, it survives a power failure as without one', async (sync) => {
    const events: DatabaseEvent[] = [];
    const database = await Database.open(new WritableMemoryFolder(), { ...small, onEvent: (event) => void events.push(event) });
    await fill(database, 10);
    using snapshot = database.snapshot();
    events.length = 0;
    await database.clear(sync === undefined ? {} : { sync });
    expect(events.flatMap((event) => (event.kind === 'write-logged' ? [event.isSynced] : []))).toEqual([sync !== false]);
    expect(await keysOf(database)).toEqual([]);
    expect((await keysOf(database, { sequence: snapshot.sequence })).length).toBe(10);
    snapshot.release();
    await database.close();
  });

  test('of a database whose entries are all deleted, while there is a snapshot, syncs their deletions', async () => {
    const folder = new PowerCutFolder();
    const database = await Database.open(folder, { ...small, lock: 'none' });
    await database.put(utf8('a'), utf8('1'), { sync: true });
    await database.delete(utf8('a'));
    using _ = database.snapshot();
    await database.clear();
    const random = seeded(1);
    const remains = folder.remains();
    for (let i = 0; i < 20; i++) {
      const left = await DatabaseReader.open(remains.folder(random));
      expect(await keysOf(left)).toEqual([]);
      await left.close();
    }
    await database.close();
  });

  test('leaves no tables, one empty log, and what LevelDB would open', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, small);
    await fill(database, 3000);
    await database.idle();
    const { lastSequence } = database;
    expect(database.describe().levels.flat().length).toBeGreaterThan(1);
    await database.clear();
    expect(await keysOf(database)).toEqual([]);
    expect(await database.get(utf8('key1'))).toBeUndefined();
    expect(database.getSync(utf8('key1'))).toBeUndefined();
    // The empty state has a sequence of its own.
    expect(database.lastSequence).toBe(lastSequence + 1n);
    const { levels, logs, manifest } = database.describe();
    expect(levels.flat()).toEqual([]);
    expect(logs).toMatchObject([{ entries: 0, byteLength: 0 }]);
    expect(folder.list().sort()).toEqual(['CURRENT', logs[0]!.name, manifest].sort());
    await database.put(utf8('after'), utf8('1'));
    await database.close();
    expect((await verifyDatabase(folder)).findings).toEqual([]);
    const again = await Database.open(folder, small);
    expect(again.lastSequence).toBe(lastSequence + 2n);
    expect(await keysOf(again)).toEqual(['after']);
    await again.close();
  });

  test('takes its place among writes that do not wait for each other', async () => {
    const database = await Database.open(new WritableMemoryFolder(), small);
    const put = (key: string): Promise<void> => database.put(utf8(key), utf8('1'));
    await Promise.all([put('a'), put('b'), database.clear(), put('b'), put('c'), database.clear(), database.clear(), put('d'), put('e')]);
    expect(await keysOf(database)).toEqual(['d', 'e']);
    await database.close();
  });

  test('is done before close is, and rejected after it', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, small);
    await fill(database, 1000);
    const clearing = database.clear();
    await database.close();
    expect(await rejection(clearing)).toBeUndefined();
    expect(await rejection(database.clear())).toBeInstanceOf(TypeError);
    const again = await Database.open(folder, small);
    expect(await keysOf(again)).toEqual([]);
    await again.close();
  });

  test('cuts off flushes and merges that are under way, which leave no files', async () => {
    const watch = new MergeWatch();
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, { ...small, onEvent: watch.take });
    for (let round = 0; round < 8; round++) {
      await fill(database, 3000, `round${round % 3}`);
      watch.events = [];
      const begun = watch.next();
      const compacting = database.compactRange();
      await begun;
      for (let turns = 0; turns < round; turns++) await turn();
      await Promise.all([database.clear(), compacting]);
      // In later rounds the merge may end just before it is cut off.
      if (round === 0) expect(openMerge(watch.events)).toBeDefined();
      expect(await keysOf(database)).toEqual([]);
      await database.idle();
      expect(folder.list().length).toBe(3);
    }
    await fill(database, 2000);
    await database.compactRange();
    expect((await keysOf(database)).length).toBe(2000);
    await database.close();
    expect((await verifyDatabase(folder)).findings).toEqual([]);
  });

  test('leaves what cursors and iterators see', async () => {
    const database = await Database.open(new WritableMemoryFolder(), small);
    await fill(database, 3000);
    const cursor = database.cursor();
    await cursor.seek(utf8('key2'));
    const keys = database.keys();
    await keys.next();
    await database.clear();
    await fill(database, 10, 'new');
    let count = 1;
    for await (const _ of keys) count++;
    expect(count).toBe(3000);
    expect(await cursor.next()).toBe(true);
    expect(text(cursor.key)).toBe('key20');
    cursor.close();
    await database.close();
  });

  test('leaves what snapshots see, deletes what was there and nothing that is written meanwhile', async () => {
    const database = await Database.open(new WritableMemoryFolder(), small);
    await fill(database, 3000);
    const snapshot = database.snapshot();
    const { sequence } = snapshot;
    const [before] = [await keysOf(database)];
    await Promise.all([fill(database, 5, 'earlier'), database.clear(), database.put(utf8('key7'), utf8('new')), database.put(utf8('later'), utf8('new'))]);
    expect(await keysOf(database)).toEqual(['key7', 'later']);
    expect(await keysOf(database, { sequence })).toEqual(before);
    await database.compactRange();
    expect(await keysOf(database, { sequence })).toEqual(before);
    snapshot.release();
    await database.clear();
    expect(database.describe().levels.flat()).toEqual([]);
    await database.close();
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20])('and a snapshot that is made %i ms after its call show one state of the database', async (delay) => {
    /** Takes its time to create a log, so that a snapshot may come meanwhile. */
    class SlowFolder extends WritableMemoryFolder {
      isSlow = false;

      override create(name: string): ReturnType<WritableMemoryFolder['create']> {
        const file = super.create(name);
        // What is returned is awaited.
        return (this.isSlow && name.endsWith('.log') ? new Promise((resolve) => setTimeout(() => resolve(file), 8)) : file) as typeof file;
      }
    }
    const watch = new MergeWatch();
    const folder = new SlowFolder();
    const database = await Database.open(folder, { ...small, onEvent: watch.take });
    await fill(database, 3000);
    folder.isSlow = true;
    const begun = watch.next();
    const compacting = database.compactRange();
    const cut = await begun;
    const clearing = database.clear();
    await new Promise((resolve) => setTimeout(resolve, delay));
    const { sequence } = database.snapshot();
    const first = await keysOf(database, { sequence });
    await Promise.all([clearing, compacting]);
    expect(await keysOf(database)).toEqual([]);
    expect(await keysOf(database, { sequence })).toEqual(first);
    const later = watch.events.slice(watch.events.indexOf(cut) + 1);
    // A merge that was cut off is chosen again where a snapshot needs what is there.
    const isWhole = later.some(({ kind }) => kind === 'cleared') || later.some((event) => event.kind === 'compaction-ended' && event.level === cut.level);
    expect(isWhole).toBe(true);
    await database.compactRange();
    expect(await keysOf(database, { sequence })).toEqual(first);
    await database.close();
  });

  test('deletes a few unsynced entries with one record of the log, and everything else with the MANIFEST', async () => {
    const events: DatabaseEvent[] = [];
    const taken = (): string[] => events.splice(0).map((event) => (event.kind === 'write-logged' ? `${event.operations} logged` : event.kind));
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, { ...small, onEvent: (event) => void events.push(event) });
    await fill(database, 400, 'key', 20);
    taken();
    await database.clear({ sync: false });
    expect(taken()).toEqual(['400 logged']);
    expect(await keysOf(database)).toEqual([]);
    await database.clear({ sync: false });
    expect(taken()).toEqual([]);
    // Deleted entries count too: they are walked over.
    await fill(database, 300, 'key', 20);
    taken();
    await database.clear({ sync: false });
    expect(taken()).toContain('cleared');
    for (const range of [{}, { sync: true }]) {
      await database.put(utf8('one'), utf8('1'));
      taken();
      await database.clear(range);
      expect(taken()).toContain('cleared');
    }
    await fill(database, 5);
    await database.flush();
    taken();
    await database.clear({ sync: false });
    expect(taken()).toContain('cleared');
    expect(await keysOf(database)).toEqual([]);
    await fill(database, 3);
    await database.clear({ sync: false });
    await database.close();
    const again = await Database.open(folder, small);
    expect(await keysOf(again)).toEqual([]);
    await again.close();
  });

  test('is seen by a reader that refreshes', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, small);
    await fill(database, 3000);
    const reader = await DatabaseReader.open(folder);
    expect((await keysOf(reader)).length).toBe(3000);
    await database.clear();
    await database.put(utf8('new'), utf8('1'));
    await reader.refresh();
    expect(await keysOf(reader)).toEqual(['new']);
    await reader.close();
    await database.close();
  });

  test('gets rid of damaged tables', async () => {
    const folder = new WritableMemoryFolder();
    let database = await Database.open(folder, small);
    await fill(database, 3000);
    await database.close();
    const files = new Map(folder.files());
    for (const [name, bytes] of files) {
      if (!name.endsWith('.ldb')) continue;
      const damaged = bytes.slice();
      damaged[3]! ^= 1;
      files.set(name, damaged);
    }
    database = await Database.open(new WritableMemoryFolder(files), small);
    expect(await rejection(keysOf(database))).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM' });
    await database.clear();
    expect(await keysOf(database)).toEqual([]);
    await database.close();
  });

  test('whose edit cannot be written ends writing, and everything can still be read', async () => {
    let isFull = false;
    class FullFolder extends WritableMemoryFolder {
      override create(name: string): ReturnType<WritableMemoryFolder['create']> {
        const file = super.create(name);
        if (!name.startsWith('MANIFEST')) return file;
        const append = (bytes: Uint8Array): void => {
          if (isFull) throw new Error('the disk is full');
          void file.append(bytes);
        };
        return { append, sync: () => file.sync(), close: () => file.close() };
      }
    }
    const folder = new FullFolder();
    const database = await Database.open(folder, small);
    await fill(database, 3000);
    await database.idle();
    isFull = true;
    expect(await rejection(database.clear())).toMatchObject({ code: 'BLOOM_WRITING_ENDED' });
    expect((await keysOf(database)).length).toBe(3000);
    expect(await rejection(database.put(utf8('a'), utf8('1')))).toMatchObject({ code: 'BLOOM_WRITING_ENDED' });
    await database.close();
    const again = await Database.open(new WritableMemoryFolder(new Map(folder.files())), small);
    expect((await keysOf(again)).length).toBe(3000);
    await again.close();
  });
});

describe('clear in a folder of the file system', () => {
  let path: string;
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'bloom-clear-'));
  });
  afterEach(() => {
    rmSync(path, { recursive: true, force: true });
  });

  test('cuts off what its thread writes, and later work has a thread again', async () => {
    const database = await Database.open(new WritableNodeFolder(path), { ...small, writeBufferSize: 2 ** 20 });
    for (let round = 0; round < 4; round++) {
      await fill(database, 20_000, `${round % 2}`);
      const compacting = database.compactRange();
      await new Promise((resolve) => setTimeout(resolve, 20 * round));
      await Promise.all([database.clear(), compacting]);
      await database.idle();
      expect(readdirSync(path).filter((name) => /ldb|log/.test(name))).toEqual([database.describe().logs[0]!.name]);
    }
    await fill(database, 20_000);
    await database.compactRange();
    expect((await keysOf(database)).length).toBe(20_000);
    await database.close();
  });

  const native = nativeDatabase();
  if (native === undefined) test.skip(`LevelDB opens the folder: ${nativeUnavailableReason()?.split('\n')[0] ?? ''}`, () => {});

  test.runIf(native !== undefined)('LevelDB opens the folder', async () => {
    const database = await Database.open(new WritableNodeFolder(path), small);
    for (let round = 0; round < 3; round++) {
      await fill(database, 2000, `${round}`);
      await database.clear();
      await fill(database, 300, `after${round}`, 3);
    }
    const keys = await keysOf(database);
    expect(keys.length).toBe(300);
    await database.close();
    const { status, entries } = native!.dump(path, { paranoid: true });
    expect(status).toBe('OK');
    expect(entries.map(([key]) => text(key))).toEqual(keys);
  });
});
