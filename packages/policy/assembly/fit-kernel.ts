// AssemblyScript. The search for the shape of a fitted Bloom filter, for `src/fit-kernel.ts`, which lays out the memory: all addresses
// are bytes from its start. `src/filter-fit.ts` and `src/key-neighbour.ts` explain it; this makes the same choices.
//
// A filter being tried has a byte for each bit. The byte holds the first probe, counted from 0, with which any key sets that bit, so one
// fill judges all numbers of probes: with k probes, the bits set are those whose byte is below k. The filter is packed once at the end.
// TypeScript, with which editors check this file, does not allow AssemblyScript's decorators on functions: hence each @ts-ignore.
import { writeHashes } from '../../hash/assembly/hash-keys';
import { deltaOf, modulo } from './bloom-probes';

/** A byte for each bit of the filter: a constant, because an address known at compile time costs nothing. */
export const BITS_AT: usize = 0x40000;
/** 16 bytes for each probe: what the judges found in the filter. */
const FOUND_AT: usize = 0x60000;
/** The judges whose bits are all set after some probes, at most 16, and a byte for each of a group of judges: see `countPassing`. */
const LEFT_AT: usize = 0x60200;
const LATEST_AT: usize = 0x60240;
/** A uint32 for each number of probes, from 1 on: how many judges pass. */
const PASSED_AT: usize = 0x60400;
/** The bytes of a key that were changed to make a neighbour. */
const CHANGED_AT: usize = 0x70000;
/** The hashes of the keys in an open-addressing table of uint32; 0 for none. */
const STORED_AT: usize = 0x30000;

const SEED: u32 = 0xbc9f1d34;
const M: u32 = 0xc6a4a793;
/** M times this is 1, modulo 2^32. */
const INVERSE_OF_M: u32 = 0xd8198e9b;

// Alphabets.
const ANY_BYTE: u32 = 0;
const DIGITS: u32 = 1;
const LOWER_HEX: u32 = 2;
const UPPER_HEX: u32 = 3;
const LOWER: u32 = 4;
const UPPER: u32 = 5;

const MIN_HEX_DIGITS: u32 = 8;
const JUDGES_AT_A_TIME: u32 = 16;

/** Sixteen bytes of one value, for comparisons: V8 makes a constant vector of 5 instructions, which took a third of the time of a judge. */
const SPACES = memory.data<u8>([0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20], 16);
const DELETES = memory.data<u8>([0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f], 16);
const ZEROS = memory.data<u8>([0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30], 16);
const TENS = memory.data<u8>([0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a], 16);
const LOWER_AS = memory.data<u8>([0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61], 16);
const UPPER_AS = memory.data<u8>([0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41], 16);
const SIXES = memory.data<u8>([0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06], 16);

// @ts-ignore: decorator
@inline
function setFour(positions: v128, probe: u32): void {
  const low = i64x2.extract_lane(positions, 0);
  const high = i64x2.extract_lane(positions, 1);
  store<u8>(usize(u32(low)), probe, BITS_AT);
  store<u8>(usize(low >>> 32), probe, BITS_AT);
  store<u8>(usize(u32(high)), probe, BITS_AT);
  store<u8>(usize(high >>> 32), probe, BITS_AT);
}

/**
 * Writes the first probe that sets each bit; 255 for none. The last probe comes first, so that earlier ones replace it. The hashes
 * [hashes, end) are a multiple of four.
 */
function setBits(hashes: usize, end: usize, bits: u32, probes: u32): void {
  memory.fill(BITS_AT, 0xff, usize(bits));
  const moduli = i32x4.splat(bits);
  const reciprocal = i32x4.splat(u32((u64(1) << 32) / u64(bits)));
  for (let probe = probes; probe-- > 0; ) {
    const times = i32x4.splat(probe);
    for (let at = hashes; at < end; at += 16) {
      const numbers = v128.load(at);
      setFour(modulo(i32x4.add(numbers, i32x4.mul(deltaOf(numbers), times)), moduli, reciprocal), probe);
    }
  }
}

