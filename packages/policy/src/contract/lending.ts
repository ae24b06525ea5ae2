import type { FilterPolicy, FilterSink, KeyList } from '../policy.js';

const GUARD = 16;
const GUARD_BYTE = 0xa5;

/** A key list that is lent, and can be taken away. */
export class LentKeys implements KeyList {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly length: number;

  /** @param slack the byte that fills what lies past the keys, in both arrays. */
  constructor(keys: readonly Uint8Array[], slack = 0x5a) {
    const total = keys.reduce((sum, key) => sum + key.length, 0);
    this.length = keys.length;
    this.bytes = new Uint8Array(total + GUARD).fill(slack);
    this.offsets = new Uint32Array(keys.length + 1 + GUARD).fill(slack);
    let end = 0;
    for (const [i, key] of keys.entries()) {
      this.offsets[i] = end;
      this.bytes.set(key, end);
      end += key.length;
    }
    this.offsets[keys.length] = end;
  }

  at(i: number): Uint8Array {
    if (!(Number.isInteger(i) && i >= 0 && i < this.length)) throw new RangeError(`i must be below ${this.length}`);
    return this.bytes.subarray(this.offsets[i], this.offsets[i + 1]);
  }

  *[Symbol.iterator](): Iterator<Uint8Array> {
    for (let i = 0; i < this.length; i++) yield this.at(i);
  }

  /** Overwrites everything: whoever kept a view has nothing. */
  takeAway(): void {
    this.bytes.fill(0x33);
    this.offsets.fill(0);
  }
}

/** A sink whose parts lie between guards, so that a write beyond a part shows. */
export class GuardedSink implements FilterSink {
  readonly #parts: { readonly part: Uint8Array; readonly whole: Uint8Array }[] = [];

  extend(byteLength: number): Uint8Array {
    if (!(Number.isSafeInteger(byteLength) && byteLength >= 0)) {
      throw new RangeError(`byteLength must be a whole number of bytes, got ${byteLength}`);
    }
    const whole = new Uint8Array(byteLength + 2 * GUARD).fill(GUARD_BYTE);
    const part = whole.subarray(GUARD, GUARD + byteLength).fill(0);
    this.#parts.push({ part, whole });
    return part;
  }

  /** A copy of what was appended. */
  bytes(): Uint8Array {
    return Uint8Array.from(this.#parts.flatMap(({ part }) => Array.from(part)));
  }

  /** Whether all guards are as they were. */
  get intact(): boolean {
    return this.#parts.every(({ part, whole }) =>
      whole.every((byte, i) => (i >= GUARD && i < GUARD + part.length) || byte === GUARD_BYTE),
    );
  }

  /** Overwrites everything: whoever kept a part has nothing. */
  takeAway(): void {
    for (const { part } of this.#parts) part.fill(0xcc);
  }
}

/** The filter that `policy` makes of `keys`. */
export function filterOf(policy: FilterPolicy, keys: readonly Uint8Array[]): Uint8Array {
  const sink = new GuardedSink();
  policy.createFilter(new LentKeys(keys), sink);
  return sink.bytes();
}
