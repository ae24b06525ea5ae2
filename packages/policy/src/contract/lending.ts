/**
 * The arrays that the laws lend to a policy, placed as a real table places them: mostly at odd offsets, between other
 * bytes, in memory that held something else before and will hold something else later.
 */
import { joinedBytes, sameBytes } from '@bloom/bytes/internal';
import type { FilterSink, KeyList } from '../policy.js';

/** Offsets modulo 8 of lent pieces, in turn: mostly odd, and sometimes aligned, where a policy may take a shortcut. */
const RESIDUES = [1, 3, 0, 5, 7, 2, 1, 4];

/** The fewest bytes between lent pieces. */
const GAP = 9;

/** The first offset at least {@link GAP} bytes after `end` that has the turn's residue modulo 8. */
function nextOffset(end: number, turn: number): number {
  const at = end + GAP;
  return at + ((8 + RESIDUES[turn % RESIDUES.length]! - (at % 8)) % 8);
}

/** The most bytes that {@link nextOffset} skips. */
const MAX_GAP = GAP + 7;

/** Bytes that look random, so that a policy that reads past what it was lent gives itself away. */
export function noise(byteLength: number, seed: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(byteLength);
  const block = Math.min(byteLength, 256);
  let state = seed | 1;
  for (let i = 0; i < block; i++) {
    state = (Math.imul(state, 69_069) + 12_345) | 0;
    bytes[i] = state >>> 24;
  }
  for (let filled = block; filled > 0 && filled < byteLength; filled *= 2) bytes.copyWithin(filled, 0, filled);
  return bytes;
}

/** A `Uint8Array` that behaves as Node's `Buffer` does: `slice` shares memory, and `toString` decodes UTF-8. */
export class BufferLike extends Uint8Array {
  /** A view of the same memory. */
  static over({ buffer, byteOffset, length }: Uint8Array): Uint8Array<ArrayBuffer> {
    return new BufferLike(buffer as ArrayBuffer, byteOffset, length);
  }

  override slice(start?: number, end?: number): Uint8Array<ArrayBuffer> {
    return this.subarray(start, end);
  }

  override toString(): string {
    return new TextDecoder().decode(this);
  }
}

/** A ring buffer whose pieces are lent in turn. */
export class Memory {
  #bytes: Uint8Array<ArrayBuffer>;
  #end = 0;
  #turn = 0;

  constructor(byteLength = 4096) {
    this.#bytes = noise(byteLength, byteLength);
  }

