// The data of every figure. leveldb-bench.cc generates the same data; run-time checks compare the two.

/** Bytes of a key: a number of 16 decimal digits. */
export const KEY_LENGTH = 16;
export const VALUE_LENGTH = 100;
export const BITS_PER_KEY = 10;
/** How many keys one pass looks up, independent of the number of entries. */
export const LOOKUPS = 10_000;
const VALUES = 10_000;
const HASH_INPUTS = 256;

const KEY_SEED = 1;
const VALUE_SEED = 2;
const LOOKUP_SEED = 3;
const HASH_SEED = 4;
const WORD_SEED = 5;
const TEXT_SEED = 6;
const WORDS = 200;
const BLOCKS = 500;

/** Keys are spread over the integers below this, which doubles represent exactly. */
const KEY_SPACE = 9e15;

/** Random number `i` of the sequence of `seed`, a uint32. */
function randomAt(seed: number, i: number): number {
  let z = (Math.imul(seed, 0x85ebca6b) + Math.imul(i + 1, 0x9e3779b9)) | 0;
  z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return (z ^ (z >>> 15)) >>> 0;
}

/** Key `i` of `n`: an even number for a present key, and the next odd number for an absent one. */
export function writeKey(i: number, n: number, present: boolean, to: Uint8Array, at: number): void {
  const gap = Math.floor(KEY_SPACE / n);
  const room = Math.floor(gap / 2);
  const number = i * gap + 2 * (randomAt(KEY_SEED, i) % room) + (present ? 0 : 1);
  const high = Math.floor(number / 1e8);
  writeDigits(high, to, at);
  writeDigits(number - high * 1e8, to, at + 8);
}

/** Writes eight decimal digits. */
function writeDigits(number: number, to: Uint8Array, at: number): void {
  for (let digit = 7; digit >= 0; digit--) {
    const rest = (number / 10) | 0;
    to[at + digit] = 0x30 + (number - rest * 10);
    number = rest;
  }
}

/** The `n` present keys, concatenated in ascending order. */
export function allKeys(n: number): Uint8Array {
  const keys = new Uint8Array(n * KEY_LENGTH);
  for (let i = 0; i < n; i++) writeKey(i, n, true, keys, i * KEY_LENGTH);
  return keys;
}

/** Random keys among the `n` present ones, or between them, concatenated. */
export function lookupKeys(n: number, present: boolean): Uint8Array {
  const keys = new Uint8Array(LOOKUPS * KEY_LENGTH);
  for (let i = 0; i < LOOKUPS; i++) writeKey(randomAt(LOOKUP_SEED, i) % n, n, present, keys, i * KEY_LENGTH);
  return keys;
}

/** The key of the `i`-th lookup among `n` entries. */
export function lookupKey(i: number, n: number): Uint8Array {
  const key = new Uint8Array(KEY_LENGTH);
  writeKey(randomAt(LOOKUP_SEED, i) % n, n, true, key, 0);
  return key;
}

/** Splits concatenated keys into arrays. */
export function separate(keys: Uint8Array): Uint8Array[] {
  return Array.from({ length: keys.length / KEY_LENGTH }, (_, i) => keys.slice(i * KEY_LENGTH, (i + 1) * KEY_LENGTH));
}

/** Each value is 50 random bytes, repeated once, so that Snappy halves it. All are in one array, as in LevelDB's db_bench. */
export class Values {
  readonly #bytes = new ArrayBuffer(VALUES * VALUE_LENGTH);

  constructor() {
    const bytes = new Uint8Array(this.#bytes);
    const half = VALUE_LENGTH / 2;
    for (let i = 0; i < bytes.length; i++) bytes[i] = randomAt(VALUE_SEED, i - (i % VALUE_LENGTH) + ((i % VALUE_LENGTH) % half));
  }

  /** The value of entry `i`: a new view, because an array that is kept for each value is seldom in the processor's cache. */
  at(i: number): Uint8Array {
    return new Uint8Array(this.#bytes, (i % VALUES) * VALUE_LENGTH, VALUE_LENGTH);
  }
}

/** Iterates keys in one array whose contents change: a `Uint8Array` per key would cost more than the work. */
export class KeyWalk {
  readonly key = new Uint8Array(KEY_LENGTH);
  readonly #key = new Int32Array(this.key.buffer);
  readonly #keys: Int32Array;

  constructor(keys: Uint8Array) {
    this.#keys = new Int32Array(keys.buffer, keys.byteOffset, keys.length / 4);
  }

  /** Sets `key` to key `i`. */
  moveTo(i: number): Uint8Array {
    const from = this.#keys;
    const to = this.#key;
    to[0] = from[4 * i]!;
    to[1] = from[4 * i + 1]!;
    to[2] = from[4 * i + 2]!;
    to[3] = from[4 * i + 3]!;
    return this.key;
  }
}

/** Blocks of text, made of the words of a small vocabulary. */
export function wordBlocks(byteLength: number): Uint8Array[] {
  const words = Array.from({ length: WORDS }, (_, i) => {
    const letters = 3 + (randomAt(WORD_SEED, i * 16) % 8);
    return Uint8Array.from({ length: letters + 1 }, (_, j) => (j < letters ? 0x61 + (randomAt(WORD_SEED, i * 16 + j + 1) % 26) : 0x20));
  });
  return blocksOf(byteLength, (i) => words[randomAt(TEXT_SEED, i) % WORDS]!);
}

/** Blocks of values, of which half is random. */
export function valueBlocks(byteLength: number): Uint8Array[] {
  const values = new Values();
  return blocksOf(byteLength, (i) => values.at(i));
}

/** Blocks filled with consecutive parts; the last part of a block is truncated. */
function blocksOf(byteLength: number, part: (i: number) => Uint8Array): Uint8Array[] {
  let next = 0;
  return Array.from({ length: BLOCKS }, () => {
    const block = new Uint8Array(byteLength);
    for (let at = 0; at < byteLength; ) {
      const bytes = part(next++);
      block.set(bytes.subarray(0, byteLength - at), at);
      at += bytes.length;
    }
    return block;
  });
}

/** Random byte strings of `byteLength` to hash. */
export function hashInputs(byteLength: number): Uint8Array[] {
  return Array.from({ length: HASH_INPUTS }, (_, i) =>
    Uint8Array.from({ length: byteLength }, (_, j) => randomAt(HASH_SEED, i * byteLength + j)),
  );
}

/** FNV-1a of `bytes`: a uint32. */
export function checksum(bytes: Uint8Array): number {
  let sum = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) sum = Math.imul(sum ^ bytes[i]!, 0x01000193);
  return sum >>> 0;
}
