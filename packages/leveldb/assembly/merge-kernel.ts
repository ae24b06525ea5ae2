// AssemblyScript. The inner loop of compactions and flushes, for `src/compact/merge-kernel.ts`: it merges the entries of blocks, drops
// what nobody sees any more, and builds data blocks. Everything that happens once for a block or less often is done there: the kernel
// returns to it.
//
// All addresses are bytes from the start of the memory. Keys are internal keys in bytewise order.
import { commonLength, copy } from './bytes';
import { add, addedLength, ADDED_AT, BOUND_AT, clearKeys, DROPPED_AT, endBlock, entries, entryBytes, firstKeyAt, firstKeyLength, hasRoom, hasRoomForKey, isBlockFull, keyCount, resetOutput } from './merge-output';
import { advance, BAD, clearSources, compareKeys, ENDED, enterStored, headOf, keyLengthOf, keyOf, MAX_KEY, ON_ENTRY, sourceAt, TRAILER, valueLengthOf, valueOf } from './merge-source';
import { clearQueue, dequeue, enqueue, firstSource, queued, sink } from './source-queue';

export { enteredOf, supply, supplyStored } from './merge-source';
export { BLOCK_AT, BOUND_AT, KEYS_AT, OFFSETS_AT, ADDED_AT, SLOTS_AT, clearKeys } from './merge-output';
export { MAX_KEY, MAX_SOURCES } from './merge-source';

/** What `endOfBlock` tells of the block: uint32. */
export const RESULT_AT: usize = 0x3000;

// Why the kernel returns.
const DONE: u32 = 0;
const BLOCK_FULL: u32 = 1;
const NEEDS_BLOCK: u32 = 2;
const NEEDS_TABLE: u32 = 3;
const AT_BOUND: u32 = 4;
const AT_DELETION: u32 = 5;
const KEYS_FULL: u32 = 6;
const DECLINED: u32 = 7;

// When to return at a key.
const NEVER: u32 = 0;
const PAST_BOUND: u32 = 1;

const UNKNOWN: u32 = 0;
const DROPPED: u32 = 1;

/** Whether versions are dropped at all. */
let drops: bool = false;
/** Everything visible at this sequence or a later one is kept. */
let oldest: u64 = 0;
/** Whether the caller decides which deletions are dropped. */
let asksDeletions: bool = false;
let hasTable: bool = false;
let boundMode: u32 = NEVER;
let boundLength: u32 = 0;
let boundHead: u64 = 0;

/** Whether the first source must move before its entry is taken. */
let mustMove: bool = false;
/** Whether the entry at hand was counted and compared with the bound. */
let isCounted: bool = false;
let verdict: u32 = UNKNOWN;
/** The last key that was taken: where it is, and its length; 0 before the first. */
let seenAt: usize = ADDED_AT;
let seenLength: u32 = 0;

let entriesRead: u32 = 0;
let shadowedDropped: u32 = 0;
let deletionsDropped: u32 = 0;
/** The entry at hand. */
let handKey: usize = 0;
let handKeyLength: u32 = 0;

/** The memtable's node at hand. */
let node: u32 = 0;

export function start(isDropping: bool, oldestSequence: u64, asks: bool, blockSize: u32, restartInterval: u32, hasFilter: bool): void {
  drops = isDropping;
  oldest = oldestSequence;
  asksDeletions = asks;
  hasTable = false;
  boundMode = NEVER;
  clearSources();
  clearQueue(false);
  mustMove = false;
  isCounted = false;
  verdict = UNKNOWN;
  seenAt = ADDED_AT;
  seenLength = 0;
  entriesRead = 0;
  shadowedDropped = 0;
  deletionsDropped = 0;
  node = 0;
  resetOutput(blockSize, restartInterval, hasFilter);
}

/** Sets when to return at a key: with mode 2 at the next one, with mode 1 at the next one after the key of `length` bytes at `BOUND_AT`. */
export function setBound(mode: u32, length: u32): void {
  boundMode = mode;
  boundLength = length;
  boundHead = mode == PAST_BOUND ? headOf(BOUND_AT, length - TRAILER) : 0;
}

export function setTable(isThere: bool): void {
  hasTable = isThere;
}

/** Answers for the deletion at hand. */
export function decide(isDropped: bool): void {
  verdict = isDropped ? DROPPED : 2;
}

/** Moves a source to the first entry of its block, and lines it up if it is on one. */
export function line(source: u32): u32 {
  const moved = advance(sourceAt(source));
  if (moved == ON_ENTRY) enqueue(source);
  return moved;
}

/** The first source of the queue. */
export function first(): u32 {
  return firstSource();
}

/** Removes the first source, which has ended. */
export function leave(): void {
  dequeue();
  mustMove = false;
}

