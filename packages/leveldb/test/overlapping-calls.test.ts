// Calls that overlap others, and what a caller does to keys and cursors meanwhile.
import { collectGarbage } from '@bloom/fixtures/collect-garbage';
import { turns } from '@bloom/fixtures/event-loop';
import { Database, type DatabaseCursor, DatabaseReader, encodeVersionEdit, FolderError, MemoryFolder, SyncDatabaseReader, WritableMemoryFolder } from '@bloom/leveldb';
import { readLog } from '@bloom/log';
import { bytewiseComparator } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { assembleDatabase, logOf, recordOf, type TableParts } from './assemble-database.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';
import { Gate, GatedFolder } from './gated-folder.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);
const KEYS = Array.from({ length: 100 }, (_, i) => utf8(`k${String(i).padStart(4, '0')}`));

/** A table of `KEYS`, in blocks of one entry. */
function tableOf(number: number, keys = KEYS, sequence = 1): TableParts {
  return { level: 1, number, versions: keys.map((key, i) => ({ key, sequence: sequence + i, value: key })) };
}

function gated(parts: Parameters<typeof assembleDatabase>[0]): GatedFolder {
  return new GatedFolder(assembleDatabase({ build: { blockSize: 1 }, ...parts }));
}

const a = (sequence: number, value: string): Uint8Array => recordOf({ sequence, operations: [[utf8('a'), utf8(value)]] });

/** Lets a writer replace a log, and add an edit with its last sequence to the MANIFEST, before CURRENT is opened next. */
function writeBeforeCurrent(folder: GatedFolder, log: string, bytes: Uint8Array, lastSequence: bigint): void {
  const edits = readLog(folder.files.get('MANIFEST-000001')!).records.map((record) => record.bytes.slice());
  const edit = encodeVersionEdit({ lastSequence, logNumber: 3n, nextFileNumber: 9n, previousLogNumber: 0n });
  folder.onOpen = (name) => {
    if (name !== 'CURRENT') return;
    folder.onOpen = () => undefined;
    folder.files = new Map([...folder.files, [log, bytes], ['MANIFEST-000001', logOf([...edits, edit])]]);
  };
}

