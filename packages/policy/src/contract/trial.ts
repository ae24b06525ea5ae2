/**
 * A policy, called with lent bytes and against the clock.
 */
import { processorMs } from '#contract-host';
import { FilterBuffer } from '../filter-buffer.js';
import type { FilterPolicy } from '../policy.js';
import { GuardedSink, LentKeys, Memory, sideBySide } from './lending.js';
import { show } from './show.js';

/** What is wrong with a call, whatever the law. */
export class Fault extends Error {}

/** A call took far longer than its arguments explain. */
export class TooSlow extends Fault {}

/**
 * What one question may take, in milliseconds: 1 µs for each byte of key and filter, hundreds of times what a policy
 * needs that looks at every one of them. It is asked again before it counts.
 */
function patienceFor(bytes: number): number {
  return 10 + bytes / 1000;
}

/** What one filter may take to make, in milliseconds: 20 µs for a key and 1 µs for a byte of it. */
export function patienceWith(keys: { readonly length: number; readonly byteLength: number }): number {
  return 300 + keys.length / 50 + keys.byteLength / 1000;
}

/** What the policy is doing, to be told when it does not return. */
export class Watch {
  #startedAt = 0;
  #processorAt = 0;
  #list: LentKeys | undefined;
  #key: Uint8Array | undefined;
  #filter: Uint8Array | undefined;

  makes(list: LentKeys): void {
    this.#list = list;
    this.#processorAt = processorMs();
    this.#startedAt = performance.now();
  }

  asks(key: Uint8Array, filter: Uint8Array): void {
    this.#key = key;
    this.#filter = filter;
    this.#startedAt = performance.now();
  }

  /** @returns milliseconds since the call that has returned now. */
  returned(): number {
    this.#list = this.#key = this.#filter = undefined;
    return performance.now() - this.#startedAt;
  }

  /** The same, but for what a busy machine gave to other programs. The call was one that {@link makes}. */
  worked(): number {
    return Math.min(this.returned(), processorMs() - this.#processorAt);
  }

  /** The call that has not returned, and for how long; undefined when there is none. */
  get pending(): { readonly call: string; readonly ms: number } | undefined {
    const ms = performance.now() - this.#startedAt;
    if (this.#list !== undefined) return { call: `asked to make a filter of ${described(this.#list)}`, ms };
    if (this.#key === undefined || this.#filter === undefined) return undefined;
    return { call: `asked for ${show(this.#key)} in ${show(this.#filter)}`, ms };
  }
}

function described({ length, byteLength }: LentKeys): string {
  return `${length} ${length === 1 ? 'key' : 'keys'} of ${byteLength} bytes together`;
}

/** One instance of the policy. */
export class Trial {
  readonly policy: FilterPolicy;
  readonly #watch: Watch;
  readonly #keys = new Memory(1024);
  readonly #lists: LentKeys;
  #turn: number;

  /** @param turn any number: the lists of trials with different ones lie differently in memory. */
  constructor(policy: FilterPolicy, watch: Watch, turn = 0) {
    this.policy = policy;
    this.#watch = watch;
    this.#turn = turn;
    // Some real lists start at 0; that others need not is what `offsets` says.
    this.#lists = new LentKeys([], { lead: 5 + 2 * (turn % 8), first: turn % 3 === 1 ? 3 : 0, noiseSeed: turn + 1 });
  }

  /** The filter of `keys`, in a list that is filled again each time. */
  filterOf(keys: readonly Uint8Array[]): Uint8Array {
    return this.makeFilter(this.#lists.refill(keys), new GuardedSink());
  }

  /** The filter of a list; `sink` may have been lent before. */
  makeFilter(list: LentKeys, sink: GuardedSink): Uint8Array {
    this.#watch.makes(list);
    const maker: { createFilter(keys: LentKeys, dst: GuardedSink): unknown } = this.policy;
    const result = maker.createFilter(list, sink.lend());
    const ms = this.#watch.worked();
    if (ms > patienceWith(list)) throw new TooSlow(`asked to make a filter of ${described(list)}, it took ${Math.round(ms)} ms`);
    if (typeof (result as { then?: unknown } | null | undefined)?.then === 'function') {
      throw new Fault('createFilter returns a promise: its filter is read as soon as it returns, and what it does later is lost');
    }
    return sink.settle();
  }

  /** The filter of a list, and how long it took: into a plain sink, so that the policy's own time is measured. */
  timedFilterOf(list: LentKeys): { readonly filter: Uint8Array; readonly ms: number } {
    const sink = new FilterBuffer();
    this.#watch.makes(list);
    this.policy.createFilter(list, sink);
    const ms = this.#watch.worked();
    return { filter: sink.toBytes(), ms };
  }

  /** Lays filters into one buffer, to be asked with {@link asks}. */
  place(...filters: readonly Uint8Array[]): Uint8Array[] {
    return sideBySide(filters, this.#turn++);
  }

  /** The answer about a copy of `key`; the filter is lent as it is. */
  asks(key: Uint8Array, filter: Uint8Array): boolean {
    return this.asksWith(this.#keys.lend(key), filter);
  }

  /** The answer about a key that is lent as it is. */
  asksWith(key: Uint8Array, filter: Uint8Array): boolean {
    const watch = this.#watch;
    watch.asks(key, filter);
    const answer = this.policy.keyMayMatch(key, filter);
    const ms = watch.returned();
    if (ms > patienceFor(key.length + filter.length)) this.#mustBeQuicker(key, filter, ms);
    return answer;
  }

  /**
   * The index of a key that does not match. Asks for all keys, or for as many as `ms` milliseconds allow after some
   * from all over the list.
   */
  firstMissed(keys: readonly Uint8Array[], filter: Uint8Array, ms = 50): number | undefined {
    const endAt = processorMs() + ms;
    for (const i of telling(keys.length)) if (!this.asks(keys[i]!, filter)) return i;
    for (let i = 0; i < keys.length; i++) {
      if (!this.asks(keys[i]!, filter)) return i;
      if (i % 32 === 31 && processorMs() > endAt) return undefined;
    }
    return undefined;
  }

  /** The machine may have been busy: the best of three counts. */
  #mustBeQuicker(key: Uint8Array, filter: Uint8Array, firstMs: number): void {
    let best = firstMs;
    for (let again = 0; again < 3; again++) {
      const start = processorMs();
      this.#watch.asks(key, filter);
      this.policy.keyMayMatch(key, filter);
      best = Math.min(best, this.#watch.returned(), processorMs() - start);
      if (best <= patienceFor(key.length + filter.length)) return;
    }
    throw new TooSlow(`asked for ${show(key)} in ${show(filter)}, it takes ${Math.round(best)} ms`);
  }
}

/** Where counts and offsets wrap that a format may have. */
const POWERS = [2 ** 7, 2 ** 8, 2 ** 15, 2 ** 16, 2 ** 17];

/** Indexes of a list of `count` keys that are asked for in any case. */
function telling(count: number): Set<number> {
  const indexes = [0, 1, count - 2, count - 1, ...[1, 2, 3].map((quarters) => Math.floor((count * quarters) / 4))];
  indexes.push(...POWERS.flatMap((power) => [power - 1, power]));
  return new Set(indexes.filter((i) => i >= 0 && i < count));
}
