import { MemorySource, type Source, Table } from '@bloom/sstable';
import { BloomFilterPolicy } from '@bloom/policy';
import { describe, expect, test } from 'vitest';
import { seeded } from '@bloom/fixtures';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { collect, numberedEntries } from './entries.js';

const entries = numberedEntries(6000, 60);
const keys = entries.map(([key]) => key);
const bytes = buildTable(entries, { compression: 'none', filterPolicy: new BloomFilterPolicy() });

/** The entries as one string: comparing thousands of arrays takes seconds. */
const joined = (some: readonly (readonly [Uint8Array, Uint8Array])[]): string => some.map(([key, value]) => `${Buffer.from(key).toString('hex')} ${Buffer.from(value).toString('hex')}`).join('\n');

/** Has some bytes at hand, and others only behind a promise. */
class PartlyAtHand implements Source {
  readonly byteLength = bytes.length;
  atOnce = 0;
  later = 0;
  largest = 0;
  readonly #isAtHand: () => boolean;

  constructor(isAtHand: () => boolean) {
    this.#isAtHand = isAtHand;
  }

  read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    signal?.throwIfAborted();
    this.later++;
    return Promise.resolve(bytes.slice(offset, offset + length));
  }

  readonly readAtOnce = (offset: number, length: number): Uint8Array | undefined => {
    this.largest = Math.max(this.largest, length);
    if (!this.#isAtHand()) return undefined;
    this.atOnce++;
    return bytes.slice(offset, offset + length);
  };
}

test.each<[string, () => () => boolean]>([
  ['always', () => () => true],
  ['never', () => () => false],
  ['now and then', () => { const random = seeded(5); return () => random.below(2) === 0; }],
  ['for the first reads', () => { let left = 12; return () => left-- > 0; }],
])('all calls give the same whether blocks are at hand always, never or now and then: %s', async (_, make) => {
  const source = new PartlyAtHand(make());
  const table = await Table.open(source, { cache: null });
  for (const i of [0, 17, 2999, 5999]) {
    expect(await table.get(keys[i]!)).toEqual(entries[i]![1]);
    expect((await table.find(keys[i]!, () => true))?.[1]).toEqual(entries[i]![1]);
  }
  expect(await table.getMany(keys.filter((_, i) => i % 13 === 0))).toEqual(entries.filter((_, i) => i % 13 === 0).map(([, value]) => value));
  expect(joined(await collect(table.entries()))).toEqual(joined(entries));
  expect(joined(await collect(table.entries({ reverse: true })))).toEqual(joined([...entries].reverse()));
  expect(await collect(table.entries({ gte: keys[100]!, limit: 10 }))).toEqual(entries.slice(100, 110));
  const cursor = table.cursor();
  for (const i of [4000, 3, 5998]) {
    expect(await cursor.seek(keys[i]!)).toBe(true);
    expect(cursor.value).toEqual(entries[i]![1]);
    expect(await cursor.next()).toBe(true);
    expect(cursor.key).toEqual(keys[i + 1]);
    expect(await cursor.prev()).toBe(true);
    expect(cursor.key).toEqual(keys[i]);
  }
  const walked: Uint8Array[] = [];
  for (let valid = await cursor.seekToFirst(); valid; valid = await cursor.next()) walked.push(cursor.key.slice());
  expect(walked.length).toBe(keys.length);
  expect(Buffer.concat(walked).equals(Buffer.concat(keys))).toBe(true);
  // More than that takes longer to copy than a thread takes to answer.
  expect(source.largest).toBeLessThanOrEqual(64 * 2 ** 10);
});

