/**
 * Reading a folder, written once for synchronous and asynchronous callers: computations yield requests and are resumed with the answers.
 */
import type { Signal } from '@bloom/bytes';
import { isPromise, throwIfAborted } from '@bloom/bytes/internal';
import type { FileIdentity, Source } from '@bloom/sstable';
import { type ReadAhead, type Reading, readRange, readRangeAtOnce, readRangeSync, type SyncReadAhead, untilAborted } from '@bloom/sstable/internal';
import { type Folder, FolderError, type FolderFile, withoutPromises } from './folder.js';
import { turn } from './pacer.js';
import type { SharedWork } from './shared-work.js';

/** The part of Web Crypto that is needed. */
declare const crypto: { readonly subtle?: { digest(algorithm: 'SHA-256', data: Uint8Array): Promise<ArrayBuffer> } } | undefined;

/** What a walk through a table's blocks keeps from one block to the next. */
export interface TableWalk {
  readonly reverse: boolean;
  readonly fillsCache: boolean;
  ahead: ReadAhead | SyncReadAhead | undefined;
  /** Whether it is done with a block that it gets at once before anything else is read. */
  isBorrowing?: boolean;
}

/** The part of an open table that reads its blocks and filters. */
export interface ReadableTable {
  /** Whether the file is no longer the one that was opened, so that it should be opened again. */
  isStale: boolean;
  /** Synchronous when the block is in memory. */
  block(i: number, walk: TableWalk | undefined, signal: Signal | undefined): Uint8Array | Promise<Uint8Array>;
  blockSync(i: number, walk: TableWalk | undefined): Uint8Array;
  readFilter(signal: Signal | undefined): Promise<void>;
  readFilterSync(): void;
}

/** A request of a computation. */
export type FolderRequest =
  | { readonly kind: 'list' }
  | { readonly kind: 'open'; readonly name: string }
  | { readonly kind: 'identify'; readonly name: string }
  | { readonly kind: 'read'; readonly source: Source; readonly offset: number; readonly length: number }
  | { readonly kind: 'block'; readonly table: ReadableTable; readonly block: number; readonly walk: TableWalk | undefined }
  /** Reads the filter of a table, if that is due. */
  | { readonly kind: 'filter'; readonly table: ReadableTable }
  /** The result of a computation that several callers may wait for. */
  | { readonly kind: 'shared'; readonly shared: SharedWork<unknown>; readonly key: unknown; readonly reading: () => FolderReading<unknown> }
  /** The SHA-256 of bytes; undefined where the host has none, as in pages without HTTPS, or only an asynchronous one. */
  | { readonly kind: 'sha256'; readonly bytes: Uint8Array }
  /** Yields to the event loop; ignored by synchronous callers. */
  | { readonly kind: 'turn' }
  /** The results of several computations, in their order. They may run at the same time. */
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

/** The identity of the file called `name`, in a folder that has `identityOf`. */
export function* identifyFile(name: string): FolderReading<FileIdentity | undefined> {
  return (yield { kind: 'identify', name }) as FileIdentity | undefined;
}

export function* readBytes(source: Source, offset: number, length: number): FolderReading<Uint8Array> {
  return (yield { kind: 'read', source, offset, length }) as Uint8Array;
}

export function* readBlock(table: ReadableTable, block: number, walk?: TableWalk): FolderReading<Uint8Array> {
  try {
    return (yield { kind: 'block', table, block, walk }) as Uint8Array;
  } catch (error) {
    noteStale(table, error);
    throw error;
  }
}

export function* sha256Of(bytes: Uint8Array): FolderReading<ArrayBuffer | undefined> {
  return (yield { kind: 'sha256', bytes }) as ArrayBuffer | undefined;
}

/** Yields to the event loop, unless the caller is synchronous. */
export function* othersTurn(): FolderReading<void> {
  yield { kind: 'turn' };
}

/** Marks the table to be opened again, if a failed read says that its file has changed. */
export function noteStale(table: ReadableTable, error: unknown): void {
  if (error instanceof FolderError && error.code === 'BLOOM_FOLDER_CHANGED') table.isStale = true;
}

export function* readFilter(table: ReadableTable): FolderReading<void> {
  yield { kind: 'filter', table };
}

/** The result of `reading`, or of a reading of the same key that is in progress. */
export function* shareReading<Key, T>(shared: SharedWork<Key>, key: Key, reading: () => FolderReading<T>): FolderReading<T> {
  return (yield { kind: 'shared', shared, key, reading }) as T;
}

/** The results of several readings, in their order. */
type Given<Readings extends readonly FolderReading<unknown>[]> = {
  -readonly [I in keyof Readings]: Readings[I] extends FolderReading<infer T> ? T : never;
};

