/** Calls a policy with lent bytes, and times the calls. */
import { numberOf, sameBytes } from '@bloom/bytes/internal';
import { processorMs } from '#contract-host';
import { FilterBuffer } from '../filter-buffer.js';
import { type FilterPolicy, mayAskInRanges } from '../policy.js';
import { GuardedSink, LentKeys, Memory, sideBySide } from './lending.js';
import { show } from './shown-bytes.js';

// Taken at load: test suites replace the host's functions with fake ones.
const now = /* @__PURE__ */ performance.now.bind(performance);

/** A problem with a call that every law reports. */
export class Fault extends Error {}

/** A call took far longer than its arguments explain. */
export class TooSlow extends Fault {}

/**
 * Milliseconds that one `keyMayMatch` may take: 1 µs per byte of key and filter, hundreds of times what a policy needs
 * that reads every byte. A slow call is repeated before it counts.
 */
function patienceFor(bytes: number): number {
  return 10 + bytes / 1000;
}

/** Milliseconds that one `createFilter` may take: 20 µs per key and 1 µs per byte. */
export function patienceWith(keys: { readonly length: number; readonly byteLength: number }): number {
  return 300 + keys.length / 50 + keys.byteLength / 1000;
}

/** Bytes of a key's memory, before and behind a prefix, that must stay as they are. */
const BESIDE = 8;

/** Records which call the policy is in, for the message when the call does not return. */
export class Watch {
  #startedAt = 0;
  #list: LentKeys | undefined;
  #listMethod = '';
  #method = '';
  #key: Uint8Array | undefined;
  #filter: Uint8Array | undefined;

  makes(list: LentKeys, method = 'createFilter'): void {
    this.#list = list;
    this.#listMethod = method;
    this.#startedAt = now();
  }

  asks(key: Uint8Array, filter: Uint8Array, method = 'keyMayMatch'): void {
    this.#method = method;
    this.#key = key;
    this.#filter = filter;
    this.#startedAt = now();
  }

  /** The next call is that of `keyMayMatchRange`, with the same key and filter. */
  asksInRange(): void {
    this.#method = 'keyMayMatchRange';
  }

  /** @returns milliseconds that the calls took that have just returned. */
  returned(): number {
    this.#list = this.#key = this.#filter = undefined;
    return now() - this.#startedAt;
  }

