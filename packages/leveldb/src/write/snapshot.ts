/**
 * A state of the database that is kept readable: entries that are visible at its sequence stay until it is released.
 *
 * @example
 * ```ts
 * const snapshot = database.snapshot();
 * await database.put(key, value);
 * await database.get(key, { sequence: snapshot.sequence }); // as it was before
 * snapshot.release();
 * ```
 */
export class DatabaseSnapshot {
  /** Writes with a higher sequence are not part of it. */
  readonly sequence: bigint;
  #letGo: (() => void) | undefined;

  /** Made by `snapshot` and `writtenSnapshot` of a `Database`. */
  constructor(sequence: bigint, letGo: () => void) {
    this.sequence = sequence;
    this.#letGo = letGo;
  }

  /** Releases the state. Releasing twice does nothing. */
  release(): void {
    this.#letGo?.();
    this.#letGo = undefined;
  }

  /** Releases the snapshot, at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.release();
  }
}

/** The sequences that snapshots hold. */
export class HeldSequences {
  /** The number of snapshots that hold each. */
  readonly #holders = new Map<bigint, number>();

  get oldest(): bigint | undefined {
    let oldest: bigint | undefined;
    // Usually the first: only a snapshot of writes that were queued and then refused is newer than those after it.
    for (const sequence of this.#holders.keys()) if (oldest === undefined || sequence < oldest) oldest = sequence;
    return oldest;
  }

  add(sequence: bigint): void {
    this.#holders.set(sequence, (this.#holders.get(sequence) ?? 0) + 1);
  }

  /** Undoes one `add` of the sequence. */
  remove(sequence: bigint): void {
    const holders = this.#holders.get(sequence)!;
    if (holders > 1) this.#holders.set(sequence, holders - 1);
    else this.#holders.delete(sequence);
  }
}
