// AssemblyScript. The inner loop of walks forward through a database, for `src/cursor/visible-kernel.ts`: it merges the entries of blocks,
// leaves out what is not visible, and packs user keys and values one after another.
//
// All addresses are bytes from the start of the memory. Keys are internal keys in bytewise order.
import { commonLength, copy } from './bytes';
import { advanceInOrder, BAD, clearMoves, clearSources, ENDED, enterStored, keyLengthOf, keyOf, MAX_KEY, ON_ENTRY, place as placeSource, sourceAt, TRAILER, valueLengthOf, valueOf } from './merge-source';
import { clearQueue, dequeue, enqueue, firstSource, queued, sink } from './source-queue';

export { contentsEnd, contentsStart, enteredOf, movesOf, supply, supplyStored } from './merge-source';
export { MAX_KEY, MAX_SOURCES } from './merge-source';

/** Unused bytes after each area, because copies and comparisons use whole words. */
const SLACK: usize = 64;

/** The results of `fill`: uint32. */
export const RESULT_AT: usize = 0x3000;
/** The user key whose older versions are hidden. */
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
let samples: bool = false;
/** Bytes until the next sample. */
let unsampled: u32 = 0;

/** Whether the first source must move before its entry is taken. */
let mustMove: bool = false;
/** Whether the bytes of the current entry were counted for samples. */
let isCounted: bool = false;
/** Whether the next entry is damaged or out of order. */
let isBad: bool = false;
let hiddenAt: usize = HIDDEN_AT;
let hiddenLength: u32 = 0;

let entries: u32 = 0;
let length: u32 = 0;

/** Starts a walk after the user key of `hidden` bytes at `HIDDEN_AT`. */
export function start(visibleSequence: u64, hidden: u32, isSampled: bool, bytesUntilSample: u32): void {
  sequence = visibleSequence;
  samples = isSampled;
  unsampled = bytesUntilSample;
  mustMove = false;
  // The walk starts at an entry that the caller has counted.
  isCounted = true;
  isBad = false;
  hiddenAt = HIDDEN_AT;
  hiddenLength = hidden;
  clearSources();
  clearQueue();
  clear();
}

/** Moves a source to the entry at `position` of its block, and adds it to the queue. */
export function place(source: u32, position: u32): bool {
  if (placeSource(source, position) != ON_ENTRY) return false;
  enqueue(source);
  return true;
}

/** Moves the source that needed a block to the first entry of its new block. */
export function enter(): bool {
  const source = firstSource();
  if (advanceInOrder(sourceAt(source)) != ON_ENTRY) return false;
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

/** Starts an empty run. */
export function clear(): void {
  if (hiddenAt != HIDDEN_AT) memory.copy(HIDDEN_AT, hiddenAt, hiddenLength);
  hiddenAt = HIDDEN_AT;
  entries = 0;
  length = 0;
}

/** Packs entries until the caller is needed. @returns the reason. */
export function fill(): u32 {
  const why = pack();
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
  if (why == AT_SAMPLE) {
    const s = sourceAt(firstSource());
    store<u32>(RESULT_AT, u32(keyOf(s)), 20);
    store<u32>(RESULT_AT, keyLengthOf(s), 24);
    store<u32>(RESULT_AT, valueLengthOf(s), 28);
  }
  return why;
}

function pack(): u32 {
  if (isBad) return DECLINED;
  while (true) {
    if (mustMove) {
      const moved = advanceInOrder(sourceAt(firstSource()));
      if (moved == ENDED && !enterStored(firstSource())) return NEEDS_BLOCK;
      if (moved == BAD) {
        isBad = true;
        return DECLINED;
      }
      sink();
      mustMove = false;
      isCounted = false;
    }
    if (queued == 0) return DONE;
    const s = sourceAt(firstSource());
    const key = keyOf(s);
    const keyLength = keyLengthOf(s);
    const valueLength = valueLengthOf(s);
    if (samples && !isCounted) {
      const bytes = keyLength + valueLength;
      if (bytes > unsampled) return AT_SAMPLE;
      unsampled -= bytes;
      isCounted = true;
    }
    const userLength = keyLength - TRAILER;
    const trailer = load<u64>(key + userLength);
    const type = u32(trailer) & 0xff;
    if (type > 1) return DECLINED;
    if (trailer >> 8 <= sequence && isBehindHidden(key, userLength)) {
      if (type == 0) {
        copy(HIDDEN_AT, key, userLength);
        hiddenAt = HIDDEN_AT;
      } else {
        if (userLength + valueLength > MAX_ENTRY_BYTES) return TOO_LONG;
        if (length + userLength + valueLength > RUN_BYTES || entries == MAX_ENTRIES) return RUN_FULL;
        const at = RUN_AT + length;
        copy(at, key, userLength);
        copy(at + userLength, valueOf(s), valueLength);
        hiddenAt = at;
        length += userLength;
        const ends = ENDS_AT + (usize(entries) << 3);
        store<u32>(ends, length);
        length += valueLength;
        store<u32>(ends, length, 4);
        entries++;
      }
      hiddenLength = userLength;
    }
    mustMove = true;
  }
}

// @ts-ignore: decorator
@inline
function isBehindHidden(key: usize, userLength: u32): bool {
  const least = min(userLength, hiddenLength);
  const common = commonLength(key, hiddenAt, least);
  return common < least ? load<u8>(key + common) > load<u8>(hiddenAt + common) : userLength > hiddenLength;
}