/** Takes the entry at hand. @returns why it cannot be taken yet; 0 when it was. */
function take(key: usize, keyLength: u32, value: usize, valueLength: u32): u32 {
  const userLength = keyLength - TRAILER;
  if (!isCounted) {
    isCounted = true;
    entriesRead++;
    if (boundMode != NEVER && isAtBound(key, keyLength)) {
      handKey = key;
      handKeyLength = keyLength;
      return AT_BOUND;
    }
  }
  const trailer = load<u64>(key + userLength);
  const type = u32(trailer) & 0xff;
  if (type > 1) return DECLINED;
  const common = commonLength(ADDED_AT, key, min(addedLength, keyLength));
  let isShadowed = false;
  if (seenLength > 0) {
    const seenUser = seenLength - TRAILER;
    const least = min(userLength, seenUser);
    const same = seenAt == ADDED_AT ? common : commonLength(seenAt, key, least);
    if (same < least) {
      if (load<u8>(key + same) < load<u8>(seenAt + same)) return DECLINED;
    } else if (userLength == seenUser) {
      const seenTrailer = load<u64>(seenAt + seenUser);
      if (trailer > seenTrailer) return DECLINED;
      isShadowed = drops && seenTrailer >> 8 <= oldest;
      if (trailer == seenTrailer && !isShadowed) {
        // A copy. A memtable's is left out.
        return drops ? DECLINED : 0;
      }
    } else if (userLength < seenUser) {
      return DECLINED;
    }
  }
  if (isShadowed) {
    shadowedDropped++;
  } else if (type == 0 && drops && trailer >> 8 <= oldest) {
    if (asksDeletions && verdict == UNKNOWN) {
      handKey = key;
      handKeyLength = keyLength;
      return AT_DELETION;
    }
    if (!asksDeletions || verdict == DROPPED) {
      deletionsDropped++;
      isShadowed = true;
    }
  }
  if (isShadowed) {
    copy(DROPPED_AT, key, keyLength);
    seenAt = DROPPED_AT;
    seenLength = keyLength;
    return 0;
  }
  if (!hasTable) return NEEDS_TABLE;
  if (!hasRoom(keyLength, valueLength)) return DECLINED;
  if (!hasRoomForKey(userLength)) return KEYS_FULL;
  add(key, keyLength, value, valueLength, common);
  seenAt = ADDED_AT;
  seenLength = keyLength;
  return 0;
}

function isAtBound(key: usize, keyLength: u32): bool {
  if (boundMode != PAST_BOUND) return true;
  const head = headOf(key, keyLength - TRAILER);
  if (head != boundHead) return head > boundHead;
  return compareKeys(key, keyLength, BOUND_AT, boundLength) > 0;
}

/** Merges up to where the caller is needed. */
export function merge(): u32 {
  while (true) {
    if (mustMove) {
      const moved = advance(sourceAt(firstSource()));
      if (moved == ENDED && !enterStored(firstSource(), false)) return NEEDS_BLOCK;
      if (moved == BAD) return DECLINED;
      sink();
      mustMove = false;
    }
    if (queued == 0) return DONE;
    const s = sourceAt(firstSource());
    const why = take(keyOf(s), keyLengthOf(s), valueOf(s), valueLengthOf(s));
    if (why) return why;
    mustMove = true;
    isCounted = false;
    verdict = UNKNOWN;
    if (isBlockFull()) return BLOCK_FULL;
  }
}

/**
 * Walks over a memtable up to where the caller is needed: its nodes, uint32, are [nodes, nodesEnd), and its keys and values
 * [arena, arenaEnd). `src/memtable/memtable.ts` explains them.
 */
export function walk(nodes: usize, nodesEnd: usize, arena: usize, arenaEnd: usize, links: u32): u32 {
  while (true) {
    if (!mustMove) {
      const next = nodes + (usize(node + links) << 2);
      if (next >= nodesEnd) return DECLINED;
      node = load<u32>(next);
      mustMove = true;
    }
    if (node == 0) return DONE;
    const at = nodes + (usize(node) << 2);
    if (at + 12 > nodesEnd) return DECLINED;
    const key = arena + load<u32>(at);
    const keyLength = load<u32>(at, 4);
    const valueLength = load<u32>(at, 8);
    if (keyLength < TRAILER || keyLength > MAX_KEY || u64(key) + u64(keyLength) + u64(valueLength) > u64(arenaEnd)) return DECLINED;
    const why = take(key, keyLength, key + keyLength, valueLength);
    if (why) return why;
    mustMove = false;
    isCounted = false;
    if (isBlockFull()) return BLOCK_FULL;
  }
}

/** Ends the block, and tells of it at `RESULT_AT`. @returns its bytes; 0 when it has no entries. */
export function endOfBlock(): u32 {
  store<u32>(RESULT_AT, u32(firstKeyAt));
  store<u32>(RESULT_AT, firstKeyLength, 4);
  store<u32>(RESULT_AT, addedLength, 8);
  store<u32>(RESULT_AT, entries, 12);
  store<u32>(RESULT_AT, entryBytes, 16);
  store<u32>(RESULT_AT, keyCount, 20);
  return endBlock();
}

/** Tells of the merge at `RESULT_AT`: the key at hand, how many filter keys there are, and what became of the entries. */
export function tell(): void {
  store<u32>(RESULT_AT, u32(handKey));
  store<u32>(RESULT_AT, handKeyLength, 4);
  store<u32>(RESULT_AT, keyCount, 8);
  store<u32>(RESULT_AT, entriesRead, 12);
  store<u32>(RESULT_AT, shadowedDropped, 16);
  store<u32>(RESULT_AT, deletionsDropped, 20);
}
