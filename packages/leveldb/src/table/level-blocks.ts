import type { FileMetadata } from '../format/version-edit.js';
import { type FolderReading, readBlock, type TableWalk } from '../folder/folder-reading.js';
import type { ViewTables } from './table-cache.js';
import type { TableHandle } from './table-handle.js';

/**
 * The data blocks of several tables, sorted and without overlap: a level, or one table. Each table is opened when it is reached.
 *
 * Moves work as in an `EntryCursor`.
 */
export class LevelBlocks {
  /** The contents of the block, lent until the next move; undefined after the last. */
  contents: Uint8Array | undefined;
  readonly #files: readonly FileMetadata[];
  readonly #tables: ViewTables;
  readonly #readsAtOnce: boolean;
  #file = 0;
  #handle: TableHandle | undefined;
  #walk: TableWalk | undefined;
  #next = 0;

  /** @param readsAtOnce whether moves read blocks themselves, instead of leaving it to `settle`. */
  constructor(files: readonly FileMetadata[], tables: ViewTables, readsAtOnce: boolean) {
    this.#files = files;
    this.#tables = tables;
    this.#readsAtOnce = readsAtOnce;
  }

  /** Moves to the next block. @returns false when something must be read first. */
  next(): boolean {
    this.contents = undefined;
    while (this.#file < this.#files.length) {
      const handle = this.#handle;
      if (handle === undefined) {
        const open = this.#tables.get(this.#files[this.#file]!);
        if (open === undefined) return false;
        this.#use(open);
      } else if (this.#next < handle.table.index.length) {
        let contents = handle.blocks.cached(this.#next);
        if (contents === undefined) {
          if (!this.#readsAtOnce) return false;
          contents = handle.blockSync(this.#next, this.#walk);
        }
        this.#next++;
        this.contents = contents;
        return true;
      } else {
        this.#release();
        this.#file++;
      }
    }
    return true;
  }

  /** Completes a move that returned false. */
  *settle(): FolderReading<void> {
    do {
      if (this.#handle === undefined) {
        this.#use(yield* this.#tables.open(this.#files[this.#file]!));
      } else {
        this.contents = yield* readBlock(this.#handle, this.#next, this.#walk);
        this.#next++;
        return;
      }
    } while (!this.next());
  }

  /**
   * Reads the next blocks of the table as they are stored, as `readStored` of a `TableHandle` does, if moves read blocks themselves: they remain
   * the next ones until they are passed.
   */
  readonly nextStored = (into: Uint8Array, take: (start: number, length: number) => void, most: number): number =>
    this.#readsAtOnce && this.#handle !== undefined ? this.#handle.readStored(this.#next, 1, into, take, most) : 0;

  pass(count: number): void {
    this.#next += count;
  }

  close(): void {
    this.#release();
    this.#file = this.#files.length;
  }

  #use(handle: TableHandle): void {
    this.#tables.pin(handle);
    this.#handle = handle;
    this.#walk = { reverse: false, fillsCache: true, ahead: undefined };
    this.#next = 0;
  }

  #release(): void {
    if (this.#handle === undefined) return;
    if (this.#walk !== undefined) this.#handle.endWalk(this.#walk);
    this.#tables.unpin(this.#handle);
    this.#handle = this.#walk = undefined;
  }
}
