import type { DatabaseDescription, DatabaseEvent } from '@bloom/leveldb';
import type { Making } from './live-facts.js';

/**
 * Counts the writes that a crash lost: those that were in memtables, and that opening finds neither in a log nor in the table
 * that was being made of one. The last sequence does not say it: the MANIFEST can have learnt of writes that no file has.
 */
export class LostWrites {
  /** Of the memtables at the time of the crash, the oldest first. */
  readonly #entries: readonly number[];
  readonly #flushing: string | undefined;
  #replayed = 0;
  readonly #replayedTables = new Set<string>();

  constructor({ logs }: DatabaseDescription, making: Making | undefined) {
    this.#entries = logs.map(({ entries }) => entries);
    this.#flushing = making?.kind === 'flush' ? making.table : undefined;
  }

  /** Follows the next opening. */
  take(event: DatabaseEvent): void {
    if (event.kind !== 'log-replayed') return;
    this.#replayed += event.operations;
    for (const { table } of event.tables) this.#replayedTables.add(table);
  }

  /** @param levels of the database that is open again. */
  count({ levels }: DatabaseDescription): number {
    // The MANIFEST had the new table before those who read could see it. A log that is replayed may have made one of that name.
    const isFlushed = levels.flat().some(({ name }) => name === this.#flushing) && !this.#replayedTables.has(this.#flushing!);
    const safe = this.#replayed + (isFlushed ? this.#entries[0]! : 0);
    return Math.max(0, this.#entries.reduce((sum, entries) => sum + entries, 0) - safe);
  }
}
