import type { Bytes, Signal } from '@bloom/bytes';
import { mustBeOptions, mustBeSignal, mustHaveAtMost, throwIfAborted } from '@bloom/bytes/internal';
import type { FileHandle } from 'node:fs/promises';
import { PIECE_BYTES } from '../read/source.js';
import { TABLE_BUILDER_OPTIONS, type TableBuilderOptions } from '../write/options.js';
import type { TableSink } from '../write/sink.js';
import { TableBuilder, type TableInfo } from '../write/table-builder.js';
import { Replacement } from './replacement.js';
import { writeBytes } from './write-bytes.js';

/** Bytes to gather before a write, because large writes cost the system less. */
const WRITE_BYTES = 1 << 20;
/** After this many bytes the file is synced while others are added, so that the final sync takes less time. */
const SYNC_BYTES = 16 << 20;

/**
 * Writes a table to a file, completely or not at all, for a program that adds the entries itself. `writeTable` does the same
 * with the entries of an iterable, and describes how the file replaces an existing one.
 *
 * Call order: `create ((add | addRange)* drain?)* (finish | abandon)`. Adding is synchronous, and what it gives is kept in
 * memory until `drain`, which is due when {@link isDrainDue} says so.
 *
 * @example
 * ```ts
 * const writer = await TableWriter.create('words.ldb');
 * try {
 *   for (const word of words) {
 *     writer.add(word, '');
 *     if (writer.isDrainDue) await writer.drain();
 *   }
 *   await writer.finish();
 * } finally {
 *   await writer.abandon();
 * }
 * ```
 */
export class TableWriter {
  readonly #replacement: Replacement;
  readonly #buffer: WriteBuffer;
  readonly #builder: TableBuilder;
  /** All writes so far, one after the other, and the syncs. They may fail before somebody waits for them. */
  #writing: Promise<void> = Promise.resolve();
  #syncing: Promise<void> = Promise.resolve();
  #isSyncing = false;
  #unsyncedBytes = 0;

  private constructor(replacement: Replacement, options: TableBuilderOptions) {
    this.#replacement = replacement;
    this.#buffer = new WriteBuffer();
    this.#builder = new TableBuilder(this.#buffer, options);
  }

  /**
   * Creates the temporary file in the folder of `path`.
   *
   * @throws TypeError or RangeError for a wrong option; the system's error when the file cannot be created.
   */
  static async create(path: string, options: TableBuilderOptions = {}): Promise<TableWriter> {
    mustHaveAtMost('TableWriter.create', 'a path and options', 2, arguments.length);
    mustBeOptions('TableWriter.create', options, TABLE_BUILDER_OPTIONS);
    const replacement = await Replacement.begin(path);
    try {
      return new TableWriter(replacement, options);
    } catch (error) {
      await replacement.abandon();
      throw error;
    }
  }

  /** Entries added so far. */
  get entries(): number {
    return this.#builder.entries;
  }

  /** Bytes of the file so far, including those that are not written yet. */
  get byteLength(): number {
    return this.#builder.byteLength;
  }

  /** The last key added: a view that is valid until the next entry is added. */
  get lastKey(): Bytes {
    return this.#builder.lastKey;
  }

  /** Whether a MiB or more waits to be written. */
  get isDrainDue(): boolean {
    return this.#buffer.byteLength >= WRITE_BYTES;
  }

  /** Adds an entry as `TableBuilder.add` does, which says what it throws. */
  add(key: Uint8Array | string, value: Uint8Array | string): void {
    if (arguments.length > 2) mustHaveAtMost('TableWriter.add', 'a key and a value', 2, arguments.length);
    this.#builder.add(key, value);
  }

  /** Adds an entry as `TableBuilder.addRange` does, which says what it throws. */
  addRange(keyBytes: Uint8Array, keyStart: number, keyEnd: number, valueBytes: Uint8Array, valueStart: number, valueEnd: number): void {
    this.#builder.addRange(keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd);
  }

  /**
   * Begins to write what waits, once what was drained before is written. Entries can be added meanwhile.
   *
   * @throws the system's error when the file cannot be written; {@link finish} throws it too.
   */
  drain(): Promise<void> {
    const before = this.#writing;
    this.#writing = before.then(() => this.#write());
    this.#writing.catch(() => undefined);
    return before;
  }

  /** Writes what waits. */
  #write(): Promise<void> {
    this.#unsyncedBytes += this.#buffer.byteLength;
    const writing = this.#buffer.writeTo(this.#replacement.handle);
    if (this.#unsyncedBytes >= SYNC_BYTES && !this.#isSyncing) this.#beginSync();
    return writing;
  }

  #beginSync(): void {
    this.#unsyncedBytes = 0;
    this.#isSyncing = true;
    // The system reports a failure only once, so no further sync is started after one.
    this.#syncing = this.#syncing
      .then(() => this.#replacement.handle.datasync())
      .finally(() => {
        this.#isSyncing = false;
      });
    this.#syncing.catch(() => undefined);
  }

  /**
   * Ends the table, syncs the file, and gives it its name.
   *
   * @param signal keeps the file from getting its name: after that, call {@link abandon}.
   * @throws TypeError after `finish` or `abandon`, RangeError when the table cannot be ended, the system's error when the file cannot be written, and
   *   `FolderSyncError` as `writeTable` does.
   */
  async finish(signal?: Signal): Promise<TableInfo> {
    if (signal !== undefined) mustBeSignal('signal', signal);
    const info = this.#builder.finish();
    await this.drain();
    await this.#writing;
    await this.#syncing;
    throwIfAborted(signal);
    await this.#replacement.finish(signal);
    return info;
  }

  /** Removes the temporary file; nothing can be added then. Does nothing once the table has its name. */
  abandon(): Promise<void> {
    this.#builder.abandon();
    this.#buffer.clear();
    return this.#replacement.abandon();
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

  clear(): void {
    this.#parts = [];
    this.byteLength = 0;
  }

  async writeTo(handle: FileHandle): Promise<void> {
    const { byteLength } = this;
    const parts = this.#parts;
    this.clear();
    if (byteLength === 0) return;
    let bytesWritten = byteLength > PIECE_BYTES ? 0 : (await handle.writev(parts)).bytesWritten;
    // Bytes are left only if there were too many for one call, a signal interrupted it, or the disk is full.
    for (const bytes of parts) {
      const written = Math.min(bytesWritten, bytes.length);
      bytesWritten -= written;
      await writeBytes(handle, bytes, written);
    }
  }
}