describe('refresh', () => {
  test('makes earlier writes visible, even while another refresh runs', async () => {
    const folder = gated({ logs: [{ number: 3, batches: [{ sequence: 1, operations: [[utf8('a'), utf8('old')]] }] }] });
    const database = await DatabaseReader.open(folder);
    const gate = new Gate();
    folder.onOpen = (name) => (name.startsWith('MANIFEST') ? gate.pass() : undefined);
    const first = database.refresh();
    await turns();
    folder.files = new Map([...folder.files, ['000003.log', logOf([a(1, 'old'), a(2, 'new')])]]);
    const second = database.refresh();
    gate.open();
    expect(await Promise.all([first, second])).toEqual([false, true]);
    expect(text(await database.get(utf8('a')))).toBe('new');
    await database.close();
  });

  test('does not end because another caller aborts', async () => {
    const folder = gated({ tables: [tableOf(5)] });
    const database = await DatabaseReader.open(folder);
    const gate = new Gate();
    folder.onRead = () => gate.pass();
    const controller = new AbortController();
    const aborted = rejection(database.refresh({ signal: controller.signal }));
    await turns();
    const other = database.refresh();
    controller.abort(new Error('enough'));
    gate.open();
    expect(await aborted).toMatchObject({ message: 'enough' });
    expect(await other).toBe(false);
    await database.close();
  });

  test('gives a last sequence whose writes are all seen, also when a write and an edit come between the logs and the MANIFEST', async () => {
    const folder = gated({ tables: [tableOf(2, [utf8('t')])], logs: [{ number: 3, batches: [{ sequence: 2, operations: [[utf8('a'), utf8('old')]] }] }] });
    writeBeforeCurrent(folder, '000003.log', logOf([a(2, 'old'), a(3, 'new')]), 3n);
    const database = await DatabaseReader.open(folder);
    const { lastSequence } = database;
    const seen = text(await database.get(utf8('a')));
    expect([lastSequence, seen]).toEqual([3n, 'new']);
    expect(database.stats.restarts).toBe(1);
    await database.refresh();
    expect(text(await database.get(utf8('a'), { sequence: lastSequence }))).toBe(seen);
    await database.close();
  });

  test('gives such a last sequence also when the writes are in a log that came after the others were listed', async () => {
    const folder = gated({ logs: [{ number: 3, batches: [{ sequence: 1, operations: [[utf8('a'), utf8('old')]] }] }] });
    writeBeforeCurrent(folder, '000008.log', logOf([a(2, 'new')]), 2n);
    const database = await DatabaseReader.open(folder);
    expect([database.lastSequence, text(await database.get(utf8('a')))]).toEqual([2n, 'new']);
    await database.close();
  });

  test('gives such a last sequence also when the log that has the writes becomes a table and is deleted meanwhile', async () => {
    const folder = gated({ logs: [{ number: 3, batches: [{ sequence: 1, operations: [[utf8('a'), utf8('old')]] }] }] });
    const flushed = assembleDatabase({ tables: [{ level: 0, number: 5, versions: [{ key: utf8('a'), sequence: 2, value: utf8('new') }] }] });
    writeBeforeCurrent(folder, '000003.log', logOf([a(1, 'old'), a(2, 'new')]), 2n);
    folder.onRead = (name) => {
      if (name !== '000003.log') return;
      folder.onRead = () => undefined;
      folder.files = new Map([...flushed, ['000008.log', new Uint8Array(0)]]);
    };
    const database = await DatabaseReader.open(folder);
    expect([database.lastSequence, text(await database.get(utf8('a')))]).toEqual([2n, 'new']);
    await database.close();
  });

  test('ends by its own signal while it waits for another', async () => {
    const folder = gated({ tables: [tableOf(5)] });
    const database = await DatabaseReader.open(folder);
    const gate = new Gate();
    folder.onOpen = () => gate.pass();
    const first = database.refresh();
    await turns();
    const controller = new AbortController();
    const waiting = rejection(database.refresh({ signal: controller.signal }));
    controller.abort(new Error('enough'));
    expect(await waiting).toMatchObject({ message: 'enough' });
    expect(await rejection(database.refresh({ signal: AbortSignal.abort(new Error('before')) }))).toMatchObject({ message: 'before' });
    // The next one still waits for the first.
    const opened: string[] = [];
    folder.onOpen = (name) => {
      opened.push(name);
      return gate.pass();
    };
    const next = database.refresh();
    await turns();
    expect(opened).toEqual([]);
    gate.open();
    expect(await Promise.all([first, next])).toEqual([false, false]);
    expect(opened).toContain('CURRENT');
    await database.close();
  });

  test('needs no third attempt in a quiet folder that lists a log which cannot be opened, and leaves it out if it is told to', async () => {
    const folder = gated({ tables: [tableOf(5)] });
    const list = folder.list.bind(folder);
    folder.list = async () => [...(await list()), '000019.log'];
    const database = await DatabaseReader.open(folder, { maxRestarts: 0, damage: 'skip' });
    expect(await database.get(KEYS[1]!)).toEqual(KEYS[1]);
    expect(database.stats.restarts).toBe(1);
    await database.close();
  });

  test('sees records that were written into room that the log had already', () => {
    const ahead = (...records: Uint8Array[]): Uint8Array => {
      const bytes = new Uint8Array(2 ** 17);
      bytes.set(logOf(records));
      return bytes;
    };
    const files = assembleDatabase({ logs: [{ number: 3, batches: [] }] });
    files.set('000003.log', ahead(a(1, 'old')));
    const database = SyncDatabaseReader.open(new MemoryFolder(files));
    expect(text(database.get(utf8('a')))).toBe('old');
    files.set('000003.log', ahead(a(1, 'old'), a(2, 'new')));
    expect(database.refresh()).toBe(true);
    expect(text(database.get(utf8('a')))).toBe('new');
  });

  test('that fails leaves the reader as it was, also when not all of its tables are open', async () => {
    const tables = KEYS.slice(0, 4).map((key, i) => tableOf(5 + i, [key], 1 + i));
    const folder = gated({ tables });
    const database = await DatabaseReader.open(folder, { maxOpenFiles: 12 });
    // LevelDB opened it again: the same tables, and another MANIFEST.
    const manifest = folder.files.get('MANIFEST-000001')!;
    folder.files = new Map([...folder.files, ['CURRENT', utf8('MANIFEST-000020\n')], ['MANIFEST-000020', manifest]]);
    const { list } = folder;
    let lists = 0;
    folder.list = () => (++lists === 2 ? Promise.reject(new Error('EIO')) : list.call(folder));
    expect(await rejection(database.refresh())).toMatchObject({ message: 'EIO' });
    for (const key of KEYS.slice(0, 4)) expect(await database.get(key)).toEqual(key);
    expect(await database.refresh()).toBe(false);
    for (const key of KEYS.slice(0, 4)) expect(await database.get(key)).toEqual(key);
    await database.close();
    expect(folder.openFiles).toEqual([]);
  });
});

