// A `for await` loop over an iterator hands over what was read ahead without abstract-level. Here random programs run on two iterators, of
// which one is walked through by abstract-level's own generator, and see the same.
import { BloomLevel } from '@bloom/level';
import { WritableMemoryFolder } from '@bloom/leveldb';
import { ClassicLevel } from 'classic-level';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AbstractIterator, AbstractKeyIterator, AbstractValueIterator } from 'abstract-level';
import { seeded } from '@bloom/fixtures';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const KINDS = { iterator: AbstractIterator, keys: AbstractKeyIterator, values: AbstractValueIterator } as const;

interface Iterator {
  readonly count: number;
  next(): Promise<unknown>;
  nextv(size: number): Promise<unknown[]>;
  all(): Promise<unknown[]>;
  seek(target: string): void;
  close(): Promise<void>;
  [Symbol.asyncIterator](): AsyncGenerator<unknown, void, unknown>;
}

/** Decodes all values but the one of key 7. */
const numbers = {
  name: 'numbers',
  format: 'utf8',
  encode: String,
  decode(text: string): number {
    if (text === '7') throw new Error('no number');
    return Number(text);
  },
} as const;
/** Decodes the value of key 3 to undefined, at which abstract-level takes a walk for over. */
const holes = { name: 'holes', format: 'utf8', encode: String, decode: (text: string) => (text === '3' ? undefined : text) } as const;

const outcomeOf = (call: () => unknown): Promise<unknown> =>
  Promise.resolve()
    .then(call)
    .then(
      (value: unknown) => ({ value }),
      (error: unknown) => {
        const { code, name, message } = error as Error & { readonly code?: string };
        return { code, name, message };
      },
    );

let level: BloomLevel;
beforeAll(async () => {
  level = new BloomLevel(new WritableMemoryFolder());
  for (let i = 0; i < 20; i++) await level.put(`key ${String.fromCharCode(97 + i)}`, String(i));
});
afterAll(() => level.close());

/** What a random program sees of an iterator. */
async function seenBy(seed: number, isPlain: boolean): Promise<unknown[]> {
  const random = seeded(seed);
  const kind = (['iterator', 'keys', 'values'] as const)[random.below(3)]!;
  const controller = new AbortController();
  const target = (): string => `key ${String.fromCharCode(97 + random.below(22))}`;
  const options = {
    reverse: random.below(2) === 0,
    ...(random.below(3) === 0 && { limit: random.below(12) }),
    ...(random.below(3) === 0 && { gte: target() }),
    ...(random.below(2) === 0 && { highWaterMarkBytes: random.below(40) }),
    ...(random.below(3) === 0 && { signal: controller.signal }),
    ...(random.below(2) === 0 && { valueEncoding: random.below(2) === 0 ? numbers : holes }),
    ...(random.below(4) === 0 && { keyEncoding: 'buffer' }),
    ...(kind === 'iterator' && random.below(4) === 0 && { [random.below(2) === 0 ? 'keys' : 'values']: false }),
  };
  const snapshot = random.below(4) === 0 ? level.snapshot() : undefined;
  const open = level[kind].bind(level) as unknown as (options: object) => Iterator;
  const iterator = open({ ...options, ...(snapshot && { snapshot }) });
  const generator = KINDS[kind].prototype[Symbol.asyncIterator] as (this: Iterator) => AsyncGenerator<unknown, void, unknown>;
  const loop = isPlain ? generator.call(iterator) : iterator[Symbol.asyncIterator]();
  const seen: unknown[] = [];
  for (let step = 0; step < 40; step++) {
    const what = random.below(60);
    if (what < 40) seen.push(await outcomeOf(() => loop.next()));
    else if (what < 44) seen.push(await outcomeOf(() => iterator.next()));
    else if (what < 47) seen.push(await outcomeOf(() => iterator.nextv(1 + random.below(6))));
    else if (what < 51) seen.push(await outcomeOf(() => iterator.seek(target())));
    else if (what < 54) seen.push(await Promise.all([outcomeOf(() => loop.next()), outcomeOf(() => loop.next()), outcomeOf(() => loop.next())]));
    else if (what === 54) seen.push(await outcomeOf(() => iterator.all()));
    else if (what === 55) seen.push(await outcomeOf(() => loop.return()));
    else if (what === 56) seen.push(await outcomeOf(() => loop.throw(new Error('of the caller'))));
    else if (what === 57) seen.push(await outcomeOf(() => iterator.close()));
    else if (what === 58) controller.abort();
    else if (snapshot !== undefined) seen.push(await outcomeOf(() => snapshot.close()));
    seen.push(iterator.count);
  }
  await iterator.close();
  await snapshot?.close();
  return seen;
}

