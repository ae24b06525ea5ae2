import type { DatabaseDescription, DatabaseEvent } from '@bloom/leveldb';
import type { Making } from './live-facts.js';

/**
 * Counts the writes that a crash lost: those that were in memtables, and that opening finds neither in a log nor in the table
 * that was being written. The last sequence does not show this, because the MANIFEST may include writes that no file has.
 */
export class LostWrites {
  /** The numbers of entries of the memtables at the time of the crash, the oldest first. */
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

  /** @param levels the levels of the reopened database. */
  count({ levels }: DatabaseDescription): number {
    // The MANIFEST had the new table before readers could see it. A replayed log may have created a table of that name.
    const isFlushed = levels.flat().some(({ name }) => name === this.#flushing) && !this.#replayedTables.has(this.#flushing!);
    const safe = this.#replayed + (isFlushed ? this.#entries[0]! : 0);
    return Math.max(0, this.#entries.reduce((sum, entries) => sum + entries, 0) - safe);
  }
}
