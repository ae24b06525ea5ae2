/** A read of a few blocks that the system has in memory takes less, in milliseconds; from a disk it takes more. */
const SLOW_MS = 0.03;
/** A read that takes longer is of a network or of a disk that seeks. */
const STALLED_MS = 1;
/** After a slow read so many go to a thread, and twice as many after each slow read that follows it. */
const FIRST_DETOUR = 4;
/**
 * The same after the first read that stalls: another program may have taken the processor away. The next that is slow too sends
 * `LONGEST_DETOUR` there.
 */
const STALLED_DETOUR = 16;
const LONGEST_DETOUR = 256;
/** So long, in milliseconds, reads and what callers do with them may hold up the event loop before it has to turn. */
const MAX_HOLD_MS = 2;

/**
 * Says whether the next short read of a local file is made at once, or by one of the host's threads.
 *
 * Reading a block that the system has in memory takes a few microseconds, less than the trip to a thread and back. Reading one
 * that the system must fetch from a disk holds up the event loop for as long as the disk takes. A program cannot ask beforehand
 * which it will be, so the time of each read decides about the next ones.
 */
export class ReadPace {
  /**
   * When the first read was made at once since the event loop last turned; undefined before it. All time from then on counts, as
   * a call whose bytes are there goes on to the next without letting the loop turn. With the time of the reads alone, timers
   * waited five times as long behind 16 callers.
   */
  #heldSince: number | undefined;
  /** How many of the next reads go to a thread. */
  #detour = 0;
  /** How many went there after the last read, which was slow; 0 if it was quick. */
  #lastDetour = 0;

  /** Whether the next read is to be made at once. Counts it if not. @param now the time, in milliseconds. */
  takesNext(now: number): boolean {
    if (this.#detour > 0) {
      this.#detour--;
      return false;
    }
    if (this.#heldSince === undefined) {
      this.#heldSince = now;
      // An answer of a thread does not show that the loop has turned: all answers that have come in are taken one after another,
      // before any timer. 1,000 callers would each begin to read at once again.
      setImmediate(() => (this.#heldSince = undefined));
    }
    return now - this.#heldSince < MAX_HOLD_MS;
  }

  /** Notes how long a read took that was made at once. */
  took(ms: number): void {
    if (ms < SLOW_MS) {
      this.#lastDetour = 0;
      return;
    }
    const next = Math.max(FIRST_DETOUR, 2 * this.#lastDetour);
    if (ms < STALLED_MS) this.#lastDetour = Math.min(LONGEST_DETOUR, next);
    else this.#lastDetour = this.#lastDetour === 0 ? STALLED_DETOUR : LONGEST_DETOUR;
    this.#detour = this.#lastDetour;
  }
}
