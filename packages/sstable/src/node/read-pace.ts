/** A read of a few blocks that the system has in memory takes less, in milliseconds; from a disk it takes more. */
const SLOW_MS = 0.03;
/** A read that takes longer is of a network or of a disk that seeks. */
const STALLED_MS = 1;
/** After a slow read so many go to a thread, and twice as many after each slow read that follows it. */
const FIRST_DETOUR = 4;
const LONGEST_DETOUR = 256;
/** So long, in milliseconds, reads may hold up the event loop before it has to turn. */
const MAX_HOLD_MS = 2;

/**
 * Says whether the next short read of a local file is made at once, or by one of the host's threads.
 *
 * Reading a block that the system has in memory takes a few microseconds, less than the trip to a thread and back. Reading one
 * that the system must fetch from a disk holds up the event loop for as long as the disk takes. A program cannot ask beforehand
 * which it will be, so the time of each read decides about the next ones.
 */
export class ReadPace {
  /** The time that reads have taken since they last let the event loop turn. */
  #heldMs = 0;
  #isWaitingForTurn = false;
  /** How many of the next reads go to a thread. */
  #detour = 0;
  /** How many went there after the last read, which was slow; 0 if it was quick. */
  #lastDetour = 0;

  /** Whether the next read is to be made at once. Counts it if not. */
  takesNext(): boolean {
    if (this.#detour > 0) {
      this.#detour--;
      return false;
    }
    return !this.#isWaitingForTurn;
  }

  /** Notes how long a read took that was made at once. */
  took(ms: number): void {
    this.#heldMs += ms;
    if (this.#heldMs >= MAX_HOLD_MS) this.#letTurn();
    if (ms < SLOW_MS) {
      this.#lastDetour = 0;
      return;
    }
    const next = ms >= STALLED_MS ? LONGEST_DETOUR : Math.max(FIRST_DETOUR, 2 * this.#lastDetour);
    this.#detour = this.#lastDetour = Math.min(LONGEST_DETOUR, next);
  }

  /**
   * Sends reads to threads until the event loop has turned. An answer of a thread does not show that it has: all answers that
   * have come in are taken one after another, before any timer. 1,000 callers would each begin to read at once again.
   */
  #letTurn(): void {
    if (this.#isWaitingForTurn) return;
    this.#isWaitingForTurn = true;
    setImmediate(() => {
      this.#isWaitingForTurn = false;
      this.#heldMs = 0;
    });
  }
}
