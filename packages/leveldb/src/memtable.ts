/**
 * The newest entries of a database, which are in its log and in no table yet: a skip list of internal keys.
 *
 *     arena:  (user key | sequence << 8 | type (u64, little-endian) | value)*
 *     nodes:  (start of the key | bytes of the key | bytes of the value | node before | abbreviation (2) | next node at each level)*
 *
 * A node is the place where it starts in `nodes`: what a search needs of it is adjacent, in one line of the processor's
 * cache. With an array for each field, and a second comparison with the same node a level below, an insertion took an
 * eighth more time.
 *
 * An abbreviation is two numbers, made from the bytes of a user key that follow the prefix that all user keys share: the
 * first 30 bits of bytes 0 to 3, and the first 30 bits of bytes 3 to 6. If the abbreviations of two keys differ, their order
 * is the bytewise order of the keys, and the search does not read the arena: an insertion in random order takes half the
 * time. With any other comparator all abbreviations are 0, and the comparator decides.
 *
 * Entries are only ever added, so a cursor stays good while others are added.
 *
 * Source: LevelDB, db/memtable.cc and db/skiplist.h.
 */
import { compareInternalBytes, copyBytes, type CompareRange, INTERNAL_KEY_TRAILER_LENGTH, type Side } from '@bloom/sstable/database';
import { EntryCursor } from './entry-cursor.js';
import { MemtableFilter } from './memtable-filter.js';
import { MemtableMemory } from './memtable-memory.js';
import { ParkMiller } from './park-miller.js';

const MAX_HEIGHT = 12;
/** One node in so many is a level higher. */
const BRANCHING = 4;
/** The node before the first entry; as a link: none. */
const HEAD = 0;
// Where the parts of a node are.
const KEY_START = 0;
const KEY_LENGTH = 1;
const VALUE_LENGTH = 2;
const BEFORE = 3;
const ABBREVIATION = 4;
const LINKS = 6;

/** Less than any abbreviation, and more than any. */
const BEFORE_ALL = -1;
const AFTER_ALL = 2 ** 30;
/** How often the shared prefix may become shorter, which changes all abbreviations, before none is used: otherwise the time could be quadratic. */
const MAX_SHORTENINGS = 32;

/** A filter is made once there was one lookup for every so many entries, so that a memtable that is rarely read has none. */
const ENTRIES_PER_LOOKUP = 8;

/** Entries by internal key. */
export class Memtable {
  readonly #compare: CompareRange;
  /** Whether keys are in the order that abbreviations have. */
  readonly #isAbbreviated: boolean;
  /** Keys and values, one after another. */
  #arena: Uint8Array;
  #arenaLength = 0;
  #count = 0;
  #nodes = new Uint32Array(1024);
  #nodesLength = LINKS + MAX_HEIGHT;
  #height = 1;
  #last = HEAD;
  /** The node before the place that was searched for, at each level. */
  readonly #path = new Uint32Array(MAX_HEIGHT);
  readonly #heights = new Heights();
  readonly #memory = new MemtableMemory(MAX_HEIGHT);
  /** The prefix that all user keys share: its length, and where in the arena it starts. */
  #sharedLength = 0;
  #sharedStart = 0;
  #shortenings = 0;
  /** The abbreviation that was made last. */
  #abbreviation0 = 0;
  #abbreviation1 = 0;

  /** Which user keys there may be, once it is worth knowing. */
  #filter: MemtableFilter | undefined;
  /** How many lookups searched because there was no filter. */
  #lookups = 0;

  /** @param expectedBytes of keys and values: room that is made at once. */
  constructor(compareInternalKeys: CompareRange, expectedBytes = 0) {
    this.#compare = compareInternalKeys;
    this.#isAbbreviated = compareInternalKeys === compareInternalBytes;
    this.#arena = new Uint8Array(Math.max(1024, expectedBytes));
  }

  /** How many entries there are. */
  get count(): number {
    return this.#count;
  }

  /** Bytes that LevelDB's memtable would take: it switches logs by them. */
  get memoryUsage(): number {
    return this.#memory.byteLength;
  }

  /** The keys and values of all entries: views of it hold, also when later entries move them to a larger one. */
  get arena(): Uint8Array {
    return this.#arena;
  }