/**
 * The results of `readings`. When some fail, those that were begun are awaited, and the failure of the first reading is thrown, as
 * if they had run one after another.
 */
export function* all<const Readings extends readonly FolderReading<unknown>[]>(readings: Readings): FolderReading<Given<Readings>> {
  return (yield { kind: 'all', readings }) as Given<Readings>;
}

/** Runs a reading of one source as a reading of its folder. */
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
  return runAtOnce(folder, reading, signal);
}

/** {@link runAsync}, but synchronous when the reading needs only bytes, and all of them are in memory. */
export function runAtOnce<T>(folder: Folder, reading: FolderReading<T>, signal?: Signal): T | Promise<T> {
  let step = reading.next();
  while (step.done !== true) {
    let answer: unknown;
    try {
      answer = answerAsync(folder, step.value, signal);
    } catch (error) {
      step = reading.throw(error);
      continue;
    }
    if (!(answer instanceof Uint8Array)) return runFrom(resumed(reading, answer), folder, reading, signal);
    step = reading.next(answer);
  }
  return step.value;
}

async function runFrom<T>(
  begun: Promise<IteratorResult<FolderRequest, T>>,
  folder: Folder,
  reading: FolderReading<T>,
  signal: Signal | undefined,
): Promise<T> {
  let step = await begun;
  while (step.done !== true) {
    let answer: unknown;
    try {
      answer = answerAsync(folder, step.value, signal);
      if (!(answer instanceof Uint8Array)) answer = await answer;
    } catch (error) {
      step = reading.throw(error);
      continue;
    }
    step = reading.next(answer);
  }
  return step.value;
}

async function resumed<T>(reading: FolderReading<T>, answering: unknown): Promise<IteratorResult<FolderRequest, T>> {
  let answer: unknown;
  try {
    answer = await answering;
  } catch (error) {
    return reading.throw(error);
  }
  return reading.next(answer);
}

function answerAsync(folder: Folder, request: FolderRequest, signal: Signal | undefined): unknown {
  throwIfAborted(signal);
  switch (request.kind) {
    case 'list':
      return unlessAborted(folder.list!(signal), signal);
    case 'open':
      return openedUnlessAborted(folder.open(request.name, signal), signal);
    case 'identify':
      return unlessAborted(folder.identityOf!(request.name, signal), signal);
    case 'read':
      return readRangeAtOnce(request.source, request) ?? unlessAborted(readRange(request.source, request, signal), signal);
    case 'block':
      return request.table.block(request.block, request.walk, signal);
    case 'filter':
      return request.table.readFilter(signal);
    case 'shared':
      return request.shared.run(request.key, (ownSignal) => runAsync(folder, request.reading(), ownSignal), signal);
    case 'sha256':
      return crypto?.subtle?.digest('SHA-256', request.bytes);
    case 'turn':
      return turn();
    case 'all':
      return allAsync(folder, request.readings, signal);
  }
}

/** An answer that is no longer awaited once the signal is aborted, because a folder may ignore its signal. */
function unlessAborted<T>(answer: T | Promise<T>, signal: Signal | undefined): T | Promise<T> {
  return signal !== undefined && isPromise(answer) ? untilAborted(answer, signal) : answer;
}

/** {@link unlessAborted} of an opened file, which is closed if it arrives later. */
function openedUnlessAborted(opening: FolderFile | undefined | Promise<FolderFile | undefined>, signal: Signal | undefined): typeof opening {
  if (signal === undefined || !isPromise(opening)) return opening;
  return untilAborted(opening, signal).catch((error: unknown) => {
    opening.then((file) => file?.close?.()).then(undefined, () => undefined);
    throw error;
  });
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
 * @param most the most calls at the same time.
 * @throws the failure of the lowest number.
 */
export async function inParallel(
  count: number,
  work: (i: number) => void | Promise<void>,
  most: number = PARALLEL_READINGS,
): Promise<void> {
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
  await Promise.all(Array.from({ length: Math.min(most, count) }, lane));
  if (failed < count) throw failure;
}

/** Runs a reading over a synchronous folder. @throws TypeError when the folder returns a promise. */
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
    case 'identify':
      return mustBeSync(folder.identityOf!(request.name));
    case 'read':
      return readRangeSync(withoutPromises(request.source), request);
    case 'block':
      return request.table.blockSync(request.block, request.walk);
    case 'filter':
      request.table.readFilterSync();
      return undefined;
    case 'shared':
      return runSync(folder, request.reading());
    case 'sha256':
    case 'turn':
      return undefined;
    case 'all':
      return request.readings.map((reading) => runSync(folder, reading));
  }
}

function mustBeSync(answer: unknown): unknown {
  if (isPromise(answer)) throw new TypeError('the folder returned a promise: use DatabaseReader with it, or get instead of getSync');
  return answer;
}
