/**
 * A block of sorted entries: data, index and metaindex alike.
 *
 *     entry | entry | … | offset of restart 0 (u32) | offset of restart 1 (u32) | … | number of restarts (u32)
 *
 *     entry:  shared (varint32) | unshared (varint32) | value length (varint32) | unshared key bytes | value
 *
 * A key is the first `shared` bytes of the key before it and its own unshared bytes. At a restart nothing is shared,
 * so that a search can start there. All integers are little-endian.
 *
 * Source: LevelDB, table/block_builder.cc and table/block.cc.
 */
import { compareBytes, type CompareRange } from './comparator.js';
import { CorruptionError, type LabelledRange, type Place, putVarint, type Structure, VarintReader } from '@bloom/bytes';

/** Three varint32. */
const MAX_ENTRY_HEADER_LENGTH = 15;

/** Builds one block after another out of ascending entries. */
export class BlockBuilder {
  /** Entries from one restart to the next. */
  readonly #restartInterval: number;
  #bytes = new Uint8Array(8192);
  #length = 0;
  #restarts = new Uint32Array(64);
  #restartCount = 1;
  /** Entries since the last restart. */
  #sinceRestart = 0;
  #lastKey = new Uint8Array(64);
  #lastKeyLength = 0;

  constructor(restartInterval: number) {
    this.#restartInterval = restartInterval;
  }

