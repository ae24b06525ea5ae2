import type { Signal } from '@bloom/bytes';
import { mustBeFunction, mustBeOptions, mustBeSignal, mustHaveAtMost, mustHaveMethods } from '@bloom/bytes/internal';
import { onAbort } from '../read/on-abort.js';
import { untilAborted } from '../read/until-aborted.js';
import { TABLE_BUILDER_OPTIONS, type TableBuilderOptions } from '../write/options.js';
import type { TableInfo } from '../write/table-builder.js';
import { TableWriter } from './table-writer.js';

/** How to write a table. */
export interface WriteTableOptions extends TableBuilderOptions {
  /**
   * Stops the writing: nothing is left behind, and an existing file stays as it was. Checked while waiting for an
   * asynchronous entry, after each MiB, and just before the rename.
   */
  readonly signal?: Signal | undefined;
  /** Called with the number of entries added so far, after each MiB and at the end. A returned promise is awaited. */
  readonly onProgress?: ((entries: number) => unknown) | undefined;
}

const WRITE_TABLE_OPTIONS: Record<keyof WriteTableOptions, true> = {
  ...TABLE_BUILDER_OPTIONS,
  signal: true,
  onProgress: true,
};

/** An entry, or the end. */
type EntryStep = IteratorResult<readonly [key: Uint8Array | string, value: Uint8Array | string], unknown>;

/** The iterator of entries that come at once, with promises, or both. */
interface StepIterator {
  next(): EntryStep | PromiseLike<EntryStep>;
  return?(value?: undefined): unknown;
}

/**
 * Keys and values, ascending by key; text stands for its UTF-8 bytes. An asynchronous iterator may give a result instead of a promise where it has the next
 * entry at hand: waiting for each entry takes longer than building the table.
 */
export type EntryInput =
  | Iterable<readonly [key: Uint8Array | string, value: Uint8Array | string]>
  | { [Symbol.asyncIterator](): StepIterator };

/**
 * Writes a table to `path`, completely or not at all.
 *
 * The table is written to a temporary file in the same folder, synced, and then renamed to `path`; the folder is synced
 * last. If anything fails before the rename, the temporary file is removed and an existing file stays as it was. After
 * the rename only one thing can fail, syncing the folder, which is a {@link FolderSyncError}: the new table is in place,
 * but after a power loss the old one may be back. File systems that cannot sync folders at all are not an error. A
 * process that is killed may leave the temporary file behind: `.NAME.RANDOM.tmp`.
 *
 * The new file gets the permissions of the file that it replaces, and its owner and group where the system permits.
 * Where the group cannot be kept, the group permissions are dropped. Access control lists and extended attributes are
 * not kept. Other hard links to the old file keep the old contents.
 *
 * Memory: the index, the filters, one block, and two write buffers of 1 MiB: one is written while the other is filled.
 *
 * @param path symbolic links are followed as open(2) follows them, once, before anything is written.
 * @throws TypeError when `entries` is not an iterable, or an entry is not an array of a key and a value; RangeError for
 *   a wrong option, or keys that are not ascending; whatever `entries` throws; the system's error when the folder cannot
 *   be opened or the file cannot be written.
 * @throws FolderSyncError `BLOOM_FOLDER_NOT_SYNCED` when the folder cannot be synced after the rename.
 * @example
 * ```ts
 * await writeTable('words.ldb', [['hello', 'world']]);
 * ```
 */