/** The bytes at four positions. */
// @ts-ignore: decorator
@inline
function bytesAt(positions: v128): u32 {
  const low = i64x2.extract_lane(positions, 0);
  const high = i64x2.extract_lane(positions, 1);
  return (
    u32(load<u8>(usize(u32(low)), BITS_AT)) |
    (u32(load<u8>(usize(low >>> 32), BITS_AT)) << 8) |
    (u32(load<u8>(usize(u32(high)), BITS_AT)) << 16) |
    (u32(load<u8>(usize(high >>> 32), BITS_AT)) << 24)
  );
}

/** Writes what some judges find in the filter with the probes from `first` up to `end`. */
// @ts-ignore: decorator
@inline
function find(judges: usize, count: u32, moduli: v128, reciprocal: v128, first: u32, end: u32): void {
  const foundEnd = FOUND_AT + (usize(end) << 4);
  for (let i: usize = 0; i < usize(count); i += 4) {
    const hashes = v128.load(judges + (i << 2));
    const delta = deltaOf(hashes);
    let numbers = i32x4.add(hashes, i32x4.mul(delta, i32x4.splat(first)));
    for (let to = FOUND_AT + (usize(first) << 4) + i; to < foundEnd; to += 16) {
      store<u32>(to, bytesAt(modulo(numbers, moduli, reciprocal)));
      numbers = i32x4.add(numbers, delta);
    }
  }
}

/**
 * Adds the judges that pass with `first` + 1 up to `end` probes.
 *
 * @param latest the latest of the first probes that set the bits of each judge so far: it passes with more probes than that.
 * @returns the same, after these probes.
 */
// @ts-ignore: decorator
@inline
function countPassing(latest: v128, count: u32, first: u32, end: u32): v128 {
  const mask = (u32(1) << count) - 1;
  const foundEnd = FOUND_AT + (usize(end) << 4);
  const one = i8x16.splat(1);
  let probe = i8x16.splat(u8(first));
  let to = PASSED_AT + (usize(first) << 2);
  for (let at = FOUND_AT + (usize(first) << 4); at < foundEnd; at += 16, to += 4) {
    latest = i8x16.max_u(latest, v128.load(at));
    store<u32>(to, load<u32>(to) + u32(popcnt(u32(i8x16.bitmask(i8x16.le_u(latest, probe))) & mask)));
    probe = i8x16.add(probe, one);
  }
  return latest;
}

/**
 * Counts for each number of probes how many of some judges pass, at most 16.
 *
 * Three probes of each judge, and then the others of those whose bits are all set: fewer than half, so that this takes less time.
 */
function judge(judges: usize, count: u32, bits: u32, probes: u32): void {
  const moduli = i32x4.splat(bits);
  const reciprocal = i32x4.splat(u32((u64(1) << 32) / u64(bits)));
  const first = min(probes, 3);
  find(judges, count, moduli, reciprocal, 0, first);
  const latest = countPassing(i8x16.splat(0), count, 0, first);
  if (probes == first) return;
  v128.store(LATEST_AT, latest);
  let left = ((u32(1) << count) - 1) & ~u32(i8x16.bitmask(latest));
  let leftCount: u32 = 0;
  for (; left; left &= left - 1, leftCount++) {
    const i = usize(ctz(left));
    store<u32>(LEFT_AT + (usize(leftCount) << 2), load<u32>(judges + (i << 2)));
    store<u8>(LATEST_AT + usize(leftCount), load<u8>(LATEST_AT + i));
  }
  if (leftCount == 0) return;
  find(LEFT_AT, leftCount, moduli, reciprocal, first, probes);
  countPassing(v128.load(LATEST_AT), leftCount, first, probes);
}

/** Where the hash is in the table, or where it would go. */
// @ts-ignore: decorator
@inline
function slotOf(hash: u32, shift: u32, mask: u32): usize {
  let slot = (hash * 0x9e3779b1) >> shift;
  let held = load<u32>(usize(slot) << 2, STORED_AT);
  while (held != hash && held != 0) {
    slot = (slot + 1) & mask;
    held = load<u32>(usize(slot) << 2, STORED_AT);
  }
  return STORED_AT + (usize(slot) << 2);
}

