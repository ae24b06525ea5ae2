/**
 * Reads the entries of a block one after another; `block.ts` has a picture of their bytes.
 *
 * Source: LevelDB, table/block.cc, `Block::Iter`.
 */
import { CorruptionError, type Place, type Structure, VarintReader } from '@bloom/bytes';
import { copyBytes, numberOf } from '@bloom/bytes/internal';
import { BackwardPath } from './backward-path.js';
import { restartsBeforeHashIndex } from './hash-index.js';

/** Room that is made for keys beyond what the first of them needs. */
const SPARE_KEY_BYTES = 128;

/**
 * Walks the entries of a block, in either direction.
 *
 * A walk is on an entry after a move that returned true, and on no entry otherwise. A move that finds damage throws, and
 * the walk is then on no entry. One walk can be used for many blocks: `reset` starts the next.
 */
export class BlockWalk {
  /** The contents of the block; the value of the entry is `bytes[valueStart, valueEnd)`. */
  bytes: Uint8Array = new Uint8Array(0);
  valueStart = 0;
  valueEnd = 0;
  /** The key of the entry is `keyBytes[0, keyLength)`. */
  keyBytes: Uint8Array = new Uint8Array(0);
  keyLength = 0;
  /** Whether the walk is on an entry. */
  valid = false;
  /** Where in the block the entry starts. */
  entryStart = 0;
  /** How many bytes of the entry's key it shares with the previous key. */
  shared = 0;
  /** How many restarts the block has. */
  restartCount = 0;
  /** Where the entries end and the restarts start. */
  entriesEnd = 0;

  // A view made of a known buffer takes half the time of subarray(). Asking an array for its buffer takes as long as making
  // the view, so it is asked only when a view is wanted, which lookups in a database never do.
  private keyBuffer: ArrayBufferLike | undefined;
  private buffer: ArrayBufferLike | undefined;
  private bufferOffset = 0;

  private readonly structure: Structure;
  private readonly file: string | undefined;
  /** Where the block is in the file. */
  private blockOffset = 0;
  private readonly reader = new VarintReader(this.bytes);
  protected nextEntry = 0;
  protected unsharedStart = 0;
  /** The first restart at or after the next entry, and its offset. */
  private nextRestart = 0;
  private nextRestartOffset = 0;
  /** Filled by the first `prev`, cleared by every other move. */
  private readonly path = new BackwardPath();

  constructor(structure: Structure, file?: string) {
    this.structure = structure;
    this.file = file;
  }

  /** The key of the entry: a view that is valid until the next move. */
  get key(): Uint8Array {
    return new Uint8Array((this.keyBuffer ??= this.keyBytes.buffer), 0, this.keyLength);
  }

  /** The value of the entry: a view of the block. */
  get value(): Uint8Array {
    if (this.buffer === undefined) {
      this.buffer = this.bytes.buffer;
      this.bufferOffset = this.bytes.byteOffset;
    }
    return new Uint8Array(this.buffer, this.bufferOffset + this.valueStart, this.valueEnd - this.valueStart);
  }

  /** Whether `bytes` are in memory that the walk's keys or values are in. */
  lends(bytes: Uint8Array): boolean {
    const { buffer } = bytes;
    return buffer === this.keyBytes.buffer || buffer === this.bytes.buffer;
  }

  /**
   * Starts another block. The walk is then on no entry.
   *
   * @param blockOffset where the block is in the file, for errors.
   * @throws CorruptionError `BLOOM_BAD_BLOCK` when the restarts do not fit into the block.
   */
  reset(contents: Uint8Array, blockOffset: number): void {
    this.valid = false;
    this.path.clear();
    this.blockOffset = blockOffset;
    this.bytes = this.reader.bytes = contents;
    this.buffer = undefined;
    this.restartCount = this.entriesEnd = this.reader.end = 0;
    const { length } = contents;
    if (length < 4) throw this.damage(`${numberOf(length, 'byte')} cannot be a block`);
    let restartCount = uint32At(contents, length - 4);
    // LevelDB treats a block with no restarts as empty, whatever else it contains.
    if (restartCount === 0) return;
    let entriesEnd = length - 4 - restartCount * 4;
    if (entriesEnd < 0) {
      const restarts = restartsBeforeHashIndex(contents, restartCount);
      if (restarts === undefined) throw this.damage(`${numberOf(restartCount, 'restart')} would not fit in ${numberOf(length, 'byte')}`);
      ({ start: entriesEnd, count: restartCount } = restarts);
    }
    this.restartCount = restartCount;
    this.entriesEnd = this.reader.end = entriesEnd;
    if (this.restartOffset(0) !== 0) throw this.damage(`restart 0 is at byte ${this.restartOffset(0)}, not at 0`);
  }

