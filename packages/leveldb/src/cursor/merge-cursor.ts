import type { CompareRange, Side } from '@bloom/sstable/internal';
import { EntryCursor } from './entry-cursor.js';
import { all, type FolderReading } from '../folder/folder-reading.js';
import { SourceQueue } from './source-queue.js';

/**
 * The entries of many sources as one sequence. Of entries with the same internal key that of the newer source comes first.
 *
 * A walk goes one way: after a seek forward only `next` may be called, after a seek backward only `prev`.
 *
 * Source: LevelDB, table/merger.cc.
 */
export class MergeCursor extends EntryCursor {
  /** The newest first. */
  readonly sources: readonly EntryCursor[];
  readonly #queue: SourceQueue;
  /** The sources whose moves have not ended; while `#stepping`, only the first of the queue. */
  #unsettled: EntryCursor[] = [];
  #stepping = false;

  /** @param sources the newest first. */
  constructor(sources: readonly EntryCursor[], compareInternalKeys: CompareRange) {
    super();
    this.sources = sources;
    this.#queue = new SourceQueue(sources, compareInternalKeys);
  }

  override seekToFirst(): boolean {
    return this.#start(false, (source) => source.seekToFirst());
  }

  override seekToLast(): boolean {
    return this.#start(true, (source) => source.seekToLast());
  }

  override seek(key: Uint8Array, side: Side): boolean {
    return this.#start(side === 'before' || side === 'at-or-before', (source) => source.seek(key, side));
  }

  override next(): boolean {
    return this.#step(this.#queue.first!.next());
  }

  override prev(): boolean {
    return this.#step(this.#queue.first!.prev());
  }

  override get file(): string | undefined {
    return this.#queue.first!.file;
  }

  override *settle(): FolderReading<void> {
    const unsettled = this.#unsettled;
    this.#unsettled = [];
    if (unsettled.length === 1) yield* unsettled[0]!.settle();
    else yield* all(unsettled.map((source) => source.settle()));
    if (this.#stepping) this.#queue.sink();
    else this.#queue.line(this.reverse);
    this.#land();
  }

  override close(): void {
    super.close();
    for (const source of this.sources) source.close();
  }

  /** Continues after the sources were moved one by one in the direction of the walk. */
  lineUp(): void {
    this.#queue.line(this.reverse);
    this.#land();
  }

  #start(reverse: boolean, move: (source: EntryCursor) => boolean): boolean {
    this.valid = false;
    this.#stepping = false;
    this.reverse = reverse;
    this.#queue.clear();
    this.#unsettled = this.sources.filter((source) => !move(source));
    if (this.#unsettled.length > 0) return false;
    this.#queue.line(reverse);
    return this.#land();
  }

  #step(settled: boolean): boolean {
    if (settled) {
      this.#queue.sink();
      return this.#land();
    }
    this.valid = false;
    this.#stepping = true;
    this.#unsettled = [this.#queue.first!];
    return false;
  }

  #land(): true {
    const { first } = this.#queue;
    this.valid = first !== undefined;
    if (first !== undefined && this.entry !== first.entry) this.entry = first.entry;
    return true;
  }
}
