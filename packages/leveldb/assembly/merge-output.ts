// AssemblyScript. The data block that the merge writes, as `BlockBuilder` of `@bloom/sstable` builds it, and the user keys for its
// filter.
import { copy, putVarint } from './bytes';
import { MAX_KEY, TRAILER } from './merge-source';

/** Past the end of each area, for copies and comparisons of whole words. */
const SLACK: usize = 64;

/** The last key that was added. */
export const ADDED_AT: usize = 0x4000;
/** The last key that was dropped. */
export const DROPPED_AT: usize = ADDED_AT + MAX_KEY + SLACK;
/** The key at which the caller wants to be asked. */
export const BOUND_AT: usize = DROPPED_AT + MAX_KEY + SLACK;

/** The offsets of the filter's keys, from the start of the keys. */
export const OFFSETS_AT: usize = BOUND_AT + MAX_KEY + SLACK;
const MAX_KEYS: u32 = 0x4000;
export const KEYS_AT: usize = OFFSETS_AT + (usize(MAX_KEYS) + 1) * 4 + SLACK;
const KEYS_BYTES: u32 = 0x40000;

const RESTARTS_AT: usize = KEYS_AT + KEYS_BYTES + SLACK;
const MAX_RESTARTS: u32 = 0x8000;

/** The block's contents. */
export const BLOCK_AT: usize = RESTARTS_AT + usize(MAX_RESTARTS) * 4 + SLACK;
/** The most bytes of a block. */
export const MAX_BLOCK: u32 = 0x100000;

/** Where the blocks of the sources may be. */
export const SLOTS_AT: usize = (BLOCK_AT + MAX_BLOCK + SLACK + 0xffff) & ~0xffff;

/** Three varint32. */
const MAX_HEADER: u32 = 15;

let restartInterval: u32 = 16;
let blockSize: u32 = 4096;
let hasFilter: bool = false;

let length: u32 = 0;
let restarts: u32 = 1;
let sinceRestart: u32 = 0;

export let addedLength: u32 = 0;
export let entries: u32 = 0;
/** Bytes of the keys and values of the block. */
export let entryBytes: u32 = 0;
export let firstKeyAt: usize = 0;
export let firstKeyLength: u32 = 0;
export let keyCount: u32 = 0;

export function resetOutput(size: u32, interval: u32, isFiltered: bool): void {
  blockSize = size;
  restartInterval = interval;
  hasFilter = isFiltered;
  addedLength = 0;
  clearBlock();
  clearKeys();
}

export function clearKeys(): void {
  keyCount = 0;
  store<u32>(OFFSETS_AT, 0);
}

function clearBlock(): void {
  length = 0;
  restarts = 1;
  sinceRestart = 0;
  entries = 0;
  entryBytes = 0;
}

// @ts-ignore: decorator
@inline
export function isBlockFull(): bool {
  return length + (restarts << 2) + 4 >= blockSize;
}

/** Whether the block has room for an entry. */
// @ts-ignore: decorator
@inline
export function hasRoom(keyLength: u32, valueLength: u32): bool {
  return valueLength < MAX_BLOCK && length + MAX_HEADER + keyLength + valueLength + (restarts << 2) + 8 <= MAX_BLOCK && restarts < MAX_RESTARTS;
}

/** Whether there is room for the entry's key for the filter. */
// @ts-ignore: decorator
@inline
export function hasRoomForKey(userKeyLength: u32): bool {
  return !hasFilter || (keyCount < MAX_KEYS && load<u32>(OFFSETS_AT + (usize(keyCount) << 2)) + userKeyLength <= KEYS_BYTES);
}

/** Adds an entry whose key has its first `common` bytes in common with the last key that was added. */
export function add(key: usize, keyLength: u32, value: usize, valueLength: u32, common: u32): void {
  let shared = common;
  if (length == 0) {
    shared = 0;
  } else if (sinceRestart >= restartInterval) {
    store<u32>(RESTARTS_AT + (usize(restarts) << 2), length);
    restarts++;
    sinceRestart = 0;
    shared = 0;
  }
  sinceRestart++;
  const unshared = keyLength - shared;
  let at = BLOCK_AT + length;
  if ((shared | unshared | valueLength) < 0x80) {
    store<u32>(at, shared | (unshared << 8) | (valueLength << 16));
    at += 3;
  } else {
    at = putVarint(at, shared);
    at = putVarint(at, unshared);
    at = putVarint(at, valueLength);
  }
  if (length == 0) {
    firstKeyAt = at;
    firstKeyLength = keyLength;
  }
  copy(at, key + shared, unshared);
  at += unshared;
  copy(at, value, valueLength);
  length = u32(at - BLOCK_AT) + valueLength;
  entries++;
  entryBytes += keyLength + valueLength;
  copy(ADDED_AT + common, key + common, keyLength - common);
  addedLength = keyLength;
  if (hasFilter) {
    const userLength = keyLength - TRAILER;
    const offset = OFFSETS_AT + (usize(keyCount) << 2);
    const from = load<u32>(offset);
    copy(KEYS_AT + from, key, userLength);
    store<u32>(offset, from + userLength, 4);
    keyCount++;
  }
}

/** Writes the block's restarts. @returns the bytes of the block; 0 when it has no entries. */
export function endBlock(): u32 {
  if (length == 0) return 0;
  store<u32>(RESTARTS_AT, 0);
  memory.copy(BLOCK_AT + length, RESTARTS_AT, usize(restarts) << 2);
  const end = length + (restarts << 2);
  store<u32>(BLOCK_AT + end, restarts);
  clearBlock();
  return end + 4;
}
