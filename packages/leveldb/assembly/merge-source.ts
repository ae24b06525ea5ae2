// AssemblyScript. A source of a merge: the entries of one block after another, checked as `BlockWalk` of `@bloom/sstable` checks
// them in the same direction.
import { decompress } from '../../sstable/assembly/snappy-decompressor';
import { commonLength, copy, varint, varintEnd } from './bytes';

/** The sources, one after another. */
export const SOURCES_AT: usize = 0x1000;
/** There is room for this many. */
export const MAX_SOURCES: u32 = 64;
const SOURCE_BYTES: u32 = 96;

/** The longest internal key that the kernel takes. */
export const MAX_KEY: u32 = 0x10000;
/** Bytes of sequence and type at the end of a key. */
export const TRAILER: u32 = 8;

// The fields of a source.
/** Forward: where the next entry starts. Backward: where the first of the indexed entries starts, or the end if none are. */
const NEXT: usize = 0;
const END: usize = 4;
const BLOCK: usize = 8;
/** Where the next restart's offset is stored, where the restarts end, and that offset. */
const RESTART: usize = 12;
const RESTARTS_END: usize = 16;
const RESTART_OFFSET: usize = 20;
const KEY: usize = 24;
const KEY_LENGTH: usize = 28;
const VALUE: usize = 32;
const VALUE_LENGTH: usize = 36;
/** The first eight bytes of the user key as a big-endian number, with zeros after its end. */
const HEAD: usize = 40;
/** The number of entries by which the source has moved since `supply` or `place`. */
const MOVES: usize = 48;
/** Memory for the contents of a compressed block, and its bytes. The room for keys is as large, up to `MAX_KEY`. */
const SLOT: usize = 52;
const SLOT_BYTES: usize = 56;
/** The list of the stored blocks that come next, how many there are, and how many of them the source has entered. */
const STORED: usize = 60;
const STORED_LEFT: usize = 64;
const ENTERED: usize = 68;
/** Backward: memory for the index of entries and for their keys, and where in the index the current entry is. */
const INDEX: usize = 72;
const INDEXED: usize = 76;

/**
 * Backward, the entries of one restart interval are indexed at a time, in their order: (key's address | its length | value's address | its length)*,
 * each a uint32. Keys that share bytes with the previous key follow the index.
 */
const INDEXED_BYTES: usize = 16;
const MAX_INDEXED: usize = 1024;
const INDEXED_KEYS: usize = 0x8000;
/** Bytes of memory that a source needs for it. */
export const INDEX_BYTES: usize = MAX_INDEXED * INDEXED_BYTES + INDEXED_KEYS;

/** The results of a move. */
export const ON_ENTRY: u32 = 0;
export const ENDED: u32 = 1;
export const BAD: u32 = 2;

// @ts-ignore: decorator
@inline
export function sourceAt(source: u32): usize {
  return SOURCES_AT + usize(source * SOURCE_BYTES);
}

// @ts-ignore: decorator
@inline
export function keyOf(s: usize): usize {
  return load<u32>(s, KEY);
}

// @ts-ignore: decorator
@inline
export function keyLengthOf(s: usize): u32 {
  return load<u32>(s, KEY_LENGTH);
}

// @ts-ignore: decorator
@inline
export function valueOf(s: usize): usize {
  return load<u32>(s, VALUE);
}

// @ts-ignore: decorator
@inline
export function valueLengthOf(s: usize): u32 {
  return load<u32>(s, VALUE_LENGTH);
}

/** The head of the user key [key, key + length), which has a trailer. */
export function headOf(key: usize, length: u32): u64 {
  const head = bswap(load<u64>(key));
  if (length >= 8) return head;
  return length == 0 ? 0 : head & (u64(-1) << u64(64 - (length << 3)));
}

/**
 * Gives a source the block [block, block + length), and room for its keys at `key`.
 *
 * @returns false when that is not a block.
 */