  /**
   * Adds an entry. One with the same internal key as another comes before it.
   *
   * @param bytes hold the user key at `[keyStart, keyEnd)` and the value at `[valueStart, valueEnd)`.
   */
  add(
    sequence: bigint,
    type: number,
    bytes: Uint8Array,
    keyStart: number,
    keyEnd: number,
    valueStart: number,
    valueEnd: number,
  ): void {
    const keyLength = keyEnd - keyStart + INTERNAL_KEY_TRAILER_LENGTH;
    const start = this.#reserve(keyLength + valueEnd - valueStart);
    const arena = this.#arena;
    copyBytes(bytes, keyStart, keyEnd, arena, start);
    putTrailer(arena, start + keyEnd - keyStart, sequence, type);
    copyBytes(bytes, valueStart, valueEnd, arena, start + keyLength);
    this.#insert(start, keyLength, valueEnd - valueStart);
  }

  /** The first node whose key is at or after `key`; 0 for none. */
  seek(key: Uint8Array): number {
    return this.after(this.seekBefore(key, false));
  }

  /**
   * {@link seek} for a lookup: gives 0 also where a filter tells without a search that no entry has the user key of `key`.
   */
  find(key: Uint8Array): number {
    return this.#mayHold(key) ? this.seek(key) : HEAD;
  }

  /** The last node whose key is before `key`, or at it where `inclusive`; 0 for none. */
  seekBefore(key: Uint8Array, inclusive: boolean): number {
    this.#abbreviate(key, 0, key.length);
    return this.#findBefore(key, 0, key.length, inclusive);
  }

  /** The first node; 0 for none. */
  get first(): number {
    return this.after(HEAD);
  }

  /** The last node; 0 for none. */
  get last(): number {
    return this.#last;
  }

  /** The node after `node`; 0 for none. */
  after(node: number): number {
    return this.#nodes[node + LINKS]!;
  }

  /** The node before `node`; 0 for none. */
  before(node: number): number {
    return this.#nodes[node + BEFORE]!;
  }

  /** Whether the entry before `node` has the same internal key: only where a log has a record twice. */
  isCopy(node: number): boolean {
    const before = this.#nodes[node + BEFORE]!;
    if (before === HEAD) return false;
    const arena = this.#arena;
    const start = this.#nodes[node + KEY_START]!;
    const end = start + this.#nodes[node + KEY_LENGTH]!;
    const otherStart = this.#nodes[before + KEY_START]!;
    const otherEnd = otherStart + this.#nodes[before + KEY_LENGTH]!;
    // The lowest byte of the sequence differs between nearly all neighbours.
    const sequence = INTERNAL_KEY_TRAILER_LENGTH - 1;
    return arena[end - sequence] === arena[otherEnd - sequence] && this.#compare(arena, start, end, arena, otherStart, otherEnd) === 0;
  }

  /** Where in the arena the internal key of `node` starts; the value follows it. */
  keyStart(node: number): number {
    return this.#nodes[node + KEY_START]!;
  }

  /** Bytes of the internal key of `node`. */
  keyLength(node: number): number {
    return this.#nodes[node + KEY_LENGTH]!;
  }

  /** Bytes of the value of `node`. */
  valueLength(node: number): number {
    return this.#nodes[node + VALUE_LENGTH]!;
  }

  /** A cursor, on no entry yet. */
  cursor(): MemtableCursor {
    return new MemtableCursor(this);
  }

  #mayHold(key: Uint8Array): boolean {
    if (!this.#isAbbreviated) return true;
    const filter = this.#filter ?? this.#makeFilter();
    return filter === undefined || filter.mayHold(key, 0, key.length - INTERNAL_KEY_TRAILER_LENGTH);
  }