describe('getMany', () => {
  const files = assembleDatabase({ tables: [tableOf(5)] });

  test('accepts an iterator that yields one array again and again', async () => {
    function* reused(): Generator<Uint8Array> {
      const key = new Uint8Array(5);
      for (const { buffer, byteOffset, length } of KEYS) {
        key.set(new Uint8Array(buffer, byteOffset, length));
        yield key;
      }
    }
    const written = new WritableMemoryFolder();
    const database = await Database.open(written);
    for (const key of KEYS) await database.put(key, key);
    expect(await database.getMany(reused())).toEqual(KEYS);
    expect(database.getManySync(reused())).toEqual(KEYS);
    await database.close();
    expect(await (await DatabaseReader.open(new GatedFolder(files))).getMany(reused())).toEqual(KEYS);
    expect(SyncDatabaseReader.open(new MemoryFolder(files)).getMany(reused())).toEqual(KEYS);
  });

  test('of no keys throws too when the reader is closed', async () => {
    const reader = SyncDatabaseReader.open(new MemoryFolder(files));
    reader.close();
    expect(caught(() => reader.getMany([]))).toBeInstanceOf(TypeError);
    const database = await Database.open(new WritableMemoryFolder());
    await database.close();
    expect(caught(() => database.getManySync([]))).toBeInstanceOf(TypeError);
  });

  test('sees one state of the database, also when it is replaced by another meanwhile', async () => {
    const folder = gated({ tables: [tableOf(5, KEYS, 1000)] });
    const database = await DatabaseReader.open(folder, { cache: null });
    const gate = new Gate();
    folder.onRead = (name) => (name === '000005.ldb' ? gate.pass() : undefined);
    const values = database.getMany(KEYS);
    await turns();
    folder.files = assembleDatabase({ tables: [tableOf(7, [utf8('other')])] });
    folder.files = new Map([...folder.files, ['CURRENT', utf8('MANIFEST-000006\n')], ['MANIFEST-000006', folder.files.get('MANIFEST-000001')!]]);
    expect(await database.refresh()).toBe(true);
    gate.open();
    expect(await values).toEqual(KEYS);
    await database.close();
    expect(folder.openFiles).toEqual([]);
  });

  test('that fails ends when its lookups have ended', async () => {
    const folder = gated({ tables: [tableOf(5)] });
    const database = await DatabaseReader.open(folder, { cache: null });
    let reads = 0;
    folder.onRead = async () => {
      if (++reads === 3) throw new Error('EIO');
      await turns();
    };
    expect(await rejection(database.getMany(KEYS))).toMatchObject({ message: 'EIO' });
    const readsAtEnd = reads;
    await turns();
    expect(reads).toBe(readsAtEnd);
    expect(reads).toBeLessThan(KEYS.length);
    // The view is still held by the reader alone: its table stays open.
    expect(folder.openFiles).toEqual(['000005.ldb']);
    folder.onRead = () => undefined;
    expect(await database.getMany(KEYS)).toEqual(KEYS);
    await database.close();
    expect(folder.openFiles).toEqual([]);
  });
});

