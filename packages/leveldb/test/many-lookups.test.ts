// getMany, hasMany and getManyAs of files whose bytes are at hand, there when the event loop has turned, or later.
import { setImmediate as turned, setTimeout as elapsed } from 'node:timers/promises';
import { seeded } from '@bloom/fixtures';
import { Database, DatabaseReader, type Folder, type FolderFile, WritableMemoryFolder } from '@bloom/leveldb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { assembleDatabase } from './assemble-database.js';
import { rejection } from '@bloom/fixtures/caught';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const KEYS = Array.from({ length: 120 }, (_, i) => utf8(`key ${String(i).padStart(3, '0')}`));
const valueOf = (i: number): Uint8Array => utf8(`value ${i}`.repeat(5));

const files = assembleDatabase({
  tables: [0, 1, 2].map((t) => ({
    level: 1,
    number: 2 + t,
    versions: KEYS.slice(t * 40, (t + 1) * 40).map((key, i) => ({ key, sequence: t * 40 + i + 1, value: valueOf(t * 40 + i) })),
  })),
  // A block for each key.
  build: { blockSize: 16, compression: 'none' },
});

type Delay = 'at hand' | 'turn' | 'later' | 'failing';

/** A folder in which each read takes its time. */
class SlowFolder implements Folder {
  /** What the next read of a table is. */
  next: () => Delay = () => 'at hand';
  /** Reads that are under way, and the most that were. */
  running = 0;
  most = 0;
  atHand = 0;
  others = 0;

  list(): string[] {
    return [...files.keys()];
  }

  open(name: string): FolderFile | undefined {
    const bytes = files.get(name);
    if (bytes === undefined) return undefined;
    /** Of the blocks that are not at hand, as they are asked for more than once before they are read. */
    const delays = new Map<number, Delay>();
    const read = async (offset: number, length: number): Promise<Uint8Array> => {
      this.others++;
      this.most = Math.max(this.most, ++this.running);
      const waits = delays.get(offset) ?? 'later';
      delays.delete(offset);
      if (waits === 'turn') await turned();
      else await elapsed(3);
      this.running--;
      if (waits === 'failing') throw new Error(`cannot read at ${offset}`);
      return bytes.slice(offset, offset + length);
    };
    return {
      name,
      byteLength: bytes.length,
      read,
      readAtOnce: (offset, length) => {
        const delay = delays.get(offset) ?? this.next();
        if (delay !== 'at hand') {
          delays.set(offset, delay);
          return undefined;
        }
        this.atHand++;
        return bytes.slice(offset, offset + length);
      },
    };
  }
}

let folder: SlowFolder;
let reader: DatabaseReader;

beforeEach(async () => {
  folder = new SlowFolder();
  reader = await DatabaseReader.open(folder, { cache: null });
  for (const i of [0, 50, 100]) await reader.get(KEYS[i]!);
  folder.atHand = folder.others = folder.most = 0;
});

afterEach(() => reader.close());

test('each key gets its own value, however long each read takes', async () => {
  const random = seeded(1);
  for (let n = 0; n < 150; n++) {
    const kinds = random.pick<Delay[]>([['at hand'], ['at hand', 'turn'], ['at hand', 'at hand', 'at hand', 'later'], ['turn', 'later'], ['at hand', 'turn', 'later']]);
    folder.next = () => random.pick(kinds);
    const wanted = Array.from({ length: random.below(60) }, () => random.below(KEYS.length + 10));
    const keys = wanted.map((i) => KEYS[i] ?? utf8(`none ${i}`));
    // The caller changes keys and array once it has called.
    const given = keys.map((key) => key.slice());
    const calls = [reader.getMany(given), reader.hasMany(given)] as const;
    for (const key of given.splice(0)) key.fill(0);
    const [values, found] = await Promise.all(calls);
    expect(values).toEqual(wanted.map((i) => (i < KEYS.length ? valueOf(i) : undefined)));
    expect(found).toEqual(wanted.map((i) => i < KEYS.length));
  }
});

test('an iterator may yield the same array again and again', async () => {
  const random = seeded(2);
  folder.next = () => random.pick<Delay>(['at hand', 'turn', 'later']);
  function* inOneArray(): Generator<Uint8Array> {
    const key = new Uint8Array(KEYS[0]!.length);
    for (const one of KEYS) {
      key.set(one);
      yield key;
    }
  }
  expect(await reader.getMany(inOneArray())).toEqual(KEYS.map((_, i) => valueOf(i)));
});