  /** Makes the filter if there were enough lookups. */
  #makeFilter(): MemtableFilter | undefined {
    if (++this.#lookups * ENTRIES_PER_LOOKUP < this.#count) return undefined;
    const filter = new MemtableFilter(this.#count);
    for (let node = this.first; node !== HEAD; node = this.after(node)) {
      const start = this.#nodes[node + KEY_START]!;
      filter.add(this.#arena, start, start + this.#nodes[node + KEY_LENGTH]! - INTERNAL_KEY_TRAILER_LENGTH);
    }
    return (this.#filter = filter);
  }

  #insert(start: number, keyLength: number, valueLength: number): void {
    if (this.#isAbbreviated) {
      this.#share(start, keyLength - INTERNAL_KEY_TRAILER_LENGTH);
      this.#abbreviateFrom(this.#arena, start + this.#sharedLength, start + keyLength - INTERNAL_KEY_TRAILER_LENGTH);
    }
    if (this.#filter !== undefined) {
      this.#filter.add(this.#arena, start, start + keyLength - INTERNAL_KEY_TRAILER_LENGTH);
      if (this.#filter.isFull) {
        this.#filter = undefined;
        this.#lookups = 0;
      }
    }
    this.#findBefore(this.#arena, start, start + keyLength, false);
    const height = this.#heights.next();
    this.#memory.add(keyLength, valueLength, height);
    const path = this.#path;
    while (this.#height < height) path[this.#height++] = HEAD;
    const node = this.#addNode(height);
    const nodes = this.#nodes;
    nodes[node + KEY_START] = start;
    nodes[node + KEY_LENGTH] = keyLength;
    nodes[node + VALUE_LENGTH] = valueLength;
    nodes[node + BEFORE] = path[0]!;
    nodes[node + ABBREVIATION] = this.#abbreviation0;
    nodes[node + ABBREVIATION + 1] = this.#abbreviation1;
    for (let level = LINKS; level < LINKS + height; level++) {
      const link = path[level - LINKS]! + level;
      nodes[node + level] = nodes[link]!;
      nodes[link] = node;
    }
    const after = nodes[node + LINKS]!;
    if (after === HEAD) this.#last = node;
    else nodes[after + BEFORE] = node;
  }

  /** The last node before the key that was abbreviated, or at it where `inclusive`; leaves the path to it. */
  #findBefore(bytes: Uint8Array, start: number, end: number, inclusive: boolean): number {
    const most = inclusive ? 0 : -1;
    const abbreviation0 = this.#abbreviation0;
    const abbreviation1 = this.#abbreviation1;
    const nodes = this.#nodes;
    const arena = this.#arena;
    let node = HEAD;
    /** The last node that compared greater, which need not be compared again one level down. */
    let late = HEAD;
    for (let level = this.#height - 1; level >= 0; level--) {
      for (;;) {
        const next = nodes[node + LINKS + level]!;
        if (next === late) break;
        let order = nodes[next + ABBREVIATION]! - abbreviation0;
        if (order === 0) order = nodes[next + ABBREVIATION + 1]! - abbreviation1;
        if (order === 0) {
          const nextStart = nodes[next + KEY_START]!;
          order = this.#compare(arena, nextStart, nextStart + nodes[next + KEY_LENGTH]!, bytes, start, end);
        }
        if (order > most) {
          late = next;
          break;
        }
        node = next;
      }
      this.#path[level] = node;
    }
    return node;
  }

  /** Shortens the shared prefix to the part that the user key at `start`, which is about to be inserted, shares too. */
  #share(start: number, length: number): void {
    const shared = this.#count === 0 ? length : this.#sharedWith(this.#arena, start, length);
    if (this.#count === 0) this.#sharedStart = start;
    else if (shared === this.#sharedLength) return;
    this.#sharedLength = ++this.#shortenings < MAX_SHORTENINGS ? shared : 0;
    const nodes = this.#nodes;
    for (let node = this.first; node !== HEAD; node = this.after(node)) {
      const nodeStart = nodes[node + KEY_START]!;
      const userKeyEnd = nodeStart + nodes[node + KEY_LENGTH]! - INTERNAL_KEY_TRAILER_LENGTH;
      this.#abbreviateFrom(this.#arena, nodeStart + this.#sharedLength, userKeyEnd);
      nodes[node + ABBREVIATION] = this.#abbreviation0;
      nodes[node + ABBREVIATION + 1] = this.#abbreviation1;
    }
  }

  /** Bytes of the shared prefix that `bytes[start, start + length)` begins with. */
  #sharedWith(bytes: Uint8Array, start: number, length: number): number {
    const arena = this.#arena;
    const sharedStart = this.#sharedStart;
    const end = Math.min(this.#sharedLength, length);
    let shared = 0;
    while (shared < end && bytes[start + shared] === arena[sharedStart + shared]) shared++;
    return shared;
  }

  /** Abbreviates the internal key `bytes[start, end)`. A key without the shared prefix gets `BEFORE_ALL` or `AFTER_ALL`. */
  #abbreviate(bytes: Uint8Array, start: number, end: number): void {
    if (!this.#isAbbreviated) return;
    const userKeyEnd = end - INTERNAL_KEY_TRAILER_LENGTH;
    const shared = this.#sharedWith(bytes, start, userKeyEnd - start);
    const position = start + shared;
    if (shared === this.#sharedLength) {
      this.#abbreviateFrom(bytes, position, userKeyEnd);
    } else {
      const isBefore = position >= userKeyEnd || bytes[position]! < this.#arena[this.#sharedStart + shared]!;
      this.#abbreviation0 = isBefore ? BEFORE_ALL : AFTER_ALL;
    }
  }

  /** Abbreviates what comes after the shared prefix: `bytes[start, end)`. */
  #abbreviateFrom(bytes: Uint8Array, start: number, end: number): void {
    this.#abbreviation0 = first30Bits(bytes, start, end);
    this.#abbreviation1 = first30Bits(bytes, start + 3, end);
  }

  /** Makes room for a node. */
  #addNode(height: number): number {
    const node = this.#nodesLength;
    this.#count++;
    this.#nodesLength += LINKS + height;
    if (this.#nodesLength > this.#nodes.length) {
      const nodes = new Uint32Array(this.#nodes.length * 2);
      nodes.set(this.#nodes);
      this.#nodes = nodes;
    }
    return node;
  }

  /** Makes room in the arena. @returns where it starts. */
  #reserve(length: number): number {
    const start = this.#arenaLength;
    this.#arenaLength += length;
    if (this.#arenaLength > this.#arena.length) {
      const arena = new Uint8Array(Math.max(this.#arenaLength, this.#arena.length * 2));
      arena.set(this.#arena.subarray(0, start));
      this.#arena = arena;
    }
    return start;
  }
}

/** Moves over a memtable's entries. */
export class MemtableCursor extends EntryCursor {
  readonly #memtable: Memtable;
  #node = HEAD;

  constructor(memtable: Memtable) {
    super();
    this.#memtable = memtable;
  }

  /** Whether the entry before has the same internal key. */
  get isCopy(): boolean {
    return this.#memtable.isCopy(this.#node);
  }

  override seekToFirst(): boolean {
    return this.#land(this.#memtable.first);
  }

  override seekToLast(): boolean {
    return this.#land(this.#memtable.last);
  }

  override seek(key: Uint8Array, side: Side): boolean {
    switch (side) {
      case 'at-or-after':
        return this.#land(this.#memtable.seek(key));
      case 'after':
        return this.#land(this.#memtable.after(this.#memtable.seekBefore(key, true)));
      case 'at-or-before':
        return this.#land(this.#memtable.seekBefore(key, true));
      case 'before':
        return this.#land(this.#memtable.seekBefore(key, false));
    }
  }

  override next(): boolean {
    return this.#land(this.#memtable.after(this.#node));
  }

  override prev(): boolean {
    return this.#land(this.#memtable.before(this.#node));
  }

  #land(node: number): true {
    this.#node = node;
    this.valid = node !== HEAD;
    if (!this.valid) return true;
    const { entry } = this;
    const memtable = this.#memtable;
    entry.keyBytes = entry.valueBytes = memtable.arena;
    entry.keyStart = memtable.keyStart(node);
    entry.keyEnd = entry.valueStart = entry.keyStart + memtable.keyLength(node);
    entry.valueEnd = entry.valueStart + memtable.valueLength(node);
    return true;
  }
}

/** Walks forward over a memtable's entries. Of several with the same internal key, it visits only the one added last. */
export class MemtableEntries extends MemtableCursor {
  override next(): boolean {
    do super.next();
    while (this.valid && this.isCopy);
    return true;
  }
}

/**
 * The heights of nodes, the same in every memtable, as LevelDB has them: it counts their memory, and switches logs by it.
 *
 * Source: LevelDB, util/random.h and db/skiplist.h, `RandomHeight`.
 */
class Heights {
  readonly #random = new ParkMiller(0xdeadbeef);

  next(): number {
    let height = 1;
    while (height < MAX_HEIGHT && this.#random.next() % BRANCHING === 0) height++;
    return height;
  }
}

/** The first 30 bits of the four bytes at `start`, with zeros from `end` on. V8 stores such numbers and their differences as small integers. */
function first30Bits(bytes: Uint8Array, start: number, end: number): number {
  if (end - start >= 4) return (bytes[start]! << 22) | (bytes[start + 1]! << 14) | (bytes[start + 2]! << 6) | (bytes[start + 3]! >>> 2);
  let bits = 0;
  for (let i = start, shift = 22; i < end; i++, shift -= 8) bits |= bytes[i]! << shift;
  return bits;
}

/** Writes sequence and type as they stand at the end of an internal key. */
function putTrailer(bytes: Uint8Array, position: number, sequence: bigint, type: number): void {
  // Nearly all sequences are exact as a number, which is quicker to take apart.
  const number = Number(sequence);
  const low = number <= Number.MAX_SAFE_INTEGER ? number >>> 0 : Number(sequence & 0xffff_ffffn);
  const high = number <= Number.MAX_SAFE_INTEGER ? (number - low) / 2 ** 32 : Number(sequence >> 32n);
  bytes[position] = type;
  bytes[position + 1] = low;
  bytes[position + 2] = low >>> 8;
  bytes[position + 3] = low >>> 16;
  bytes[position + 4] = low >>> 24;
  bytes[position + 5] = high;
  bytes[position + 6] = high >>> 8;
  bytes[position + 7] = high >>> 16;
}
