/**
 * A state of the database that is held: what is visible at its sequence stays until it is released.
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
  /** What was written with a higher sequence is not part of it. */
  readonly sequence: bigint;
  #letGo: (() => void) | undefined;

  /** Made by `Database.snapshot`. */
  constructor(sequence: bigint, letGo: () => void) {
    this.sequence = sequence;
    this.#letGo = letGo;
  }

  /** Lets go of the state. Releasing twice does nothing. */
  release(): void {
    this.#letGo?.();
    this.#letGo = undefined;
  }
}
