/**
 * The tables that a compaction writes.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::OpenCompactionOutputFile` and `FinishCompactionOutputFile`.
 */
import type { TableBuilderOptions } from '@bloom/sstable';
import type { WrittenTable } from '../folder/table-thread.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { TableFile } from '../table/table-file.js';

/** Where and how the tables of a compaction are written. */
export interface OutputSettings {
  readonly folder: Pick<WritableFolder, 'create'>;
  readonly building: TableBuilderOptions;
  /** The size in bytes at which a table is finished and the next one begun. */
  readonly maxFileSize: number;
  /** Allocates the number of the next table. */
  newFileNumber(): bigint | Promise<bigint>;
}

export class OutputTables {
  /** The table being written. */
  table: TableFile | undefined;
  readonly finished: WrittenTable[] = [];
  readonly #settings: OutputSettings;
  readonly #maxFileSize: number;
  readonly #onTable: ((table: WrittenTable) => void) | undefined;
  /** Settles when the previous table is on disk: the disk syncs it while the next one is written. */
  #finishing: Promise<void> | undefined;

  /** @param onTable called with each table as soon as it is on disk. */
  constructor(settings: OutputSettings, onTable: ((table: WrittenTable) => void) | undefined) {
    this.#settings = settings;
    // The settings are made by spreads, so that V8 would optimize `written` again for those of each compaction.
    this.#maxFileSize = settings.maxFileSize;
    this.#onTable = onTable;
  }

  async begin(): Promise<TableFile> {
    const { folder, building } = this.#settings;
    return (this.table = await TableFile.create(folder, await this.#settings.newFileNumber(), building));
  }

  /** Finishes the table if it is large enough, or begins to write what is pending. Undefined when there is nothing to wait for. */
  written(table: TableFile): Promise<void> | undefined {
    if (table.byteLength >= this.#maxFileSize || table.isCrowded) return this.finish(table);
    return table.isFull ? table.drain() : undefined;
  }

  async finish(table: TableFile): Promise<void> {
    await this.#finishing;
    this.#finishing = this.#end(table);
    this.table = undefined;
    // A failure is thrown where the promise is awaited; until then it must not count as unhandled.
    this.#finishing.catch(() => undefined);
  }

  /** Finishes the last table. @returns all of them, on disk. */
  async end(): Promise<readonly WrittenTable[]> {
    if (this.table !== undefined) await this.finish(this.table);
    await this.#finishing;
    return this.finished;
  }

  /** Closes what is open. The files stay. */
  async abandon(): Promise<void> {
    await this.#finishing?.catch(() => undefined);
    await this.table?.abandon();
  }

  async #end(table: TableFile): Promise<void> {
    try {
      const written = await table.finish();
      this.finished.push(written);
      this.#onTable?.(written);
    } catch (error) {
      await table.abandon();
      throw error;
    }
  }
}