describe('a move whose block was read ahead', () => {
  async function moving(): Promise<{ database: DatabaseReader; cursor: DatabaseCursor }> {
    const database = await DatabaseReader.open(gated({ tables: [tableOf(5)] }), { cache: null });
    const cursor = database.cursor();
    await cursor.seekToFirst();
    for (let i = 0; i < 20; i++) await cursor.next();
    return { database, cursor };
  }

  test('is rejected when its signal is aborted meanwhile, and the cursor is on no entry', async () => {
    const { cursor } = await moving();
    const controller = new AbortController();
    const moved = rejection(cursor.next({ signal: controller.signal }));
    controller.abort(new Error('enough'));
    expect(await moved).toMatchObject({ message: 'enough' });
    expect(cursor.valid).toBe(false);
    expect(await cursor.seek(KEYS[3]!)).toBe(true);
  });

  test('is rejected when the reader is closed meanwhile', async () => {
    const { database, cursor } = await moving();
    const moved = rejection(cursor.next());
    const closed = database.close();
    expect(await moved).toBeInstanceOf(TypeError);
    await closed;
  });

  test('ends a walk too when the reader is closed meanwhile', async () => {
    const { database } = await moving();
    const walk = database.entries();
    for (let i = 0; i < 20; i++) await walk.next();
    const moved = rejection(walk.next());
    const closed = database.close();
    expect(await moved).toBeInstanceOf(TypeError);
    await closed;
  });
});

describe('the signal of a move', () => {
  test('that is aborted after the move does not end later moves', async () => {
    const database = await DatabaseReader.open(gated({ tables: [tableOf(5)] }), { cache: null, readAheadBytes: 0 });
    const cursor = database.cursor();
    const controller = new AbortController();
    expect(await cursor.seekToFirst({ signal: controller.signal })).toBe(true);
    expect(await cursor.next({ signal: controller.signal })).toBe(true);
    controller.abort(new Error('too late'));
    for (let i = 2; i < KEYS.length; i++) expect(await cursor.next()).toBe(true);
    expect(await cursor.next()).toBe(false);
    await database.close();
  });

  test('ends a move that waits for a block, also if earlier moves had none', async () => {
    const folder = gated({ tables: [tableOf(5)] });
    const database = await DatabaseReader.open(folder, { cache: null, readAheadBytes: 0 });
    const cursor = database.cursor();
    await cursor.seekToFirst();
    const gate = new Gate();
    folder.onRead = () => gate.pass();
    const controller = new AbortController();
    const moved = rejection(cursor.next({ signal: controller.signal }));
    await turns();
    controller.abort(new Error('enough'));
    expect(await moved).toMatchObject({ message: 'enough' });
    gate.open();
    expect([await cursor.seek(KEYS[1]!), await cursor.next()]).toEqual([true, true]);
    await database.close();
  });
});

