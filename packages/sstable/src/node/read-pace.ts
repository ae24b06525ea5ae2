import { setImmediate } from 'node:timers';
import { diskBlocksRead } from './disk-blocks.js';

// Node's own, taken at load: test suites replace the global one with a fake one, some before this is loaded. jsdom has none.
const onTurn = setImmediate;

/** A read of a few blocks that the system has in memory takes less, in milliseconds; from a disk it takes more. */
const SLOW_MS = 0.03;
/** A read that takes longer is of a network or of a disk that seeks, or the processor was taken away from it. */
const STALLED_MS = 1;
/** After two slow reads this many go to a thread, and twice as many after each further two. */
const FIRST_DETOUR = 4;
const LONGEST_DETOUR = 256;
/** How long, in milliseconds, reads and what callers do with them may hold up the event loop before it has to turn. */
const MAX_HOLD_MS = 2;

/**
 * Says whether the next short read of a local file is made at once, when the event loop has turned, or by one of the host's threads.
 *
 * Reading a block that the system has in memory takes a few microseconds, less than the trip to a thread and back. Reading one
 * that the system must fetch from a disk holds up the event loop for as long as the disk takes. A program cannot ask beforehand
 * which it will be, so the time of each read decides about the next ones.
 *
 * On a busy machine, a read from memory can take milliseconds too, because another process got the processor. So where the system says
 * that it has read nothing from a disk, one such read is not taken for a stall. With four busy processes on two processors, 0.1 to 0.3%
 * of the reads of a database in memory went to threads; when one read was enough, 5 to 15%, and lookups took 1.25 times as long.
 */
export class ReadPace {
  /**
   * When the first read was made at once since the event loop last turned; undefined before it. All time from then on counts, as
   * a call whose bytes are there goes on to the next without letting the loop turn. With the time of the reads alone, timers
   * waited up to 23 ms behind 16 callers, and with all of it up to 6 (`event-loop` of the benchmarks).
   */
  #heldSince: number | undefined;
  /** What waits for the event loop to turn. */
  #turn: { readonly turned: Promise<void>; readonly resolve: () => void } | undefined;
  /** How many of the next reads go to a thread. */
  #detour = 0;
  /** How many went there after the last reads, which were slow; 0 if one was quick. */
  #lastDetour = 0;
  /**
   * Whether the last read was slow, and no detour followed it. The first read after a detour of some milliseconds finds caches cold:
   * on a busy machine it took 40 to 60 µs, of a file in memory. With a detour after each slow read, all reads went to threads for good.
   */
  #isSuspected = false;
  readonly #countBlocks: () => number | undefined;
  /** How many blocks the system had read from disks after the last slow read. */
  #blocks: number | undefined;
  #opens: ReadPace | undefined;

  /** @param countBlocks how many blocks the system has read from disks for this process; undefined where it does not say. For tests. */
  constructor(countBlocks: () => number | undefined = diskBlocksRead) {
    this.#countBlocks = countBlocks;
  }

  /** The pace at which files are opened, which may be slow where reads are not, as on a network that keeps what was read in memory. */
  get opens(): ReadPace {
    return (this.#opens ??= new ReadPace(this.#countBlocks));
  }

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
      onTurn(() => this.#release());
    }
    return now - this.#heldSince < MAX_HOLD_MS;
  }

  /**
   * The next turn of the event loop, if the next read can be made at once after it, which takes less than a trip to a thread.
   * Undefined where the read need not wait, or may have to go to a thread.
   */
  nextTurn(now: number): Promise<void> | undefined {
    if (this.#detour > 0 || this.#heldSince === undefined || now - this.#heldSince < MAX_HOLD_MS) return undefined;
    if (this.#turn === undefined) {
      let resolve!: () => void;
      const turned = new Promise<void>((resolveTurned) => (resolve = resolveTurned));
      this.#turn = { turned, resolve };
    }
    return this.#turn.turned;
  }

  #release(): void {
    this.#heldSince = undefined;
    this.#turn?.resolve();
    this.#turn = undefined;
  }

  /** Notes how long a read took that was made at once. */
  took(ms: number): void {
    if (ms < SLOW_MS) {
      this.#lastDetour = 0;
      this.#isSuspected = false;
      return;
    }
    const isOfDisk = this.#hasReadDisk();
    const isStalled = ms >= STALLED_MS;
    this.#isSuspected = !this.#isSuspected && !(isStalled && isOfDisk);
    if (this.#isSuspected) return;
    const next = isStalled ? LONGEST_DETOUR : Math.max(FIRST_DETOUR, 2 * this.#lastDetour);
    this.#detour = this.#lastDetour = Math.min(LONGEST_DETOUR, next);
  }

  /** Whether the system may have read from a disk since the last slow read. */
  #hasReadDisk(): boolean {
    const blocks = this.#countBlocks();
    const hasRead = blocks === undefined || blocks !== this.#blocks;
    this.#blocks = blocks;
    return hasRead;
  }
}