/** The hash of a key whose state is `h` before its bytes [at, end), as in `hash-keys.ts`. */
// @ts-ignore: decorator
@inline
function hashFrom(h: u32, at: usize, end: usize): u32 {
  for (; at + 4 <= end; at += 4) {
    h = (h + load<u32>(at)) * M;
    h ^= h >> 16;
  }
  return at == end ? h : hashEnd(h + endOf(at, end));
}

/** The last one to three bytes of a key, as a number. */
// @ts-ignore: decorator
@inline
function endOf(at: usize, end: usize): u32 {
  return load<u32>(at) & ((u32(1) << (u32(end - at) << 3)) - 1);
}

// @ts-ignore: decorator
@inline
function hashEnd(h: u32): u32 {
  h *= M;
  return h ^ (h >> 24);
}

/** Where the last word of a key begins; its end, of one to three bytes, counts as one. */
// @ts-ignore: decorator
@inline
function lastWord(start: usize, end: usize): usize {
  return start + ((end - 1 - start) & ~3);
}

/**
 * The product in the hash step of `word`, of the key [start, end) with the hash `h`. All steps of the hash can be undone: a number that
 * is folded with itself by 16 or 24 bits is so unfolded, and M has an inverse.
 */
// @ts-ignore: decorator
@inline
function productAt(h: u32, word: usize, start: usize, end: usize): u32 {
  let at = lastWord(start, end);
  if (at + 4 > end) {
    h ^= h >> 24;
    if (at == word) return h;
    h = h * INVERSE_OF_M - endOf(at, end);
    at -= 4;
  }
  h ^= h >> 16;
  for (; at > word; at -= 4) {
    h = h * INVERSE_OF_M - load<u32>(at);
    h ^= h >> 16;
  }
  return h;
}

/** The hash of a key whose product at `word` is `product`, and whose bytes behind that word are those up to `end`. */
// @ts-ignore: decorator
@inline
function hashFromProduct(product: u32, word: usize, end: usize): u32 {
  if (word + 4 > end) return product ^ (product >> 24);
  return hashFrom(product ^ (product >> 16), word + 4, end);
}

/** A bit for each of 16 bytes: whether it is a control character. */
// @ts-ignore: decorator
@inline
function controlsIn(at: usize): u32 {
  const bytes = v128.load(at);
  return u32(i8x16.bitmask(v128.or(i8x16.lt_u(bytes, v128.load(SPACES)), i8x16.eq(bytes, v128.load(DELETES)))));
}

/** Whether the key [at, end) has no control characters. Reads up to 15 bytes past its end. */
// @ts-ignore: decorator
@inline
function isText(at: usize, end: usize): bool {
  for (; at + 16 <= end; at += 16) if (controlsIn(at)) return false;
  return (controlsIn(at) & ((u32(1) << u32(end - at)) - 1)) == 0;
}

// @ts-ignore: decorator
@inline
function isDigit(byte: u32): bool {
  return byte - 0x30 < 10;
}

/** A bit for each of 16 bytes: whether it is one of `size` characters from `first` on; both are addresses of vectors. */
// @ts-ignore: decorator
@inline
function areAmong(bytes: v128, first: usize, size: usize): u32 {
  return u32(i8x16.bitmask(i8x16.lt_u(i8x16.sub(bytes, v128.load(first)), v128.load(size))));
}

/**
 * Whether the run of digits and hexadecimal letters before `end` is a hexadecimal number. `digits` and `letters` have a bit for each of
 * the 16 bytes before `end`, the last one's highest; `a` is the first of the letters.
 */
// @ts-ignore: decorator
@inline
function isHexadecimal(digits: u32, letters: u32, start: usize, end: usize, a: u32): bool {
  const run = u32(clz(~((digits | letters) << 16)));
  if (run < MIN_HEX_DIGITS) return false;
  const inRun = 0xffff << (16 - run);
  if (digits & inRun && letters & inRun) return true;
  return run == 16 && isLongHexadecimal(digits != 0, start, end - 16, a);
}

/** The same for what is before the 16 bytes, which are either all digits or all letters. */
function isLongHexadecimal(areDigits: bool, start: usize, end: usize, a: u32): bool {
  while (end > start) {
    const byte = u32(load<u8>(--end));
    if (isDigit(byte)) {
      if (!areDigits) return true;
    } else if (byte - a < 6) {
      if (areDigits) return true;
    } else return false;
  }
  return false;
}

