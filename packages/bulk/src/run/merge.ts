import type { Signal } from '@bloom/bytes';
import { mustBeArray, mustBeBoolean, mustBeBytes, mustBeOptions, mustBeSignal, mustHaveMethods } from '@bloom/bytes/internal';
import type { Comparator } from '@bloom/sstable';
import { comparatorOf } from '@bloom/sstable/internal';
import { type BulkEntry, type BulkRange, ownRange, type Run } from './run.js';

/** Which entries to merge, and how. */
export interface MergeOptions extends BulkRange {
  /** The order of the keys. Default: bytewise. */
  readonly comparator?: Comparator | undefined;
  /**
   * Whether deletions are left out: correct if the result becomes the lowest level or a separate run, as there is nothing below that they
   * would hide. Default: false.
   */
  readonly dropDeletions?: boolean | undefined;
  readonly signal?: Signal | undefined;
}

const MERGE_OPTIONS: Record<keyof MergeOptions, true> = { gte: true, lt: true, comparator: true, dropDeletions: true, signal: true };

/** The number of entries yielded at a time. */
const MANY = 1024;

/**
 * Merges runs: for each key, the entry of the first run that has it.
 *
 * @param runs from the newest to the oldest.
 * @returns the entries in ascending order of their keys, several at a time.
 * @throws TypeError for a wrong argument; RangeError when a run is not in ascending order. Errors of a run are passed on.
 */
export function merge(runs: readonly Run[], options: MergeOptions = {}): AsyncGenerator<BulkEntry[], void, undefined> {
  mustBeArray('runs', runs, 'runs');
  for (const [i, run] of runs.entries()) mustHaveMethods(`runs[${i}]`, run, 'a run', ['entries']);
  mustBeOptions('merge', options, MERGE_OPTIONS);
  const { dropDeletions = false, signal } = options;
  const range = ownRange(options);
  const comparator = comparatorOf('comparator', options.comparator);
  mustBeBoolean('dropDeletions', dropDeletions);
  if (signal !== undefined) mustBeSignal('signal', signal);
  return merged(runs, range, comparator, dropDeletions, signal);
}

async function* merged(
  runs: readonly Run[],
  range: BulkRange,
  comparator: Comparator,
  dropDeletions: boolean,
  signal: Signal | undefined,
): AsyncGenerator<BulkEntry[], void, undefined> {
  const heads = runs.map((run, age) => new RunHead(run.entries(range, signal)[Symbol.asyncIterator](), age, comparator));
  const heap = new HeadHeap(comparator);
  try {
    const begun = await Promise.all(heads.map((head) => head.refill()));
    for (const [i, head] of heads.entries()) if (begun[i] === true) heap.push(head);
    let entries: BulkEntry[] = [];
    let last: Uint8Array | undefined;
    for (let head = heap.top; head !== undefined; head = heap.top) {
      const entry = head.entry!;
      const [key, value] = entry;
      // A run further back has an older entry of the key.
      const isOlder = last !== undefined && comparator.compare(last, key) === 0;
      last = key;
      if (!isOlder && !(dropDeletions && value === undefined)) entries.push(entry);
      if (head.advance() || (await head.refill())) heap.sink();
      else heap.pop();
      if (entries.length < MANY) continue;
      signal?.throwIfAborted();
      yield entries;
      entries = [];
    }
    if (entries.length > 0) yield entries;
  } finally {
    // Ends the remaining runs, which close their tables.
    await Promise.allSettled(heads.map((head) => head.leave()));
  }
}

/** The next entry of a run. */
class RunHead {
  entry: BulkEntry | undefined;
  /** The position of the run in the list; the newest has 0. */
  readonly age: number;
  readonly #iterator: AsyncIterator<readonly BulkEntry[]>;
  readonly #comparator: Comparator;
  #entries: readonly BulkEntry[] = [];
  #next = 0;
  #isOver = false;

  constructor(iterator: AsyncIterator<readonly BulkEntry[]>, age: number, comparator: Comparator) {
    this.#iterator = iterator;
    this.age = age;
    this.#comparator = comparator;
  }

  /** Moves to the next entry, if it is in memory. */
  advance(): boolean {
    const next = this.#entries[this.#next];
    if (next === undefined) return false;
    // A comparator would find text equal to any other.
    if (!(next[0] instanceof Uint8Array && next[0].length > 0)) mustBeBytes(`a key of runs[${this.age}]`, next[0]);
    if (this.entry !== undefined && this.#comparator.compare(this.entry[0], next[0]) >= 0) {
      throw new RangeError(`runs[${this.age}] is not in ascending order by ${this.#comparator.name}`);
    }
    this.#next++;
    this.entry = next;
    return true;
  }

  /** Takes further entries of the run, and moves to the first. @returns whether there is one. */
  async refill(): Promise<boolean> {
    while (!this.#isOver) {
      let step: IteratorResult<readonly BulkEntry[], unknown>;
      try {
        step = await this.#iterator.next();
      } catch (error) {
        this.#isOver = true;
        throw error;
      }
      this.#isOver = step.done === true;
      if (step.done === true) break;
      this.#entries = step.value;
      this.#next = 0;
      if (this.advance()) return true;
    }
    return false;
  }

  async leave(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#iterator.return?.();
  }
}

/** A binary heap of runs: the least key is on top, and among equal keys that of the newest run. */
class HeadHeap {
  readonly #heads: RunHead[] = [];
  readonly #comparator: Comparator;

  constructor(comparator: Comparator) {
    this.#comparator = comparator;
  }

  get top(): RunHead | undefined {
    return this.#heads[0];
  }

  push(head: RunHead): void {
    const heads = this.#heads;
    let i = heads.push(head) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!this.#isBefore(head, heads[parent]!)) break;
      heads[i] = heads[parent]!;
      i = parent;
    }
    heads[i] = head;
  }

  /** Restores the order of the heap after the run on top has moved to its next entry. */
  sink(): void {
    const heads = this.#heads;
    const head = heads[0]!;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heads.length) break;
      if (child + 1 < heads.length && this.#isBefore(heads[child + 1]!, heads[child]!)) child++;
      if (!this.#isBefore(heads[child]!, head)) break;
      heads[i] = heads[child]!;
      i = child;
    }
    heads[i] = head;
  }

  /** Removes the top. */
  pop(): void {
    const last = this.#heads.pop()!;
    if (this.#heads.length === 0) return;
    this.#heads[0] = last;
    this.sink();
  }

  #isBefore(a: RunHead, b: RunHead): boolean {
    const order = this.#comparator.compare(a.entry![0], b.entry![0]);
    return order === 0 ? a.age < b.age : order < 0;
  }
}