  /** Bytes of the block if it were finished now. */
  get byteLength(): number {
    return this.#length + this.#restartCount * 4 + 4;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** The key added last, also after `finish`: a view that holds until the next `add`. */
  get lastKey(): Uint8Array {
    return this.#lastKey.subarray(0, this.#lastKeyLength);
  }

  /** How the key added last compares with `key`. */
  compareLast(compare: CompareRange, key: Uint8Array): number {
    return compare(this.#lastKey, 0, this.#lastKeyLength, key, 0, key.length);
  }

  /** Bytes, from the front, that `key` has in common with the key added last. */
  commonWithLast(key: Uint8Array): number {
    const lastKey = this.#lastKey;
    const end = Math.min(this.#lastKeyLength, key.length);
    let common = 0;
    while (common < end && lastKey[common] === key[common]) common++;
    return common;
  }

  /** Whether `key`, whose first `common` bytes are those of the key added last and no more, comes after it by its bytes. */
  isAfterLast(key: Uint8Array, common: number): boolean {
    return common < key.length && (common === this.#lastKeyLength || this.#lastKey[common]! < key[common]!);
  }

  /** Adds an entry; the caller sees to the order. @param common `commonWithLast(key)`. */
  add(key: Uint8Array, value: Uint8Array, common = this.commonWithLast(key)): void {
    const keyLength = key.length;
    const valueLength = value.length;
    let shared = common;
    if (this.#length === 0) shared = 0;
    else if (this.#sinceRestart >= this.#restartInterval) {
      this.#restart();
      shared = 0;
    }
    const unshared = keyLength - shared;
    const needed = this.#length + MAX_ENTRY_HEADER_LENGTH + unshared + valueLength;
    if (needed > this.#bytes.length) this.#grow(needed);
    const bytes = this.#bytes;
    let position = this.#length;
    if ((shared | unshared | valueLength) < 0x80) {
      bytes[position] = shared;
      bytes[position + 1] = unshared;
      bytes[position + 2] = valueLength;
      position += 3;
    } else {
      position = putVarint(bytes, position, shared);
      position = putVarint(bytes, position, unshared);
      position = putVarint(bytes, position, valueLength);
    }
    copy(key, shared, keyLength, bytes, position);
    position += unshared;
    copy(value, 0, valueLength, bytes, position);
    this.#length = position + valueLength;
    this.#sinceRestart++;

    if (keyLength > this.#lastKey.length) {
      const grown = new Uint8Array(keyLength * 2);
      grown.set(this.#lastKey.subarray(0, common));
      this.#lastKey = grown;
    }
    copy(key, common, keyLength, this.#lastKey, common);
    this.#lastKeyLength = keyLength;
  }

  /** Ends the block and makes ready for the next. @returns a view that holds until the next `add`. */
  finish(): Uint8Array {
    const length = this.byteLength;
    if (length > this.#bytes.length) this.#grow(length);
    const view = new DataView(this.#bytes.buffer);
    let position = this.#length;
    for (let i = 0; i < this.#restartCount; i++, position += 4) view.setUint32(position, this.#restarts[i]!, true);
    view.setUint32(position, this.#restartCount, true);
    this.#length = 0;
    this.#restartCount = 1;
    this.#sinceRestart = 0;
    return this.#bytes.subarray(0, length);
  }

  #restart(): void {
    if (this.#restartCount === this.#restarts.length) {
      const grown = new Uint32Array(this.#restarts.length * 2);
      grown.set(this.#restarts);
      this.#restarts = grown;
    }
    this.#restarts[this.#restartCount++] = this.#length;
    this.#sinceRestart = 0;
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

/** Copies `from[start, end)`: a loop is faster than the call of set() and its view for a few bytes. */
function copy(from: Uint8Array, start: number, end: number, to: Uint8Array, position: number): void {
  if (end - start <= 32) for (let i = start; i < end; i++) to[position++] = from[i]!;
  else to.set(start === 0 && end === from.length ? from : from.subarray(start, end), position);
}

/**
 * Walks the entries of one block after another.
 *
 * A cursor is on an entry, or on none: before `reset` and whenever a move returned false. A move that meets damage
 * throws, and leaves it on none.
 */
export class BlockCursor {
  /** The contents of the block; the value of the entry is `bytes[valueStart, valueEnd)`. */
  bytes: Uint8Array = new Uint8Array(0);
  valueStart = 0;
  valueEnd = 0;
  /** The key of the entry is `keyBytes[0, keyLength)`. */
  keyBytes = new Uint8Array(128);
  keyLength = 0;
  /** Whether the cursor is on an entry. */
  valid = false;

  // Views of a buffer that is known are made in half the time of subarray().
  #keyBuffer = this.keyBytes.buffer;
  #buffer: ArrayBufferLike = this.bytes.buffer;
  #bufferOffset = 0;

  readonly #compare: CompareRange;
  readonly #structure: Structure;
  readonly #file: string | undefined;
  /** Where the block is in the file. */
  #blockOffset = 0;
  readonly #reader = new VarintReader(this.bytes);
  #restartCount = 0;
  /** Where the entries end and the restarts start. */
  #entriesEnd = 0;
  #entryStart = 0;
  #nextEntry = 0;
  /** The first restart at or after the next entry, and its offset. */
  #nextRestart = 0;
  #nextRestartOffset = 0;
  #shared = 0;
  #unsharedStart = 0;
  /** The way back, once `prev` was called. */
  readonly #run = new Run();

  constructor(compare: CompareRange, structure: Structure, file?: string) {
    this.#compare = compare;
    this.#structure = structure;
    this.#file = file;
  }

  /** The key of the entry: a view that holds until the next move. */
  get key(): Uint8Array {
    return new Uint8Array(this.#keyBuffer, 0, this.keyLength);
  }

  /** The value of the entry: a view of the block. */
  get value(): Uint8Array {
    return new Uint8Array(this.#buffer, this.#bufferOffset + this.valueStart, this.valueEnd - this.valueStart);
  }

  /** Where in the block the entry starts. */
  get entryStart(): number {
    return this.#entryStart;
  }

  /** Bytes of the entry's key that it shares with the key before it. */
  get shared(): number {
    return this.#shared;
  }

  /** How many restarts the block has. */
  get restartCount(): number {
    return this.#restartCount;
  }

  /**
   * Takes up another block, on none of its entries.
   *
   * @throws CorruptionError `BLOOM_BAD_BLOCK` when its restarts cannot be where it says.
   */
  reset(contents: Uint8Array, blockOffset: number): void {
    this.valid = false;
    this.#run.clear();
    this.#blockOffset = blockOffset;
    this.bytes = this.#reader.bytes = contents;
    this.#buffer = contents.buffer;
    this.#bufferOffset = contents.byteOffset;
    this.#restartCount = this.#entriesEnd = this.#reader.end = 0;
    const { length } = contents;
    if (length < 4) throw this.#damage(`${length} bytes cannot be a block`);
    const restartCount = uint32At(contents, length - 4);
    // A block without restarts has no entries, whatever stands before their number.
    if (restartCount === 0) return;
    if (restartCount > (length - 4) / 4) throw this.#damage(`${restartCount} restarts cannot be in ${length} bytes`);
    this.#restartCount = restartCount;
    this.#entriesEnd = this.#reader.end = length - 4 - restartCount * 4;
    if (this.restartOffset(0) !== 0) throw this.#damage(`restart 0 is at byte ${this.restartOffset(0)}, not at 0`);
  }

  /** Moves to the first entry. */
  seekToFirst(): boolean {
    this.#toRestart(0);
    return this.#step();
  }

  /** Moves to the last entry. */
  seekToLast(): boolean {
    if (this.#entriesEnd === 0) return (this.valid = false);
    this.#toRestart(this.#restartCount - 1);
    do this.#step();
    while (this.#nextEntry < this.#entriesEnd);
    return this.valid;
  }

  /** Moves to the first entry whose key is at or after `key[start, end)`. */
  seek(key: Uint8Array, start = 0, end = key.length): boolean {
    if (this.#entriesEnd === 0) return (this.valid = false);
    let left = 0;
    let right = this.#restartCount - 1;
    while (left < right) {
      const middle = (left + right + 1) >>> 1;
      this.#parse(this.restartOffset(middle));
      if (this.#shared !== 0) throw this.#damage(`the entry at byte ${this.#entryStart} shares key bytes at a restart`);
      const { bytes } = this;
      if (this.#compare(bytes, this.#unsharedStart, this.valueStart, key, start, end) < 0) left = middle;
      else right = middle - 1;
    }
    this.#toRestart(left);
    if (this.#compare === compareBytes) return this.#seekBytes(key, start, end);
    while (this.#step()) if (this.#compare(this.keyBytes, 0, this.keyLength, key, start, end) >= 0) return true;
    return false;
  }

  /**
   * Goes on to the first entry whose key is at or after `target[start, end)` by its bytes.
   *
   * No key on the way is put together: an entry that shares more bytes with the one before it than that has in common
   * with the target stands to the target as that one does, and of the others just the unshared bytes are compared.
   */
  #seekBytes(target: Uint8Array, start: number, end: number): boolean {
    const { bytes } = this;
    /** Bytes, from the front, that the entry has in common with the target. */
    let common = 0;
    while (this.#nextEntry < this.#entriesEnd) {
      this.#parse(this.#nextEntry);
      this.#checkShared();
      const shared = this.#shared;
      this.keyLength = shared + this.valueStart - this.#unsharedStart;
      if (shared > common) continue;
      let position = this.#unsharedStart;
      let at = start + shared;
      const stop = Math.min(this.valueStart, position + end - at);
      while (position < stop && bytes[position] === target[at]) {
        position++;
        at++;
      }
      common = at - start;
      if (at === end || (position < this.valueStart && bytes[position]! > target[at]!)) {
        // The bytes that it shares are the target's, too.
        this.#reserveKey(this.keyLength, 0);
        copy(target, start, start + shared, this.keyBytes, 0);
        copy(bytes, this.#unsharedStart, this.valueStart, this.keyBytes, shared);
        return (this.valid = true);
      }
    }
    return false;
  }

  /** Moves to the next entry. On none, it stays there. */
  next(): boolean {
    if (this.#run.length > 0) this.#run.clear();
    return this.valid && this.#step();
  }

  /** Moves to the entry before. On none, it stays there. */
  prev(): boolean {
    if (!this.valid) return false;
    this.valid = false;
    if (this.#run.length > 1) {
      this.keyLength = this.#run.pop(this.keyBytes);
      this.#parse(this.#run.entryStart);
    } else {
      if (this.#entryStart === 0) return false;
      this.#walkRun(this.#entryStart);
    }
    return (this.valid = true);
  }

  /** Walks from the last restart before `end` to the entry that ends there, and takes down the way back. */
  #walkRun(end: number): void {
    let left = 0;
    let right = this.#restartCount - 1;
    while (left < right) {
      const middle = (left + right + 1) >>> 1;
      if (this.restartOffset(middle) < end) left = middle;
      else right = middle - 1;
    }
    this.#toRestart(left);
    for (let position = this.#nextEntry; position < end; position = this.#nextEntry) {
      this.#parse(position);
      if (this.#shared > this.keyLength) throw this.#sharesTooMuch();
      this.#run.push(position, this.#shared, this.keyBytes, this.keyLength);
      this.#takeKey();
    }
    if (this.#nextEntry !== end || this.#run.length === 0) {
      throw this.#damage(`no entry ends at byte ${end}, where one starts`);
    }
    this.#expectRestart(left + 1);
  }

  /** Makes the entry at restart `restart` the next one. */
  #toRestart(restart: number): void {
    this.valid = false;
    this.#run.clear();
    this.keyLength = 0;
    this.#expectRestart(restart);
    this.#nextEntry = this.#nextRestartOffset;
    if (this.#nextEntry >= this.#entriesEnd && this.#entriesEnd > 0) {
      throw this.#damage(`restart ${restart} is at byte ${this.#nextEntry}, past the entries' end at byte ${this.#entriesEnd}`);
    }
  }

  #expectRestart(restart: number): void {
    this.#nextRestart = restart;
    this.#nextRestartOffset = restart < this.#restartCount ? this.restartOffset(restart) : this.#entriesEnd;
  }

  /** Moves to the entry at restart `restart`. */
  seekToRestart(restart: number): boolean {
    this.#toRestart(restart);
    return this.#step();
  }

  /** Where in the block the entry at restart `restart` starts. */
  restartOffset(restart: number): number {
    return uint32At(this.bytes, this.bytes.length - 4 - (this.#restartCount - restart) * 4);
  }

  /** Moves on to the next entry, whose key is built on this one's. */
  #step(): boolean {
    if (this.#nextEntry >= this.#entriesEnd) return (this.valid = false);
    this.#parse(this.#nextEntry);
    this.#checkShared();
    this.#takeKey();
    return (this.valid = true);
  }

  /** Whether the parsed entry can follow the one before it, whose key has `keyLength` bytes. */
  #checkShared(): void {
    if (this.#entryStart === this.#nextRestartOffset) {
      if (this.#shared !== 0) throw this.#damage(`the entry at byte ${this.#entryStart} shares key bytes at a restart`);
      this.#expectRestart(this.#nextRestart + 1);
    } else if (this.#shared > this.keyLength) {
      throw this.#sharesTooMuch();
    }
  }

  /** Reads the entry at `position`, all but its key. */
  #parse(position: number): void {
    const { bytes } = this;
    const end = this.#entriesEnd;
    let shared: number;
    let unshared: number;
    let valueLength: number;
    if (
      end - position >= 3 &&
      (shared = bytes[position]!) < 0x80 &&
      (unshared = bytes[position + 1]!) < 0x80 &&
      (valueLength = bytes[position + 2]!) < 0x80
    ) {
      // Most entries: three lengths of one byte each.
      this.#unsharedStart = position + 3;
    } else {
      const reader = this.#reader;
      reader.position = position;
      shared = reader.varint32();
      unshared = shared < 0 ? -1 : reader.varint32();
      valueLength = unshared < 0 ? -1 : reader.varint32();
      this.#unsharedStart = reader.position;
      if (valueLength < 0) throw this.#damage(`the lengths of the entry at byte ${position} cannot be read`);
    }
    this.#entryStart = position;
    this.#shared = shared;
    this.valueStart = this.#unsharedStart + unshared;
    this.#nextEntry = this.valueEnd = this.valueStart + valueLength;
    if (this.valueEnd > end) throw this.#damage(`the entry at byte ${position} runs past the entries' end at byte ${end}`);
  }

  /** Makes the key of the parsed entry out of the key that stands there. */
  #takeKey(): void {
    const shared = this.#shared;
    const unsharedStart = this.#unsharedStart;
    const unsharedEnd = this.valueStart;
    const keyLength = (this.keyLength = shared + unsharedEnd - unsharedStart);
    this.#reserveKey(keyLength, shared);
    const from = this.bytes;
    const to = this.keyBytes;
    if (unsharedEnd - unsharedStart > 32 || unsharedEnd + 8 > from.length || keyLength + 8 > to.length) {
      copy(from, unsharedStart, unsharedEnd, to, shared);
      return;
    }
    // Eight at a time, though the last of them are of no key: a loop that ends elsewhere for each key is guessed wrong
    // each time, and a scan takes a fifth longer.
    for (let i = unsharedStart, at = shared; i < unsharedEnd; i = (i + 8) | 0, at = (at + 8) | 0) {
      to[at] = from[i]!;
      to[(at + 1) | 0] = from[(i + 1) | 0]!;
      to[(at + 2) | 0] = from[(i + 2) | 0]!;
      to[(at + 3) | 0] = from[(i + 3) | 0]!;
      to[(at + 4) | 0] = from[(i + 4) | 0]!;
      to[(at + 5) | 0] = from[(i + 5) | 0]!;
      to[(at + 6) | 0] = from[(i + 6) | 0]!;
      to[(at + 7) | 0] = from[(i + 7) | 0]!;
    }
  }

  /** Makes room for a key, and keeps the first `kept` bytes of the one that stands there. */
  #reserveKey(keyLength: number, kept: number): void {
    if (keyLength <= this.keyBytes.length) return;
    const grown = new Uint8Array(keyLength * 2);
    grown.set(this.keyBytes.subarray(0, kept));
    this.keyBytes = grown;
    this.#keyBuffer = grown.buffer;
  }

  #sharesTooMuch(): CorruptionError {
    return this.#damage(
      `the entry at byte ${this.#entryStart} shares ${this.#shared} bytes of a key of ${this.keyLength}`,
    );
  }

  #damage(problem: string): CorruptionError {
    this.valid = false;
    const place: Place = { structure: this.#structure, offset: this.#blockOffset, file: this.#file };
    return new CorruptionError('BLOOM_BAD_BLOCK', place, problem);
  }
}

/**
 * The entries from a restart to the current one, so that going back costs no new walk for each step.
 *
 * For each entry it keeps where it starts, and the end of the key before it, which its own key overwrote: together
 * never more bytes than the block has.
 */
class Run {
  length = 0;
  readonly #starts: number[] = [];
  readonly #shared: number[] = [];
  readonly #previousKeyLengths: number[] = [];
  /** Where in `#overwritten` the bytes of each entry start. */
  readonly #overwrittenStarts: number[] = [];
  #overwritten = new Uint8Array(0);
  #overwrittenEnd = 0;

  /** Where the current entry starts. */
  get entryStart(): number {
    return this.#starts[this.length - 1]!;
  }

  clear(): void {
    this.length = 0;
    this.#overwrittenEnd = 0;
  }

  /** Takes down the next entry, while the key before it is still in place. */
  push(entryStart: number, shared: number, previousKey: Uint8Array, previousKeyLength: number): void {
    const i = this.length++;
    this.#starts[i] = entryStart;
    this.#shared[i] = shared;
    this.#previousKeyLengths[i] = previousKeyLength;
    this.#overwrittenStarts[i] = this.#overwrittenEnd;
    const end = this.#overwrittenEnd + previousKeyLength - shared;
    if (end > this.#overwritten.length) {
      const grown = new Uint8Array(end * 2);
      grown.set(this.#overwritten.subarray(0, this.#overwrittenEnd));
      this.#overwritten = grown;
    }
    copy(previousKey, shared, previousKeyLength, this.#overwritten, this.#overwrittenEnd);
    this.#overwrittenEnd = end;
  }

  /** Drops the current entry, and puts the key before it back into `key`. @returns the length of that key. */
  pop(key: Uint8Array): number {
    const i = --this.length;
    const start = this.#overwrittenStarts[i]!;
    copy(this.#overwritten, start, this.#overwrittenEnd, key, this.#shared[i]!);
    this.#overwrittenEnd = start;
    return this.#previousKeyLengths[i]!;
  }
}

/**
 * What the contents of a block at `offset` of a file are: every byte once, in order.
 *
 * @param describe says what an entry's value means, where it is not plain bytes.
 */
export function blockLayout(
  contents: Uint8Array,
  offset: number,
  compare: CompareRange,
  describe?: (value: Uint8Array) => string | undefined,
): LabelledRange[] {
  const cursor = new BlockCursor(compare, 'data block');
  const ranges: LabelledRange[] = [];
  let position = 0;
  const label = (byteLength: number, name: string, value?: string): void => {
    if (byteLength > 0) ranges.push({ offset: offset + position, byteLength, label: name, ...(value !== undefined && { value }) });
    position += byteLength;
  };
  const showBytes = (bytes: Uint8Array): string => {
    const text = Array.from(bytes.subarray(0, 24), (byte) =>
      byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c
        ? String.fromCharCode(byte)
        : `\\x${byte.toString(16).padStart(2, '0')}`,
    ).join('');
    return `"${text}"${bytes.length > 24 ? `… ${bytes.length} bytes` : ''}`;
  };
  try {
    cursor.reset(contents, offset);
    let i = 0;
    for (let more = cursor.seekToFirst(); more; more = cursor.next(), i++) {
      const unshared = cursor.keyLength - cursor.shared;
      const valueLength = cursor.valueEnd - cursor.valueStart;
      const header = cursor.valueStart - unshared - position;
      label(header, `entry ${i}: lengths`, `shared ${cursor.shared}, unshared ${unshared}, value ${valueLength}`);
      label(unshared, `entry ${i}: ${cursor.shared === 0 ? 'key' : 'end of key'}`, showBytes(cursor.key));
      label(valueLength, `entry ${i}: value`, describe?.(cursor.value) ?? showBytes(cursor.value));
    }
    const restartsStart = contents.length - 4 - cursor.restartCount * 4;
    label(restartsStart - position, 'bytes before the restarts');
    for (let r = 0; r < cursor.restartCount; r++) label(4, `offset of restart ${r}`, String(cursor.restartOffset(r)));
    label(4, 'number of restarts', String(cursor.restartCount));
  } catch (error) {
    if (!(error instanceof CorruptionError)) throw error;
    label(contents.length - position, 'damaged', error.problem);
  }
  return ranges;
}

/**
 * The most bytes that the keys of a block may have when their shared prefixes are written out: what a program that
 * goes through all of them will do. Blocks that were written to be read stay far below it; a block that was written to
 * cost time does not.
 */
export function maxKeyBytesOf(contents: Uint8Array): number {
  return Math.max(64 * 2 ** 20, contents.length * 16);
}

function uint32At(bytes: Uint8Array, position: number): number {
  return (
    (bytes[position]! | (bytes[position + 1]! << 8) | (bytes[position + 2]! << 16) | (bytes[position + 3]! << 24)) >>> 0
  );
}