/** The alphabet of the byte before `end` of a key that is text and starts at `start`. */
// @ts-ignore: decorator
@inline
function alphabetAt(start: usize, end: usize): u32 {
  const last = u32(load<u8>(end - 1));
  const isLastDigit = isDigit(last);
  if (u32(isLastDigit) | u32((last | 0x20) - 0x61 < 6)) {
    const bytes = v128.load(end - 16);
    const length = u32(end - start);
    const ofKey: u32 = length < 16 ? 0xffff & (0xffff << (16 - length)) : 0xffff;
    const digits = areAmong(bytes, ZEROS, TENS) & ofKey;
    // Of either case: most keys end with too few of them, and need no closer look.
    const letters = areAmong(v128.or(bytes, v128.load(SPACES)), LOWER_AS, SIXES) & ofKey;
    const run = u32(clz(~((digits | letters) << 16)));
    if (run >= MIN_HEX_DIGITS) {
      if (isHexadecimal(digits, areAmong(bytes, LOWER_AS, SIXES) & ofKey, start, end, 0x61)) return LOWER_HEX;
      if (isHexadecimal(digits, areAmong(bytes, UPPER_AS, SIXES) & ofKey, start, end, 0x41)) return UPPER_HEX;
    }
  }
  if (isLastDigit) return DIGITS;
  if (last - 0x61 < 26) return LOWER;
  return last - 0x41 < 26 ? UPPER : ANY_BYTE;
}

/** The place of a byte that is in an alphabet. */
// @ts-ignore: decorator
@inline
function knownPlace(alphabet: u32, byte: u32): i32 {
  if (alphabet == ANY_BYTE) return i32(byte);
  // The lower four bits of 'a' and 'A' are 1.
  if (alphabet <= UPPER_HEX) return i32((byte & 15) + 9 * (byte >> 6));
  return i32(byte - (alphabet == LOWER ? 0x61 : 0x41));
}

// @ts-ignore: decorator
@inline
function sizeOf(alphabet: u32): i32 {
  if (alphabet == DIGITS) return 10;
  if (alphabet == ANY_BYTE) return 256;
  return alphabet <= UPPER_HEX ? 16 : 26;
}

/** The place of a byte in an alphabet; -1 for none. */
// @ts-ignore: decorator
@inline
function placeOf(alphabet: u32, byte: u32): i32 {
  if (alphabet == ANY_BYTE) return i32(byte);
  if (alphabet <= UPPER_HEX) {
    if (isDigit(byte)) return i32(byte - 0x30);
    if (alphabet == DIGITS) return -1;
    const letter = byte - (alphabet == LOWER_HEX ? 0x61 : 0x41);
    return letter < 6 ? i32(letter) + 10 : -1;
  }
  const letter = byte - (alphabet == LOWER ? 0x61 : 0x41);
  return letter < 26 ? i32(letter) : -1;
}

// @ts-ignore: decorator
@inline
function byteAt(alphabet: u32, place: i32): u32 {
  if (alphabet == ANY_BYTE) return u32(place);
  if (alphabet <= UPPER_HEX) return place < 10 ? u32(place) + 0x30 : u32(place) - 10 + (alphabet == LOWER_HEX ? 0x61 : 0x41);
  return u32(place) + (alphabet == LOWER ? 0x61 : 0x41);
}

/**
 * The hash of the key [start, end) with `step` added to the number that ends at `numberEnd`; 0 when that number has too few digits.
 *
 * @param word where the word begins that has the number's last byte, `product` the key's {@link productAt} there.
 */
// @ts-ignore: decorator
@inline
function neighbourHash(start: usize, end: usize, numberEnd: usize, alphabet: u32, step: i32, word: usize, product: u32): u32 {
  const size = sizeOf(alphabet);
  let carry = step;
  let at = numberEnd;
  // What the changed bytes of that word add to it.
  let more: u32 = 0;
  do {
    if (--at < start) return 0;
    const byte = u32(load<u8>(at));
    const place = placeOf(alphabet, byte);
    if (place < 0) return 0;
    let sum = place + carry;
    carry = 0;
    if (sum >= size) {
      sum -= size;
      carry = 1;
    } else if (sum < 0) {
      sum += size;
      carry = -1;
    }
    if (at >= word) more += (byteAt(alphabet, sum) - byte) << (u32(at - word) << 3);
  } while (carry);
  return at >= word ? hashFromProduct(product + more * M, word, end) : hashOfCarried(start, end, numberEnd, at, alphabet, step);
}

