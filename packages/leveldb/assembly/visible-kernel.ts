// AssemblyScript. The inner loop of walks through a database, for `src/cursor/visible-kernel.ts`: it merges the entries of blocks,
// leaves out what is not visible, and packs user keys and values one after another, in the order of the walk.
//
// All addresses are bytes from the start of the memory. Keys are internal keys in bytewise order.
import { commonLength, copy } from './bytes';
import { advance, BAD, clearMoves, clearSources, ENDED, enterStored, keyLengthOf, keyOf, MAX_KEY, ON_ENTRY, place as placeForward, placeBackward, retreat, sourceAt, TRAILER, valueLengthOf, valueOf } from './merge-source';
import { clearQueue, dequeue, enqueue, firstSource, queued, sink } from './source-queue';

export { contentsEnd, contentsStart, enteredOf, movesOf, supply, supplyIndex, supplyStored } from './merge-source';
export { INDEX_BYTES, MAX_KEY, MAX_SOURCES } from './merge-source';

/** Unused bytes after each area, because copies and comparisons use whole words. */
const SLACK: usize = 64;

/** The results of `fill`: uint32. */
export const RESULT_AT: usize = 0x3000;
/** Forward: the user key whose older versions are hidden. */
export const HIDDEN_AT: usize = 0x4000;
/** Where each packed key and each packed value ends, from the start of the run: uint32. */
export const ENDS_AT: usize = HIDDEN_AT + MAX_KEY + SLACK;
const MAX_ENTRIES: u32 = 0x1000;
/** The packed keys and values. */
export const RUN_AT: usize = ENDS_AT + usize(MAX_ENTRIES) * 8 + SLACK;
const RUN_BYTES: u32 = 0x10000;
/** A longer entry is not packed. */
const MAX_ENTRY_BYTES: u32 = 0x4000;

/** Where the blocks of the sources may be. */
export const SLOTS_AT: usize = RUN_AT + usize(RUN_BYTES) + SLACK;

// Why `fill` returns.
const DONE: u32 = 0;
const RUN_FULL: u32 = 1;
const NEEDS_BLOCK: u32 = 2;
const AT_SAMPLE: u32 = 3;
const DECLINED: u32 = 4;
const TOO_LONG: u32 = 5;

/** Newer entries are not visible. */
let sequence: u64 = 0;
let isBackward: bool = false;
let samples: bool = false;
/** Bytes until the next sample. */
let unsampled: u32 = 0;

/** Whether the first source must move before its entry is taken. */
let mustMove: bool = false;
/** Whether the bytes of the current entry were counted for samples. */
let isCounted: bool = false;
/** Whether the next entry is damaged. */
let isBad: bool = false;
let hiddenAt: usize = HIDDEN_AT;
let hiddenLength: u32 = 0;

/** The packed entries, and their bytes. */
let entries: u32 = 0;
let length: u32 = 0;

/**
 * Backward: whether the bytes after the packed entries are a key and a value, which is the newest visible version so far. The next entry shows
 * whether it is the newest of all.
 */
let found: bool = false;
let foundKey: u32 = 0;
let foundValue: u32 = 0;

/** Starts a walk forward, after the user key of `hidden` bytes at `HIDDEN_AT`. */
export function startForward(visibleSequence: u64, hidden: u32, isSampled: bool, bytesUntilSample: u32): void {
  start(visibleSequence, false, isSampled, bytesUntilSample);
  // The walk starts at an entry that the caller has counted.
  isCounted = true;
  hiddenLength = hidden;
}

/** Starts a walk backward. */
export function startBackward(visibleSequence: u64, isSampled: bool, bytesUntilSample: u32): void {
  start(visibleSequence, true, isSampled, bytesUntilSample);
  isCounted = false;
  found = false;
}

function start(visibleSequence: u64, backward: bool, isSampled: bool, bytesUntilSample: u32): void {
  sequence = visibleSequence;
  isBackward = backward;
  samples = isSampled;
  unsampled = bytesUntilSample;
  mustMove = false;
  isBad = false;
  hiddenAt = HIDDEN_AT;
  hiddenLength = 0;
  clearSources();
  clearQueue(backward);
  clear();
}

/** Moves a source to the entry at `position` of its block, and adds it to the queue. */
export function place(source: u32, position: u32): bool {
  if ((isBackward ? placeBackward(source, position) : placeForward(source, position)) != ON_ENTRY) return false;
  enqueue(source);
  return true;
}

/** Moves the source that needed a block to the first entry of its new block, or backward to the last. */
export function enter(): bool {
  const source = firstSource();
  if (moveOn(source) != ON_ENTRY) return false;
  clearMoves(source);
  sink();
  mustMove = false;
  isCounted = false;
  return true;
}

/** The source that needs a block. */
export function first(): u32 {
  return firstSource();
}

/** Removes the source that needs a block, because it has no further one. */
export function leave(): void {
  dequeue();
  mustMove = false;
  isCounted = false;
}

/** Records that the current entry was sampled. */
export function sampled(bytesUntilSample: u32): void {
  unsampled = bytesUntilSample;
  isCounted = true;
}

function moveOn(source: u32): u32 {
  return isBackward ? retreat(sourceAt(source)) : advance(sourceAt(source));
}

/** Starts an empty run. */
export function clear(): void {
  if (isBackward && found && length > 0) memory.copy(RUN_AT, RUN_AT + length, foundKey + foundValue);
  if (hiddenAt != HIDDEN_AT) memory.copy(HIDDEN_AT, hiddenAt, hiddenLength);
  hiddenAt = HIDDEN_AT;
  entries = 0;
  length = 0;
}