describe('closing while reads never end', () => {
  /** A reader whose table has begun to be read by walks, and whose further reads end only with their signals. */
  async function stalled(): Promise<{ folder: GatedFolder; database: DatabaseReader; cursor: DatabaseCursor; walk: AsyncIterator<Uint8Array>; signals: AbortSignal[] }> {
    const folder = gated({ tables: [tableOf(5)] });
    const signals: AbortSignal[] = [];
    let isStalled = false;
    const ended = (signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) => {
        signals.push(signal);
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const open = folder.open.bind(folder);
    folder.open = async (name) => {
      const file = await open(name);
      return file && { ...file, read: (offset, length, signal) => (isStalled ? ended(signal!) : file.read(offset, length)) };
    };
    const database = await DatabaseReader.open(folder, { cache: null, readAheadBytes: 1000 });
    const cursor = database.cursor();
    const walk = database.keys()[Symbol.asyncIterator]();
    for (let i = 0; i < 4; i++) await Promise.all([i === 0 ? cursor.seekToFirst() : cursor.next(), walk.next()]);
    await turns();
    isStalled = true;
    return { folder, database, cursor, walk, signals };
  }

  /** Moves on until a move waits. */
  async function waiting<T>(move: () => Promise<T>): Promise<{ moved: Promise<T> }> {
    for (;;) {
      const moved = move();
      const state = { isOver: false };
      const end = (): void => {
        state.isOver = true;
      };
      moved.then(end, end);
      await turns();
      // In an object, because an async function would wait for it.
      if (!state.isOver) return { moved };
    }
  }

  test('a reader rejects all pending calls and aborts their reads', async () => {
    const { folder, database, cursor, walk, signals } = await stalled();
    const { moved } = await waiting(() => cursor.next());
    const { moved: stepped } = await waiting(() => walk.next());
    const calls = [moved, stepped, database.get(KEYS[90]!), database.has(KEYS[91]!), database.getMany(KEYS.slice(80)), database.versions(KEYS[92]!), database.refresh()];
    const rejections = Promise.all(calls.map((call) => rejection(call)));
    await turns();
    expect(signals.length).toBeGreaterThan(0);
    await database.close();
    for (const error of await rejections) expect(error).toMatchObject({ name: 'TypeError', code: 'BLOOM_CLOSED', message: 'the reader is closed' });
    expect(signals.filter((signal) => !signal.aborted)).toEqual([]);
    expect(folder.openFiles).toEqual([]);
  });

  test('a walk that is left ends its pending moves, and what it reads ahead', async () => {
    const { database, walk, signals } = await stalled();
    const { moved } = await waiting(() => walk.next());
    expect(await walk.return!()).toEqual({ value: undefined, done: true });
    expect(await moved).toEqual({ value: undefined, done: true });
    expect(signals.length).toBeGreaterThan(0);
    expect(signals.filter((signal) => !signal.aborted)).toEqual([]);
    await database.close();
  });

  test('a cursor ends its pending move, which moves to no entry', async () => {
    const { folder, database, cursor, signals } = await stalled();
    const { moved } = await waiting(() => cursor.next());
    cursor.close();
    expect([await moved, cursor.valid]).toEqual([false, false]);
    expect(signals.filter((signal) => !signal.aborted)).toEqual([]);
    await database.close();
    expect(folder.openFiles).toEqual([]);
  });
});

test.each([
  { tables: 1, maxOpenFiles: undefined },
  { tables: 3, maxOpenFiles: 11 },
])('one of $tables tables that was replaced under the same MANIFEST is read again after a refresh with maxOpenFiles: $maxOpenFiles', async ({ tables, maxOpenFiles }) => {
  const folder = gated({ tables: [tableOf(5), ...[utf8('l'), utf8('m')].slice(0, tables - 1).map((key, i) => tableOf(6 + i, [key]))] });
  let isReplaced = false;
  const open = folder.open.bind(folder);
  folder.open = async (name) => {
    const file = await open(name);
    if (file === undefined || name !== '000005.ldb' || isReplaced) return file;
    return {
      ...file,
      read: (offset, length) => (isReplaced ? Promise.reject(new FolderError('BLOOM_FOLDER_CHANGED', 'replaced', { file: name })) : file.read(offset, length)),
    };
  };
  const database = await DatabaseReader.open(folder, { cache: null, maxOpenFiles });
  await database.get(KEYS[7]!);
  isReplaced = true;
  expect(await rejection(database.get(KEYS[7]!))).toMatchObject({ code: 'BLOOM_FOLDER_CHANGED' });
  await database.refresh();
  expect(await database.get(KEYS[7]!)).toEqual(KEYS[7]);
  await database.close();
  expect(folder.openFiles).toEqual([]);
});

test('all files are closed although closing each of them throws', async () => {
  const folder = gated({ tables: [tableOf(5), tableOf(6, [utf8('l')]), tableOf(7, [utf8('m')])], logs: [{ number: 8, batches: [{ sequence: 200, operations: [[utf8('a'), utf8('b')]] }] }] });
  const open = folder.open.bind(folder);
  folder.open = async (name) => {
    const file = await open(name);
    return (
      file && {
        ...file,
        close: () => {
          void file.close?.();
          throw new Error('EIO');
        },
      }
    );
  };
  const database = await DatabaseReader.open(folder);
  expect(await database.refresh()).toBe(false);
  expect(folder.openFiles.sort()).toEqual(['000005.ldb', '000006.ldb', '000007.ldb']);
  await database.close();
  expect(folder.openFiles).toEqual([]);
});

test('what a refresh was rejected with is not kept in memory by later ones', async () => {
  const database = await DatabaseReader.open(gated({ tables: [tableOf(5)] }));
  const aborted = async (): Promise<WeakRef<Error>> => {
    const reason = new Error('enough');
    expect(await rejection(database.refresh({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    return new WeakRef(reason);
  };
  const reason = await aborted();
  for (let i = 0; i < 3; i++) await database.refresh();
  await turns();
  collectGarbage();
  expect(reason.deref()).toBeUndefined();
  await database.close();
});

test('approximateSize reads its bounds at once', async () => {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder, { compression: 'none' });
  for (const key of KEYS) await database.put(key, new Uint8Array(10_000));
  await database.flush();
  const [start, limit] = [KEYS[10]!.slice(), KEYS[30]!.slice()];
  const expected = await database.approximateSize(start, limit);
  const size = database.approximateSize(start, limit);
  limit.fill(0xff);
  expect(await size).toBe(expected);
  await database.close();
});

test.each([false, true])('approximateSize that waits for a table when the database is closed is rejected with BLOOM_CLOSED; its read fails: %s', async (fails) => {
  const gate = new Gate();
  let isGated = false;
  class GatedTables extends WritableMemoryFolder {
    // The database takes files that are read asynchronously from any folder.
    override open(name: string): ReturnType<WritableMemoryFolder['open']> {
      const file = super.open(name);
      const pass = (): void | Promise<void> => (isGated && name.endsWith('.ldb') ? gate.pass() : undefined);
      return (file && { byteLength: file.byteLength, name, close: () => file.close?.(), read }) as unknown as ReturnType<WritableMemoryFolder['open']>;

      async function read(offset: number, length: number): Promise<Uint8Array> {
        await pass();
        if (isGated && fails) throw new Error('the file is closed');
        return file!.read(offset, length);
      }
    }
  }
  const folder = new GatedTables();
  const writer = await Database.open(folder);
  for (const key of KEYS) await writer.put(key, key);
  await writer.flush();
  await writer.close();
  const database = await Database.open(folder);
  isGated = true;
  const size = rejection(database.approximateSize(KEYS[10]!, KEYS[30]!));
  await turns();
  const closing = database.close();
  gate.open();
  await closing;
  expect(await size).toMatchObject({ code: 'BLOOM_CLOSED' });
});

describe('what the caller changes during a call makes no difference', () => {
  const open = (): Promise<DatabaseReader> => DatabaseReader.open(gated({ tables: [tableOf(5)] }), { cache: null });

  test('to the keys of getMany', async () => {
    const database = await open();
    const keys = KEYS.map((key) => Buffer.from(key));
    const values = database.getMany(keys);
    for (const key of keys) key.fill(0);
    expect(await values).toEqual(KEYS);
  });

  test('to the key of versions', async () => {
    const tables = KEYS.slice(0, 30).map((_, i) => ({ ...tableOf(5 + i, [utf8('a'), utf8('m'), utf8('z')], 1 + 3 * i), level: 0 }));
    const database = await DatabaseReader.open(gated({ tables }), { cache: null });
    const key = utf8('m');
    const versions = database.versions(key);
    key.fill(0x6e);
    expect(await versions).toHaveLength(30);
  });

  test('to the bounds of a range', async () => {
    const database = await open();
    const [gte, lt] = [Buffer.from(KEYS[10]!), Buffer.from(KEYS[20]!)];
    const keys = database.keys({ gte, lt });
    gte.fill(0);
    lt.fill(0xff);
    expect(await collect(keys)).toEqual(KEYS.slice(10, 20));
  });

  test('to a bound that is the key of a cursor', () => {
    const database = SyncDatabaseReader.open(new MemoryFolder(assembleDatabase({ tables: [tableOf(5)] })));
    const cursor = database.cursor();
    cursor.seek(KEYS[10]!);
    const keys = database.keys({ lt: cursor.key });
    cursor.seek(KEYS[30]!);
    expect([...keys]).toEqual(KEYS.slice(0, 10));
  });
});

describe('a signal', () => {
  test.each(['get', 'has', 'getMany', 'versions', 'seek'] as const)('ends %s early, and the next call works', async (call) => {
    const folder = gated({ tables: [tableOf(5)] });
    const database = await DatabaseReader.open(folder, { cache: null });
    const cursor = database.cursor();
    const run = (signal?: AbortSignal): Promise<unknown> => {
      if (call === 'getMany') return database.getMany(KEYS, { signal });
      return call === 'seek' ? cursor.seek(KEYS[3]!, { signal }) : database[call](KEYS[3]!, { signal });
    };
    const gate = new Gate();
    folder.onRead = () => gate.pass();
    const controller = new AbortController();
    const ended = rejection(run(controller.signal));
    await turns();
    controller.abort(new Error('enough'));
    gate.open();
    expect(await ended).toMatchObject({ message: 'enough' });
    expect(cursor.valid).toBe(false);
    expect(await rejection(run(AbortSignal.abort(new Error('before'))))).toMatchObject({ message: 'before' });
    expect(await rejection(run())).toBeUndefined();
    cursor.close();
    await database.close();
    expect(folder.openFiles).toEqual([]);
  });
});

test('a cursor that is closed while it moves is on no entry, and holds no table', async () => {
  const folder = gated({ tables: KEYS.slice(0, 20).map((key, i) => tableOf(5 + i, [key], 1 + i)) });
  const database = await DatabaseReader.open(folder, { cache: null, maxOpenFiles: 12 });
  for (const key of KEYS.slice(0, 10)) {
    const cursor = database.cursor();
    const moved = cursor.seek(key);
    cursor.close();
    expect([await moved, cursor.valid]).toEqual([false, false]);
  }
  for (const key of KEYS.slice(0, 20)) expect(await database.get(key)).toEqual(key);
  expect(folder.openFiles.length).toBeLessThanOrEqual(2);
  await database.close();
  expect(folder.openFiles).toEqual([]);
});

test('a second close of a database ends when the first does', async () => {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder);
  const put = database.put(utf8('a'), new Uint8Array(3_000_000));
  const first = database.close();
  await database.close();
  const again = await Database.open(folder);
  expect(await again.get(utf8('a'))).toHaveLength(3_000_000);
  await Promise.all([again.close(), first, put]);
});

describe('a comparator that throws', () => {
  const checked = {
    name: 'test.Checked',
    compare(x: Uint8Array, y: Uint8Array): number {
      for (const key of [x, y]) if (key[0] === 0x21) throw new RangeError('a key must not start with !');
      return bytewiseComparator.compare(x, y);
    },
    findShortestSeparator: (start: Uint8Array) => start,
    findShortSuccessor: (key: Uint8Array) => key,
  };

  test('for a key refuses it before it is in the log, so that the database can be opened again', async () => {
    const folder = new WritableMemoryFolder();
    const options = { comparator: checked, filterPolicy: null };
    const database = await Database.open(folder, options);
    await database.put(utf8('a'), utf8('1'));
    expect(await rejection(database.put(utf8('!x'), utf8('2')))).toMatchObject({ message: 'a key must not start with !' });
    await database.put(utf8('b'), utf8('3'));
    expect(database.lastSequence).toBe(2n);
    await database.close();
    const again = await Database.open(folder, options);
    expect((await collect(again.keys())).map(text)).toEqual(['a', 'b']);
    await again.close();
  });

  test('for an entry that is in the log already ends writing', async () => {
    /** How many comparisons of different keys succeed: the first of a put is made before its entry is in the log. */
    let allowed = Infinity;
    const comparator = {
      ...checked,
      compare(x: Uint8Array, y: Uint8Array): number {
        if (x !== y && allowed-- === 0) throw new Error('broken');
        return bytewiseComparator.compare(x, y);
      },
    };
    const database = await Database.open(new WritableMemoryFolder(), { comparator, filterPolicy: null });
    await database.put(utf8('a'), utf8('1'));
    allowed = 1;
    expect(await rejection(database.put(utf8('b'), utf8('2')))).toMatchObject({ code: 'BLOOM_WRITING_ENDED' });
    allowed = Infinity;
    expect(await rejection(database.put(utf8('c'), utf8('3')))).toMatchObject({ code: 'BLOOM_WRITING_ENDED' });
    expect(text(await database.get(utf8('a')))).toBe('1');
    await database.close();
  });
});

test('closing a reader whose folder fails to close files causes no unhandled rejection', async () => {
  const files = assembleDatabase({ tables: [tableOf(5)] });
  const inner = new MemoryFolder(files);
  const folder = {
    list: () => inner.list(),
    open: (name: string) => {
      const file = inner.open(name);
      const close = name.endsWith('.ldb') ? fail : (): void => undefined;
      return file && { byteLength: file.byteLength, name, read: (offset: number, length: number) => file.read(offset, length), close };
    },
  };
  function fail(): void {
    throw new Error('close failed');
  }
  expect(caught(() => SyncDatabaseReader.open(folder).close())).toBeUndefined();
  // Vitest fails on an unhandled rejection.
  await turns();
});
