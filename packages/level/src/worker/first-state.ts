import type { SequenceSnapshot } from '../database-store.js';

// Taken at load: test suites replace the host's functions with fake ones.
const startTimer = setTimeout;
const stopTimer = clearTimeout;

/** How long it is kept, in milliseconds: by then, pages that need it have found the new worker, unless they are frozen. */
const HELD_MS = 30_000;

/** The state in which a worker opened a database: users of the previous worker have iterators and snapshots of it. */
export class FirstState {
  readonly #snapshot: SequenceSnapshot;
  readonly #timer: ReturnType<typeof startTimer>;
  /** Whether it is kept even if no one holds it, for users that have not found this worker yet. */
  #isKept = true;
  #holders = 1;

  /** @param snapshot of the state, which is released when no one holds it any longer. */
  constructor(snapshot: SequenceSnapshot) {
    this.#snapshot = snapshot;
    this.#timer = startTimer(() => this.end(), HELD_MS);
    // In Node, a timer would keep the process alive.
    (this.#timer as { unref?(): void }).unref?.();
  }

  /** A snapshot of the state, if it has this sequence and is still kept. */
  snapshotAt(sequence: bigint): SequenceSnapshot | undefined {
    if (this.#holders === 0 || sequence !== this.#snapshot.sequence) return undefined;
    this.#holders++;
    return { sequence, release: () => this.#release() };
  }

  /** Releases the state as soon as no one holds it. */
  end(): void {
    if (!this.#isKept) return;
    this.#isKept = false;
    stopTimer(this.#timer);
    this.#release();
  }

  #release(): void {
    if (--this.#holders === 0) this.#snapshot.release();
  }
}
