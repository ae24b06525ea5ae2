// A caller may change or use its buffers again as soon as a call has returned, also while the call's promise is pending.
import { arrayRun, type BulkEntry, levelRun, MemoryStore, merge, type NewObject, partRun, PartWriter, splitParts, tableRun } from '@bloom/bulk';
import { MemorySink, MemorySource, Table, TableBuilder } from '@bloom/sstable';
import { DatabaseTable, encodeInternalKey, VALUE } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const internal = (userKey: Uint8Array): Uint8Array => encodeInternalKey({ userKey, sequence: 1n, type: VALUE });

describe('a part', () => {
  test('has the keys that were put, although the caller puts each of them in the same Buffer', async () => {
    const writer = new PartWriter({ sequence: 1n });
    const key = Buffer.alloc(5);
    for (const text of ['apple', 'lemon', 'peach']) {
      key.write(text);
      writer.put(key, key);
    }
    key.fill(0);
    const { part } = await writer.take();
    expect([part.first, part.last].map((bytes) => Buffer.from(bytes).toString())).toEqual(['apple', 'peach']);
  });

  test('that its caller changes does not change which keys may follow', async () => {
    const writer = new PartWriter({ sequence: 1n });
    writer.put('b', '');
    const { part } = await writer.take();
    part.last.fill(0);
    expect(() => writer.put('a', '')).toThrow(RangeError);
    part.last.fill(0xff);
    expect(() => writer.put('c', '')).not.toThrow();
  });
});

describe('bounds that the caller changes after the call are those of the call', () => {
  const entries = Array.from('abcdefgh', (letter): BulkEntry => [utf8(letter), utf8(letter)]);
  const bounds = (): { gte: Uint8Array; lt: Uint8Array } => ({ gte: utf8('c'), lt: utf8('f') });

  async function keysOf(taken: AsyncIterable<readonly BulkEntry[]>, { gte, lt }: { gte: Uint8Array; lt: Uint8Array }): Promise<string> {
    gte.fill(0x61);
    lt.fill(0x7a);
    const keys: string[] = [];
    for await (const some of taken) for (const [key] of some) keys.push(new TextDecoder().decode(key));
    return keys.join('');
  }

  test('of a merge', async () => {
    const range = bounds();
    expect(await keysOf(merge([arrayRun(entries)], range), range)).toBe('cde');
  });

  test('of a run', async () => {
    const sink = new MemorySink();
    const builder = new TableBuilder(sink);
    for (const [key, value] of entries) builder.add(key, value!);
    builder.finish();
    const table = await Table.open(new MemorySource(sink.toBytes()));
    const writer = new PartWriter({ sequence: 1n });
    for (const [key, value] of entries) writer.put(key, value!);
    const { part, bytes } = await writer.take();
    const { number, smallest, largest } = { number: part.number, smallest: internal(part.first), largest: internal(part.last) };
    const open = () => DatabaseTable.open(new MemorySource(bytes));
    const runs = { array: arrayRun(entries), table: tableRun(table), part: partRun(await open()), level: levelRun([{ number, smallest, largest }], open) };
    for (const [name, run] of Object.entries(runs)) {
      const range = bounds();
      expect(await keysOf(run.entries(range), range), name).toBe('cde');
    }
  });
});

test('the keys that split parts stay when the description of the parts, whose keys are Buffers, changes', () => {
  const parts = ['b', 'd', 'f'].map((last) => ({ size: 1000, largest: Buffer.from(internal(utf8(last))) }));
  const keys = splitParts(parts, 3);
  for (const { largest } of parts) largest.fill(0);
  expect(keys.map((key) => new TextDecoder().decode(key))).toEqual(['b', 'd']);
});

test('a store in memory writes the bytes that it was given, although the caller changes them at once', async () => {
  const store = new MemoryStore();
  const given = (text: string): NewObject => ({ name: 'a', bytes: utf8(text), sha256: '' });
  const calls: ((object: NewObject, etag: string | undefined) => Promise<unknown>)[] = [
    (object) => store.create(object),
    (object) => store.put(object),
    (object, etag) => store.replace(object, etag),
  ];
  let etag: string | undefined;
  for (const [i, call] of calls.entries()) {
    const object = given(`abc ${i}`);
    const writing = call(object, etag);
    object.bytes.fill(0);
    await writing;
    const found = (await store.get('a'))!;
    expect(new TextDecoder().decode(found.bytes)).toBe(`abc ${i}`);
    ({ etag } = found);
  }
});
