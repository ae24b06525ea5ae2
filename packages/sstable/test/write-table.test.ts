import { getEventListeners } from 'node:events';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { goldenTables, type KeyValue } from '@bloom/fixtures';
import { turns } from '@bloom/fixtures/event-loop';
import { MemorySource, SyncTable } from '@bloom/sstable';
import { writeTable } from '@bloom/sstable/node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { numberedEntries, sameBytes, sameEntries, utf8 } from './entries.js';
import { gate } from './sources.js';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bloom-write-table-'));
  path = join(folder, 'table.ldb');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function* awaited<T>(items: Iterable<T>): AsyncGenerator<T> {
  for (const item of items) {
    await Promise.resolve();
    yield item;
  }
}

describe('a written table', () => {
  // The default policy has 10 bits per key.
  const goldens = goldenTables().filter(({ byteExact, options }) => byteExact && (options.bitsPerKey ?? 10) === 10);

  test.each(goldens)('$name has the same bytes as LevelDB’s', async (golden) => {
    const { blockSize, blockRestartInterval, compression, bitsPerKey } = golden.options;
    const info = await writeTable(path, golden.input(), {
      blockSize,
      blockRestartInterval,
      compression,
      ...(bitsPerKey === null && { filterPolicy: null }),
    });
    expect(sameBytes(await readFile(path), golden.bytes())).toBe(true);
    expect(info).toMatchObject({ byteLength: golden.size, entries: golden.entries });
    expect(await readdir(folder)).toEqual(['table.ldb']);
  });

  const large = numberedEntries(3000, 1500);

  test('has the same bytes from a list, a generator and an asynchronous iterable', async () => {
    const expected = buildTable(large);
    const atHand = large.values();
    const inputs = [large, large.values(), awaited(large), { [Symbol.asyncIterator]: () => atHand }];
    const same: boolean[] = [];
    for (const input of inputs) {
      await writeTable(path, input);
      same.push(sameBytes(await readFile(path), expected));
    }
    expect(same).toEqual([true, true, true, true]);
  });

  test('does not wait for entries that an asynchronous iterator already has', async () => {
    let turns = 0;
    let left = 1000;
    const turnsAtEntry: number[] = [];
    await writeTable(path, {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          void Promise.resolve().then(() => turns++);
          turnsAtEntry.push(turns);
          const entry = large[1000 - left]!;
          return left-- > 0 ? { value: entry, done: false as const } : { value: undefined, done: true as const };
        },
      }),
    });
    // A MiB is written in between.
    expect(new Set(turnsAtEntry).size).toBeLessThan(5);
  });

  test('may reuse the memory of its keys and values', async () => {
    const key = new Uint8Array(8);
    const value = new Uint8Array(100);
    function* reused(): Generator<readonly [Uint8Array, Uint8Array]> {
      for (let i = 0; i < 2000; i++) {
        new DataView(key.buffer).setUint32(4, i);
        value.fill(i);
        yield [key, value];
      }
    }
    await writeTable(path, reused());
    const copies = Array.from(reused(), ([k, v]): KeyValue => [k.slice(), v.slice()]);
    expect(copies[0]![0]).toEqual(new Uint8Array(8));
    expect(sameEntries(SyncTable.open(new MemorySource(await readFile(path))).entries(), copies)).toBe(true);
  });

  test('replaces an existing file', async () => {
    await writeTable(path, numberedEntries(10));
    await writeTable(path, numberedEntries(20));
    expect([...SyncTable.open(new MemorySource(await readFile(path))).keys()]).toHaveLength(20);
    expect(await readdir(folder)).toEqual(['table.ldb']);
  });

  test('replaces the target of a link and keeps the link', async () => {
    await mkdir(join(folder, 'elsewhere'));
    const target = join(folder, 'elsewhere', 'real.ldb');
    await writeFile(target, 'old');
    await symlink(target, path);
    await writeTable(path, numberedEntries(10));
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
    expect(sameBytes(await readFile(target), buildTable(numberedEntries(10)))).toBe(true);
    expect(await readdir(join(folder, 'elsewhere'))).toEqual(['real.ldb']);
  });

  test('reports progress, up to the number of entries', async () => {
    const seen: number[] = [];
    await writeTable(path, large, { compression: 'none', onProgress: (entries) => seen.push(entries) });
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(large.length);
  });
});

