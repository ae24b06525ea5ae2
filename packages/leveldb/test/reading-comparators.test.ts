// Comparators that read the database, or another, in the middle of its reads.
import { bytewiseComparator, type Comparator, Database, SyncDatabaseReader, WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test } from 'vitest';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString();
const COUNT = 90;
const keyOf = (i: number): Uint8Array => utf8(`key ${100 + i}`);

/** A comparator that calls a function in each comparison but those which the function leads to. */
class Reading implements Comparator {
  readonly name = 'test.Reading';
  read: (() => void) | undefined;
  readonly findShortestSeparator = bytewiseComparator.findShortestSeparator.bind(bytewiseComparator);
  readonly findShortSuccessor = bytewiseComparator.findShortSuccessor.bind(bytewiseComparator);

  compare(a: Uint8Array, b: Uint8Array): number {
    const { read } = this;
    this.read = undefined;
    read?.();
    this.read = read;
    return bytewiseComparator.compare(a, b);
  }
}

/** Of 90 entries, in tables or in the memtable. */
async function databaseOf(comparator: Comparator, isCompacted: boolean): Promise<{ readonly database: Database; readonly folder: WritableMemoryFolder }> {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder, { comparator, cache: null, blockSize: 64, compression: 'none' });
  for (let i = 0; i < COUNT; i++) await database.put(keyOf(i), utf8(`value ${i}`));
  if (isCompacted) await database.compactRange();
  return { database, folder };
}

test.each([
  ['tables', true],
  ['the memtable', false],
])('a lookup in %s finds its own key', async (_, isCompacted) => {
  const comparator = new Reading();
  const { database } = await databaseOf(comparator, isCompacted);
  let inner = 0;
  comparator.read = () => {
    const i = (inner += 37) % COUNT;
    expect(textOf(database.getSync(keyOf(i)))).toBe(`value ${i}`);
    expect(database.hasSync(utf8(`none ${i}`))).toBe(false);
    expect([...database.keysSync({ gte: keyOf(i), limit: 1 })].map(textOf)).toEqual([`key ${100 + i}`]);
  };
  for (let i = 0; i < COUNT; i += 4) {
    const value = `value ${i}`;
    expect(textOf(database.getSync(keyOf(i)))).toBe(value);
    expect(textOf(await database.get(keyOf(i)))).toBe(value);
    expect((await database.getMany([keyOf(i), utf8('none')])).map(textOf)).toEqual([value, undefined]);
    expect(await database.getAs(keyOf(i), (bytes, start, end) => textOf(bytes.subarray(start, end)))).toBe(value);
    expect(await database.explain(keyOf(i))).toMatchObject({ outcome: { kind: 'value' } });
    const entries = database.entriesSync({ gte: keyOf(i), limit: 5 });
    expect([...entries].map(([key]) => textOf(key))).toEqual(Array.from({ length: Math.min(5, COUNT - i) }, (__, j) => `key ${100 + i + j}`));
  }
  expect(inner).toBeGreaterThan(1000);
  comparator.read = undefined;
  await database.close();
});

test('a lookup of a reader that skips damage finds its own key', async () => {
  const comparator = new Reading();
  const { database, folder } = await databaseOf(comparator, true);
  await database.close();
  const reader = SyncDatabaseReader.open(folder, { comparators: [comparator], cache: null, damage: 'skip' });
  let inner = 0;
  comparator.read = () => {
    const i = (inner += 37) % COUNT;
    expect(textOf(reader.get(keyOf(i)))).toBe(`value ${i}`);
    expect([...reader.keys({ gte: keyOf(i), limit: 1 })].map(textOf)).toEqual([`key ${100 + i}`]);
  };
  for (let i = 0; i < COUNT; i += 4) {
    expect(textOf(reader.get(keyOf(i)))).toBe(`value ${i}`);
    const keys = [...reader.keys({ gte: keyOf(i), limit: 5 })].map(textOf);
    expect(keys).toEqual(Array.from({ length: Math.min(5, COUNT - i) }, (_, j) => `key ${100 + i + j}`));
  }
  expect(inner).toBeGreaterThan(500);
  comparator.read = undefined;
  reader.close();
});