/** The same for a carry into an earlier word. The changed bytes begin at `first`, and are put back. */
function hashOfCarried(start: usize, end: usize, numberEnd: usize, first: usize, alphabet: u32, step: i32): u32 {
  memory.copy(CHANGED_AT, first, numberEnd - first);
  const size = sizeOf(alphabet);
  let carry = step;
  for (let at = numberEnd - 1; at >= first; at--) {
    let sum = placeOf(alphabet, u32(load<u8>(at))) + carry;
    carry = sum >= size ? 1 : sum < 0 ? -1 : 0;
    sum -= carry * size;
    store<u8>(at, byteAt(alphabet, sum));
  }
  const hash = hashFrom(SEED ^ (u32(end - start) * M), start, end);
  memory.copy(first, CHANGED_AT, numberEnd - first);
  return hash;
}

/** The hash of the last key's nearest judge; 0 for none. */
let nearest: u32 = 0;

/** Writes the hashes of the judges of the key [start, end) with the hash `h`. @returns where they end. */
// @ts-ignore: decorator
@inline
function writeJudges(h: u32, start: usize, end: usize, tail: u32, perKey: u32, shift: u32, mask: u32, to: usize): usize {
  const isTextKey = isText(start, end);
  const known = nearest;
  let found: u32 = 0;
  nearest = 0;
  let numberEnd = tail > 0 && usize(tail) < end - start ? end - usize(tail) : end;
  while (numberEnd > start) {
    const alphabet = isTextKey ? alphabetAt(start, numberEnd) : ANY_BYTE;
    const word = lastWord(start, numberEnd);
    const product = productAt(h, word, start, end);
    const shift8 = u32(numberEnd - 1 - word) << 3;
    const byte = u32(load<u8>(numberEnd - 1));
    const place = knownPlace(alphabet, byte);
    const size = sizeOf(alphabet);
    for (let step = 1; step <= 3; step++) {
      for (let sign = 1; sign >= -1; sign -= 2) {
        const sum = place + step * sign;
        // Most neighbours differ in one byte.
        const hash =
          u32(sum) < u32(size)
            ? hashFromProduct(product + ((byteAt(alphabet, sum) - byte) << shift8) * M, word, end)
            : neighbourHash(start, end, numberEnd, alphabet, step * sign, word, product);
        if (hash == 0 || load<u32>(slotOf(hash, shift, mask)) == hash) continue;
        if (found == 0) nearest = hash;
        store<u32>(to, hash);
        to += usize(hash != known) << 2;
        if (++found == perKey) return to;
      }
    }
    if (numberEnd == end) break;
    numberEnd = end;
  }
  return to;
}

/** The number of bytes that two keys have in common at their ends. */
// @ts-ignore: decorator
@inline
function commonTail(start: usize, end: usize, otherStart: usize, otherEnd: usize): u32 {
  let tail: u32 = 0;
  while (end > start && otherEnd > otherStart && load<u8>(end - 1) == load<u8>(otherEnd - 1)) {
    tail++;
    end--;
    otherEnd--;
  }
  return tail;
}

/** Packs the bits that `probes` probes set into a filter at the same address. `bits` is a multiple of eight. */
function pack(bits: u32, probes: u32): void {
  const most = i8x16.splat(u8(probes - 1));
  let to = BITS_AT;
  for (let at = BITS_AT, end = BITS_AT + usize(bits); at < end; at += 16, to += 2) {
    store<u16>(to, u16(i8x16.bitmask(i8x16.le_u(v128.load(at), most))));
  }
}

/** The number of probes of the best shape. */
let bestProbes: u32 = 0;

export function fittedProbes(): u32 {
  return bestProbes;
}

