import type { Signal } from '@bloom/bytes';
import { mustBeFunction, mustBeOptions, mustBeSignal, mustHaveAtMost, throwIfAborted } from '@bloom/bytes/internal';
import { InputSteps, mustBeSteppable, type StepIterator } from '../read/input-steps.js';
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

/**
 * Keys and values, ascending by key; text stands for its UTF-8 bytes. An asynchronous iterator may give a result instead of a promise where it has the next
 * entry at hand: waiting for each entry takes longer than building the table.
 */
export type EntryInput =
  | Iterable<readonly [key: Uint8Array | string, value: Uint8Array | string]>
  | { [Symbol.asyncIterator](): StepIterator<readonly [key: Uint8Array | string, value: Uint8Array | string]> };

/**
 * Writes a table to `path`, completely or not at all.
 *
 * The table is written to a temporary file in the same folder, synced, and then renamed to `path`; the folder is synced
 * last. If anything fails before the rename, the temporary file is removed and an existing file stays as it was. After
 * the rename only one thing can fail, syncing the folder, which is a {@link FolderSyncError}: the new table is in place,
 * but after a power loss the old one may be back. It is not an error if the file system cannot sync folders at all. A
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
  throwIfAborted(signal);
  mustBeSteppable('entries', entries);
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
  const steps = new InputSteps('entries', entries, signal);
  try {
    for (;;) {
      let step = steps.next();
      if (step instanceof Promise) step = await step;
      if (step.done === true) break;
      const entry = step.value;
      if (!Array.isArray(entry) || (entry as readonly unknown[]).length > 2) throw shapeError(entry, writer.entries);
      writer.add(entry[0], entry[1]);
      if (!writer.isDrainDue) continue;
      await writer.drain();
      throwIfAborted(signal);
      await onProgress?.(writer.entries);
    }
  } finally {
    await steps.leave();
  }
  await onProgress?.(writer.entries);
}

function shapeError(entry: unknown, number: number): TypeError {
  const kind = entry === null ? 'null' : entry instanceof Promise ? 'a promise' : Array.isArray(entry) ? `an array of ${entry.length}` : typeof entry;
  return new TypeError(`entries must give arrays of a key and a value, got ${kind} as entry ${number}`);
}
