import type { FilterPolicy } from '@bloom/policy';
import type { BlockHandle } from '../format/block-handle.js';

/** What a read costs besides its bytes: the number that arrive during a round trip of 50 ms at 20 Mbit/s. */
const READ_COST_BYTES = 128 * 2 ** 10;

/**
 * A filter block that is read when it pays: when lookups of absent keys, which it would have ended, have cost as much as
 * reading it costs. At worst that is twice the cost of having known before how many lookups there are. Lookups that find their
 * key are not counted, because a filter saves nothing there.
 *
 * It is read whole or not at all, because only the checksum of the whole block tells whether a filter is damaged, and a damaged
 * filter may hide keys.
 */
export class UnreadFilter {
  readonly policy: FilterPolicy;
  readonly handle: BlockHandle;
  /** The data block that a lookup has read last; -1 for none. */
  recentBlock = -1;
  readonly #cost: number;
  /** What lookups have cost that a filter would have ended. */
  #spent = 0;
  /** What lookups under way cost, which may turn out to be such lookups. */
  #pending = 0;

  constructor(policy: FilterPolicy, handle: BlockHandle) {
    this.policy = policy;
    this.handle = handle;
    this.#cost = handle.size + READ_COST_BYTES;
  }

  /** Whether the filter should be read before the next lookup. */
  get isDue(): boolean {
    return this.#spent + this.#pending >= this.#cost;
  }

  /**
   * Counts a lookup that reads data block `i`, of `bytes` bytes.
   *
   * @returns what is to be called once, with whether the block had to be read: because it has the key, or as far as is known.
   */
  count(i: number, bytes: number): (isNeeded: boolean) => void {
    const cost = bytes + READ_COST_BYTES;
    this.#pending += cost;
    return (isNeeded) => {
      this.#pending -= cost;
      if (!isNeeded) this.#spent += cost;
      this.recentBlock = i;
    };
  }

  /** Starts to count anew, after the filter could not be read. */
  restart(): void {
    this.#spent = -this.#pending;
  }
}