/** The long run `level-loops` has more. */
const PROGRAMS = Number(process.env.BLOOM_LOOP_PROGRAMS ?? 300);

test('random programs see what they see with the generator of abstract-level', { timeout: 3_600_000 }, async () => {
  for (let seed = 1; seed <= PROGRAMS; seed++) expect(await seenBy(seed, false), `seed ${seed}`).toEqual(await seenBy(seed, true));
});

describe('a loop', () => {
  test('closes the iterator when it is left with entries that were read before it began', async () => {
    const iterator = level.keys();
    await iterator.next();
    await iterator.next();
    const loop = iterator[Symbol.asyncIterator]();
    expect(await loop.next()).toEqual({ done: false, value: 'key c' });
    expect(await loop.return()).toEqual({ done: true, value: undefined });
    await expect(iterator.next()).rejects.toMatchObject({ code: 'LEVEL_ITERATOR_NOT_OPEN' });
    expect(await loop.next()).toEqual({ done: true, value: undefined });
  });

  test('ends when the level is closed in it', async () => {
    const other = new BloomLevel(new WritableMemoryFolder());
    await other.batch(['a', 'b', 'c'].map((key) => ({ type: 'put', key, value: key })));
    const seen: string[] = [];
    const walk = async (): Promise<void> => {
      for await (const key of other.keys()) {
        seen.push(key);
        if (key === 'b') await other.close();
      }
    };
    await expect(walk()).rejects.toMatchObject({ code: 'LEVEL_ITERATOR_NOT_OPEN' });
    expect(seen).toEqual(['a', 'b']);
  });

  test('gives the entries of classic-level, with sublevels and encodings', async () => {
    const root = mkdtempSync(join(tmpdir(), 'bloom-for-await-'));
    const entriesOf = async (one: ClassicLevel): Promise<unknown[]> => {
      const seen: unknown[] = [];
      const inner = one.sublevel<string, unknown>('inner', { valueEncoding: 'json' });
      for (let i = 0; i < 500; i++) await inner.put(String(i), { i, text: 'x'.repeat(i) });
      for await (const entry of inner.iterator({ gt: '2', limit: 400 })) seen.push(entry);
      for await (const [key, value] of one.iterator<Uint8Array, unknown>({ reverse: true, keyEncoding: 'view', valueEncoding: 'json' })) seen.push([[...key], value]);
      for await (const value of one.values<string, Buffer>({ valueEncoding: 'buffer' })) seen.push(value);
      await one.close();
      return seen;
    };
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- a BloomLevel takes the place of a ClassicLevel
    const ours = await entriesOf(new BloomLevel(new WritableMemoryFolder()));
    const theirs = await entriesOf(new ClassicLevel(join(root, 'classic')));
    rmSync(root, { recursive: true });
    expect(ours).toHaveLength(1387);
    expect(ours).toEqual(theirs);
  });
});

describe('an iterator whose methods a program has replaced', () => {
  /** What abstract-level calls when it returns items. */
  interface Replaceable {
    next(): Promise<unknown>;
    _next(): Promise<unknown>;
    _nextv(size: number): Promise<unknown[]>;
  }
  const open = (kind: keyof typeof KINDS): Iterator => (level[kind].bind(level) as unknown as (options: object) => Iterator)({ limit: 5 });

  for (const kind of ['iterator', 'keys', 'values'] as const) {
    for (const method of ['next', '_next'] as const) {
      test(`passes each item of a loop through ${method} of ${kind}`, async () => {
        const iterator = open(kind);
        const replaceable = iterator as unknown as Replaceable;
        const original = replaceable[method].bind(iterator);
        let calls = 0;
        replaceable[method] = async () => {
          calls++;
          return original();
        };
        const seen: unknown[] = [];
        for await (const item of iterator) seen.push(item);
        expect(seen).toHaveLength(5);
        expect(seen).toEqual(await open(kind).all());
        // With the limit reached, abstract-level does not call `_next`.
        expect(calls).toBe(method === 'next' ? 6 : 5);
      });
    }

    test(`passes all items through _nextv of ${kind}`, async () => {
      const iterator = open(kind);
      const replaceable = iterator as unknown as Replaceable;
      const original = replaceable._nextv.bind(iterator);
      const sizes: number[] = [];
      replaceable._nextv = async (size) => {
        sizes.push(size);
        return original(size);
      };
      expect(await iterator.all()).toEqual(await open(kind).nextv(5));
      expect(sizes).toEqual([5]);
    });
  }
});