export function supply(source: u32, block: usize, length: u32, key: usize): bool {
  const s = sourceAt(source);
  store<u32>(s, u32(block), BLOCK);
  store<u32>(s, u32(block), NEXT);
  store<u32>(s, u32(block), END);
  store<u32>(s, 0, MOVES);
  if (length < 4) return false;
  const restartsEnd = block + length - 4;
  const restarts = load<u32>(restartsEnd);
  if (restarts == 0) return true;
  if (restarts > (length - 4) >> 2) return false;
  const restart = restartsEnd - (usize(restarts) << 2);
  if (load<u32>(restart) != 0) return false;
  store<u32>(s, u32(restart), END);
  store<u32>(s, u32(restart), RESTART);
  store<u32>(s, u32(restartsEnd), RESTARTS_END);
  store<u32>(s, 0, RESTART_OFFSET);
  if (keyOf(s) != key) {
    store<u32>(s, u32(key), KEY);
    store<u32>(s, 0, KEY_LENGTH);
  }
  return true;
}

/** Prepares a source that was given a block for a walk backward. @returns false when its restarts are not ascending: a search among them is left to the caller. */
export function supplyIndex(source: u32, index: usize): bool {
  const s = sourceAt(source);
  const end = usize(load<u32>(s, END));
  store<u32>(s, u32(index), INDEX);
  store<u32>(s, u32(index), INDEXED);
  const block = usize(load<u32>(s, NEXT));
  store<u32>(s, u32(end), NEXT);
  if (block == end) return true;
  const restartsEnd = usize(load<u32>(s, RESTARTS_END));
  let before: u32 = 0;
  for (let restart = usize(load<u32>(s, RESTART)) + 4; restart < restartsEnd; restart += 4) {
    const offset = load<u32>(restart);
    if (offset <= before) return false;
    before = offset;
  }
  return before < u32(end - block);
}

/** Forgets all blocks and keys. */
export function clearSources(): void {
  memory.fill(SOURCES_AT, 0, usize(MAX_SOURCES * SOURCE_BYTES));
}

/** Starts to count the moves of a source at its current entry. */
export function clearMoves(source: u32): void {
  store<u32>(sourceAt(source), 0, MOVES);
}

/** Moves a source to the entry at `position` of its block, from the block's start. */
export function place(source: u32, position: u32): u32 {
  const s = sourceAt(source);
  const start = load<u32>(s, NEXT) + position;
  let moved: u32 = ENDED;
  while (load<u32>(s, NEXT) <= start) {
    moved = advance(s);
    if (moved != ON_ENTRY) return moved;
  }
  clearMoves(source);
  return moved;
}

/** {@link place} for a walk backward. */
export function placeBackward(source: u32, position: u32): u32 {
  const s = sourceAt(source);
  const end = usize(load<u32>(s, END));
  const block = usize(load<u32>(s, BLOCK));
  if (usize(position) >= end - block) return ENDED;
  if (!readLengths(block + position, end)) return BAD;
  store<u32>(s, u32(valueAt + valueLength), NEXT);
  const moved = retreat(s);
  clearMoves(source);
  return moved;
}

export function movesOf(source: u32): u32 {
  return load<u32>(sourceAt(source), MOVES);
}

/**
 * Gives a source the stored blocks after its current block. Their checksums have been verified. The list at `stored` has two uint32 for each
 * block: the address of its contents, and their length. The type byte follows the contents. Compressed contents are decompressed to `slot`.
 */
export function supplyStored(source: u32, stored: usize, count: u32, slot: usize, slotBytes: u32): void {
  const s = sourceAt(source);
  store<u32>(s, u32(stored), STORED);
  store<u32>(s, count, STORED_LEFT);
  store<u32>(s, 0, ENTERED);
  store<u32>(s, u32(slot), SLOT);
  store<u32>(s, slotBytes, SLOT_BYTES);
}

/** How many stored blocks a source has entered. */
export function enteredOf(source: u32): u32 {
  return load<u32>(sourceAt(source), ENTERED);
}

/** Where the contents of a source's block start. */
export function contentsStart(source: u32): u32 {
  return load<u32>(sourceAt(source), BLOCK);
}

/** Where they end, including the restarts. */
export function contentsEnd(source: u32): u32 {
  return load<u32>(sourceAt(source), RESTARTS_END) + 4;
}