describe('a table whose bytes are in memory', () => {
  const opened = async (): Promise<{ table: Table; source: PartlyAtHand }> => {
    const source = new PartlyAtHand(() => true);
    const table = await Table.open(source, { cache: null });
    source.later = source.atOnce = 0;
    return { table, source };
  };

  test('reads a single block for get, and only the needed blocks for ten entries', async () => {
    const { table, source } = await opened();
    await table.get(keys[3000]!);
    await collect(table.entries({ gte: keys[3000]!, limit: 10 }));
    expect(source.later).toBe(0);
    expect(source.atOnce).toBeLessThanOrEqual(3);
  });

  test('is read at once for getMany and short walks, and ahead for long ones', async () => {
    const { table, source } = await opened();
    await table.getMany(keys.slice(0, 3000));
    await collect(table.entries({ limit: 500 }));
    expect(source.later).toBe(0);
    await collect(table.entries());
    expect(source.later).toBeGreaterThan(0);
  });

  test('is not read by a call whose signal is aborted', async () => {
    const { table, source } = await opened();
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    expect(await rejection(table.get(keys[9]!, { signal }))).toBe(reason);
    expect(await rejection(table.getMany(keys.slice(0, 9), { signal }))).toBe(reason);
    expect(await rejection(table.cursor().seek(keys[9]!, { signal }))).toBe(reason);
    expect(source).toMatchObject({ atOnce: 0, later: 0 });
  });

  test('refuses a source that returns fewer bytes', async () => {
    const whole = new MemorySource(bytes);
    let isShort = false;
    const table = await Table.open({
      byteLength: bytes.length,
      read: (offset, length) => whole.read(offset, length),
      readAtOnce: (offset, length) => (isShort ? whole.read(offset, length - 1) : undefined),
    });
    isShort = true;
    expect(await rejection(table.get(keys[9]!))).toMatchObject({ code: 'BLOOM_TRUNCATED' });
    expect(await rejection(collect(table.entries()))).toMatchObject({ code: 'BLOOM_TRUNCATED' });
  });
});

/** A table whose source gives what `readAtOnce` does once it is open. */
async function openWith(readAtOnce: (offset: number, length: number) => unknown, signal?: AbortSignal): Promise<{ table: Table; calls: Record<string, () => Promise<unknown>> }> {
  let isOpen = false;
  const whole = new MemorySource(bytes);
  const source = {
    byteLength: bytes.length,
    read: (offset: number, length: number) => whole.read(offset, length),
    readAtOnce: (offset: number, length: number) => (isOpen ? readAtOnce(offset, length) : undefined),
  };
  const table = await Table.open(source as Source, { cache: null });
  isOpen = true;
  const options = { signal };
  return {
    table,
    calls: {
      get: () => table.get(keys[9]!, options),
      has: () => table.has(keys[9]!, options),
      find: () => table.find(keys[9]!, () => true, options),
      getMany: () => table.getMany(keys.slice(0, 9), options),
      entries: () => table.entries(options).next(),
      cursor: () => table.cursor().seek(keys[9]!, options),
      explain: () => table.explain(keys[9]!, options),
    },
  };
}

test.each([null, false, 0, '', 'bytes', [1]])('what is neither bytes nor undefined is refused with the name of the call: %j', async (answer) => {
  const { calls } = await openWith(() => answer);
  for (const [name, call] of Object.entries(calls)) {
    const error = await rejection(call());
    expect(error, name).toBeInstanceOf(TypeError);
    expect((error as Error).message, name).toMatch(/^the result of source\.readAtOnce must be a Uint8Array/);
  }
});

test('a source whose readAtOnce is not a function is refused when the table is opened', async () => {
  const source = { byteLength: bytes.length, read: () => bytes, readAtOnce: true };
  expect(((await rejection(Table.open(source as unknown as Source))) as Error).message).toBe('source.readAtOnce must be a function, got boolean');
});

test.each(['get', 'has', 'find', 'getMany', 'entries', 'cursor', 'explain'])('%s is rejected when the source closes the table, or aborts the call, while it gives bytes at once', async (name) => {
  const closing = await openWith((offset, length) => {
    void closing.table.close();
    return bytes.slice(offset, offset + length);
  });
  expect(await rejection(closing.calls[name]!())).toEqual(new TypeError('the table was closed'));

  const controller = new AbortController();
  const reason = new Error('enough');
  const aborting = await openWith((offset, length) => {
    controller.abort(reason);
    return bytes.slice(offset, offset + length);
  }, controller.signal);
  expect(await rejection(aborting.calls[name]!())).toBe(reason);
});
