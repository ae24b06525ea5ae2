import { Database, type DatabaseEvent, type DatabaseOptions, MemoryFolder, type WritableFile, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { storedEntries } from '@bloom/leveldb/inspect';
import { describe, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';
import { EventModel } from './event-model.js';
import { randomScript } from './random-script.js';
import { Script } from './script.js';
import { ThreadedMemoryFolder } from './threaded-memory-folder.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
/** Scripts that have all kinds of events. */
const seeds = process.env.BLOOM_SCRIPTS === undefined ? [2] : [2, 4];
const small: DatabaseOptions = { writeBufferSize: 65_536, maxFileSize: 2 ** 20 };

function kindsOf(events: readonly DatabaseEvent[]): string[] {
  return events.map(({ kind }) => kind);
}

function ofKind<Kind extends DatabaseEvent['kind']>(events: readonly DatabaseEvent[], kind: Kind): Extract<DatabaseEvent, { kind: Kind }>[] {
  return events.filter((event): event is Extract<DatabaseEvent, { kind: Kind }> => event.kind === kind);
}

async function putMany(database: Database, count: number, valueBytes = 100): Promise<void> {
  for (let i = 0; i < count; i++) await database.put(utf8(`key${i}`), new Uint8Array(valueBytes).fill(i));
}

describe('events', () => {
  test.each(seeds)('add up to what describe() says and the folder holds, after each operation of a random script (%i)', async (seed) => {
    const folder = new WritableMemoryFolder();
    let model = new EventModel();
    const script = new Script(folder, { ...small, onEvent: (event) => model.take(event) });
    const seen = new Set<string>();
    for (const line of randomScript(seed)) {
      const [operation = '', ...tokens] = line.split(' ');
      if (operation === 'open') {
        // The tables that are there already.
        const before = model.made;
        model = new EventModel();
        for (const [name, table] of before) model.made.set(name, table);
      }
      await script.run(operation, ...tokens);
      if (operation === 'close') continue;
      for (const { kind } of model.events) seen.add(kind);
      if (operation === 'put' || operation === 'del' || operation === 'get') continue;
      const description = script.database.describe();
      expect(model.differencesFrom(description)).toEqual([]);
      const ours = [...description.levels.flat(), ...description.logs].map(({ name }) => name);
      expect([...folder.files().keys()].sort()).toEqual([...ours, description.manifest, 'CURRENT'].sort());
      for (const file of model.deleted) expect(folder.files().has(file)).toBe(false);
    }
    expect(model.storedEntries).toBe((await collect(storedEntries(new MemoryFolder(folder.files())))).length);
    const kinds = ['compaction-chosen', 'compaction-ended', 'compaction-output', 'files-deleted', 'flush-began', 'flush-ended', 'log-replayed', 'memtable-switched', 'version-installed', 'write-logged'];
    expect([...seen].sort()).toEqual(kinds);
    await script.database.close();
  });

  test('say that a flush or a compaction has ended only once the MANIFEST has it, and never if that fails', async () => {
    class FailingFolder extends WritableMemoryFolder {
      edits = Infinity;

      override create(name: string): WritableFile {
        const file = super.create(name);
        if (!name.startsWith('MANIFEST')) return file;
        return {
          append: (bytes) => {
            if (this.edits-- <= 0) throw new Error('ENOSPC: no space left on device');
            return file.append(bytes);
          },
          sync: () => file.sync(),
          close: () => file.close(),
        };
      }
    }
    for (let edits = 0; edits <= 5; edits++) {
      const folder = new FailingFolder();
      const events: DatabaseEvent[] = [];
      const database = await Database.open(folder, { onEvent: (event) => events.push(event) });
      folder.edits = edits;
      for (let i = 0; i < 3; i++) {
        await database.put('a', String(i)).catch(() => undefined);
        await database.flush().catch(() => undefined);
      }
      await database.compactRange().catch(() => undefined);
      await database.close();
      const kinds = kindsOf(events).filter((kind) => /^(?:flush|compaction)-ended$|^version-installed$|^writing-ended$/.test(kind));
      // The last flush is that of an empty memtable.
      const steps = ['flush-ended', 'flush-ended', 'flush-ended', 'flush-ended', 'compaction-ended'].slice(0, edits);
      const end = edits < 5 ? ['writing-ended'] : [];
      expect(kinds.slice(0, 1 + 2 * edits + end.length)).toEqual(['version-installed', ...steps.flatMap((step) => [step, 'version-installed']), ...end]);
    }
  });

  test('come in the order in which things happen, and are JSON', async () => {
    const events: DatabaseEvent[] = [];
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, { onEvent: (event) => events.push(event) });
    expect(kindsOf(events)).toEqual(['version-installed', 'files-deleted']);
    events.splice(0);
    await database.put(utf8('a'), utf8('1'), { sync: true });
    await Promise.all([database.put(utf8('a'), utf8('2')), database.write(new WriteBatch().delete(utf8('b')).put(utf8('c'), utf8('3')))]);
    expect(events).toEqual([
      { kind: 'write-logged', log: '000003.log', firstSequence: '1', operations: 1, byteLength: 12 + 5, logByteLength: 24, isSynced: true },
      { kind: 'write-logged', log: '000003.log', firstSequence: '2', operations: 3, byteLength: 12 + 5 + 3 + 5, logByteLength: 56, isSynced: false },
    ]);
    events.splice(0);
    await database.flush();
    await database.idle();
    expect(kindsOf(events)).toEqual(['memtable-switched', 'flush-began', 'flush-ended', 'version-installed', 'files-deleted']);
    expect(events).toMatchObject([
      { log: '000003.log', nextLog: '000004.log', entries: 4 },
      { log: '000003.log', table: '000005.ldb', entries: 4 },
      { log: '000003.log', level: 2, table: { table: '000005.ldb', byteLength: folder.files().get('000005.ldb')!.length, entries: 4, filters: 1 } },
      { added: [{ level: 2, table: '000005.ldb' }], removed: [], tables: [0, 0, 1, 0, 0, 0, 0], lastSequence: '4' },
      { files: ['000003.log'] },
    ]);
    expect(JSON.parse(JSON.stringify(events))).toEqual(events);
    await database.close();
  });

  test('report what a compaction drops: versions that a newer one hides, and deletions that hide nothing', async () => {
    const events: DatabaseEvent[] = [];
    const database = await Database.open(new WritableMemoryFolder(), { onEvent: (event) => events.push(event) });
    for (let i = 0; i < 3; i++) await database.put(utf8('often'), utf8(String(i)));
    await database.put(utf8('gone'), utf8('1'));
    await database.flush();
    await database.delete(utf8('gone'));
    const snapshot = database.snapshot();
    await database.put(utf8('often'), utf8('3'));
    await database.compactRange();
    // The snapshot sees the value 2 of `often`, and that `gone` is deleted.
    expect(ofKind(events, 'compaction-ended').at(-1)).toMatchObject({ entriesRead: 6, entriesWritten: 2, shadowedDropped: 3, deletionsDropped: 1 });
    snapshot.release();
    await database.put(utf8('often'), utf8('4'));
    await database.compactRange();
    expect(ofKind(events, 'compaction-ended').at(-1)).toMatchObject({ entriesRead: 3, entriesWritten: 1, shadowedDropped: 2, deletionsDropped: 0 });
    expect(ofKind(events, 'compaction-chosen').map(({ reason }) => reason)).toContain('manual');
    await database.close();
  });

  test('report why a compaction was chosen: because a level is full, or because lookups search a table without success', async () => {
    const events: DatabaseEvent[] = [];
    const database = await Database.open(new WritableMemoryFolder(), { onEvent: (event) => events.push(event) });
    for (let table = 0; table < 8; table++) {
      await putMany(database, 10);
      await database.flush();
    }
    await database.idle();
    expect(ofKind(events, 'compaction-chosen')).toMatchObject([{ level: 0, reason: 'size', isMove: false, inputs: [{ length: 4 }, { length: 1 }] }]);
    events.splice(0);
    for (let i = 0; i < 300; i++) await database.get(utf8('key33'));
    for (let i = 0; i < 300; i++) await database.get(utf8('key3'));
    await database.idle();
    expect(new Set(ofKind(events, 'compaction-chosen').map(({ reason }) => reason))).toEqual(new Set(['seeks']));
    await database.close();
  });

  test('report a replayed log: its contents, and the table that it became', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder);
    await putMany(database, 7);
    await database.close();
    const byteLength = folder.files().get('000003.log')!.length;
    const model = new EventModel();
    const again = await Database.open(folder, { onEvent: model.take });
    const [replayed] = ofKind(model.events, 'log-replayed');
    expect(replayed).toMatchObject({ log: '000003.log', byteLength, operations: 7, lastSequence: '7', tables: [{ entries: 7, filters: 1 }], isReused: false, dropped: 0 });
    expect(model.differencesFrom(again.describe())).toEqual([]);
    await putMany(again, 2);
    await again.close();
    const reused = new EventModel();
    const third = await Database.open(folder, { reuseLogs: true, onEvent: reused.take });
    expect(ofKind(reused.events, 'log-replayed')).toMatchObject([{ operations: 2, lastSequence: '9', tables: [], isReused: true }]);
    expect(reused.differencesFrom(third.describe())).toEqual([]);
    await third.close();
  });

  test('report damaged records that were left out', async () => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder);
    await putMany(database, 3);
    await database.close();
    const files = folder.files();
    files.get('000003.log')![10]! ^= 1;
    const events: DatabaseEvent[] = [];
    const again = await Database.open(new WritableMemoryFolder(files), { damage: 'skip', onEvent: (event) => events.push(event) });
    const [replayed] = ofKind(events, 'log-replayed');
    expect(replayed!.dropped).toBe(again.describe().dropped.length);
    expect(replayed!.dropped).toBeGreaterThan(0);
    await again.close();
  });

  test('report once that writing has ended, and the reason', async () => {
    const folder = new WritableMemoryFolder();
    const events: DatabaseEvent[] = [];
    const database = await Database.open(folder, { onEvent: (event) => events.push(event) });
    await database.put(utf8('a'), utf8('1'));
    folder.create = () => {
      throw new Error('the disk is full');
    };
    const error = await rejection(database.flush());
    await rejection(database.put(utf8('b'), utf8('2')));
    expect(ofKind(events, 'writing-ended')).toEqual([{ kind: 'writing-ended', message: (error as Error).message }]);
    await database.close();
  });

  test('are the same where a thread writes the tables', async () => {
    const run = async (folder: WritableMemoryFolder): Promise<{ events: DatabaseEvent[]; differences: string[] }> => {
      const model = new EventModel();
      const database = await Database.open(folder, { writeBufferSize: 2 ** 21, compression: 'none', onEvent: model.take });
      for (let round = 0; round < 3; round++) {
        await putMany(database, 1300, 1000);
        await database.flush();
      }
      await database.delete(utf8('key7'));
      await database.compactRange();
      const differences = model.differencesFrom(database.describe());
      await database.close();
      return { events: model.events.map((event) => ('milliseconds' in event ? { ...event, milliseconds: 0 } : event)), differences };
    };
    const withThread = new ThreadedMemoryFolder();
    const there = await run(withThread);
    const here = await run(new WritableMemoryFolder());
    expect(withThread.jobs).toBeGreaterThan(4);
    expect(there.differences).toEqual([]);
    expect(there.events).toEqual(here.events);
    expect(ofKind(there.events, 'compaction-ended').reduce((sum, { shadowedDropped }) => sum + shadowedDropped, 0)).toBe(2 * 1300 + 1);
  });

  test('do not change a byte of the written files', async () => {
    const files = async (options: DatabaseOptions): Promise<Map<string, Uint8Array>> => {
      const folder = new WritableMemoryFolder();
      const script = new Script(folder, { ...small, ...options });
      for (const line of randomScript(2)) {
        const [operation = '', ...tokens] = line.split(' ');
        await script.run(operation, ...tokens);
      }
      await script.database.close();
      return folder.files();
    };
    expect(await files({ onEvent: () => undefined })).toEqual(await files({}));
  });
});

