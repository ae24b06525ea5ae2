import { getEventListeners } from 'node:events';
import process from 'node:process';
import { turns } from '@bloom/fixtures/event-loop';
import { type Cursor, MemorySource, type Source, SyncTable, Table } from '@bloom/sstable';
import { DatabaseTable, encodeInternalKey, internalKeyComparator, internalKeyPolicy, VALUE } from '@bloom/sstable/database';
import { BloomFilterPolicy } from '@bloom/policy';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect, numberedEntries, sameBytes } from './entries.js';
import { gate } from './sources.js';

const entries = numberedEntries(4000, 100);
const keys = entries.map(([key]) => key);
const bytes = buildTable(entries, { compression: 'none' });

/** A source that answers on demand and ignores signals. */
class HeldSource implements Source {
  readonly byteLength = bytes.length;
  readonly signals: (AbortSignal | undefined)[] = [];
  isHeld = false;
  #release: (() => void)[] = [];

  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    this.signals.push(signal);
    if (this.isHeld) await new Promise<void>((resolve) => this.#release.push(resolve));
    return bytes.slice(offset, offset + length);
  }

  /** Completes all reads. */
  release(): void {
    this.isHeld = false;
    for (const release of this.#release.splice(0)) release();
  }
}

async function opened(options: Parameters<typeof Table.open>[1] = {}): Promise<{ table: Table; source: HeldSource }> {
  const source = new HeldSource();
  const table = await Table.open(source, { cache: null, tailBytes: 48, ...options });
  source.signals.length = 0;
  return { table, source };
}

const unhandled: unknown[] = [];
const note = (error: unknown): number => unhandled.push(error);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(async () => {
  await turns();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

/** All calls that wait for a read. */
const calls: [string, (table: Table, signal?: AbortSignal) => Promise<unknown>][] = [
  ['get', (table, signal) => table.get(keys[900]!, { signal })],
  ['find', (table, signal) => table.find(keys[900]!, () => true, { signal })],
  ['getMany of one block', (table, signal) => table.getMany([keys[900]!], { signal })],
  ['getMany of many blocks', (table, signal) => table.getMany(keys, { signal })],
  ['entries', (table, signal) => collect(table.entries({ signal }))],
  ['keys in reverse', (table, signal) => collect(table.keys({ signal, reverse: true }))],
  ['values', (table, signal) => table.values({ signal }).next()],
  ['seek of a cursor', (table, signal) => table.cursor().seek(keys[900]!, { signal })],
  ['seekToFirst of a cursor', (table, signal) => table.cursor().seekToFirst({ signal })],
  ['seekToLast of a cursor', (table, signal) => table.cursor().seekToLast({ signal })],
];

describe.each(calls)('%s', (_, call) => {
  test('is ended by its signal at once, even if the source ignores it', async () => {
    const { table, source } = await opened();
    const controller = new AbortController();
    const reason = new Error('enough');
    source.isHeld = true;
    const error = rejection(call(table, controller.signal));
    await turns();
    controller.abort(reason);
    expect(await error).toBe(reason);
    expect(source.signals.map((signal) => signal?.aborted)).toEqual(source.signals.map(() => true));
    expect(source.signals.length).toBeGreaterThan(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    source.release();
  });

  test('reads nothing if its signal is already aborted', async () => {
    const { table, source } = await opened();
    const reason = new Error('enough');
    expect(await rejection(call(table, AbortSignal.abort(reason)))).toBe(reason);
    expect(source.signals).toEqual([]);
  });

  test('leaves no listener on a signal that is not aborted', async () => {
    const { table } = await opened();
    const { signal } = new AbortController();
    await call(table, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('rejects a controller in place of a signal, with a hint', async () => {
    const { table } = await opened();
    const error = await rejection((async () => call(table, new AbortController() as unknown as AbortSignal))());
    expect(error).toEqual(new TypeError('signal must be an AbortSignal, got an AbortController: pass its signal'));
  });

  test('is ended by close at once, its reads are aborted, and no further read starts', async () => {
    const { table, source } = await opened();
    source.isHeld = true;
    const error = rejection(call(table));
    await turns();
    const before = source.signals.length;
    void table.close();
    expect(await error).toEqual(new TypeError('the table was closed'));
    expect(source.signals.map((signal) => signal?.aborted)).toEqual(source.signals.map(() => true));
    source.release();
    await turns();
    expect(source.signals).toHaveLength(before);
    expect(before).toBeGreaterThan(0);
  });

  test('fails after close, and reads nothing', async () => {
    const { table, source } = await opened();
    void table.close();
    expect(await rejection((async () => call(table))())).toEqual(new TypeError('the table is closed'));
    expect(source.signals).toEqual([]);
  });
});

describe('next and prev of a cursor', () => {
  test('are ended by their signal, and leave the cursor on no entry', async () => {
    for (const move of ['next', 'prev'] as const) {
      const { table, source } = await opened();
      const cursor = table.cursor();
      const controller = new AbortController();
      await cursor.seek(keys[1000]!);
      let isSettled: boolean;
      source.isHeld = true;
      let last: Promise<boolean>;
      do {
        last = cursor[move]({ signal: controller.signal });
        last.catch(() => undefined);
        isSettled = await Promise.race([last.then(() => true), turns().then(() => false)]);
      } while (isSettled);
      controller.abort(new Error('enough'));
      expect(await rejection(last)).toMatchObject({ message: 'enough' });
      expect([cursor.valid, getEventListeners(controller.signal, 'abort')]).toEqual([false, []]);
      source.release();
      expect(await cursor.seekToFirst()).toBe(true);
    }
  });

  test('fail after close, even inside a block', async () => {
    const { table } = await opened();
    const cursor = table.cursor();
    await cursor.seekToFirst();
    const walk = table.entries();
    await walk.next();
    void table.close();
    expect(await rejection(cursor.next())).toEqual(new TypeError('the table is closed'));
    expect(await rejection(walk.next())).toEqual(new TypeError('the table is closed'));
    expect(await walk.next()).toEqual({ value: undefined, done: true });
  });
});

test('walks and cursors without promises fail after close, even inside a block', () => {
  const table = SyncTable.open(new MemorySource(bytes));
  const cursor = table.cursor();
  cursor.seekToFirst();
  const walk = table.entries();
  walk.next();
  table.close();
  const closed = new TypeError('the table is closed');
  for (const move of ['next', 'prev', 'seekToFirst', 'seekToLast'] as const) expect(caught(() => cursor[move]())).toEqual(closed);
  expect(caught(() => cursor.seek(keys[0]!))).toEqual(closed);
  expect(caught(() => walk.next())).toEqual(closed);
  expect(caught(() => table.get(keys[0]!))).toEqual(closed);
  table.close();
});

describe('a shared read', () => {
  test('that was started without a signal does not delay calls that are aborted', async () => {
    const { table, source } = await opened();
    const controller = new AbortController();
    source.isHeld = true;
    const lookup = table.get(keys[0]!);
    const others = [table.get(keys[1]!, { signal: controller.signal }), table.entries({ signal: controller.signal }).next()].map(rejection);
    await turns();
    controller.abort(new Error('enough'));
    expect(await Promise.all(others)).toEqual([new Error('enough'), new Error('enough')]);
    expect(source.signals.map((signal) => signal?.aborted)).toEqual([false]);
    source.release();
    expect(await lookup).toEqual(entries[0]![1]);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('continues until the last call that waits for it is aborted', async () => {
    const { table, source } = await opened();
    const controllers = Array.from({ length: 3 }, () => new AbortController());
    source.isHeld = true;
    const lookups = controllers.map(({ signal }, i) => rejection(table.get(keys[i]!, { signal })));
    await turns();
    expect(source.signals).toHaveLength(1);
    for (const [i, controller] of controllers.entries()) {
      expect(source.signals[0]?.aborted).toBe(false);
      controller.abort(new Error(`enough ${i}`));
      expect(await lookups[i]).toEqual(new Error(`enough ${i}`));
    }
    expect(source.signals[0]?.aborted).toBe(true);
    // The next call does not share the aborted read.
    const again = table.get(keys[0]!);
    expect(source.signals).toHaveLength(2);
    source.release();
    expect(await again).toEqual(entries[0]![1]);
  });
});

describe('a getMany that fails', () => {
  test('starts no further read', async () => {
    const failure = new Error('no connection');
    const { opened: failed, open: fail } = gate();
    let reads = 0;
    const source: Source = {
      byteLength: bytes.length,
      async read(offset, length) {
        const number = ++reads;
        if (number > 12) {
          if (number === 17) fail();
          await failed;
          if (number === 17) throw failure;
          await turns();
        }
        return bytes.slice(offset, offset + length);
      },
    };
    const table = await Table.open(source, { cache: null, tailBytes: 48, gapBytes: 0 });
    // Every second block, so that each needs a separate read.
    const offsets = [...new Set(keys.map((key) => table.approximateOffset(key)))].filter((_, i) => i % 2 === 0);
    const far = keys.filter((key) => offsets.includes(table.approximateOffset(key)));
    expect(offsets.length).toBeGreaterThan(50);
    expect(await rejection(table.getMany(far))).toBe(failure);
    const after = reads;
    await turns();
    expect(reads).toBe(after);
    expect(reads).toBeLessThan(26);
  });

  test('because of a wrong key reads nothing', async () => {
    const { table, source } = await opened();
    const wrong = [...keys.slice(0, 5), 7 as unknown as Uint8Array];
    expect(await rejection(table.getMany(wrong))).toEqual(new TypeError('keys[5] must be a Uint8Array or a string, got number'));
    expect(source.signals).toEqual([]);
  });
});

describe('a walk that is left early', () => {
  test('aborts the reads ahead of it, and a pending next ends without an error', async () => {
    const { table, source } = await opened();
    const walk = table.entries();
    for (let i = 0; i < 300; i++) await walk.next();
    source.isHeld = true;
    source.signals.length = 0;
    let pending: Promise<IteratorResult<unknown>>;
    do pending = walk.next();
    while (await Promise.race([pending.then(() => true), turns().then(() => false)]));
    expect(await walk.return?.()).toEqual({ value: undefined, done: true });
    expect(await pending).toEqual({ value: undefined, done: true });
    expect(source.signals.length).toBeGreaterThan(0);
    expect(source.signals.map((signal) => signal?.aborted)).toEqual(source.signals.map(() => true));
    source.release();
  });
});

describe('many simultaneous calls', () => {
  const warnings: Error[] = [];
  // Files of earlier tests that become garbage unclosed have warnings too.
  const noteWarning = (warning: Error): void => {
    if (warning.name === 'MaxListenersExceededWarning') warnings.push(warning);
  };
  beforeEach(() => {
    warnings.length = 0;
    process.on('warning', noteWarning);
  });
  afterEach(() => {
    process.off('warning', noteWarning);
  });

  /** Starts fifty reads, each of a different block, from a source that leaves a listener on every signal. */
  async function fiftyReads(signal?: AbortSignal): Promise<{ source: HeldSource; values: Promise<(Uint8Array | undefined)[]>; table: Table }> {
    const { table, source } = await opened();
    const read = source.read.bind(source);
    source.read = (offset, length, its) => {
      its?.addEventListener('abort', () => undefined);
      return read(offset, length, its);
    };
    source.isHeld = true;
    const values = Promise.all(Array.from({ length: 50 }, (_, i) => table.get(keys[i * 80]!, { signal })));
    values.catch(() => undefined);
    await turns();
    expect(source.signals.length).toBe(50);
    return { source, values, table };
  }

  test('without a signal print no warning of a leak', async () => {
    const { source, values } = await fiftyReads();
    source.release();
    expect((await values).filter((value, i) => !sameBytes(value, entries[i * 80]![1]))).toEqual([]);
    await turns();
    expect(warnings).toEqual([]);
  });

  test('without a signal are all ended by close', async () => {
    const { source, values, table } = await fiftyReads();
    void table.close();
    await expect(values).rejects.toThrow('the table was closed');
    expect(source.signals.every((signal) => signal?.aborted)).toBe(true);
    source.release();
  });

  test('with one signal put one listener on it, and print no warning', async () => {
    const { signal } = new AbortController();
    const { source, values } = await fiftyReads(signal);
    expect(getEventListeners(signal, 'abort').length).toBe(1);
    source.release();
    expect((await values).filter((value, i) => !sameBytes(value, entries[i * 80]![1]))).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await turns();
    expect(warnings).toEqual([]);
  });

  test('with one signal are all ended by it', async () => {
    const controller = new AbortController();
    const { source, values } = await fiftyReads(controller.signal);
    controller.abort(new Error('enough'));
    await expect(values).rejects.toThrow('enough');
    await turns();
    expect(source.signals.every((signal) => signal?.aborted)).toBe(true);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    source.release();
  });
});

describe('opening', () => {
  test('is ended by its signal at once, even if the source ignores it', async () => {
    const source = new HeldSource();
    source.isHeld = true;
    const controller = new AbortController();
    const error = rejection(Table.open(source, { signal: controller.signal }));
    await turns();
    controller.abort(new Error('enough'));
    expect(await error).toEqual(new Error('enough'));
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    source.release();
  });

  test('with a signal does not affect the open table when that is aborted later', async () => {
    const controller = new AbortController();
    const { table } = await opened({ signal: controller.signal });
    controller.abort();
    expect(await table.get(keys[5]!)).toEqual(entries[5]![1]);
    expect((await collect(table.keys())).length).toBe(4000);
    expect(await table.cursor().seekToLast()).toBe(true);
    expect((await table.getMany(keys)).filter((value, i) => !sameBytes(value, entries[i]![1]))).toEqual([]);
  });
});

test('of a DatabaseTable is ended in the same way', async () => {
  const versions = entries.map(([userKey, value]) => [encodeInternalKey({ userKey, sequence: 1n, type: VALUE }), value] as const);
  const file = buildTable(versions, { comparator: internalKeyComparator(), filterPolicy: internalKeyPolicy(new BloomFilterPolicy()) });
  let isHeld = false;
  const source: Source = {
    byteLength: file.length,
    read: (offset, length) => (isHeld ? new Promise(() => undefined) : file.slice(offset, offset + length)),
  };
  const table = await DatabaseTable.open(source, { cache: null });
  isHeld = true;
  const controller = new AbortController();
  const { signal } = controller;
  const errors = [table.get(keys[9]!, { signal }), collect(table.entries({ signal }))].map(rejection);
  const closed = rejection(table.get(keys[9]!));
  await turns();
  controller.abort(new Error('enough'));
  expect(await Promise.all(errors)).toEqual([new Error('enough'), new Error('enough')]);
  void table.close();
  expect(await closed).toEqual(new TypeError('the table was closed'));
});

describe('a call whose block was read ahead', () => {
  /** A table of blocks of one entry, which walks read ahead. */
  async function walked(): Promise<{ table: Table; cursor: Cursor; walk: AsyncIterator<[Uint8Array, Uint8Array]> }> {
    const source = new MemorySource(buildTable(entries.slice(0, 500), { compression: 'none', blockSize: 1 }));
    const table = await Table.open({ byteLength: source.byteLength, read: (offset, length) => source.read(offset, length) }, { cache: null });
    const cursor = table.cursor();
    await cursor.seekToFirst();
    const walk = table.entries();
    for (let i = 0; i < 30; i++) {
      await cursor.next();
      await walk.next();
    }
    return { table, cursor, walk };
  }

  test('is rejected all the same when its signal is aborted', async () => {
    const { cursor } = await walked();
    const controller = new AbortController();
    const moved = rejection(cursor.next({ signal: controller.signal }));
    controller.abort(new Error('enough'));
    expect(await moved).toMatchObject({ message: 'enough' });
    expect(cursor.valid).toBe(false);
    expect(await cursor.seekToFirst()).toBe(true);
  });

  test('is rejected all the same when the table is closed', async () => {
    const { table, cursor, walk } = await walked();
    const calls = [rejection(cursor.next()), rejection(walk.next() as Promise<unknown>)];
    void table.close();
    for (const call of calls) expect(await call).toBeInstanceOf(TypeError);
  });
});

test('getMany of no keys throws too when the table is closed', () => {
  const table = SyncTable.open(new MemorySource(bytes));
  table.close();
  expect(caught(() => table.getMany([]))).toBeInstanceOf(TypeError);
});