test('while one read waits for the event loop to turn, no other key is looked up', async () => {
  let reads = 0;
  folder.next = () => (++reads % 30 === 0 ? 'turn' : 'at hand');
  await reader.getMany(KEYS);
  expect([folder.most, folder.others]).toEqual([1, 4]);
});

test('reads that take longer are made at the same time', async () => {
  let reads = 0;
  folder.next = () => (++reads < 20 ? 'at hand' : 'later');
  await reader.getMany(KEYS);
  expect(folder.most).toBe(16);
  folder.most = 0;
  // Also where none was at hand.
  folder.next = () => 'later';
  await reader.getMany(KEYS);
  expect(folder.most).toBe(16);
});

test('of a remote folder, all calls together make at most 16 reads of blocks at the same time', async () => {
  class RemoteFolder extends SlowFolder {
    readonly isRemote = true;
    override open(name: string): FolderFile | undefined {
      const file = super.open(name);
      return file && { ...file, isRemote: true };
    }
  }
  const remote = new RemoteFolder();
  remote.next = () => 'later';
  await using slow = await DatabaseReader.open(remote, { cache: null, gapBytes: 0, openTables: 'at-opening' });
  remote.most = 0;
  // Every second key, so that no two blocks are adjacent.
  const some = KEYS.filter((_, i) => i % 2 === 0);
  await Promise.all([slow.getMany(some.slice(0, 30)), slow.getMany(some.slice(30))]);
  expect(remote.most).toBe(16);
});

test('a read that fails fails the call, which waits for the other reads that were begun', async () => {
  for (const at of [1, 2, 10, 40, 120]) {
    for (const kind of ['turn', 'later'] as const) {
      let reads = 0;
      folder.next = () => (++reads === at ? 'failing' : reads % 9 === 5 ? kind : 'at hand');
      expect(await rejection(reader.getMany(KEYS))).toMatchObject({ message: expect.stringContaining('cannot read at') as string });
      expect(folder.running).toBe(0);
    }
  }
  folder.next = () => 'at hand';
  expect(await reader.getMany(KEYS)).toHaveLength(KEYS.length);
});

test('an iterator that throws, or a key that is not a Uint8Array, fails the call, whatever is being read', async () => {
  for (const kind of ['at hand', 'turn', 'later', 'failing'] as const) {
    folder.next = () => kind;
    function* failing(): Generator<Uint8Array> {
      yield* KEYS.slice(0, 5);
      throw new Error('no more keys');
    }
    expect(await rejection(reader.getMany(failing()))).toMatchObject({ message: 'no more keys' });
    const wrong = [KEYS[0]!, 5 as unknown as Uint8Array];
    expect(await rejection(reader.getMany(wrong))).toMatchObject({ name: 'TypeError', message: expect.stringContaining('keys[1]') as string });
    // A rejection that nobody handles would fail the run.
    await elapsed(10);
  }
});

test('a reader that is closed while keys wait says so', async () => {
  folder.next = () => 'later';
  const calls = [rejection(reader.getMany(KEYS)), rejection(reader.hasMany(KEYS))];
  await reader.close();
  for (const error of await Promise.all(calls)) expect(error).toMatchObject({ code: 'BLOOM_CLOSED' });
});

test('an iterator that aborts the call, or closes the reader, fails the call', async () => {
  const controller = new AbortController();
  function* aborting(): Generator<Uint8Array> {
    yield KEYS[0]!;
    controller.abort(new Error('not wanted any more'));
  }
  expect(await rejection(reader.getMany(aborting(), { signal: controller.signal }))).toMatchObject({ message: 'not wanted any more' });
  function* closing(): Generator<Uint8Array> {
    yield KEYS[0]!;
    void reader.close();
  }
  expect(await rejection(reader.getMany(closing()))).toMatchObject({ code: 'BLOOM_CLOSED' });
});

const textOf = (bytes: Uint8Array, start: number, end: number): string => Buffer.from(bytes.subarray(start, end)).toString();

test('getAs returns its result without a promise if the value is in memory', async () => {
  expect(reader.getAs(KEYS[7]!, textOf)).toBe('value 7'.repeat(5));
  for (const kind of ['turn', 'later'] as const) {
    folder.next = () => kind;
    const value = reader.getAs(KEYS[8]!, textOf);
    expect(value).toBeInstanceOf(Promise);
    expect(await value).toBe('value 8'.repeat(5));
  }
  folder.next = () => 'failing';
  expect(await rejection(reader.getAs(KEYS[9]!, textOf) as Promise<unknown>)).toMatchObject({ message: expect.stringContaining('cannot read') as string });
  expect(() => reader.getAs(5 as unknown as Uint8Array, textOf)).toThrow('key must be a Uint8Array');
  expect(() => reader.getAs(KEYS[0]!, 'text' as never)).toThrow(new TypeError('make must be a function, got string'));
  expect(() => reader.getAs(KEYS[0]!, textOf, { sequence: 1n, other: 1 } as object)).toThrow(/getAs.*other/);
  await reader.close();
  expect(() => reader.getAs(KEYS[0]!, textOf)).toThrow(expect.objectContaining({ code: 'BLOOM_CLOSED' }) as Error);
});