/**
 * Moves a source to the first entry of its next stored block, or backward to the last.
 *
 * @returns false when it has none, or cannot read it: then it has none left.
 */
export function enterStored(source: u32, isBackward: bool): bool {
  const s = sourceAt(source);
  const left = load<u32>(s, STORED_LEFT);
  if (left == 0) return false;
  store<u32>(s, 0, STORED_LEFT);
  const stored = usize(load<u32>(s, STORED));
  let contents = usize(load<u32>(stored));
  let length = load<u32>(stored, 4);
  const type = load<u8>(contents + length);
  if (type == 1) {
    const end = contents + length;
    length = varint(contents, end);
    // The caller handles longer varints, and reports damage.
    if (varintEnd == 0 || varintEnd > contents + 3 || length > load<u32>(s, SLOT_BYTES)) return false;
    const slot = usize(load<u32>(s, SLOT));
    if (!decompress(varintEnd, end, slot, slot + length)) return false;
    contents = slot;
  } else if (type != 0 || length > load<u32>(s, SLOT_BYTES)) {
    // A longer block may have keys for which there is no room.
    return false;
  }
  if (!supply(source, contents, length, keyOf(s)) || (isBackward ? !supplyIndex(source, load<u32>(s, INDEX)) || retreat(s) != ON_ENTRY : advance(s) != ON_ENTRY)) {
    // As before: the source has no further entry.
    store<u32>(s, isBackward ? load<u32>(s, BLOCK) : load<u32>(s, END), NEXT);
    return false;
  }
  clearMoves(source);
  store<u32>(s, u32(stored + 8), STORED);
  store<u32>(s, left - 1, STORED_LEFT);
  store<u32>(s, load<u32>(s, ENTERED) + 1, ENTERED);
  return true;
}

/** The bytes that the key of the entry read last shares with the previous key, its other bytes, and its value. */
let shared: u32 = 0;
let unshared: u32 = 0;
let unsharedAt: usize = 0;
let valueAt: usize = 0;
let valueLength: u32 = 0;

/** Reads the lengths of the entry at `at`. @returns false when it is damaged. */
function readLengths(at: usize, end: usize): bool {
  const lengths = load<u32>(at);
  if (end - at >= 3 && (lengths & 0x808080) == 0) {
    shared = lengths & 0x7f;
    unshared = (lengths >> 8) & 0x7f;
    valueLength = (lengths >> 16) & 0x7f;
    at += 3;
  } else {
    shared = varint(at, end);
    if (varintEnd == 0) return false;
    unshared = varint(varintEnd, end);
    if (varintEnd == 0) return false;
    valueLength = varint(varintEnd, end);
    if (varintEnd == 0) return false;
    at = varintEnd;
  }
  if (unshared > u32(end - at)) return false;
  unsharedAt = at;
  valueAt = at + unshared;
  return valueLength <= u32(end - valueAt);
}

/** Moves a source to its next entry. */
export function advance(s: usize): u32 {
  const start = usize(load<u32>(s, NEXT));
  const end = usize(load<u32>(s, END));
  if (start >= end) return ENDED;
  if (!readLengths(start, end)) return BAD;
  if (u32(start) - load<u32>(s, BLOCK) == load<u32>(s, RESTART_OFFSET)) {
    if (shared != 0) return BAD;
    const restart = usize(load<u32>(s, RESTART)) + 4;
    store<u32>(s, u32(restart), RESTART);
    store<u32>(s, restart < usize(load<u32>(s, RESTARTS_END)) ? load<u32>(restart) : u32(-1), RESTART_OFFSET);
  } else if (shared > load<u32>(s, KEY_LENGTH)) {
    return BAD;
  }
  // Neither is larger than a block, so that the sum does not wrap.
  const keyLength = shared + unshared;
  if (keyLength < TRAILER || keyLength > MAX_KEY) return BAD;
  copy(keyOf(s) + shared, unsharedAt, unshared);
  store<u32>(s, u32(valueAt + valueLength), NEXT);
  land(s, keyOf(s), keyLength, valueAt, valueLength);
  return ON_ENTRY;
}

