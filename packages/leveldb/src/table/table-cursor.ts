/**
 * Cursors over the entries of a table, and of tables without overlap, such as a level.
 *
 * Source: LevelDB, table/two_level_iterator.cc and db/version_set.cc, `Version::LevelFileNumIterator`.
 */
import { SETTLED, type Side, TableCursor } from '@bloom/sstable/internal';
import type { DamagePolicy } from '../folder/damage.js';
import { type EntryBlock, EntryCursor } from '../cursor/entry-cursor.js';
import { type FolderReading, readBlock, type TableWalk } from '../folder/folder-reading.js';
import type { ViewTables } from './table-cache.js';
import type { TableHandle } from './table-handle.js';
import type { FileMetadata } from '../format/version-edit.js';

/** A block without entries, which replaces a damaged one: a walk skips it. */
const EMPTY_BLOCK = Uint8Array.of(0, 0, 0, 0, 1, 0, 0, 0);

/**
 * A walk that fills the cache fills this part of it, block by block. It then reads several blocks at a time, which the cache does not keep: they would
 * replace what lookups need, and a kernel merges them in the time that cached ones take.
 */
const FILLED_PARTS = 16;

export class TableEntries extends EntryCursor {
  readonly #handle: TableHandle;
  readonly #cursor: TableCursor;
  readonly #damage: DamagePolicy;
  readonly #readsAtOnce: boolean;
  readonly #fillsCache: boolean;
  /** The block that the move needs. */
  #wanted = SETTLED;
  #walk: TableWalk | undefined;
  /** Whether the contents of the loaded block are elsewhere. */
  #isElsewhere = false;

  /**
   * @param handle pinned for as long as the cursor is used.
   * @param readsAtOnce whether moves read blocks themselves, instead of leaving it to `settle`: only if the folder does not return promises.
   *   Settling takes half a microsecond for each block.
   * @param fillsCache whether the cache keeps the blocks that are read.
   */
  constructor(handle: TableHandle, damage: DamagePolicy, readsAtOnce = false, fillsCache = true) {
    super();
    this.#handle = handle;
    this.#cursor = new TableCursor(handle.table);
    this.#damage = damage;
    this.#readsAtOnce = readsAtOnce;
    this.#fillsCache = fillsCache;
  }

  override seekToFirst(): boolean {
    this.#start(false);
    return this.#drive(this.#cursor.seekToFirst());
  }

  override seekToLast(): boolean {
    this.#start(true);
    return this.#drive(this.#cursor.seekToLast());
  }

  override seek(key: Uint8Array, side: Side): boolean {
    this.#start(side === 'before' || side === 'at-or-before');
    return this.#drive(this.#cursor.seek(key, side));
  }

  override next(): boolean {
    return this.#drive(this.#cursor.next());
  }

  override prev(): boolean {
    return this.#drive(this.#cursor.prev());
  }

  override get file(): string | undefined {
    return this.#handle.table.file;
  }

  override get block(): EntryBlock {
    const { bytes, entryStart } = this.#cursor.block;
    return { contents: bytes, position: entryStart };
  }

  override nextBlock(): boolean {
    this.#walk!.isBorrowing = true;
    this.#isElsewhere = false;
    return this.#drive(this.reverse ? this.#cursor.prevBlock() : this.#cursor.nextBlock());
  }

