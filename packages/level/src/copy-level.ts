import { mustBeOptions } from '@bloom/bytes/internal';
import { LevelError } from './level-error.js';

const VIEWS = { keyEncoding: 'view', valueEncoding: 'view' } as const;

type Bytes = Uint8Array;

/** What is used of the level that is copied. */
export interface CopySource {
  /** All entries in the order of their keys, or those behind a key, as bytes. */
  iterator(options: { readonly gt?: Bytes; readonly keyEncoding: 'view'; readonly valueEncoding: 'view' }): {
    nextv(size: number): Promise<[key: unknown, value: unknown][]>;
    close(): Promise<void>;
  };
}

/** What is used of the level that it is copied to. */
export interface CopyTarget {
  /** The value of the mark, by which a copy goes on; undefined before the first. */
  get(key: Bytes, options: typeof VIEWS): Promise<unknown>;
  /** The first keys, to see whether anything is there. */
  keys(options: { readonly limit: number; readonly keyEncoding: 'view' }): { all(): Promise<unknown[]> };
  /** Adds entries, all or none. */
  batch(operations: { readonly type: 'put'; readonly key: Bytes; readonly value: Bytes }[], options: typeof VIEWS): Promise<void>;
  /** Deletes the mark, when the copy is complete. */
  del(key: Bytes, options: { readonly keyEncoding: 'view'; readonly sync: true }): Promise<void>;
}

/** How far a copy has come. */
export interface CopyProgress {
  /** Entries that are in the target, those of earlier calls included. */
  readonly entries: number;
  /** Bytes of the keys and values that this call has copied. */
  readonly byteLength: number;
}

/** Options of `copyLevel`. */
export interface CopyOptions {
  /** Called after each batch. */
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
  /** Ends the copy between two batches. Called again, it goes on. */
  readonly signal?: AbortSignal | undefined;
  /** The key, in the target, under which it is noted how far the copy has come. No entry may have it. Default: `'\x00copyLevel'`. */
  readonly mark?: string | undefined;
}

/** What a copy has done. */
export interface CopyResult {
  /** Entries that were copied, by this call and by earlier ones that were interrupted. */
  readonly entries: number;
  /** Those of them that this call has copied. */
  readonly copiedNow: number;
}

const COPY_OPTIONS: Record<keyof CopyOptions, true> = { onProgress: true, signal: true, mark: true };

const DEFAULT_MARK = '\0copyLevel';

/** Bytes of keys and values that a batch is to have. */
const BATCH_BYTES = 2 ** 20;
const MAX_BATCH_ENTRIES = 1000;

/**
 * Copies all entries of an abstract-level database, such as a browser-level, to another one, as bytes. After an interruption it goes on
 * where it was: each batch also writes, under a key of its own, which entry was the last. That key is deleted at the end.
 *
 * @param to a level that is empty, or to which the copy was begun.
 * @throws RangeError when `to` has other entries, or `from` has one with the key of the mark; LevelError `LEVEL_ABORTED`.
 */
export async function copyLevel(from: CopySource, to: CopyTarget, options: CopyOptions = {}): Promise<CopyResult> {
  mustBeOptions('copyLevel', options, COPY_OPTIONS);
  const { onProgress, signal, mark = DEFAULT_MARK } = options;
  const markKey = new TextEncoder().encode(mark);
  const begun = (await to.get(markKey, VIEWS)) as Bytes | undefined;
  if (begun === undefined && (await to.keys({ limit: 1, keyEncoding: 'view' }).all()).length > 0) {
    throw new RangeError('the level to copy to must be empty, or have a copy that was interrupted');
  }
  const last = begun && decodeMark(begun);
  let entries = last?.entries ?? 0;
  const before = entries;
  let byteLength = 0;
  const iterator = from.iterator({ ...VIEWS, ...(last && { gt: last.key }) });
  try {
    for (let size = 16; ; ) {
      if (signal?.aborted === true) throw new LevelError('LEVEL_ABORTED', 'Operation has been aborted', { cause: signal.reason });
      const some = (await iterator.nextv(size)) as [Bytes, Bytes][];
      if (some.length === 0) break;
      const operations = some.map(([key, value]) => ({ type: 'put' as const, key, value }));
      if (some.some(([key]) => isSame(key, markKey))) throw new RangeError(`mark must be a key that the level does not have, got ${JSON.stringify(mark)}`);
      entries += some.length;
      await to.batch([...operations, { type: 'put', key: markKey, value: encodeMark(entries, some.at(-1)![0]) }], VIEWS);
      const bytes = some.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
      byteLength += bytes;
      onProgress?.({ entries, byteLength });
      size = Math.max(1, Math.min(MAX_BATCH_ENTRIES, 4 * size, Math.floor((some.length * BATCH_BYTES) / Math.max(1, bytes))));
    }
  } finally {
    await iterator.close();
  }
  await to.del(markKey, { keyEncoding: 'view', sync: true });
  return { entries, copiedNow: entries - before };
}

/** How many entries there are (f64, little-endian), and the key of the last. */
function encodeMark(entries: number, key: Bytes): Bytes {
  const bytes = new Uint8Array(8 + key.length);
  new DataView(bytes.buffer).setFloat64(0, entries, true);
  bytes.set(key, 8);
  return bytes;
}

/** @throws RangeError for what is no mark. */
function decodeMark(bytes: Bytes): { readonly entries: number; readonly key: Bytes } {
  const entries = bytes.length < 8 ? -1 : new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true);
  if (!Number.isSafeInteger(entries) || entries < 0) throw new RangeError('the level to copy to has an entry under the key of the mark that is no mark');
  return { entries, key: bytes.slice(8) };
}

function isSame(a: Bytes, b: Bytes): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
