import { mustBeFunction, mustBeOptions, mustBeSignal, sameBytes } from '@bloom/bytes/internal';
import { LevelError } from './level-error.js';

const VIEWS = { keyEncoding: 'view', valueEncoding: 'view' } as const;

type Bytes = Uint8Array;

/** The part of the source level that is used. */
export interface CopySource {
  /** All entries in the order of their keys, or those after or from a key on, as bytes. */
  iterator(options: { readonly gt?: Bytes; readonly gte?: Bytes; readonly keyEncoding: 'view'; readonly valueEncoding: 'view' }): {
    nextv(size: number): Promise<[key: unknown, value: unknown][]>;
    close(): Promise<void>;
  };
}

/** The part of the target level that is used. */
export interface CopyTarget {
  /** The value of the mark, with which a copy continues; undefined before the first batch. */
  get(key: Bytes, options: typeof VIEWS): Promise<unknown>;
  /** The first keys, to find out whether the level is empty. */
  keys(options: { readonly limit: number; readonly keyEncoding: 'view' }): { all(): Promise<unknown[]> };
  /** Adds entries, all or none. */
  batch(operations: { readonly type: 'put'; readonly key: Bytes; readonly value: Bytes }[], options: typeof VIEWS): Promise<void>;
  /** Deletes the mark, when the copy is complete. */
  del(key: Bytes, options: { readonly keyEncoding: 'view'; readonly sync: true }): Promise<void>;
}

/** The progress of a copy. */
export interface CopyProgress {
  /** The number of entries in the target, including those of earlier calls. */
  readonly entries: number;
  /** The bytes of the keys and values that this call has copied. */
  readonly byteLength: number;
}

/** Options of `copyLevel`. */
export interface CopyOptions {
  /** Called after each batch. */
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
  /** Ends the copy between two batches. Another call continues it. */
  readonly signal?: AbortSignal | undefined;
  /** The key in the target under which the progress of the copy is stored. No entry may have it. Default: `'\x00copyLevel'`. */
  readonly mark?: string | undefined;
}

/** The result of a copy. */
export interface CopyResult {
  /** The number of entries that were copied, by this call and by earlier ones that were interrupted. */
  readonly entries: number;
  /** The number of entries that this call has copied. */
  readonly copiedNow: number;
}

const COPY_OPTIONS: Record<keyof CopyOptions, true> = { onProgress: true, signal: true, mark: true };

const DEFAULT_MARK = '\0copyLevel';

/** The number of entries that are read first, whose size is not known. */
const FIRST_ENTRIES = 4;
/** The size of a batch, in bytes of keys and values. */
const BATCH_BYTES = 2 ** 20;
/** The most bytes of a batch of several entries: more of them were read than were expected. */
const MAX_BATCH_BYTES = 4 * BATCH_BYTES;
const MAX_BATCH_ENTRIES = 1000;

/**
 * Copies all entries of an abstract-level database, such as a browser-level, to another one, as bytes. After an interruption, another call
 * continues: each batch also stores the key of its last entry under a separate key, the mark. The mark is deleted at the end.
 *
 * @param to a level that is empty, or that has the first part of the copy.
 * @throws TypeError for a wrong option; RangeError when `to` has other entries, or `from` has one with the key of the mark; LevelError
 *   `LEVEL_ABORTED`.
 */