test('getAsSync gives what getAs makes of a value, also of one that has to be read', async () => {
  const folder = new WritableMemoryFolder();
  await using database = await Database.open(folder, { cache: null });
  for (const [i, key] of KEYS.entries()) await database.put(key, `value ${i}`);
  const { sequence } = database.snapshot();
  await database.put(KEYS[0]!, 'new');
  await database.compactRange();
  for (const [i, key] of KEYS.entries()) expect(database.getAsSync(key, textOf, { sequence })).toBe(`value ${i}`);
  expect(database.getAsSync(KEYS[0]!, textOf)).toBe('new');
  expect(database.getAsSync(utf8('absent'), () => 'called')).toBeUndefined();
  const refuse = (): never => {
    throw new Error('not this one');
  };
  expect(() => database.getAsSync(KEYS[0]!, refuse)).toThrow('not this one');
  expect(database.getAsSync(KEYS[1]!, textOf)).toBe('value 1');
  expect(() => database.getAsSync(KEYS[0]!, 'text' as never)).toThrow(new TypeError('make must be a function, got string'));
  expect(() => database.getAsSync(KEYS[0]!, textOf, { sequence, other: 1 } as object)).toThrow(/getAsSync.*other/);
});

test('getAs and getManyAs call the function for an empty value and not for an absent key, and return undefined if it does', async () => {
  const database = await Database.open(new WritableMemoryFolder());
  await database.put(utf8('empty'), new Uint8Array(0));
  expect(database.getAs(utf8('empty'), textOf)).toBe('');
  let calls = 0;
  const count = (): undefined => {
    calls++;
    return undefined;
  };
  expect(database.getAs(utf8('empty'), count)).toBeUndefined();
  expect(database.getAs(utf8('absent'), count)).toBeUndefined();
  expect(await database.getManyAs([utf8('absent'), utf8('empty'), utf8('absent')], count)).toEqual([undefined, undefined, undefined]);
  expect(calls).toBe(2);
  await database.close();
});

test('getManyAs gives what getMany gives, made of each value, however long each read takes', async () => {
  const random = seeded(3);
  for (const options of [undefined, { signal: new AbortController().signal }]) {
    for (let n = 0; n < 20; n++) {
      const kinds = random.pick<Delay[]>([['at hand'], ['at hand', 'turn'], ['turn', 'later'], ['at hand', 'turn', 'later']]);
      folder.next = () => random.pick(kinds);
      const keys = Array.from({ length: random.below(60) }, () => random.below(KEYS.length + 10)).map((i) => KEYS[i] ?? utf8(`none ${i}`));
      const [texts, values] = await Promise.all([reader.getManyAs(keys, textOf, options), reader.getMany(keys, options)]);
      expect(texts).toEqual(values.map((value) => value && Buffer.from(value).toString()));
    }
  }
  expect(await rejection(reader.getManyAs(KEYS, 'text' as never))).toEqual(new TypeError('make must be a function, got string'));
  expect(await rejection(reader.getManyAs(KEYS, textOf, { other: 1 } as object))).toMatchObject({ message: expect.stringContaining('getManyAs') as string });
});

test('a function that throws fails the call, which waits for the reads that it began; later calls are not affected', async () => {
  const refuse = (bytes: Uint8Array, start: number, end: number): string => {
    const text = textOf(bytes, start, end);
    if (text.startsWith('value 30')) throw new Error('not this one');
    return text;
  };
  for (const kind of ['at hand', 'turn', 'later'] as const) {
    folder.next = () => kind;
    expect(await rejection(Promise.resolve().then(() => reader.getAs(KEYS[30]!, refuse)))).toEqual(new Error('not this one'));
    expect(await rejection(reader.getManyAs(KEYS, refuse))).toEqual(new Error('not this one'));
    expect(folder.running).toBe(0);
    expect(await reader.getManyAs(KEYS.slice(0, 3), refuse)).toEqual([0, 1, 2].map((i) => `value ${i}`.repeat(5)));
  }
});