  /** The call that has not returned, and how long ago it began; undefined when there is none. */
  get pending(): { readonly call: string; readonly ms: number } | undefined {
    const ms = now() - this.#startedAt;
    if (this.#list !== undefined) return { call: `${this.#listMethod} with ${described(this.#list)}`, ms };
    if (this.#key === undefined || this.#filter === undefined) return undefined;
    return { call: `${this.#method}(${show(this.#key)}, ${show(this.#filter)})`, ms };
  }
}

function described({ length, byteLength }: LentKeys): string {
  return `${numberOf(length, 'key')} of ${numberOf(byteLength, 'byte')} in total`;
}

/** One instance of the policy, called with lent keys and filters. */
export class Trial {
  readonly policy: FilterPolicy;
  readonly #watch: Watch;
  readonly #keys = new Memory(1024);
  readonly #lists: LentKeys;
  readonly #asksInRanges: boolean;
  // The whole buffers of the last key and filter, as a reader keeps those of its blocks: views take longer than most lookups.
  #keyBytes: Uint8Array = new Uint8Array(0);
  #filterBytes: Uint8Array = new Uint8Array(0);
  #turn: number;

  /** @param turn any number: it varies how lists lie in memory. */
  constructor(policy: FilterPolicy, watch: Watch, turn = 0) {
    this.policy = policy;
    this.#watch = watch;
    this.#asksInRanges = mayAskInRanges(policy);
    this.#turn = turn;
    // `KeyList.offsets` need not start at 0, although many real lists do.
    this.#lists = new LentKeys([], { lead: 5 + 2 * (turn % 8), first: turn % 3 === 1 ? 3 : 0, noiseSeed: turn + 1 });
  }

  /** The filter of `keys`, lent in a list that is reused for each filter. */
  filterOf(keys: readonly Uint8Array[]): Uint8Array {
    return this.makeFilter(this.#lists.refill(keys), new GuardedSink());
  }

  /** The filter of a list; `sink` may have been lent before. */
  makeFilter(list: LentKeys, sink: GuardedSink): Uint8Array {
    this.#watch.makes(list);
    const maker: { createFilter(keys: LentKeys, dst: GuardedSink): unknown } = this.policy;
    const result = maker.createFilter(list, sink.lend());
    const patienceMs = patienceWith(list);
    if (this.#watch.returned() > patienceMs) this.#mustMakeQuicker('createFilter', () => maker.createFilter(list, new GuardedSink().lend()), list, patienceMs);
    if (typeof (result as { then?: unknown } | null | undefined)?.then === 'function') {
      throw new Fault('createFilter returns a promise: the filter is read as soon as createFilter returns, so later writes are lost');
    }
    return sink.settle();
  }

  /** The filter of a list, and how long it took, measured with a plain sink so that only the policy's time counts. */
  timedFilterOf(list: LentKeys): { readonly filter: Uint8Array; readonly ms: number } {
    const sink = new FilterBuffer();
    const processorAt = processorMs();
    this.#watch.makes(list);
    this.policy.createFilter(list, sink);
    // Without the time that a busy machine gave to other programs.
    const ms = Math.min(this.#watch.returned(), processorMs() - processorAt);
    return { filter: sink.toBytes(), ms };
  }

  /** Copies filters into one buffer, for {@link asks}. */
  place(...filters: readonly Uint8Array[]): Uint8Array[] {
    return sideBySide(filters, this.#turn++);
  }

  /** What `keyMayMatch` returns for a copy of `key`; the filter is lent as it is. */
  asks(key: Uint8Array, filter: Uint8Array): boolean {
    return this.asksWith(this.#keys.lend(key), filter);
  }

  /** What `keyMayMatch` returns for a key that is lent as it is. If there is a `keyMayMatchRange`, it must return the same. */
  asksWith(key: Uint8Array, filter: Uint8Array): boolean {
    const watch = this.#watch;
    watch.asks(key, filter);
    const answer = this.policy.keyMayMatch(key, filter);
    if (this.#asksInRanges) this.#asksInRange(key, filter, answer);
    // One look at the clock for both: most of the time of a law goes into such calls.
    if (watch.returned() > patienceFor(key.length + filter.length)) {
      this.#mustBeQuicker('keyMayMatch', () => this.policy.keyMayMatch(key, filter), key, filter, Infinity);
      if (this.#asksInRanges) this.#mustBeQuicker('keyMayMatchRange', () => this.#rangeAnswer(key, filter), key, filter, Infinity);
    }
    return answer;
  }

  /** What `keysMayMatch` returns for keys and a filter that are lent as they are. */
  asksMany(list: LentKeys, filter: Uint8Array, answers?: Uint8Array): unknown {
    this.#watch.makes(list, 'keysMayMatch');
    const returned: unknown = this.policy.keysMayMatch!(list, filter, answers);
    const patienceMs = patienceWith(list) + filter.length / 1000;
    if (this.#watch.returned() > patienceMs) this.#mustMakeQuicker('keysMayMatch', () => this.policy.keysMayMatch!(list, filter), list, patienceMs);
    return returned;
  }

  /** What `prefixes.prefixLength` returns for a copy of `key`. */
  prefixLength(key: Uint8Array): number | undefined {
    const lent = this.#keys.lend(key);
    const before = lent.slice();
    const length = this.policy.prefixes!.prefixLength(lent);
    if (!sameBytes(lent, before)) throw new Fault(`prefixLength(${show(key)}) changes the key`);
    return length;
  }

  /** The prefix of `key`, if it has one that is as long as it should be. */
  readonly prefixOf = (key: Uint8Array): Uint8Array | undefined => {
    const length = this.prefixLength(key);
    return length === undefined ? undefined : key.slice(0, length);
  };

  /** What `prefixMayMatch` returns for a copy of `prefix`; the filter is lent as it is. */
  asksPrefix(prefix: Uint8Array, filter: Uint8Array): boolean {
    const lent = this.#keys.lend(prefix);
    const around = new Uint8Array(lent.buffer, lent.byteOffset - BESIDE, lent.length + 2 * BESIDE);
    const before = around.slice();
    const answer = this.asksPrefixWith(lent, filter);
    if (!sameBytes(around, before)) throw new Fault(`prefixMayMatch(${show(prefix)}, …) changes the prefix, or bytes next to it`);
    return answer;
  }

  /** What `prefixMayMatch` returns for a prefix that is lent as it is. */
  asksPrefixWith(prefix: Uint8Array, filter: Uint8Array): boolean {
    this.#watch.asks(prefix, filter, 'prefixMayMatch');
    const answer = this.policy.prefixMayMatch!(prefix, filter);
    const ms = this.#watch.returned();
    if (ms > patienceFor(prefix.length + filter.length)) {
      this.#mustBeQuicker('prefixMayMatch', () => this.policy.prefixMayMatch!(prefix, filter), prefix, filter, ms);
    }
    return answer;
  }

  /** Asks with the buffers of key and filter, which hold other bytes around them. */
  #asksInRange(key: Uint8Array, filter: Uint8Array, expected: boolean): void {
    this.#watch.asksInRange();
    let answer: unknown;
    try {
      answer = this.#rangeAnswer(key, filter);
    } catch (error) {
      throw new Fault(`${rangeCall(key, filter)} throws ${String(error)}`);
    }
    if (answer !== expected) throw new Fault(`${rangeCall(key, filter)} returns ${String(answer)}, and keyMayMatch ${String(expected)}`);
  }

  #rangeAnswer(key: Uint8Array, filter: Uint8Array): unknown {
    if (this.#keyBytes.buffer !== key.buffer) this.#keyBytes = new Uint8Array(key.buffer);
    if (this.#filterBytes.buffer !== filter.buffer) this.#filterBytes = new Uint8Array(filter.buffer);
    const { byteOffset } = key;
    const start = filter.byteOffset;
    return this.policy.keyMayMatchRange!(this.#keyBytes, byteOffset, byteOffset + key.length, this.#filterBytes, start, start + filter.length);
  }

  /**
   * The index of a key that does not match. Tries first some keys from all over the list, then as many of the others as
   * `ms` milliseconds allow.
   */
  firstMissed(keys: readonly Uint8Array[], filter: Uint8Array, ms = 50): number | undefined {
    const endAt = processorMs() + ms;
    for (const i of sampleOfIndexes(keys.length)) if (!this.asks(keys[i]!, filter)) return i;
    for (let i = 0; i < keys.length; i++) {
      if (!this.asks(keys[i]!, filter)) return i;
      if (i % 32 === 31 && processorMs() > endAt) return undefined;
    }
    return undefined;
  }

  /** Repeats a slow call with a list before it counts, since the machine may have been busy: only the processor time of that call counts. */
  #mustMakeQuicker(method: string, call: () => unknown, list: LentKeys, patienceMs: number): void {
    const start = processorMs();
    this.#watch.makes(list, method);
    call();
    const ms = Math.min(this.#watch.returned(), processorMs() - start);
    if (ms > patienceMs) throw new TooSlow(`${method} with ${described(list)} took ${Math.round(ms)} ms`);
  }

  /** Repeats a slow call three times before it counts, since the machine may have been busy. */
  #mustBeQuicker(method: string, ask: () => unknown, key: Uint8Array, filter: Uint8Array, firstMs: number): void {
    let best = firstMs;
    for (let again = 0; again < 3; again++) {
      const start = processorMs();
      this.#watch.asks(key, filter, method);
      ask();
      best = Math.min(best, this.#watch.returned(), processorMs() - start);
      if (best <= patienceFor(key.length + filter.length)) return;
    }
    throw new TooSlow(`${method}(${show(key)}, ${show(filter)}) takes ${Math.round(best)} ms`);
  }
}

function rangeCall(key: Uint8Array, filter: Uint8Array): string {
  return `keyMayMatchRange of ${show(key)} and ${show(filter)}, within larger arrays,`;
}

/** Where counts and offsets in a format may overflow. */
const POWERS = [2 ** 7, 2 ** 8, 2 ** 15, 2 ** 16, 2 ** 17];

/** Indexes of the keys that are always tried: the ends, the quarters, and both sides of each of {@link POWERS}. */
function sampleOfIndexes(count: number): Set<number> {
  const indexes = [0, 1, count - 2, count - 1, ...[1, 2, 3].map((quarters) => Math.floor((count * quarters) / 4))];
  indexes.push(...POWERS.flatMap((power) => [power - 1, power]));
  return new Set(indexes.filter((i) => i >= 0 && i < count));
}
