/**
 * What is read from a folder, written once for those who wait for it and those who need not: computations that yield what
 * they need and are resumed with it.
 */
import { CorruptionError, type Signal } from '@bloom/bytes';
import type { Source } from '@bloom/sstable';
import { type Reading, readRange, readRangeSync } from '@bloom/sstable/database';
import { type Folder, FolderError, type FolderFile, withoutPromises } from './folder.js';
import type { BlockWalk, TableHandle } from './table-handle.js';

/** What a computation needs before it can go on. */
export type FolderRequest =
  /** The names of the files. */
  | { readonly kind: 'list' }
  /** A file, or undefined. */
  | { readonly kind: 'open'; readonly name: string }
  /** Bytes of a file. */
  | { readonly kind: 'read'; readonly source: Source; readonly offset: number; readonly length: number }
  /** The contents of a data block. */
  | { readonly kind: 'block'; readonly table: TableHandle; readonly block: number; readonly walk: BlockWalk | undefined }
  /** What several computations give, in their order; they may run at the same time. */
  | { readonly kind: 'all'; readonly readings: readonly FolderReading<unknown>[] };

/** A computation that yields requests and is resumed with their answers. */
export type FolderReading<T> = Generator<FolderRequest, T, unknown>;

export function* listFiles(): FolderReading<readonly string[]> {
  return (yield { kind: 'list' }) as readonly string[];
}

/** The file called `name`, or undefined. The caller closes it. */
export function* openFile(name: string): FolderReading<FolderFile | undefined> {
  return (yield { kind: 'open', name }) as FolderFile | undefined;
}

export function* readBytes(source: Source, offset: number, length: number): FolderReading<Uint8Array> {
  return (yield { kind: 'read', source, offset, length }) as Uint8Array;
}

export function* readBlock(table: TableHandle, block: number, walk?: BlockWalk): FolderReading<Uint8Array> {
  try {
    return (yield { kind: 'block', table, block, walk }) as Uint8Array;
  } catch (error) {
    if (error instanceof FolderError && error.code === 'BLOOM_FOLDER_CHANGED') table.isStale = true;
    throw error;
  }
}

/** What each of several readings gives, in their order. */
type Given<Readings extends readonly FolderReading<unknown>[]> = {
  -readonly [I in keyof Readings]: Readings[I] extends FolderReading<infer T> ? T : never;
};

/**
 * What each of `readings` gives. When some fail, those that were begun are awaited, and of the failures that of the first
 * reading is thrown, as if they had run one after another.
 */
export function* all<const Readings extends readonly FolderReading<unknown>[]>(readings: Readings): FolderReading<Given<Readings>> {
  return (yield { kind: 'all', readings }) as Given<Readings>;
}

/** A reading of one source as one of its folder. */
export function* readingOf<T>(source: Source, reading: Reading<T>): FolderReading<T> {
  let step = reading.next();
  while (step.done !== true) {
    let bytes: Uint8Array;
    try {
      bytes = yield* readBytes(source, step.value.offset, step.value.length);
    } catch (error) {
      step = reading.throw(error);
      continue;
    }
    step = reading.next(bytes);
  }
  return step.value;
}

/** The most readings that run at the same time. */
const PARALLEL_READINGS = 16;

/** Runs a reading over a folder that may answer with promises. */
export async function runAsync<T>(folder: Folder, reading: FolderReading<T>, signal?: Signal): Promise<T> {
  let step = reading.next();
  while (step.done !== true) {
    let answer: unknown;
    try {
      answer = await answerAsync(folder, step.value, signal);
    } catch (error) {
      step = reading.throw(error);
      continue;
    }
    step = reading.next(answer);
  }
  return step.value;
}

function answerAsync(folder: Folder, request: FolderRequest, signal: Signal | undefined): unknown {
  signal?.throwIfAborted();
  switch (request.kind) {
    case 'list':
      return folder.list!(signal);
    case 'open':
      return folder.open(request.name, signal);
    case 'read':
      return readRange(request.source, request, signal);
    case 'block':
      return request.table.block(request.block, request.walk, signal);
    case 'all':
      return allAsync(folder, request.readings, signal);
  }
}

async function allAsync(folder: Folder, readings: readonly FolderReading<unknown>[], signal?: Signal): Promise<unknown[]> {
  const results = new Array<unknown>(readings.length);
  await inParallel(readings.length, async (i) => {
    results[i] = await runAsync(folder, readings[i]!, signal);
  });
  return results;
}

/**
 * Calls `work` with the numbers below `count`, some of them at the same time. When a call fails, no further one is begun, and
 * those that were begun are awaited.
 *
 * @throws the failure of the lowest number.
 */
export async function inParallel(count: number, work: (i: number) => void | Promise<void>): Promise<void> {
  let next = 0;
  let failed = count;
  let failure: unknown;
  const lane = async (): Promise<void> => {
    while (next < count && failed === count) {
      const i = next++;
      try {
        const working = work(i);
        if (working !== undefined) await working;
      } catch (error) {
        if (i < failed) [failed, failure] = [i, error];
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL_READINGS, count) }, lane));
  if (failed < count) throw failure;
}

/** Runs a reading over a folder that does not return promises. @throws TypeError where it does not. */
export function runSync<T>(folder: Folder, reading: FolderReading<T>): T {
  let step = reading.next();
  while (step.done !== true) {
    let answer: unknown;
    try {
      answer = answerSync(folder, step.value);
    } catch (error) {
      step = reading.throw(error);
      continue;
    }
    step = reading.next(answer);
  }
  return step.value;
}

function answerSync(folder: Folder, request: FolderRequest): unknown {
  switch (request.kind) {
    case 'list':
      return mustBeSync(folder.list!());
    case 'open':
      return mustBeSync(folder.openSync === undefined ? folder.open(request.name) : folder.openSync(request.name));
    case 'read':
      return readRangeSync(withoutPromises(request.source), request);
    case 'block':
      return request.table.blockSync(request.block, request.walk);
    case 'all':
      return request.readings.map((reading) => runSync(folder, reading));
  }
}

function mustBeSync(answer: unknown): unknown {
  if (answer instanceof Promise) throw new TypeError('folder must not return promises here: with one that does, use DatabaseReader, or get instead of getSync');
  return answer;
}

/** Whether `error` is about bytes that are wrong, rather than about reading them. */
export function isDamage(error: unknown): error is CorruptionError {
  return error instanceof CorruptionError;
}