/** Packs entries until the caller is needed. @returns the reason. */
export function fill(): u32 {
  const why = isBackward ? packBackward() : packForward();
  if ((why == DECLINED || why == TOO_LONG) && isCounted && samples) {
    // The caller counts it again, or the next call does.
    const s = sourceAt(firstSource());
    unsampled += keyLengthOf(s) + valueLengthOf(s);
    isCounted = false;
  }
  store<u32>(RESULT_AT, entries);
  store<u32>(RESULT_AT, length, 4);
  store<u32>(RESULT_AT, u32(hiddenAt), 8);
  store<u32>(RESULT_AT, hiddenLength, 12);
  store<u32>(RESULT_AT, unsampled, 16);
  store<u32>(RESULT_AT, u32(found), 32);
  store<u32>(RESULT_AT, foundKey, 36);
  store<u32>(RESULT_AT, foundValue, 40);
  if (why == AT_SAMPLE) {
    const s = sourceAt(firstSource());
    store<u32>(RESULT_AT, u32(keyOf(s)), 20);
    store<u32>(RESULT_AT, keyLengthOf(s), 24);
    store<u32>(RESULT_AT, valueLengthOf(s), 28);
  }
  return why;
}

/** What stops a run before its current entry. */
const NOTHING: u32 = 6;

/** Moves to the next entry, unless the walk is on one that was not taken yet, and counts it for samples. @returns what stops the run. */
function reach(): u32 {
  if (mustMove) {
    const moved = moveOn(firstSource());
    if (moved == ENDED && !enterStored(firstSource(), isBackward)) return NEEDS_BLOCK;
    if (moved == BAD) {
      isBad = true;
      return DECLINED;
    }
    sink();
    mustMove = false;
    isCounted = false;
  }
  if (queued == 0) return DONE;
  if (samples && !isCounted) {
    const s = sourceAt(firstSource());
    const bytes = keyLengthOf(s) + valueLengthOf(s);
    if (bytes > unsampled) return AT_SAMPLE;
    unsampled -= bytes;
    isCounted = true;
  }
  return NOTHING;
}

function packForward(): u32 {
  if (isBad) return DECLINED;
  while (true) {
    const why = reach();
    if (why != NOTHING) return why;
    const s = sourceAt(firstSource());
    const key = keyOf(s);
    const userLength = keyLengthOf(s) - TRAILER;
    const trailer = load<u64>(key + userLength);
    const type = u32(trailer) & 0xff;
    if (type > 1) return DECLINED;
    if (trailer >> 8 <= sequence && isBehind(key, userLength, hiddenAt, hiddenLength)) {
      if (type == 0) {
        copy(HIDDEN_AT, key, userLength);
        hiddenAt = HIDDEN_AT;
      } else {
        const full = copyCurrent(s);
        if (full != NOTHING) return full;
        hiddenAt = RUN_AT + length;
        pack(userLength, valueLengthOf(s));
      }
      hiddenLength = userLength;
    }
    mustMove = true;
  }
}

/** As `VisibleCursor` goes backward: the versions of a key come from the oldest to the newest, and the last that is visible decides. */
function packBackward(): u32 {
  if (isBad) return DECLINED;
  while (true) {
    const why = reach();
    if (why != NOTHING) {
      if (why == DONE && found) packFound();
      return why;
    }
    const s = sourceAt(firstSource());
    const key = keyOf(s);
    const userLength = keyLengthOf(s) - TRAILER;
    const trailer = load<u64>(key + userLength);
    const type = u32(trailer) & 0xff;
    if (type > 1) return DECLINED;
    if (trailer >> 8 <= sequence) {
      if (found && isBehind(RUN_AT + length, foundKey, key, userLength)) {
        packFound();
        // LevelDB counts the entry that ends a move for the next move too.
        isCounted = false;
        continue;
      }
      if (type == 0) {
        found = false;
      } else {
        const full = copyCurrent(s);
        if (full != NOTHING) return full;
        found = true;
        foundKey = userLength;
        foundValue = valueLengthOf(s);
      }
    }
    mustMove = true;
  }
}

function packFound(): void {
  pack(foundKey, foundValue);
  found = false;
}

/** Copies the user key and the value of a source's entry after the packed entries. @returns what stops the run. */
function copyCurrent(s: usize): u32 {
  const userLength = keyLengthOf(s) - TRAILER;
  const valueLength = valueLengthOf(s);
  const bytes = userLength + valueLength;
  if (bytes > MAX_ENTRY_BYTES) return TOO_LONG;
  if (length + bytes > RUN_BYTES || entries >= MAX_ENTRIES) return RUN_FULL;
  copy(RUN_AT + length, keyOf(s), userLength);
  copy(RUN_AT + length + userLength, valueOf(s), valueLength);
  return NOTHING;
}

/** Adds the key and the value after the packed entries to them. */
function pack(keyLength: u32, valueLength: u32): void {
  length += keyLength;
  const ends = ENDS_AT + (usize(entries) << 3);
  store<u32>(ends, length);
  length += valueLength;
  store<u32>(ends, length, 4);
  entries++;
}

/** Whether a user key comes after another. */
function isBehind(key: usize, keyLength: u32, other: usize, otherLength: u32): bool {
  const least = min(keyLength, otherLength);
  const common = commonLength(key, other, least);
  return common < least ? load<u8>(key + common) > load<u8>(other + common) : keyLength > otherLength;
}
