import { Blob } from 'node:buffer';
import { getEventListeners } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { turns } from '@bloom/fixtures/event-loop';
import { MemorySource, type Source } from '@bloom/sstable';
import { BlobSource } from '@bloom/sstable/blob';
import { HttpSource } from '@bloom/sstable/http';
import { FileSource, SyncFileSource } from '@bloom/sstable/node';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { replaceReads } from './replace-reads.js';
import { gate } from './sources.js';
import { StaticServer } from './static-server.js';

const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i % 251);
const sources = new Map<string, Source>();
let folder: string;
let server: StaticServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bloom-source-'));
  const path = join(folder, 'bytes');
  await writeFile(path, bytes);
  server = await StaticServer.start(bytes);
  sources.set('MemorySource', new MemorySource(bytes));
  sources.set('FileSource', await FileSource.open(path));
  sources.set('SyncFileSource', SyncFileSource.open(path));
  sources.set('BlobSource', new BlobSource(new Blob([bytes])));
  sources.set('HttpSource', await HttpSource.open(server.url));
});

afterAll(async () => {
  await (sources.get('FileSource') as FileSource).close();
  (sources.get('SyncFileSource') as SyncFileSource).close();
  await server.stop();
  await rm(folder, { recursive: true });
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** The result of a read, synchronous or not. */
async function read(source: Source, offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
  return source.read(offset, length, signal);
}

describe.each(['MemorySource', 'FileSource', 'SyncFileSource', 'BlobSource', 'HttpSource'])('%s', (name) => {
  test.each([
    [0, 1000],
    [0, 0],
    [1000, 0],
    [999, 1],
    [17, 300],
  ])('reads the range at %d with a length of %d', async (offset, length) => {
    expect(await read(sources.get(name)!, offset, length)).toEqual(bytes.subarray(offset, offset + length));
  });

  // Node reads from the current position if a position is negative or beyond 2^53, and slice counts negative ones from the end.
  test.each([
    ['offset', -5, 10],
    ['offset', NaN, 10],
    ['offset', 1.5, 10],
    ['offset', 2 ** 53, 10],
    ['offset', Infinity, 10],
    ['offset', '5' as unknown as number, 10],
    ['length', 10, -5],
    ['length', 10, NaN],
    ['length', 10, 1.5],
    ['length', 10, 2 ** 60],
    ['length', 991, 10],
    ['length', 1001, 0],
    ['length', 0, 2 ** 31],
    ['length', 0, 5e9],
    ['length', 2 ** 53 - 1, 2 ** 53 - 1],
  ])('rejects a wrong %s by name: %s with a length of %s', async (argument, offset, length) => {
    const error = await rejection(read(sources.get(name)!, offset, length));
    expect(error).toBeInstanceOf(RangeError);
    expect((error as Error).message).toContain(`${argument} must be`);
  });
});

describe('an abort immediately ends a read that the host does not answer:', () => {
  const reason = new Error('enough');
  const never = new Promise<never>(() => {});

  test.each(['FileSource', 'BlobSource', 'HttpSource'])('%s', async (name) => {
    const path = join(folder, 'hanging');
    await writeFile(path, bytes);
    await using file = await FileSource.open(path);
    const { opened: asked, open: ask } = gate();
    const hang = (): Promise<never> => {
      ask();
      return never;
    };
    const opened: Record<string, Source> = {
      FileSource: file,
      BlobSource: new BlobSource({ size: 1000, slice: () => ({ arrayBuffer: hang }) }),
      // A fetch that ignores its signal.
      HttpSource: await HttpSource.open('https://example.org/a', { byteLength: 1000, fetch: hang }),
    };
    let end = (): void => undefined;
    replaceReads((readPiece) => {
      end = readPiece;
      ask();
    });
    const controller = new AbortController();
    const reading = rejection(read(opened[name]!, 0, 10, controller.signal));
    await asked;
    controller.abort(reason);
    expect(await reading).toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    // Closing the file waits for it.
    end();
  });

  test('a failure after the abort is ignored and causes no unhandled rejection', async () => {
    const rejections: unknown[] = [];
    const note = (rejected: unknown): void => void rejections.push(rejected);
    process.on('unhandledRejection', note);
    const controller = new AbortController();
    const { opened: isAborted, open: fails } = gate();
    let failures = 0;
    const fail = async (): Promise<never> => {
      await isAborted;
      failures++;
      throw new Error('late');
    };
    const blob = new BlobSource({ size: 1000, slice: () => ({ arrayBuffer: fail }) });
    const http = await HttpSource.open('https://example.org/a', { byteLength: 1000, fetch: fail });
    const readings = [blob, http].map((source) => rejection(read(source, 0, 10, controller.signal)));
    controller.abort(reason);
    expect(await Promise.all(readings)).toEqual([reason, reason]);
    fails();
    await turns();
    process.off('unhandledRejection', note);
    expect({ failures, rejections }).toEqual({ failures: 2, rejections: [] });
  });
});

test.each(['FileSource', 'BlobSource', 'HttpSource'])('%s leaves no listener on a signal that is not aborted', async (name) => {
  const { signal } = new AbortController();
  await Promise.all([0, 100, 200].map((offset) => read(sources.get(name)!, offset, 100, signal)));
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
