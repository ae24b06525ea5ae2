import { getEventListeners } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeTableFile } from '@bloom/sstable/node';
import { rejection } from '@bloom/fixtures/caught';
import { afterAll, describe, expect, test } from 'vitest';
import { writeBytes } from '../src/node/write-bytes.js';

const folder = mkdtempSync(join(tmpdir(), 'bloom-table-file-'));
const path = join(folder, 'a.ldb');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function* pieces(...all: unknown[]): AsyncGenerator<Uint8Array> {
  for (const piece of all) yield await Promise.resolve(piece as Uint8Array);
}

/** Counts the calls of next. */
function counted(generator: AsyncGenerator<Uint8Array>): { readonly next: () => number; readonly iterable: AsyncIterable<Uint8Array> } {
  let calls = 0;
  const next = (): Promise<IteratorResult<Uint8Array>> => {
    calls++;
    return generator.next();
  };
  return { next: () => calls, iterable: { [Symbol.asyncIterator]: () => ({ next }) } };
}

test('pieces are written one after the other', async () => {
  expect(await writeTableFile(path, pieces(Uint8Array.of(1, 2), new Uint8Array(0), Uint8Array.of(3)))).toBe(3);
  expect(new Uint8Array(readFileSync(path))).toEqual(Uint8Array.of(1, 2, 3));
  rmSync(path);
});

test('a piece that is no Uint8Array is refused, and no file is left', async () => {
  for (const piece of ['hello', [1, 2], undefined]) {
    expect(await rejection(writeTableFile(path, pieces(Uint8Array.of(1), piece)))).toMatchObject({ name: 'TypeError', message: expect.stringMatching(/^piece must be a Uint8Array/) as string });
    expect(existsSync(path)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  }
});

describe('an abort', () => {
  const reason = new Error('enough');

  test('before the call takes no piece and creates no file', async () => {
    const { next, iterable } = counted(pieces(Uint8Array.of(1)));
    expect(await rejection(writeTableFile(path, iterable, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(next()).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('while a piece is awaited ends the writing, and leaves no file and no listener', async () => {
    const controller = new AbortController();
    async function* hanging(): AsyncGenerator<Uint8Array> {
      yield Uint8Array.of(1);
      setImmediate(() => controller.abort(reason));
      await new Promise(() => undefined);
    }
    expect(await rejection(writeTableFile(path, hanging(), { signal: controller.signal }))).toBe(reason);
    expect(readdirSync(folder)).toEqual([]);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});

test('a piece that is no Uint8Array lets the pieces clean up', async () => {
  let left = 0;
  async function* leaving(): AsyncGenerator<Uint8Array> {
    try {
      yield* pieces('hello');
    } finally {
      left++;
    }
  }
  await rejection(writeTableFile(path, leaving()));
  expect(left).toBe(1);
});

test('pieces that are not iterable are refused by name, and no file is created', async () => {
  for (const none of [undefined, null, 3, {}]) {
    expect(await rejection(writeTableFile(path, none as never))).toMatchObject({ name: 'TypeError', message: expect.stringMatching(/^pieces must be an iterable/) as string });
  }
  expect(readdirSync(folder)).toEqual([]);
});

test('a piece of more than 2 GiB is written in calls that the system accepts', async () => {
  const bytes = { length: 2 ** 31 + 10 } as Uint8Array;
  let written = 0;
  const handle = {
    write(_: Uint8Array, offset: number, length: number) {
      expect(offset).toBe(written);
      if (length > 2 ** 30) throw new RangeError('too many bytes for one call');
      written += length;
      return Promise.resolve({ bytesWritten: length });
    },
  } as unknown as FileHandle;
  await writeBytes(handle, bytes);
  expect(written).toBe(bytes.length);
});

test('a system that writes nothing is an error', async () => {
  const handle = { write: () => Promise.resolve({ bytesWritten: 0 }) } as unknown as FileHandle;
  expect(await rejection(writeBytes(handle, Uint8Array.of(1)))).toMatchObject({ code: 'EIO' });
});
