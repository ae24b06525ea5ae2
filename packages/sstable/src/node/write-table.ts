import type { FileHandle } from 'node:fs/promises';
import { PIECE_BYTES } from '../read/source.js';
import { untilAborted } from '../read/until-aborted.js';
import type { TableBuilderOptions } from '../write/options.js';
import type { TableSink } from '../write/sink.js';
import { TableBuilder, type TableInfo } from '../write/table-builder.js';
import { Replacement } from './replacement.js';

/** Bytes that are gathered before they are written: large writes cost the system less. */
const WRITE_BYTES = 1 << 20;

/** How to write a table. */
export interface WriteTableOptions extends TableBuilderOptions {
  /**
   * Ends the writing early: nothing is left behind, and the old file, if any, stays. It is heeded while an asynchronous
   * entry is waited for, after each MiB, and last before the new file takes its place.
   */
  readonly signal?: AbortSignal | undefined;
  /** Told how many entries were added, after each MiB and at the end. A promise that it returns is waited for. */
  readonly onProgress?: ((entries: number) => unknown) | undefined;
}

/** Keys and values, ascending by key. */
export type EntryInput =
  | Iterable<readonly [key: Uint8Array, value: Uint8Array]>
  | AsyncIterable<readonly [key: Uint8Array, value: Uint8Array]>;

/**
 * Writes a table to `path`, whole or not at all.
 *
 * The table grows in a temporary file in the same folder, which takes the name `path` only once all of it is on disk.
 * On every failure but one the temporary file is removed, and whatever had that name before stays as it was. The one is
 * a {@link FolderSyncError}: the new table is in place, and a loss of power may still bring the old one back. A process
 * that is killed may leave the temporary file behind, whose name ends in `.tmp`.
 *
 * A file that is replaced keeps its permissions, and its owner and group where the system permits; other hard links to
 * it keep the old table. Access control lists and extended attributes are not kept.
 *
 * Memory: the index, the filters, one block and a write buffer of 1 MiB.
 *
 * @param path where a link leads, if it is one. Links are followed before anything is written.
 * @throws TypeError for `entries` that are no iterable of arrays of a key and a value; RangeError for an option that is
 *   wrong, or keys that are not ascending; whatever `entries` throws; the system's error when the file cannot be written.
 * @throws FolderSyncError `BLOOM_FOLDER_NOT_SYNCED` when the folder cannot be synced behind the rename.
 * @example
 * ```ts
 * await writeTable('words.ldb', [[utf8('hello'), utf8('world')]]);
 * ```
 */
export async function writeTable(path: string, entries: EntryInput, options: WriteTableOptions = {}): Promise<TableInfo> {
  const { signal } = options;
  signal?.throwIfAborted();
  mustBeIterable(entries);
  const replacement = await Replacement.begin(path);
  try {
    const info = await writeEntries(replacement.handle, entries, options);
    await replacement.finish(signal);
    return info;
  } catch (error) {
    await replacement.abandon();
    throw error;
  }
}

function mustBeIterable(entries: unknown): void {
  if (typeof entries === 'object' && entries !== null && (Symbol.iterator in entries || Symbol.asyncIterator in entries)) return;
  throw new TypeError(`entries must be an iterable, got ${entries === null ? 'null' : typeof entries}`);
}

async function writeEntries(handle: FileHandle, entries: EntryInput, options: WriteTableOptions): Promise<TableInfo> {
  const { signal, onProgress } = options;
  const buffer = new WriteBuffer();
  const builder = new TableBuilder(buffer, options);

  function add(entry: readonly [Uint8Array, Uint8Array]): void {
    if (!Array.isArray(entry)) throw shapeError(entry, builder.entries);
    builder.add(entry[0], entry[1]);
  }

  async function drain(): Promise<void> {
    await buffer.writeTo(handle);
    signal?.throwIfAborted();
    await onProgress?.(builder.entries);
  }

  // Only what is asynchronous is awaited: awaiting each entry of a plain list would cost more than building the table.
  if (Symbol.iterator in entries) {
    for (const entry of entries) {
      add(entry);
      if (buffer.byteLength >= WRITE_BYTES) await drain();
    }
  } else {
    for await (const entry of signal === undefined ? entries : endedBy(signal, entries)) {
      add(entry);
      if (buffer.byteLength >= WRITE_BYTES) await drain();
    }
  }
  const info = builder.finish();
  await drain();
  return info;
}

function shapeError(entry: unknown, number: number): TypeError {
  const kind = entry === null ? 'null' : entry instanceof Promise ? 'a promise' : typeof entry;
  return new TypeError(`entries must give arrays of a key and a value, got ${kind} as entry ${number}`);
}

/** `entries`, until the signal is aborted: a source that does not answer does not keep the abort waiting. */
async function* endedBy<T>(signal: AbortSignal, entries: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  const iterator = entries[Symbol.asyncIterator]();
  let endWait: ((reason: unknown) => void) | undefined;
  const abort = (): void => endWait?.(signal.reason);
  signal.addEventListener('abort', abort);
  /** An iterator whose `next` ended or failed is not returned to. */
  let isOver = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      // Not Promise.race: each race would leave a reaction behind on the one promise that lasts.
      const step = await new Promise<IteratorResult<T>>((resolve, reject) => {
        endWait = reject;
        // next() may also answer with a plain result, as `for await` takes it.
        Promise.resolve(iterator.next()).then(resolve, (error: unknown) => {
          isOver = true;
          reject(error);
        });
      });
      isOver = step.done === true;
      if (step.done === true) return;
      yield step.value;
    }
  } finally {
    signal.removeEventListener('abort', abort);
    if (!isOver) await leave(iterator, signal);
  }
}

/** Lets the iterator clear up, until the signal is aborted. What goes wrong with it is not why the writing ends. */
async function leave<T>(iterator: AsyncIterator<T>, signal: AbortSignal): Promise<void> {
  try {
    await untilAborted(Promise.resolve(iterator.return?.()), signal);
  } catch {
    // The reason is on its way already.
  }
}

/** Finished bytes that are not written yet. */
class WriteBuffer implements TableSink {
  #parts: Uint8Array[] = [];
  byteLength = 0;

  append(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.byteLength += bytes.length;
  }

  async writeTo(handle: FileHandle): Promise<void> {
    const { byteLength } = this;
    const parts = this.#parts;
    this.#parts = [];
    this.byteLength = 0;
    if (byteLength === 0) return;
    let bytesWritten = byteLength > PIECE_BYTES ? 0 : (await handle.writev(parts)).bytesWritten;
    // Seldom are some left: when there were too many for one call, a signal interrupted it, or the disk is full.
    for (const bytes of parts) {
      let written = Math.min(bytesWritten, bytes.length);
      bytesWritten -= written;
      while (written < bytes.length) {
        const step = await handle.write(bytes, written, Math.min(PIECE_BYTES, bytes.length - written));
        if (step.bytesWritten === 0) throw Object.assign(new Error('EIO: the system writes nothing, write'), { code: 'EIO', syscall: 'write' });
        written += step.bytesWritten;
      }
    }
  }
}