describe('the entries of a written table', () => {
  const entries = numberedEntries(100);
  const bytes = buildTable(entries);

  /** An asynchronous iterable of `entries` whose iterator has `changes`. */
  function iterating(changes: object, items: Iterable<KeyValue> = entries): AsyncIterable<KeyValue> {
    const iterator = items[Symbol.iterator]();
    return { [Symbol.asyncIterator]: () => ({ next: async () => iterator.next(), ...changes }) as AsyncIterator<KeyValue> };
  }

  const failure = new Error('return fails');
  const throws = (): never => {
    throw failure;
  };
  const iterator = entries[Symbol.iterator];
  const oddities: [string, () => AsyncIterable<KeyValue>][] = [
    ['without return', () => iterating({})],
    ['whose return is undefined', () => iterating({ return: undefined })],
    ['whose return is not a function', () => iterating({ return: 5 })],
    ['whose return does not return a promise', () => iterating({ return: () => undefined })],
    ['whose return returns a plain result', () => iterating({ return: () => ({ done: true, value: undefined }) })],
    ['whose return throws', () => iterating({ return: throws })],
    ['whose return rejects', () => iterating({ return: () => Promise.reject(failure) })],
    [
      'whose next returns plain results',
      () => {
        const plain = iterator.call(entries);
        return iterating({ next: () => plain.next() });
      },
    ],
    [
      'whose next returns thenables',
      () => {
        const plain = iterator.call(entries);
        return iterating({ next: () => ({ then: (resolve: (step: unknown) => void) => resolve(plain.next()) }) });
      },
    ],
  ];

  describe.each([
    ['without a signal', undefined],
    ['with a signal', new AbortController().signal],
  ])('%s', (_, signal) => {
    const options = signal === undefined ? {} : { signal };

    test.each(oddities)('may come from an iterator %s', async (__, odd) => {
      await writeTable(path, odd(), options);
      expect(sameBytes(await readFile(path), bytes)).toBe(true);
    });

    test.each(oddities.slice(0, 7))('that are out of order cause an error, even with an iterator %s', async (__, odd) => {
      const made = odd()[Symbol.asyncIterator]();
      const unsorted = iterating({ return: made.return }, [entries[1]!, entries[0]!]);
      const error = await rejection(writeTable(path, unsorted, options));
      expect(error).toBeInstanceOf(RangeError);
      expect(await readdir(folder)).toEqual([]);
    });

    test('are not requested after their end, and return is not called', async () => {
      let returned = 0;
      await writeTable(path, iterating({ return: () => returned++ }), options);
      expect(returned).toBe(0);
    });

    test('are given up after a failure only when the iterator has cleaned up', async () => {
      let cleared = false;
      const slow = async (): Promise<unknown> => {
        await turns();
        cleared = true;
        return { done: true, value: undefined };
      };
      await rejection(writeTable(path, iterating({ return: slow }, [entries[1]!, entries[0]!]), options));
      expect(cleared).toBe(true);
    });

    test('cause the error of an iterator whose next fails', async () => {
      expect(await rejection(writeTable(path, iterating({ next: throws }), options))).toBe(failure);
      expect(await rejection(writeTable(path, iterating({ next: () => Promise.reject(failure) }), options))).toBe(failure);
      for (const wrong of [undefined, null, 5]) {
        const expected = new TypeError(`next() of the iterator of entries must give an iterator result, got ${String(wrong)}`);
        expect(await rejection(writeTable(path, iterating({ next: () => wrong }), options))).toEqual(expected);
        expect(await rejection(writeTable(path, iterating({ next: () => Promise.resolve(wrong) }), options))).toEqual(expected);
      }
    });

    test.each([
      ['object as entry 0', [{ key: entries[0]![0], value: entries[0]![1] }]],
      ['object as entry 1', [entries[0]!, entries[1]![0]]],
      ['undefined as entry 0', [undefined]],
      ['null as entry 0', [null]],
      ['string as entry 0', ['ab']],
      ['a promise as entry 0', [Promise.resolve(entries[0]!)]],
    ])('that are not arrays of a key and a value are rejected: %s', async (got, items) => {
      const error = await rejection(writeTable(path, items as unknown as KeyValue[], options));
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toBe(`entries must give arrays of a key and a value, got ${got}`);
      expect(await readdir(folder)).toEqual([]);
    });

    test('with more than a key and a value are rejected, because the rest would be lost', async () => {
      const wrong = [[...entries[0]!, entries[0]![1]]] as unknown as KeyValue[];
      for (const given of [wrong, awaited(wrong)]) {
        expect(await rejection(writeTable(path, given, options))).toEqual(new TypeError('entries must give arrays of a key and a value, got an array of 3 as entry 0'));
      }
      expect(await readdir(folder)).toEqual([]);
    });

    test('without a value, or with a value that is neither a Uint8Array nor a string, are rejected', async () => {
      for (const value of [undefined, null, 5]) {
        const wrong = [[entries[0]![0], value]] as unknown as KeyValue[];
        expect((await rejection(writeTable(path, wrong, options))) as Error).toMatchObject({ name: 'TypeError' });
        expect((await rejection(writeTable(path, awaited(wrong), options))) as Error).toMatchObject({ name: 'TypeError' });
      }
      expect(await readdir(folder)).toEqual([]);
    });

    test.each([
      [5, 'number'],
      [{}, 'object without next()'],
    ])('whose iterator is %j are rejected, and no file is left', async (iterator, got) => {
      const error = await rejection(writeTable(path, { [Symbol.asyncIterator]: () => iterator } as never, options));
      expect(error).toEqual(new TypeError(`the iterator of entries must be an iterator, got ${got}`));
      expect(await readdir(folder)).toEqual([]);
    });

    test.each([undefined, null, 5, 'text', {}, () => entries])('that are not iterable, but %s, are rejected before a file is created', async (wrong) => {
      const error = await rejection(writeTable(join(folder, 'missing', 'table.ldb'), wrong as never, options));
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toContain('entries must be an iterable');
    });
  });

  test.each([
    ['hangs', () => new Promise<never>(() => {})],
    ['throws', throws],
    ['rejects', () => Promise.reject(failure)],
    ['rejects later', () => turns().then(throws)],
    ['does not return a promise', () => undefined],
  ])('are not waited for after an abort, when return %s', async (_, end) => {
    const rejections: unknown[] = [];
    const note = (rejected: unknown): void => void rejections.push(rejected);
    process.on('unhandledRejection', note);
    const controller = new AbortController();
    let returned = 0;
    const { opened: asked, open: ask } = gate();
    const hanging = iterating({
      next: () => {
        ask();
        return new Promise<never>(() => {});
      },
      return: () => {
        returned++;
        return end();
      },
    });
    const writing = rejection(writeTable(path, hanging, { signal: controller.signal }));
    await asked;
    controller.abort(failure);
    expect(await writing).toBe(failure);
    // The one that rejects later does so after as many turns.
    for (let i = 0; i < 2; i++) await turns();
    process.off('unhandledRejection', note);
    expect({ returned, rejections }).toEqual({ returned: 1, rejections: [] });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('are abandoned on an abort if the iterator hangs in return after a failure', async () => {
    const controller = new AbortController();
    const hangs = (): Promise<never> => {
      void turns().then(() => controller.abort(failure));
      return new Promise(() => {});
    };
    const stuck = iterating({ return: hangs }, [entries[1]!, entries[0]!]);
    expect(await rejection(writeTable(path, stuck, { signal: controller.signal }))).toBeInstanceOf(RangeError);
    expect(await readdir(folder)).toEqual([]);
  });

  test('leave no listener on a signal that is not aborted', async () => {
    const { signal } = new AbortController();
    await writeTable(path, awaited(entries), { signal });
    await rejection(writeTable(path, awaited([entries[1]!, entries[0]!]), { signal }));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('are given up with the error of the promise that onProgress returns', async () => {
    const rejected = (): Promise<never> => Promise.reject(failure);
    expect(await rejection(writeTable(path, entries, { onProgress: rejected }))).toBe(failure);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('a table that fails to be written', () => {
  const old = utf8('what was there before');

  // After the first write, so that part of the file is on disk.
  const many = numberedEntries(2500, 1000);
  const failure = new Error('no more entries');

  function* throwing(): Generator<KeyValue> {
    yield* many;
    throw failure;
  }

  async function* throwingLater(): AsyncGenerator<KeyValue> {
    yield* many;
    throw failure;
  }

  const unsorted = [...many, many[0]!];

  function aborting(controller: AbortController): Iterable<KeyValue> {
    return (function* (): Generator<KeyValue> {
      for (const [i, entry] of many.entries()) {
        if (i === 1000) controller.abort(failure);
        yield entry;
      }
    })();
  }

  test.each([
    ['keys out of order', () => writeTable(path, unsorted, { compression: 'none' }), RangeError],
    ['keys out of order, asynchronously', () => writeTable(path, awaited(unsorted), { compression: 'none' }), RangeError],
    ['entries that throw', () => writeTable(path, throwing(), { compression: 'none' }), failure],
    ['entries that throw asynchronously', () => writeTable(path, throwingLater(), { compression: 'none' }), failure],
    ['a signal aborted before', () => writeTable(path, many, { signal: AbortSignal.abort(failure) }), failure],
    [
      'a signal aborted during the writing',
      () => {
        const controller = new AbortController();
        return writeTable(path, aborting(controller), { compression: 'none', signal: controller.signal });
      },
      failure,
    ],
    [
      'a signal aborted at the last entry',
      () => {
        const controller = new AbortController();
        const entries = (function* (): Generator<KeyValue> {
          yield* many;
          controller.abort(failure);
        })();
        return writeTable(path, entries, { compression: 'none', signal: controller.signal });
      },
      failure,
    ],
    ['an invalid option', () => writeTable(path, many, { blockSize: 0 }), RangeError],
    [
      'progress that throws',
      () =>
        writeTable(path, many, {
          compression: 'none',
          onProgress: () => {
            throw failure;
          },
        }),
      failure,
    ],
  ])('because of %s leaves the old file unchanged, and no other file', async (_, write, expected) => {
    await writeFile(path, old);
    const error = await rejection(write());
    if (typeof expected === 'function') expect(error).toBeInstanceOf(expected);
    else expect(error).toBe(expected);
    expect(await readdir(folder)).toEqual(['table.ldb']);
    expect(sameBytes(await readFile(path), old)).toBe(true);
  });

  test('because of an abort takes at most the entries of the next MiB', async () => {
    const controller = new AbortController();
    let taken = 0;
    const entries = (function* (): Generator<KeyValue> {
      for (const entry of aborting(controller)) {
        taken++;
        yield entry;
      }
    })();
    const error = await rejection(writeTable(path, entries, { compression: 'none', signal: controller.signal }));
    expect(error).toBe(failure);
    expect(taken).toBeLessThan(2200);
  });

  test('leaves no file if there was none', async () => {
    await rejection(writeTable(path, throwing(), { compression: 'none' }));
    expect(await readdir(folder)).toEqual([]);
  });

  test('closes the iterables that it was reading', async () => {
    const ended: string[] = [];
    const controller = new AbortController();
    function* watched(): Generator<KeyValue> {
      try {
        yield* aborting(controller);
      } finally {
        ended.push('generator');
      }
    }
    async function* watchedLater(): AsyncGenerator<KeyValue> {
      try {
        yield* unsorted;
      } finally {
        ended.push('asynchronous generator');
      }
    }
    await rejection(writeTable(path, watched(), { compression: 'none', signal: controller.signal }));
    await rejection(writeTable(path, watchedLater()));
    expect(ended).toEqual(['generator', 'asynchronous generator']);
  });

  test('in a missing folder causes an error that says so, and creates no folder', async () => {
    const error = await rejection(writeTable(join(folder, 'missing', 'table.ldb'), many));
    expect(error).toMatchObject({ code: 'ENOENT' });
    expect(await readdir(folder)).toEqual([]);
  });

  test('because its path is a folder leaves the folder', async () => {
    await mkdir(path);
    await writeFile(join(path, 'inside'), old);
    const error = await rejection(writeTable(path, many.slice(0, 10)));
    expect((error as NodeJS.ErrnoException).code).toMatch(/^(EISDIR|ENOTEMPTY|EEXIST|EPERM)$/);
    expect(await readdir(folder)).toEqual(['table.ldb']);
    expect(await readdir(path)).toEqual(['inside']);
  });

  test('because its parent is a file leaves that file', async () => {
    await writeFile(path, old);
    const error = await rejection(writeTable(join(path, 'table.ldb'), many.slice(0, 10)));
    expect((error as NodeJS.ErrnoException).code).toMatch(/^(ENOTDIR|ENOENT)$/);
    expect(await readdir(folder)).toEqual(['table.ldb']);
    expect(sameBytes(await readFile(path), old)).toBe(true);
  });

  // The mode of a folder has no effect for root and on Windows.
  const modesHold = process.platform !== 'win32' && process.getuid?.() !== 0;

  test.runIf(modesHold)('in a folder that may not be written to leaves nothing', async () => {
    const closed = join(folder, 'closed');
    await mkdir(closed);
    await chmod(closed, 0o500);
    expect(await rejection(writeTable(join(closed, 'table.ldb'), many))).toMatchObject({ code: 'EACCES' });
    await chmod(closed, 0o700);
    expect(await readdir(closed)).toEqual([]);
  });
});