export async function copyLevel(from: CopySource, to: CopyTarget, options: CopyOptions = {}): Promise<CopyResult> {
  mustBeOptions('copyLevel', options, COPY_OPTIONS);
  const { onProgress, signal, mark = DEFAULT_MARK } = options;
  if (onProgress !== undefined) mustBeFunction('onProgress', onProgress);
  if (signal !== undefined) mustBeSignal('signal', signal);
  if (typeof mark !== 'string') throw new TypeError(`mark must be a string, got ${typeof mark}`);
  const markKey = new TextEncoder().encode(mark);
  const begun = (await to.get(markKey, VIEWS)) as Bytes | undefined;
  if (begun === undefined && (await to.keys({ limit: 1, keyEncoding: 'view' }).all()).length > 0) {
    throw new RangeError('the level to copy to must be empty, or hold an interrupted copy');
  }
  const last = begun && decodeMark(begun);
  const mustNotBeMark = (entries: readonly [Bytes, Bytes][]): void => {
    if (entries.some(([key]) => sameBytes(key, markKey))) throw new RangeError(`mark must be a key that the level does not have, got ${JSON.stringify(mark)}`);
  };
  mustNotBeMark(await firstFrom(from, markKey));
  let entries = last?.entries ?? 0;
  const before = entries;
  let byteLength = 0;
  const mustGoOn = (): void => {
    if (signal?.aborted === true) throw new LevelError('LEVEL_ABORTED', 'Operation has been aborted', { cause: signal.reason });
  };
  const iterator = from.iterator({ ...VIEWS, ...(last && { gt: last.key }) });
  try {
    for (let size = FIRST_ENTRIES; ; ) {
      mustGoOn();
      const some = (await iterator.nextv(size)) as [Bytes, Bytes][];
      if (some.length === 0) break;
      // It may have been written since.
      mustNotBeMark(some);
      let bytes = 0;
      for (const piece of piecesOf(some)) {
        if (bytes > 0) mustGoOn();
        entries += piece.length;
        const operations = piece.map(([key, value]) => ({ type: 'put' as const, key, value }));
        await to.batch([...operations, { type: 'put', key: markKey, value: encodeMark(entries, piece.at(-1)![0]) }], VIEWS);
        bytes += piece.reduce((sum, entry) => sum + sizeOf(entry), 0);
        onProgress?.({ entries, byteLength: byteLength + bytes });
      }
      byteLength += bytes;
      size = Math.max(1, Math.min(MAX_BATCH_ENTRIES, 4 * size, Math.floor((some.length * BATCH_BYTES) / Math.max(1, bytes))));
    }
  } finally {
    await iterator.close();
  }
  await to.del(markKey, { keyEncoding: 'view', sync: true });
  return { entries, copiedNow: entries - before };
}

/** The first entry from a key on, if there is one. */
async function firstFrom(from: CopySource, key: Bytes): Promise<[Bytes, Bytes][]> {
  const iterator = from.iterator({ ...VIEWS, gte: key });
  try {
    return (await iterator.nextv(1)) as [Bytes, Bytes][];
  } finally {
    await iterator.close();
  }
}

const sizeOf = ([key, value]: readonly [Bytes, Bytes]): number => key.length + value.length;

/** Entries in the same order, in batches of at most 4 MiB, or of one entry. */
function* piecesOf(entries: readonly [Bytes, Bytes][]): Generator<[Bytes, Bytes][], void, undefined> {
  let piece: [Bytes, Bytes][] = [];
  let byteLength = 0;
  for (const entry of entries) {
    if (piece.length > 0 && byteLength + sizeOf(entry) > MAX_BATCH_BYTES) {
      yield piece;
      piece = [];
      byteLength = 0;
    }
    piece.push(entry);
    byteLength += sizeOf(entry);
  }
  if (piece.length > 0) yield piece;
}

/** The number of entries (f64, little-endian), and the key of the last one. */
function encodeMark(entries: number, key: Bytes): Bytes {
  const bytes = new Uint8Array(8 + key.length);
  new DataView(bytes.buffer).setFloat64(0, entries, true);
  bytes.set(key, 8);
  return bytes;
}

/** @throws RangeError for a value that is not a mark. */
function decodeMark(bytes: Bytes): { readonly entries: number; readonly key: Bytes } {
  const entries = bytes.length < 8 ? -1 : new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true);
  if (!Number.isSafeInteger(entries) || entries < 0) throw new RangeError('the level to copy to has an entry under the key of the mark that is not a mark');
  return { entries, key: bytes.slice(8) };
}
