import type { CompareRange, Side } from '@bloom/sstable/database';
import { EntryCursor } from './entry-cursor.js';
import { all, type FolderReading } from '../folder/folder-reading.js';

/**
 * The entries of many sources as one sequence. Of entries with the same internal key that of the newer source comes first.
 *
 * A walk goes one way: after a seek forward only `next` may be called, after a seek backward only `prev`.
 *
 * Source: LevelDB, table/merger.cc.
 */
export class MergeCursor extends EntryCursor {
  readonly #sources: readonly EntryCursor[];
  readonly #compare: CompareRange;
  /**
   * The sources that are on an entry, in the order in which these come. Mostly the first stays first when it moves, and one
   * comparison shows it.
   */
  readonly #queue: EntryCursor[] = [];
  /** The age of each source: 0 is the newest. */
  readonly #ages = new Map<EntryCursor, number>();
  #reverse = false;
  /** The sources whose moves are not over; the only one is the first of the queue where `#stepping`. */
  #unsettled: EntryCursor[] = [];
  #stepping = false;

  /** @param sources the newest first. */
  constructor(sources: readonly EntryCursor[], compareInternalKeys: CompareRange) {
    super();
    this.#sources = sources;
    this.#compare = compareInternalKeys;
    for (const [age, source] of sources.entries()) this.#ages.set(source, age);
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
    return this.#step(this.#queue[0]!.next());
  }

  override prev(): boolean {
    return this.#step(this.#queue[0]!.prev());
  }

  override *settle(): FolderReading<void> {
    const unsettled = this.#unsettled;
    this.#unsettled = [];
    if (unsettled.length === 1) yield* unsettled[0]!.settle();
    else yield* all(unsettled.map((source) => source.settle()));
    if (this.#stepping) this.#sink();
    else this.#line();
    this.#land();
  }

  override close(): void {
    super.close();
    for (const source of this.#sources) source.close();
  }

  #start(reverse: boolean, move: (source: EntryCursor) => boolean): boolean {
    this.valid = false;
    this.#stepping = false;
    this.#reverse = reverse;
    this.#queue.length = 0;
    this.#unsettled = this.#sources.filter((source) => !move(source));
    if (this.#unsettled.length > 0) return false;
    this.#line();
    return this.#land();
  }

  #step(settled: boolean): boolean {
    if (settled) {
      this.#sink();
      return this.#land();
    }
    this.valid = false;
    this.#stepping = true;
    this.#unsettled = [this.#queue[0]!];
    return false;
  }

  /** Lines up all sources that are on an entry. */
  #line(): void {
    this.#queue.length = 0;
    for (const source of this.#sources) if (source.valid) this.#queue.push(source);
    this.#queue.sort((a, b) => (this.#isBefore(a, b) ? -1 : 1));
  }

  /** Puts the first source, which moved, where it belongs. */
  #sink(): void {
    const queue = this.#queue;
    const first = queue[0]!;
    if (!first.valid) {
      queue.shift();
      return;
    }
    let i = 1;
    while (i < queue.length && this.#isBefore(queue[i]!, first)) {
      queue[i - 1] = queue[i]!;
      i++;
    }
    if (i > 1) queue[i - 1] = first;
  }

  #isBefore(a: EntryCursor, b: EntryCursor): boolean {
    const ours = a.entry;
    const theirs = b.entry;
    const order = this.#compare(ours.keyBytes, ours.keyStart, ours.keyEnd, theirs.keyBytes, theirs.keyStart, theirs.keyEnd);
    const isBefore = order === 0 ? this.#ages.get(a)! < this.#ages.get(b)! : order < 0;
    return isBefore !== this.#reverse;
  }

  #land(): true {
    const first = this.#queue[0];
    this.valid = first !== undefined;
    if (first !== undefined && this.entry !== first.entry) this.entry = first.entry;
    return true;
  }
}
