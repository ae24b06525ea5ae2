import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeTableFile } from '@bloom/sstable/node';
import { rejection } from '@bloom/fixtures/caught';
import { afterAll, expect, test } from 'vitest';
import { writeBytes } from '../src/node/write-bytes.js';

const folder = mkdtempSync(join(tmpdir(), 'bloom-table-file-'));
const path = join(folder, 'a.ldb');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function* pieces(...all: unknown[]): AsyncGenerator<Uint8Array> {
  for (const piece of all) yield await Promise.resolve(piece as Uint8Array);
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