/**
 * Tries the lengths, writes the filter of the best shape, without its last byte, to BITS_AT, and returns the index of its length.
 * {@link fittedProbes} then has its number of probes.
 *
 * Key i is bytes[offsets[i], offsets[i + 1]). `lengths` are uint32, in bits. `costs` has a uint32 for each number of probes from
 * `minProbes` to `maxProbes`. `hashes` has room for three more than `keys`, `judges` for `perKey` for one key in `stride` and 15 more,
 * the table of stored hashes for 2^(32 - shift) of them, at least twice as many as keys. `fittedShape` in `src/filter-fit.ts` explains
 * the rest.
 */
export function fit(bytes: usize, offsets: usize, keys: u32, hashes: usize, judges: usize, stride: u32, perKey: u32, shift: u32, lengths: usize, lengthCount: u32, costs: usize, minProbes: u32, maxProbesAtFirst: u32, maxProbes: u32, passCost: u32, lengthsPerPass: u32, patience: u32, judgesPerPass: u32): u32 {
  let hashesEnd = writeHashes(bytes, offsets, keys, SEED, hashes);
  const last = load<u32>(hashesEnd - 4);
  for (let i = keys; i & 3; i++, hashesEnd += 4) store<u32>(hashesEnd, last);
  const mask = (u32(1) << (32 - shift)) - 1;
  memory.fill(STORED_AT, 0, usize(mask + 1) << 2);
  for (let i: u32 = 0; i < keys; i++) {
    const hash = load<u32>(hashes + (usize(i) << 2));
    store<u32>(slotOf(hash, shift, mask), hash);
  }
  let judgesEnd = judges;
  nearest = 0;
  for (let i: u32 = 0; i < keys; i += stride) {
    const at = offsets + (usize(i) << 2);
    const start = bytes + load<u32>(at);
    const end = bytes + load<u32>(at, 4);
    let tail: u32 = 0;
    if (i > 0) tail = commonTail(start, end, bytes + load<u32>(at - 4), start);
    else if (keys > 1) tail = commonTail(start, end, end, bytes + load<u32>(at, 8));
    judgesEnd = writeJudges(load<u32>(hashes + (usize(i) << 2)), start, end, tail, perKey, shift, mask, judgesEnd);
  }
  const judgeCount = u32((judgesEnd - judges) >> 2);
  const weight = max<u32>(judgeCount, 1);
  let best: u32 = 0;
  let made: u32 = 0;
  let lowest: u32 = 0xffffffff;
  bestProbes = minProbes;
  for (let i: u32 = 0; i < lengthCount; i++) {
    const bits = load<u32>(lengths + (usize(i) << 2));
    const mostProbes = i == 0 ? maxProbesAtFirst : maxProbes;
    made = i;
    setBits(hashes, hashesEnd, bits, mostProbes);
    memory.fill(PASSED_AT, 0, usize(mostProbes) << 2);
    let number: u32 = 0;
    let cost: u32 = 0xffffffff;
    for (let from: u32 = 0; ; from += JUDGES_AT_A_TIME) {
      judge(judges + (usize(from) << 2), min(judgeCount - from, JUDGES_AT_A_TIME), bits, mostProbes);
      number = minProbes;
      cost = 0xffffffff;
      for (let probes = minProbes; probes <= mostProbes; probes++) {
        const sum = load<u32>(PASSED_AT + (usize(probes - 1) << 2)) * passCost + load<u32>(costs + (usize(probes - minProbes) << 2)) * weight;
        if (sum < cost) {
          cost = sum;
          number = probes;
        }
      }
      if (cost >= lowest || from + JUDGES_AT_A_TIME >= judgeCount) break;
    }
    if (cost < lowest) {
      lowest = cost;
      best = i;
      bestProbes = number;
    }
    const isPatient = lowest * lengthsPerPass <= i * passCost && lowest * patience <= (i + 1) * judgeCount * passCost;
    if (isPatient || lowest * judgesPerPass <= judgeCount * passCost) break;
  }
  const bits = load<u32>(lengths + (usize(best) << 2));
  if (made != best) setBits(hashes, hashesEnd, bits, bestProbes);
  pack(bits, bestProbes);
  return best;
}