export async function writeTable(path: string, entries: EntryInput, options: WriteTableOptions = {}): Promise<TableInfo> {
  mustHaveAtMost('writeTable', 'a path, entries and options', 3, arguments.length);
  mustBeOptions('writeTable', options, WRITE_TABLE_OPTIONS);
  const { signal, onProgress } = options;
  if (signal !== undefined) mustBeSignal('signal', signal);
  if (onProgress !== undefined) mustBeFunction('onProgress', onProgress);
  signal?.throwIfAborted();
  mustBeIterable(entries);
  const { signal: _, onProgress: __, ...builderOptions } = options;
  const writer = await TableWriter.create(path, builderOptions);
  try {
    await addEntries(writer, entries, options);
    return await writer.finish(signal);
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

async function addEntries(writer: TableWriter, entries: EntryInput, { signal, onProgress }: WriteTableOptions): Promise<void> {
  const steps = new Steps(entries, signal);
  try {
    for (;;) {
      let step = steps.next();
      if (step instanceof Promise) step = await step;
      if (step.done === true) break;
      const entry = step.value;
      if (!Array.isArray(entry)) throw shapeError(entry, writer.entries);
      writer.add(entry[0], entry[1]);
      if (!writer.isDrainDue) continue;
      await writer.drain();
      signal?.throwIfAborted();
      await onProgress?.(writer.entries);
    }
  } finally {
    await steps.leave();
  }
  await onProgress?.(writer.entries);
}

function mustBeIterable(entries: unknown): void {
  if (typeof entries === 'object' && entries !== null && (Symbol.iterator in entries || Symbol.asyncIterator in entries)) return;
  throw new TypeError(`entries must be an iterable, got ${entries === null ? 'null' : typeof entries}`);
}

function shapeError(entry: unknown, number: number): TypeError {
  const kind = entry === null ? 'null' : entry instanceof Promise ? 'a promise' : typeof entry;
  return new TypeError(`entries must give arrays of a key and a value, got ${kind} as entry ${number}`);
}

/** The entries that a writing takes. A plain iterable is not awaited: awaiting each entry would take longer than building the table. */
class Steps {
  readonly #iterator: StepIterator;
  readonly #signal: Signal | undefined;
  readonly #endListening: (() => void) | undefined;
  #endWait: ((reason: unknown) => void) | undefined;
  /** After its last result, or an error, an iterator's return() is not called. */
  #isOver = false;

  constructor(entries: EntryInput, signal: Signal | undefined) {
    const iterator: unknown = Symbol.iterator in entries ? entries[Symbol.iterator]() : entries[Symbol.asyncIterator]();
    mustHaveMethods('the iterator of entries', iterator, 'an iterator', ['next']);
    this.#iterator = iterator as StepIterator;
    this.#signal = signal;
    this.#endListening = signal && onAbort(signal, () => this.#endWait?.(signal.reason));
  }

  /** The next result, without a promise where the iterator gives none. */
  next(): EntryStep | Promise<EntryStep> {
    let step: EntryStep | PromiseLike<EntryStep>;
    try {
      step = this.#iterator.next();
    } catch (error) {
      this.#isOver = true;
      throw error;
    }
    return isPromise(step) ? this.#wait(step) : this.#took(step);
  }

  /** Lets the iterator clean up, unless the signal is aborted. As in `for await`, its errors do not replace the first one. */
  async leave(): Promise<void> {
    this.#endListening?.();
    if (this.#isOver) return;
    try {
      const left = Promise.resolve(this.#iterator.return?.());
      await (this.#signal === undefined ? left : untilAborted(left, this.#signal));
    } catch {
      // The caller is about to report why the writing ends.
    }
  }

  async #wait(step: PromiseLike<EntryStep>): Promise<EntryStep> {
    const signal = this.#signal;
    if (signal === undefined) return this.#took(await this.#unlessFailed(step));
    // Not Promise.race: each race would add a reaction to the one promise that lives as long as the walk.
    const waiting = new Promise<EntryStep>((resolve, reject) => {
      this.#endWait = reject;
      this.#unlessFailed(step).then(resolve, reject);
      if (signal.aborted) this.#endWait(signal.reason);
    });
    const next = this.#took(await waiting);
    signal.throwIfAborted();
    return next;
  }

  async #unlessFailed(step: PromiseLike<EntryStep>): Promise<EntryStep> {
    try {
      return await step;
    } catch (error) {
      this.#isOver = true;
      throw error;
    }
  }

  #took(step: EntryStep): EntryStep {
    if (!isObject(step)) {
      // As in `for await`, an iterator that gives no results is not asked to clean up.
      this.#isOver = true;
      throw new TypeError(`next() of the iterator of entries must give an iterator result, got ${String(step)}`);
    }
    this.#isOver = step.done === true;
    return step;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isPromise(step: EntryStep | PromiseLike<EntryStep>): step is PromiseLike<EntryStep> {
  return isObject(step) && 'then' in step;
}
