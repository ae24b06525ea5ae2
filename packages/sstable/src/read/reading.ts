import { CorruptionError } from '@bloom/bytes';
import type { Source, SyncSource } from './source.js';

/** Bytes of a file that a computation needs before it can go on. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/**
 * A computation that yields the byte ranges it needs and is resumed with their bytes. Written once, it runs with
 * promises ({@link runAsync}) or without ({@link runSync}).
 */
export type Reading<T> = Generator<ByteRange, T, Uint8Array>;

/** Runs a reading over a source that may answer with promises. */
export async function runAsync<T>(source: Source, reading: Reading<T>, signal?: AbortSignal): Promise<T> {
  let step = reading.next();
  while (step.done !== true) step = reading.next(await readRange(source, step.value, signal));
  return step.value;
}

/** Runs a reading over a source that answers at once. */
export function runSync<T>(source: SyncSource, reading: Reading<T>): T {
  let step = reading.next();
  while (step.done !== true) step = reading.next(readRangeSync(source, step.value));
  return step.value;
}

/** @throws CorruptionError `BLOOM_TRUNCATED` when the source returns fewer bytes than the range has. */
export async function readRange(source: Source, range: ByteRange, signal?: AbortSignal): Promise<Uint8Array> {
  signal?.throwIfAborted();
  return whole(await source.read(range.offset, range.length, signal), range, source);
}

/** As {@link readRange}, without promises. */
export function readRangeSync(source: SyncSource, range: ByteRange): Uint8Array {
  const bytes: unknown = source.read(range.offset, range.length);
  if (bytes instanceof Uint8Array) return whole(bytes, range, source);
  throw new TypeError('source must answer at once with a Uint8Array: open it with Table where it returns a promise');
}

function whole(bytes: Uint8Array, { offset, length }: ByteRange, { name: file }: Source): Uint8Array {
  if (bytes.length === length) return bytes;
  const problem = `${length} bytes were asked for at offset ${offset}, the source has ${bytes.length}`;
  throw new CorruptionError('BLOOM_TRUNCATED', { structure: 'file', offset, file }, problem);
}