  /** Goes on in the same contents in other memory. */
  moveTo(contents: Uint8Array): void {
    this.bytes = this.reader.bytes = contents;
    this.buffer = undefined;
  }

  /** Moves to the first entry. */
  seekToFirst(): boolean {
    this.toRestart(0);
    return this.step();
  }

  /** Moves to the last entry. */
  seekToLast(): boolean {
    if (this.entriesEnd === 0) return (this.valid = false);
    this.toRestart(this.restartCount - 1);
    do this.step();
    while (this.nextEntry < this.entriesEnd);
    return this.valid;
  }

  /**
   * Walks through all entries, and ends on none.
   *
   * @throws CorruptionError `BLOOM_BAD_BLOCK` for a damaged entry, and for a restart that is not the start of an entry: walks
   *   forward do not need it, searches and walks backward do.
   */
  mustBeWhole(): void {
    for (let more = this.seekToFirst(); more; ) more = this.next();
    const restart = this.nextRestart;
    // A block without entries has a restart too.
    if (restart === this.restartCount || this.entriesEnd === 0) return;
    throw this.damage(`restart ${restart} is at byte ${this.restartOffset(restart)}, where no entry starts or an earlier restart points`);
  }

  /** Moves to the next entry. A no-op unless on an entry. */
  next(): boolean {
    if (this.path.length > 0) this.path.clear();
    return this.valid && this.step();
  }

  /** Moves to the previous entry. A no-op unless on an entry. */
  prev(): boolean {
    if (!this.valid) return false;
    this.valid = false;
    const path = this.path;
    if (path.length > 1) {
      const { shared } = this;
      path.pop();
      this.parse(path.entryStart);
      this.keyLength = this.shared + this.valueStart - this.unsharedStart;
      path.restore(this.keyBytes, shared, this.keyLength);
    } else {
      if (this.entryStart === 0) return false;
      this.#walkTo(this.entryStart);
    }
    return (this.valid = true);
  }

