import type { KeyList } from '@bloom/policy';
import { TableBuilder, type TableBuilderOptions, type TableSink } from '@bloom/sstable';
import type { BuiltBlock } from '@bloom/sstable/internal';
import type { Entry, EntryCursor } from '../cursor/entry-cursor.js';
import { attempt } from '../folder/closing-files.js';
import { tableFileName } from '../format/file-name.js';
import type { WrittenTable } from '../folder/table-thread.js';
import type { WritableFile, WritableFolder } from '../folder/writable-folder.js';
import type { Pacer } from '../folder/pacer.js';

/** The number of entries added to a table between two checks of the clock. */
export const ENTRIES_PER_LOOK = 16;
/** A write begins when this many bytes are pending: fewer than most chunks of the builder have, so that no chunk waits for the next. */
const WRITE_BYTES = 128 * 2 ** 10;

/**
 * A table that is being written. Call order: create (add drain?)* (finish | abandon).
 *
 * The operating system writes one chunk while the next is filled: otherwise a compaction spent a fifth of its time waiting for writes.
 */
export class TableFile implements TableSink {
  readonly number: bigint;
  readonly #file: WritableFile;
  readonly #builder: TableBuilder;
  readonly #crowdedBytes: number;
  #parts: Uint8Array[] = [];
  #waiting = 0;
  /** The current or last write. */
  #writing: Promise<void> | undefined;
  #smallest: Uint8Array | undefined;

  private constructor(number: bigint, file: WritableFile, options: TableBuilderOptions) {
    this.number = number;
    this.#file = file;
    this.#builder = new TableBuilder(this, options);
    this.#crowdedBytes = (options.maxBlockBytes ?? Infinity) / 2;
  }

  static async create(folder: Pick<WritableFolder, 'create'>, number: bigint, options: TableBuilderOptions): Promise<TableFile> {
    return new TableFile(number, await folder.create(tableFileName(number)), options);
  }

  /** Bytes of the blocks that are finished. */
  get byteLength(): number {
    return this.#builder.byteLength;
  }

  /** Whether the table must end because its index gets too large: the other half is for the next entry. */
  get isCrowded(): boolean {
    return this.#builder.indexByteLength > this.#crowdedBytes;
  }

  /** Adds an entry, whose key comes after the last. Key and value are copied. */
  add({ keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd }: Entry): void {
    this.#builder.addRange(keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd);
    this.#smallest ??= keyBytes.slice(keyStart, keyEnd);
  }

  /** Adds a data block whose keys come after the last, and whose keys were passed to `addFilterKeys`. Everything is copied. */
  addBlock(block: BuiltBlock): void {
    this.#builder.addBlock(block);
    this.#smallest ??= block.bytes.slice(block.firstKeyStart, block.firstKeyEnd);
  }

  /** Adds user keys to the filter of the next block. */
  addFilterKeys(keys: Pick<KeyList, 'bytes' | 'offsets' | 'length'>): void {
    this.#builder.addFilterKeys(keys);
  }

  append(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#waiting += bytes.length;
  }

  /** Whether enough bytes are pending for `drain` to be called. */
  get isFull(): boolean {
    return this.#waiting >= WRITE_BYTES;
  }

  /** Begins to write the pending bytes as soon as the last write has ended. @throws the error of the last write. */
  async drain(): Promise<void> {
    const parts = this.#parts;
    this.#parts = [];
    this.#waiting = 0;
    await this.#writing;
    this.#writing = this.#write(parts);
    // A failure is thrown where the promise is awaited; until then it must not count as unhandled.
    this.#writing.catch(() => undefined);
  }

  async #write(parts: readonly Uint8Array[]): Promise<void> {
    for (const part of parts) await this.#file.append(part);
  }

  /** Ends the table, which must have at least one entry, and syncs it. */
  async finish(): Promise<WrittenTable> {
    const { byteLength, entries, filters, filterBytes } = this.#builder.finish();
    const largest = this.#builder.lastKey.slice();
    await this.drain();
    await this.#writing;
    await this.#file.sync();
    await this.#file.close();
    return { file: { number: this.number, size: byteLength, smallest: this.#smallest!, largest }, entries, filters, filterBytes };
  }

  /** Leaves the file as it is: the caller, which allocated its number, deletes it. */
  async abandon(): Promise<void> {
    await this.#writing?.catch(() => undefined);
    await attempt(() => this.#file.close());
  }
}

/** Entries in order, without duplicates, damage or waiting. */
export type SortedEntries = Pick<EntryCursor, 'valid' | 'entry' | 'seekToFirst' | 'next'>;

/** Writes entries, at least one, as a table. */
export async function writeTable(
  entries: SortedEntries,
  folder: Pick<WritableFolder, 'create'>,
  number: bigint,
  options: TableBuilderOptions,
  pacer: Pacer,
): Promise<WrittenTable> {
  const table = await TableFile.create(folder, number, options);
  try {
    for (entries.seekToFirst(); entries.valid; entries.next()) {
      table.add(entries.entry);
      if (table.isFull) await table.drain();
      if (pacer.isDue()) await pacer.pause();
    }
    return await table.finish();
  } catch (error) {
    await table.abandon();
    throw error;
  }
}