describe('a listener', () => {
  test('that throws harms nothing, and its error is an unhandled rejection', async () => {
    const thrown: unknown[] = [];
    const listeners = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', (reason) => thrown.push(reason));
    try {
      let calls = 0;
      const folder = new WritableMemoryFolder();
      const database = await Database.open(folder, {
        ...small,
        onEvent: () => {
          calls++;
          throw new Error('a mistake in the listener');
        },
      });
      await putMany(database, 2000);
      await database.compactRange();
      await database.close();
      await new Promise((resolve) => setTimeout(resolve, 10));
      expect(calls).toBeGreaterThan(2000);
      expect(thrown).toHaveLength(calls);
      expect(thrown[0]).toEqual(new Error('a mistake in the listener'));
      const again = await Database.open(folder);
      expect(await collect(again.keys())).toHaveLength(2000);
      await again.close();
    } finally {
      process.removeAllListeners('unhandledRejection');
      for (const listener of listeners) process.on('unhandledRejection', listener);
    }
  });

  test('that calls the database is answered after the work of the event', async () => {
    const asked: Promise<void>[] = [];
    const database: Database = await Database.open(new WritableMemoryFolder(), {
      onEvent: (event) => {
        if (event.kind === 'write-logged' && event.firstSequence === '1') asked.push(database.put(utf8('from the listener'), utf8('1')), database.flush());
        if (event.kind === 'version-installed' && asked.length === 2) asked.push(database.compactRange());
      },
    });
    await database.put(utf8('a'), utf8('1'));
    expect(asked).toHaveLength(2);
    await Promise.all(asked);
    await Promise.all(asked);
    expect(asked).toHaveLength(3);
    expect(await database.get(utf8('from the listener'))).toEqual(utf8('1'));
    await database.close();
  });

  test('that closes the database in the middle of a compaction closes it', async () => {
    let closing: Promise<void> | undefined;
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, {
      ...small,
      onEvent: ({ kind }) => {
        if (kind === 'compaction-chosen') closing ??= database.close();
      },
    });
    await putMany(database, 600).then(() => database.flush());
    await rejection(database.compactRange());
    expect(closing).toBeDefined();
    await closing;
    const again = await Database.open(folder);
    expect(await collect(again.keys())).toHaveLength(600);
    await again.close();
  });

  test('that is not a function is refused before anything is read', async () => {
    const folder = new WritableMemoryFolder();
    const error = await rejection(Database.open(folder, { onEvent: 'log' as never }));
    expect(error).toEqual(new TypeError('onEvent must be a function'));
    expect([...folder.files().keys()]).toEqual([]);
  });
});