  /** A copy of `bytes`, valid until the ring comes round to it. */
  lend(bytes: Uint8Array): Uint8Array {
    let at = nextOffset(this.#end, this.#turn);
    if (at + bytes.length + GAP > this.#bytes.length) {
      this.#startAgain(bytes.length + 2 * MAX_GAP);
      at = nextOffset(0, this.#turn);
    }
    this.#bytes.set(bytes, at);
    this.#end = at + bytes.length;
    this.#turn++;
    return new Uint8Array(this.#bytes.buffer, at, bytes.length);
  }

  #startAgain(needed: number): void {
    this.#end = 0;
    if (needed > this.#bytes.length) this.#bytes = noise(needed * 2, needed);
  }
}

/** Copies of `pieces` in one buffer, with gaps between them; the last one ends where the buffer does. */
export function sideBySide(pieces: readonly Uint8Array[], turn = 0): Uint8Array<ArrayBuffer>[] {
  let end = 0;
  const offsets = pieces.map((piece, i) => {
    const at = nextOffset(end, turn + i);
    end = at + piece.length;
    return at;
  });
  const bytes = noise(end, end);
  return pieces.map((piece, i) => {
    bytes.set(piece, offsets[i]);
    return new Uint8Array(bytes.buffer, offsets[i], piece.length);
  });
}

/** Where a list lies in its memory. */
export interface Placement {
  /** Bytes of the buffer before the list's `bytes`; four times as many lie before its `offsets`. */
  readonly lead: number;
  /** The offset of the first key. */
  readonly first: number;
  /** Seed of the noise around the keys. */
  readonly noiseSeed: number;
}

/** Unused bytes after the keys, and unused elements after the offsets, that the list's arrays include. */
const SLACK = 24;

/** A key list that is lent, refilled with other keys in the same memory, and finally overwritten. */
export class LentKeys implements KeyList {
  bytes: Uint8Array = new Uint8Array(0);
  offsets: Uint32Array = new Uint32Array(0);
  length = 0;
  readonly #placement: Placement;
  #ownBytes = this.bytes;
  #ownOffsets = this.offsets;
  #ownLength = 0;

  constructor(keys: readonly Uint8Array[], placement: Placement = { lead: 13, first: 0, noiseSeed: 1 }) {
    this.#placement = placement;
    this.refill(keys);
  }

  /** Replaces all keys, as a filter block does after each range: the same list and, if there is room, the same memory. */
  refill(keys: readonly Uint8Array[]): this {
    const { lead, first, noiseSeed } = this.#placement;
    let byteLength = first;
    for (const key of keys) byteLength += key.length;
    if (this.#ownBytes.length < byteLength + SLACK || this.#ownOffsets.length < keys.length + 1 + SLACK) {
      this.#ownBytes = noise(lead + byteLength + 2 * SLACK, noiseSeed).subarray(lead, -1);
      const words = lead + keys.length + 1 + 2 * SLACK;
      this.#ownOffsets = new Uint32Array(noise(words * 4, noiseSeed + 1).buffer, lead * 4, words - lead - 1);
    }
    const bytes = this.#ownBytes;
    const offsets = this.#ownOffsets;
    let end = first;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      offsets[i] = end;
      if (key.length > 32) bytes.set(key, end);
      else for (let from = 0; from < key.length; from++) bytes[end + from] = key[from]!;
      end += key.length;
    }
    offsets[keys.length] = end;
    this.#ownLength = keys.length;
    this.bytes = bytes;
    this.offsets = offsets;
    this.length = keys.length;
    return this;
  }

  /** Total bytes of all keys. */
  get byteLength(): number {
    return this.#ownOffsets[this.#ownLength]! - this.#ownOffsets[0]!;
  }

  at(i: number): Uint8Array {
    if (!(Number.isInteger(i) && i >= 0 && i < this.length)) throw new RangeError(`i must be a whole number below ${this.length}, the number of keys, got ${i}`);
    return this.bytes.subarray(this.offsets[i], this.offsets[i + 1]);
  }

  *[Symbol.iterator](): Iterator<Uint8Array> {
    for (let i = 0; i < this.length; i++) yield this.at(i);
  }

  /** Records the lent bytes and those around them. @returns a function that names what has changed since, if anything. */
  watch(): () => string | undefined {
    const bytes = new Uint8Array(this.#ownBytes.buffer);
    const offsets = new Uint8Array(this.#ownOffsets.buffer);
    const bytesBefore = bytes.slice();
    const offsetsBefore = offsets.slice();
    return () => {
      if (this.bytes !== this.#ownBytes || this.offsets !== this.#ownOffsets || this.length !== this.#ownLength) {
        return "the list's own members";
      }
      if (!sameBytes(bytes, bytesBefore)) return "the keys' bytes";
      return sameBytes(offsets, offsetsBefore) ? undefined : "the keys' offsets";
    };
  }

  /** Overwrites everything, so that a view that the policy kept no longer shows the keys. */
  takeAway(): void {
    this.#ownBytes.fill(0x33);
    this.#ownOffsets.fill(0);
  }
}

/** A part of a sink: where it lies in its buffer. */
interface Part {
  readonly start: number;
  readonly end: number;
}

/** A buffer from which a sink lends parts. */
class Arena {
  readonly bytes: Uint8Array;
  /** What `bytes` must hold, except in the parts that are currently lent. */
  readonly expected: Uint8Array;
  readonly lent: Part[] = [];
  readonly settled: Part[] = [];
  readonly #words: Int32Array;
  readonly #expectedWords: Int32Array;

  constructor(byteLength: number, noiseSeed: number) {
    const bytes = noise(byteLength, noiseSeed);
    const expected = bytes.slice();
    this.bytes = bytes;
    this.expected = expected;
    this.#words = new Int32Array(bytes.buffer, 0, byteLength >> 2);
    this.#expectedWords = new Int32Array(expected.buffer, 0, byteLength >> 2);
  }

  /** The first offset from `start` on that has another byte than expected, or `end`. Compares words: a law may look at gigabytes. */
  changedBetween(start: number, end: number): number {
    const { bytes, expected } = this;
    let at = start;
    for (; at < end && (at & 3) !== 0; at++) if (bytes[at] !== expected[at]) return at;
    while (at + 4 <= end && this.#words[at >> 2] === this.#expectedWords[at >> 2]) at += 4;
    while (at < end && bytes[at] === expected[at]) at++;
    return at;
  }
}

const ARENA_BYTES = 1024;

/**
 * A sink that is used for several calls of `createFilter`, as a filter block's is. Its parts share buffers, and the gaps
 * between them reveal writes outside a part.
 */
export class GuardedSink implements FilterSink {
  #arena: Arena | undefined;
  /** Arenas with parts that are lent now, and a few earlier ones. */
  #arenas: Arena[] = [];
  #parts: Uint8Array[] = [];
  #end = 0;
  #turn = 0;
  #isLent = false;
  #outside: string | undefined;
  #late: string | undefined;

  /** Lends the sink for one call of `createFilter`. */
  lend(): this {
    // A call that threw or was interrupted leaves its parts behind.
    if (this.#parts.length > 0) this.settle();
    this.#isLent = true;
    return this;
  }

  extend(byteLength: number): Uint8Array {
    if (!(Number.isSafeInteger(byteLength) && byteLength >= 0)) {
      throw new RangeError(`byteLength must be a whole number of bytes, got ${byteLength}`);
    }
    if (!this.#isLent) this.#late = 'createFilter extends a sink that was lent to an earlier call';
    let start = nextOffset(this.#end, this.#turn);
    if (this.#arena === undefined || start + byteLength + GAP > this.#arena.bytes.length) {
      this.#arena = new Arena(Math.max(ARENA_BYTES, byteLength + 4 * MAX_GAP), byteLength + 7);
      this.#arenas.push(this.#arena);
      start = nextOffset(0, this.#turn);
    }
    this.#turn++;
    this.#end = start + byteLength;
    this.#arena.lent.push({ start, end: this.#end });
    const part = this.#arena.bytes.subarray(start, this.#end).fill(0);
    this.#parts.push(part);
    return part;
  }

  /** Ends the loan: later writes to the parts do not reach the filter. @returns the filter. */
  settle(): Uint8Array {
    this.#check();
    this.#isLent = false;
    const filter = joinedBytes(this.#parts);
    for (const { bytes, expected, lent, settled } of this.#arenas) {
      for (const { start, end } of lent) {
        bytes.fill(0xcc, start, end);
        expected.fill(0xcc, start, end);
      }
      settled.push(...lent);
      lent.length = 0;
    }
    this.#parts = [];
    // A few are kept, to detect later writes to them.
    this.#arenas = this.#arenas.slice(-4);
    return filter;
  }

  /** The problem, if something was written outside the parts during a loan. */
  get outside(): string | undefined {
    return this.#outside;
  }

  /** The problem, if the sink or one of its parts was used after its loan ended. */
  get late(): string | undefined {
    this.#check();
    return this.#late;
  }

  #check(): void {
    for (const arena of this.#arenas) {
      const { bytes, lent, settled } = arena;
      let at = 0;
      for (let i = 0; i <= lent.length; i++) {
        const end = lent[i]?.start ?? bytes.length;
        const changed = arena.changedBetween(at, end);
        if (changed < end) {
          if (settled.some((part) => changed >= part.start && changed < part.end)) {
            this.#late ??= 'the policy writes to a part that was lent to an earlier call';
          } else this.#outside ??= 'createFilter writes outside the part that it was lent';
          return;
        }
        at = lent[i]?.end ?? end;
      }
    }
  }
}
