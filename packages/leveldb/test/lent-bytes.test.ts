// A caller may change or use its buffers again as soon as a call has returned, also while the call's promise is pending.
import { Database, WritableMemoryFolder } from '@bloom/leveldb';
import { describe, expect, test } from 'vitest';

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
