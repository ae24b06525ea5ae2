/** Damaged filters, and bytes that never were filters. */
import { joinedBytes } from '@bloom/bytes/internal';
import { noise } from './lending.js';

/** Damaged variants of `filter`; some contain the bytes of `garbage`. */
export function damaged(filter: Uint8Array, garbage: Uint8Array): Uint8Array[] {
  const flipped = filter.slice();
  if (flipped.length > 0) for (const byte of garbage) flipped[byte % flipped.length]! ^= byte;
  const results = [
    new Uint8Array(0),
    garbage,
    flipped,
    filter.subarray(1),
    filter.subarray(0, -1),
    filter.slice().reverse(),
    joinedBytes([filter, garbage]),
    joinedBytes([garbage, filter]),
    joinedBytes([filter, filter]),
    filter.map(() => 0),
    filter.map(() => 0xff),
  ];
  for (let length = 0; length < Math.min(filter.length, 8); length++) results.push(filter.subarray(0, length));
  // Formats keep counts and lengths at the start or the end.
  for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
    results.push(overwritten(filter, 0, value, 1), overwritten(filter, filter.length - 1, value, 1));
    results.push(overwritten(filter, 0, value, 4), overwritten(filter, filter.length - 4, value, 4));
  }
  for (const word of WORDS) {
    for (const isLittleEndian of [false, true]) {
      for (const at of [0, filter.length - 4, 4 * Math.floor(filter.length / 8)]) results.push(withWord(filter, at, word, isLittleEndian));
    }
  }
  return results;
}

/** Counts, lengths and offsets that point backward, to the same place, or far past the end. */
const WORDS = [-1, -2, -4, -5, -8, 1, 4, 0x7fffffff, 0x80000000, 0x00ffffff];

function withWord(filter: Uint8Array, at: number, word: number, isLittleEndian: boolean): Uint8Array {
  const bytes = filter.slice();
  if (at >= 0 && at + 4 <= bytes.length) new DataView(bytes.buffer).setInt32(at, word, isLittleEndian);
  return bytes;
}

/** `filter` with one byte at a time replaced, by several values each; in a long filter, only some of the bytes. */
export function* damagedBytes(filter: Uint8Array): Generator<Uint8Array, void, undefined> {
  const step = Math.max(1, Math.floor(filter.length / 64));
  for (let at = 0; at < filter.length; at += step) {
    const byte = filter[at]!;
    for (const value of [0, 1, 0x7f, 0x80, 0xff, byte + 1, byte - 1, byte ^ 0x55]) yield overwritten(filter, at, value, 1);
  }
}

/** `filter` with every value of each byte at its ends, where formats keep their measures, and with values of two of them at a time. */
export function* damagedEnds(filter: Uint8Array): Generator<Uint8Array, void, undefined> {
  const last = filter.length - 1;
  const ends = [0, 1, last - 3, last - 2, last - 1, last].filter((at, i, all) => at >= 0 && at <= last && all.indexOf(at) === i);
  for (const at of ends) for (let value = 0; value < 256; value++) yield overwritten(filter, at, value, 1);
  for (let a = 0; a < 256; a += 5) {
    for (const b of PAIRED) {
      yield overwritten(overwritten(filter, last, a, 1), last - 1, b, 1);
      yield overwritten(overwritten(filter, 0, a, 1), 1, b, 1);
    }
  }
}

/** Values of a second byte. */
const PAIRED = [0, 1, 7, 31, 32, 63, 0x7f, 0xff];

/** `piece` again and again, up to `length` bytes. */
function repeated(piece: Uint8Array, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  bytes.set(piece.subarray(0, length));
  for (let filled = piece.length; filled < length; filled *= 2) bytes.copyWithin(filled, 0, filled);
  return bytes;
}

/** Arrays of `length` bytes, each with another pattern. */
export function patterns(length: number): Uint8Array[] {
  const ramp = new Uint8Array(length);
  for (let i = 0; i < length; i++) ramp[i] = i;
  const words = [-4, -8, 4, 0x00ffffff].flatMap((word) =>
    [false, true].map((isLittleEndian) => repeated(withWord(new Uint8Array(4), 0, word, isLittleEndian), length)),
  );
  return [
    new Uint8Array(length),
    new Uint8Array(length).fill(0xff),
    new Uint8Array(length).fill(1),
    new Uint8Array(length).fill(0x80),
    ramp,
    noise(length, length + 1),
    noise(length, length + 2).map((byte) => byte & 3),
    noise(length, length + 3).map((byte) => byte | 0xfc),
    ...words,
  ];
}

function overwritten(bytes: Uint8Array, at: number, value: number, count: number): Uint8Array {
  return bytes.slice().fill(value, Math.max(0, at), Math.max(0, at + count));
}