  /** Walks from the last restart before `end` to the entry that ends there, and records the path for `prev`. */
  #walkTo(end: number): void {
    let left = 0;
    let right = this.restartCount - 1;
    while (left < right) {
      const middle = (left + right + 1) >>> 1;
      if (this.restartOffset(middle) < end) left = middle;
      else right = middle - 1;
    }
    this.toRestart(left);
    for (let position = this.nextEntry; position < end; position = this.nextEntry) {
      this.parse(position);
      if (this.shared > this.keyLength) throw this.#sharesTooMuch();
      this.path.push(position, this.shared, this.keyBytes, this.keyLength);
      this.#takeKey();
    }
    if (this.nextEntry !== end) throw this.damage(`an entry starts at byte ${end}, but the one before it does not end there`);
    this.#expectRestart(left + 1);
  }

  /** Makes the entry at restart `restart` the next one. */
  protected toRestart(restart: number): void {
    this.valid = false;
    this.path.clear();
    this.keyLength = 0;
    this.#expectRestart(restart);
    this.nextEntry = this.nextRestartOffset;
    if (this.nextEntry >= this.entriesEnd && this.entriesEnd > 0) {
      throw this.damage(`restart ${restart} is at byte ${this.nextEntry}, past the entries' end at byte ${this.entriesEnd}`);
    }
  }

  #expectRestart(restart: number): void {
    this.nextRestart = restart;
    this.nextRestartOffset = restart < this.restartCount ? this.restartOffset(restart) : this.entriesEnd;
  }

  /**
   * Makes an entry that a search found the current one, all but the bytes of its key.
   *
   * @param restart one at or before the entry.
   */
  protected place(entryStart: number, shared: number, unsharedStart: number, valueStart: number, valueEnd: number, restart: number): void {
    this.path.clear();
    this.entryStart = entryStart;
    this.shared = shared;
    this.unsharedStart = unsharedStart;
    this.valueStart = valueStart;
    this.keyLength = shared + valueStart - unsharedStart;
    this.nextEntry = this.valueEnd = valueEnd;
    do this.#expectRestart(++restart);
    while (this.nextRestartOffset <= entryStart);
  }

  /** Moves to the entry at restart `restart`. */
  seekToRestart(restart: number): boolean {
    this.toRestart(restart);
    return this.step();
  }

  /** Where in the block the entry at restart `restart` starts. */
  restartOffset(restart: number): number {
    return uint32At(this.bytes, this.entriesEnd + restart * 4);
  }

  /** Moves to the next entry, whose key builds on the current one's. */
  protected step(): boolean {
    if (this.nextEntry >= this.entriesEnd) return (this.valid = false);
    this.parse(this.nextEntry);
    this.checkShared();
    this.#takeKey();
    return (this.valid = true);
  }

  /** Checks that the parsed entry can follow the previous one, whose key has `keyLength` bytes. */
  protected checkShared(): void {
    if (this.entryStart === this.nextRestartOffset) {
      if (this.shared !== 0) throw this.damage(`the entry at byte ${this.entryStart} is at a restart, but its key is not whole`);
      this.#expectRestart(this.nextRestart + 1);
    } else if (this.shared > this.keyLength) {
      throw this.#sharesTooMuch();
    }
  }

  /** Reads the entry at `position`, except for its key. */
  protected parse(position: number): void {
    const { bytes } = this;
    const end = this.entriesEnd;
    let shared: number;
    let unshared: number;
    let valueLength: number;
    if (
      end - position >= 3 &&
      (shared = bytes[position]!) < 0x80 &&
      (unshared = bytes[position + 1]!) < 0x80 &&
      (valueLength = bytes[position + 2]!) < 0x80
    ) {
      // The common case: three lengths of one byte each.
      this.unsharedStart = position + 3;
    } else {
      const reader = this.reader;
      reader.position = position;
      shared = reader.varint32();
      unshared = shared < 0 ? -1 : reader.varint32();
      valueLength = unshared < 0 ? -1 : reader.varint32();
      this.unsharedStart = reader.position;
      if (valueLength < 0) throw this.damage(`the lengths of the entry at byte ${position} cannot be read`);
    }
    this.entryStart = position;
    this.shared = shared;
    this.valueStart = this.unsharedStart + unshared;
    this.nextEntry = this.valueEnd = this.valueStart + valueLength;
    if (this.valueEnd > end) throw this.damage(`the entry at byte ${position} runs past the entries' end at byte ${end}`);
  }

  /** Turns the previous key into the key of the parsed entry. */
  #takeKey(): void {
    const shared = this.shared;
    const unsharedStart = this.unsharedStart;
    const unsharedEnd = this.valueStart;
    const keyLength = (this.keyLength = shared + unsharedEnd - unsharedStart);
    if (keyLength > this.keyBytes.length) this.reserveKey(keyLength, shared);
    const from = this.bytes;
    const to = this.keyBytes;
    if (unsharedEnd - unsharedStart > 32 || unsharedEnd + 8 > from.length || keyLength + 8 > to.length) {
      copyBytes(from, unsharedStart, unsharedEnd, to, shared);
      return;
    }
    // Eight bytes at a time, past the end of the key: with an exact end the loop's last branch is mispredicted for each
    // key, and a scan takes a fifth longer. The int32 arithmetic cannot wrap: MAX_BLOCK_BYTES.
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

  /** Makes room for a key and keeps the first `kept` bytes of the current one. */
  protected reserveKey(keyLength: number, kept: number): void {
    if (keyLength <= this.keyBytes.length) return;
    const grown = new Uint8Array(SPARE_KEY_BYTES + keyLength * 2);
    grown.set(this.keyBytes.subarray(0, kept));
    this.keyBytes = grown;
    this.keyBuffer = undefined;
  }

  #sharesTooMuch(): CorruptionError {
    return this.damage(
      `the entry at byte ${this.entryStart} shares ${this.shared} key bytes, but the previous key has ${this.keyLength}`,
    );
  }

  protected damage(problem: string): CorruptionError {
    this.valid = false;
    const place: Place = { structure: this.structure, offset: this.blockOffset, file: this.file };
    return new CorruptionError('BLOOM_BAD_BLOCK', place, problem);
  }
}

/** The little-endian uint32 at `position`. */
export function uint32At(bytes: Uint8Array, position: number): number {
  return (
    (bytes[position]! | (bytes[position + 1]! << 8) | (bytes[position + 2]! << 16) | (bytes[position + 3]! << 24)) >>> 0
  );
}
