import { type Bytes, CorruptionError, type Signal } from '@bloom/bytes';
import { isPromise, mustBeBytes, mustBeWhole, numberOf, plainBytes, throwIfAborted } from '@bloom/bytes/internal';
import { AT_ONCE_BYTES, type Source, type SyncSource } from './source.js';
import { untilAborted } from './until-aborted.js';

/** Bytes of a file that a computation needs before it can continue. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/**
 * A computation that yields the byte ranges it needs and is resumed with their bytes. The same code runs with promises
 * ({@link runAsync}) and without ({@link runSync}).
 */
export type Reading<T> = Generator<ByteRange, T, Uint8Array>;

/** Runs a reading on a source that may return promises. An abort ends it at once, whatever the source does. */
export async function runAsync<T>(source: Source, reading: Reading<T>, signal?: Signal): Promise<T> {
  let step = reading.next();
  while (step.done !== true) {
    const read = readRange(source, step.value, signal);
    step = reading.next(await (signal === undefined ? read : untilAborted(read, signal)));
  }
  return step.value;
}

/** Runs a reading on a source that does not return promises. */
export function runSync<T>(source: SyncSource, reading: Reading<T>): T {
  let step = reading.next();
  while (step.done !== true) step = reading.next(readRangeSync(source, step.value));
  return step.value;
}

/**
 * Reads a range of the file.
 *
 * @param signal is passed to the source, which decides when the read ends.
 * @throws CorruptionError `BLOOM_TRUNCATED` when the source returns more or fewer bytes than the range has.
 * @throws TypeError when it returns something else.
 */
export async function readRange(source: Source, range: ByteRange, signal?: Signal): Promise<Uint8Array> {
  throwIfAborted(signal);
  return whole(await source.read(range.offset, range.length, signal), range, source);
}

/** As {@link readRange}, if the source has the bytes at hand. @param into memory for them, which the source may leave unused. */
export function readRangeAtOnce(source: Source, range: ByteRange, into?: Bytes): Uint8Array | undefined {
  if (source.readAtOnce === undefined || range.length > AT_ONCE_BYTES) return undefined;
  const answer = source.readAtOnce(range.offset, range.length, into);
  if (answer === undefined || (answer === into && into.length === range.length)) return answer;
  return whole(answer, range, source, 'readAtOnce');
}

/** {@link readRange}, synchronously. */
export function readRangeSync(source: SyncSource, range: ByteRange): Uint8Array {
  const answer: unknown = source.read(range.offset, range.length);
  if (isPromise(answer)) throw new TypeError('source must return a Uint8Array: a source that returns promises needs Table');
  return whole(answer, range, source);
}

/** As {@link readRangeSync}, into memory of the range's length, from a source that has a `readInto`. */
export function readRangeInto(source: SyncSource, range: ByteRange, into: Uint8Array): Uint8Array {
  const filled = mustBeWhole('the result of source.readInto', source.readInto!(range.offset, into), 0, range.length);
  return filled === into.length ? into : whole(into.subarray(0, filled), range, source);
}

/** What a source returned. */
function whole(answer: unknown, { offset, length }: ByteRange, { name: file }: Source, call: 'read' | 'readAtOnce' = 'read'): Uint8Array {
  mustBeBytes(`the result of source.${call}`, answer);
  const bytes = plainBytes(answer);
  if (bytes.length === length) return bytes;
  const problem = `the source returned ${numberOf(bytes.length, 'byte')} instead of ${length} at offset ${offset}`;
  throw new CorruptionError('BLOOM_TRUNCATED', { structure: 'file', offset, file }, problem);
}