/** Moves a source to its previous entry. */
export function retreat(s: usize): u32 {
  let indexed = usize(load<u32>(s, INDEXED));
  if (indexed == usize(load<u32>(s, INDEX))) {
    const end = usize(load<u32>(s, NEXT));
    if (end == usize(load<u32>(s, BLOCK))) return ENDED;
    indexed = indexBefore(s, end);
    if (indexed == 0) return BAD;
  }
  indexed -= INDEXED_BYTES;
  store<u32>(s, u32(indexed), INDEXED);
  const key = load<u32>(indexed);
  store<u32>(s, key, KEY);
  land(s, key, load<u32>(indexed, 4), load<u32>(indexed, 8), load<u32>(indexed, 12));
  return ON_ENTRY;
}

/** Indexes the entries from the last restart before `end` up to there. @returns the index's end; 0 when they are damaged, or too many. */
function indexBefore(s: usize, end: usize): usize {
  const block = usize(load<u32>(s, BLOCK));
  let left = usize(load<u32>(s, RESTART));
  let right = usize(load<u32>(s, RESTARTS_END)) - 4;
  while (left < right) {
    const middle = left + (((right - left + 4) >> 3) << 2);
    if (block + load<u32>(middle) < end) left = middle;
    else right = middle - 4;
  }
  const start = block + load<u32>(left);
  const entriesEnd = usize(load<u32>(s, END));
  const index = usize(load<u32>(s, INDEX));
  const keysAt = index + MAX_INDEXED * INDEXED_BYTES;
  let indexed = index;
  let free = keysAt;
  let key: usize = 0;
  let keyLength: u32 = 0;
  let at = start;
  while (at < end) {
    if (!readLengths(at, entriesEnd) || shared > keyLength) return 0;
    const previous = key;
    keyLength = shared + unshared;
    if (keyLength < TRAILER || keyLength > MAX_KEY || indexed == keysAt) return 0;
    if (shared == 0) {
      key = unsharedAt;
    } else {
      if (free + keyLength > index + INDEX_BYTES) return 0;
      key = free;
      copy(key, previous, shared);
      copy(key + shared, unsharedAt, unshared);
      free += keyLength;
    }
    store<u32>(indexed, u32(key));
    store<u32>(indexed, keyLength, 4);
    store<u32>(indexed, u32(valueAt), 8);
    store<u32>(indexed, valueLength, 12);
    indexed += INDEXED_BYTES;
    at = valueAt + valueLength;
  }
  if (at != end) return 0;
  store<u32>(s, u32(start), NEXT);
  return indexed;
}

/** Makes an entry a source's current one. */
function land(s: usize, key: usize, keyLength: u32, value: usize, valueLength: u32): void {
  store<u32>(s, keyLength, KEY_LENGTH);
  store<u32>(s, u32(value), VALUE);
  store<u32>(s, valueLength, VALUE_LENGTH);
  store<u64>(s, headOf(key, keyLength - TRAILER), HEAD);
  store<u32>(s, load<u32>(s, MOVES) + 1, MOVES);
}

/** Compares two internal keys: negative when the first comes before the second. */
export function compareKeys(a: usize, aLength: u32, b: usize, bLength: u32): i32 {
  const aUser = aLength - TRAILER;
  const bUser = bLength - TRAILER;
  const least = min(aUser, bUser);
  const common = commonLength(a, b, least);
  if (common < least) return i32(load<u8>(a + common)) - i32(load<u8>(b + common));
  if (aUser != bUser) return aUser < bUser ? -1 : 1;
  const aTrailer = load<u64>(a + aUser);
  const bTrailer = load<u64>(b + bUser);
  return aTrailer == bTrailer ? 0 : aTrailer > bTrailer ? -1 : 1;
}

/** Whether the entry of one source comes before that of another; of equal keys that of the lower source. */
export function isBefore(source: u32, other: u32): bool {
  const a = sourceAt(source);
  const b = sourceAt(other);
  const aHead = load<u64>(a, HEAD);
  const bHead = load<u64>(b, HEAD);
  if (aHead != bHead) return aHead < bHead;
  const order = compareKeys(keyOf(a), keyLengthOf(a), keyOf(b), keyLengthOf(b));
  return order == 0 ? source < other : order < 0;
}