  override nextStored(into: Uint8Array, take: (start: number, length: number) => void, most: number, readBytes: number): number {
    if (!this.#damage.isStrict || (this.#fillsCache && readBytes < this.#handle.blocks.cacheBytes / FILLED_PARTS)) return 0;
    const step = this.reverse ? -1 : 1;
    return this.#handle.readStored(this.#cursor.loaded + step, step, into, take, most);
  }

  override passStored(entered: number): void {
    this.#cursor.passTo(this.#cursor.loaded + (this.reverse ? -entered : entered));
    this.#walk!.isBorrowing = true;
    this.#isElsewhere = true;
  }

  override skip(entries: number, contents: () => Uint8Array): void {
    if (this.#isElsewhere) {
      this.#cursor.enterBlock(this.#cursor.loaded, contents(), this.reverse ? 'last' : 'first');
      this.#drive(SETTLED);
    } else if (this.#walk!.isBorrowing === true) {
      this.#cursor.block.moveTo(contents());
    }
    this.#isElsewhere = false;
    this.#walk!.isBorrowing = false;
    super.skip(entries, contents);
  }

  override *settle(): FolderReading<void> {
    let contents: Uint8Array;
    // The move may need further blocks.
    do {
      try {
        contents = yield* readBlock(this.#handle, this.#wanted, this.#walk);
      } catch (error) {
        this.#damage.pass(error);
        contents = EMPTY_BLOCK;
      }
    } while (!this.#drive(this.#supply(contents)));
  }

  override close(): void {
    super.close();
    if (this.#walk !== undefined) this.#handle.endWalk(this.#walk);
  }

  #start(reverse: boolean): void {
    const walk = this.#walk;
    if (walk !== undefined) {
      // Blocks that were read ahead at the old place are useless at the new one.
      this.#handle.endWalk(walk);
      if (walk.isBorrowing === true) this.#cursor.forgetBlock();
    }
    this.#isElsewhere = false;
    this.reverse = reverse;
    this.#walk = { reverse, fillsCache: this.#fillsCache, ahead: undefined, isBorrowing: false };
  }

  #drive(wanted: number): boolean {
    const { blocks } = this.#handle;
    while (wanted !== SETTLED) {
      this.#wanted = wanted;
      this.valid = false;
      let contents = this.#walk!.isBorrowing === true ? blocks.borrowed(wanted) : blocks.cached(wanted);
      if (contents === undefined) {
        if (!this.#readsAtOnce) return false;
        contents = this.#readSync(wanted);
      }
      wanted = this.#supply(contents);
    }
    const { entry } = this;
    const { block } = this.#cursor;
    this.valid = block.valid;
    // Comparing first is cheaper than storing the reference again: without it, a walk takes 1.05 times as long.
    if (entry.keyBytes !== block.keyBytes) entry.keyBytes = block.keyBytes;
    entry.keyEnd = block.keyLength;
    entry.shared = block.shared;
    if (entry.valueBytes !== block.bytes) entry.valueBytes = block.bytes;
    entry.valueStart = block.valueStart;
    entry.valueEnd = block.valueEnd;
    return true;
  }

  #readSync(block: number): Uint8Array {
    try {
      return this.#handle.blockSync(block, this.#walk);
    } catch (error) {
      this.#damage.pass(error);
      return EMPTY_BLOCK;
    }
  }

  #supply(contents: Uint8Array): number {
    if (!this.#damage.isStrict && contents !== EMPTY_BLOCK) {
      try {
        const { table } = this.#handle;
        const searcher = this.#handle.searcher();
        searcher.reset(contents, table.index.offsetOf(this.#wanted));
        // Damage behind a correct checksum must not stop the walk in the middle of the block.
        searcher.mustBeWhole();
      } catch (error) {
        this.#damage.pass(error);
        contents = EMPTY_BLOCK;
      }
    }
    return this.#cursor.supply(contents);
  }
}

/** Moves over the entries of several tables, sorted and without overlap: a level, or one table. Each is opened when it is reached. */
export class LevelEntries extends EntryCursor {
  private readonly files: readonly FileMetadata[];
  /** The table to search for a key: the first whose largest key is at or after it. */
  private readonly find: (key: Uint8Array) => number;
  private readonly tables: ViewTables;
  private readonly damage: DamagePolicy;
  private readonly readsAtOnce: boolean;
  private readonly fillsCache: boolean;
  /** Whether a table can be skipped. */
  private readonly isPassedOver: ((handle: TableHandle) => boolean) | undefined;
  /** The table that the cursor is in, and its entries, once it is open. */
  private i = -1;
  private handle: TableHandle | undefined;
  private entries: TableEntries | undefined;
  /** Where the move ends in the table that it reaches. */
  private landing: 'first' | 'last' | Side = 'first';
  private target: Uint8Array = new Uint8Array(0);

  /** Parameters as those of {@link TableEntries}. @param isPassedOver whether to skip an open table. */
  constructor(
    files: readonly FileMetadata[],
    find: (key: Uint8Array) => number,
    tables: ViewTables,
    damage: DamagePolicy,
    readsAtOnce = false,
    fillsCache = true,
    isPassedOver?: (handle: TableHandle) => boolean,
  ) {
    super();
    this.isPassedOver = isPassedOver;
    this.files = files;
    this.find = find;
    this.tables = tables;
    this.damage = damage;
    this.readsAtOnce = readsAtOnce;
    this.fillsCache = fillsCache;
  }

  override seekToFirst(): boolean {
    return this.#enter(0, 'first', false);
  }

  override seekToLast(): boolean {
    return this.#enter(this.files.length - 1, 'last', true);
  }

  override seek(key: Uint8Array, side: Side): boolean {
    this.target = key;
    const i = this.find(key);
    const reverse = side === 'before' || side === 'at-or-before';
    return i === this.files.length && reverse ? this.seekToLast() : this.#enter(i, side, reverse);
  }

  override next(): boolean {
    return this.entries!.next() ? this.#go() : this.#wait();
  }

  override prev(): boolean {
    return this.entries!.prev() ? this.#go() : this.#wait();
  }

  override get file(): string | undefined {
    return this.entries!.file;
  }

  override get block(): EntryBlock {
    return this.entries!.block;
  }

  override nextStored(into: Uint8Array, take: (start: number, length: number) => void, most: number, readBytes: number): number {
    return this.entries!.nextStored(into, take, most, readBytes);
  }

  override passStored(entered: number): void {
    this.entries!.passStored(entered);
  }

  override skip(entries: number, contents: () => Uint8Array): void {
    this.entries!.skip(entries, contents);
  }

  override nextBlock(): boolean {
    return this.entries!.nextBlock() ? this.#go() : this.#wait();
  }

  override *settle(): FolderReading<void> {
    do {
      if (this.entries === undefined) {
        try {
          if (!this.#use(yield* this.tables.open(this.files[this.i]!))) continue;
        } catch (error) {
          this.damage.pass(error);
          this.#leave();
          continue;
        }
        if (this.#land()) continue;
      }
      yield* this.entries!.settle();
    } while (!this.#go());
  }

  override close(): void {
    super.close();
    this.#release();
    // A move that still waits for a block ends here, rather than in another table.
    this.i = -1;
  }

  #enter(i: number, landing: 'first' | 'last' | Side, reverse: boolean): boolean {
    this.landing = landing;
    this.reverse = reverse;
    if (i !== this.i) {
      this.#release();
      this.i = i;
    }
    if (this.entries !== undefined && !this.#land()) return this.#wait();
    return this.#go();
  }

  /** Moves from table to table until one has an entry. @returns false when something must be read first. */
  #go(): boolean {
    while (this.i >= 0 && this.i < this.files.length) {
      if (this.entries === undefined) {
        const handle = this.tables.get(this.files[this.i]!);
        if (handle === undefined) return this.#wait();
        if (!this.#use(handle)) continue;
        if (!this.#land()) return this.#wait();
      }
      const entries = this.entries!;
      if (entries.valid) return (this.valid = true);
      this.#leave();
    }
    this.valid = false;
    return true;
  }

  #wait(): false {
    this.valid = false;
    return false;
  }

  /** Goes to the adjacent table, as this one has no entry for the move. */
  #leave(): void {
    this.#release();
    this.i += this.reverse ? -1 : 1;
    this.landing = this.reverse ? 'last' : 'first';
  }

  #land(): boolean {
    const entries = this.entries!;
    switch (this.landing) {
      case 'first':
        return entries.seekToFirst();
      case 'last':
        return entries.seekToLast();
      default:
        return entries.seek(this.target, this.landing);
    }
  }

  /** Enters an open table. @returns false if it is skipped. */
  #use(handle: TableHandle): boolean {
    if (this.isPassedOver?.(handle) === true) {
      this.#leave();
      return false;
    }
    this.tables.pin(handle);
    this.handle = handle;
    this.entries = new TableEntries(handle, this.damage, this.readsAtOnce, this.fillsCache);
    this.entry = this.entries.entry;
    return true;
  }

  #release(): void {
    this.entries?.close();
    if (this.handle !== undefined) this.tables.unpin(this.handle);
    this.handle = this.entries = undefined;
  }
}
