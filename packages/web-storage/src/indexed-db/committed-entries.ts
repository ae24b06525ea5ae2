import type { DatabaseKeyRange } from '@bloom/leveldb';
import { idbComparator } from '@bloom/leveldb/idb-comparator';
import type { WebStorageError } from '../web-storage-error.js';
import { readUndoLog, type StoredEntries, type Undone, type UndoneRange } from './undo-log.js';

const compare = (a: Uint8Array, b: Uint8Array): number => idbComparator.compare(a, b);

type Entries = ReturnType<StoredEntries['entries']>;

/** The entries of a folder as pages see them: without the changes of transactions that have not been committed. */
export class CommittedEntries {
  readonly #reader: StoredEntries;
  /** In the order of their keys, each key once. */
  readonly #undone: readonly Undone[];
  /** Where all entries apart from `#undone` are uncommitted: in ascending order, without overlaps. */
  readonly #ranges: readonly UndoneRange[];
  /** Why changes that have not been committed may be among the entries. */
  readonly errors: readonly WebStorageError[];

  private constructor(reader: StoredEntries, undone: readonly Undone[], ranges: readonly UndoneRange[], errors: readonly WebStorageError[]) {
    this.#reader = reader;
    this.#undone = undone;
    this.#ranges = ranges;
    this.errors = errors;
  }

  /** @throws CorruptionError where the folder is damaged. */
  static async of(reader: StoredEntries): Promise<CommittedEntries> {
    const { undone, ranges, errors } = await readUndoLog(reader);
    const sorted = [...undone].sort((a, b) => compare(a.key, b.key));
    // The sort is stable, so the last one about a key comes last.
    const last = sorted.filter(({ key }, i) => i === sorted.length - 1 || compare(key, sorted[i + 1]!.key) !== 0);
    return new CommittedEntries(reader, last, withoutOverlaps(ranges), errors);
  }

  /** Whether these are all entries of the folder. */
  get areAll(): boolean {
    return this.#undone.length + this.#ranges.length === 0;
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const undone = this.#undone[firstWhere(this.#undone, (each) => compare(each.key, key) >= 0)];
    if (undone !== undefined && compare(undone.key, key) === 0) return undone.value;
    return this.#isInRange(key) ? undefined : this.#reader.get(key);
  }

  /** The entries of a range, in order. */
  entries(range: DatabaseKeyRange): Entries {
    const undone = this.#within(range);
    const entries = this.#reader.entries(range);
    if (undone.length + this.#ranges.length === 0) return entries;
    return range.reverse === true ? this.#merged(entries, undone.reverse(), -1) : this.#merged(entries, undone, 1);
  }

  #isInRange(key: Uint8Array): boolean {
    const range = this.#ranges[firstWhere(this.#ranges, ({ lt }) => compare(lt, key) > 0)];
    return range !== undefined && compare(range.gte, key) <= 0;
  }

  /** Both in the same order. @param direction -1 if it is descending. */
  async *#merged(entries: Entries, undone: readonly Undone[], direction: 1 | -1): AsyncGenerator<readonly [Uint8Array, Uint8Array], void, undefined> {
    let next = 0;
    for await (const entry of entries) {
      let isUndone = this.#isInRange(entry[0]);
      for (; next < undone.length; next++) {
        const { key, value } = undone[next]!;
        const order = compare(key, entry[0]) * direction;
        if (order > 0) break;
        isUndone ||= order === 0;
        if (value !== undefined) yield [key, value];
      }
      if (!isUndone) yield entry;
    }
    for (; next < undone.length; next++) {
      const { key, value } = undone[next]!;
      if (value !== undefined) yield [key, value];
    }
  }

  /** What was undone in a range, by ascending keys. */
  #within({ gt, gte, lt, lte }: DatabaseKeyRange): Undone[] {
    if (this.#undone.length === 0) return [];
    const isWithin = (key: Uint8Array): boolean =>
      (gt === undefined || compare(key, gt as Uint8Array) > 0) &&
      (gte === undefined || compare(key, gte as Uint8Array) >= 0) &&
      (lt === undefined || compare(key, lt as Uint8Array) < 0) &&
      (lte === undefined || compare(key, lte as Uint8Array) <= 0);
    return this.#undone.filter(({ key }) => isWithin(key));
  }
}

/** The place of the first item for which a condition holds, which then holds for all after it. */
function firstWhere<T>(items: readonly T[], holds: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(items[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The same ranges in ascending order, those that overlap or touch as one. */
function withoutOverlaps(ranges: readonly UndoneRange[]): UndoneRange[] {
  const separate: UndoneRange[] = [];
  const sorted = ranges.filter(({ gte, lt }) => compare(gte, lt) < 0).sort((a, b) => compare(a.gte, b.gte));
  for (const range of sorted) {
    const last = separate.at(-1);
    if (last === undefined || compare(last.lt, range.gte) < 0) separate.push(range);
    else if (compare(last.lt, range.lt) < 0) separate[separate.length - 1] = { gte: last.gte, lt: range.lt };
  }
  return separate;
}
