// A caller may change or use its buffers again as soon as a call has returned, also while the call's promise is pending.
import { Database, WritableMemoryFolder } from '@bloom/leveldb';
import type { Comparator } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { reverseComparator } from './reverse-comparator.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);

describe('a cursor that waits for a write', () => {
  /** A database with the entries a to g, the last of which is being synced. */
  async function behind(): Promise<Database> {
    const database = await Database.open(new WritableMemoryFolder());
    for (const key of 'abcdef') await database.put(key, key);
    void database.put('g', 'g', { sync: true });
    return database;
  }

  test.each(['seek', 'seekForPrev'] as const)('goes to the key as it was when %s was called', async (seek) => {
    await using database = await behind();
    using cursor = database.cursor();
    const key = utf8('c');
    const moving = cursor[seek](key);
    key.fill(0x65);
    expect([await moving, text(cursor.key)]).toEqual([true, 'c']);
  });

  test.each([
    [{ gte: 'b', lt: 'e' }, 'bcd'],
    [{ gt: 'b', lte: 'e' }, 'cde'],
    [{ prefix: 'd' }, 'd'],
  ] as const)('stays within the bounds %j as they were when it was made', async (given, expected) => {
    await using database = await behind();
    const bounds = Object.fromEntries(Object.entries(given).map(([name, bound]) => [name, utf8(bound)]));
    using cursor = database.cursor(bounds);
    for (const bound of Object.values(bounds)) bound.fill(0x66);
    let keys = '';
    for (let isOn = await cursor.seekToFirst(); isOn; isOn = await cursor.next()) keys += text(cursor.key)!;
    expect(keys).toBe(expected);
  });
});

describe('a comparator that looks up keys while an entry is inserted', () => {
  const KEYS = Array.from({ length: 300 }, (_, i) => `key ${(i * 7) % 300}`);
  const sorted = [...KEYS].sort().reverse();

  /** Puts the keys into a database. @returns what it has then, and how often puts and the reads of all keys compared keys. */
  async function filled(read: (database: Database, i: number) => unknown) {
    let comparisons = 0;
    let lookUp = (): unknown => undefined;
    let isReading = false;
    const comparator: Comparator = {
      ...reverseComparator,
      compare(a, b) {
        if (isReading) return reverseComparator.compare(a, b);
        isReading = true;
        lookUp();
        comparisons++;
        isReading = false;
        return reverseComparator.compare(a, b);
      },
    };
    await using database = await Database.open(new WritableMemoryFolder(), { comparator });
    lookUp = () => read(database, comparisons);
    for (const key of KEYS) await database.put(key, key);
    const values = KEYS.map((key) => text(database.getSync(key)));
    isReading = true;
    return { comparisons, values, keys: [...database.keysSync()].map(text), reversed: [...database.keysSync({ reverse: true })].map(text) };
  }

  test.each<[string, (database: Database, i: number) => unknown]>([
    ['getSync', (database) => database.getSync(KEYS[1]!)],
    ['getManySync', (database, i) => database.getManySync([KEYS[i % KEYS.length]!, 'absent'])],
    ['keysSync', (database, i) => [...database.keysSync({ gte: KEYS[i % KEYS.length]!, limit: 1 })]],
  ])('leaves the memtable as if it had not, with %s', async (_, read) => {
    const plain = await filled(() => undefined);
    expect(plain).toMatchObject({ values: KEYS, keys: sorted, reversed: [...sorted].reverse() });
    // Entries that are linked in the wrong place are found, with more comparisons.
    expect(await filled(read)).toEqual(plain);
  });
});

test('the keys in the description of a database are copies', async () => {
  await using database = await Database.open(new WritableMemoryFolder());
  await database.put('b', '');
  await database.put('c', '');
  await database.flush();
  const { smallest, largest } = database.describe().levels.flat()[0]!;
  smallest.userKey.fill(0x7a);
  largest.userKey.fill(0);
  expect(await database.hasMany(['b', 'c'])).toEqual([true, true]);
});

test.each([0, 1, 2, 3, 4])('a key is found although comparison %i of the search for it puts an entry right before it', async (nth) => {
  let comparisons = 0;
  let put: (() => void) | undefined;
  const comparator: Comparator = {
    ...reverseComparator,
    compare(a, b) {
      if (put !== undefined && comparisons++ === nth) {
        const once = put;
        put = undefined;
        once();
      }
      return reverseComparator.compare(a, b);
    },
  };
  await using database = await Database.open(new WritableMemoryFolder(), { comparator });
  for (const key of 'abcdef') await database.put(key, key);
  for (const [i, key] of Array.from('abcdef').entries()) {
    const before = `${key}~`;
    comparisons = 0;
    put = () => {
      // The arrays of the memtable grow.
      void database.put(before, new Uint8Array(2000 * 3 ** i));
      // A read inserts what is put before it.
      expect(database.hasSync(before)).toBe(true);
    };
    expect(text(database.getSync(key)), key).toBe(key);
    comparisons = 0;
    put = () => {
      void database.put(`${before}~`, '');
      expect(database.hasSync(`${before}~`)).toBe(true);
    };
    using cursor = database.cursorSync({ gte: key });
    expect(cursor.seekToFirst() && text(cursor.key), key).toBe(key);
    put = undefined;
  }
});
