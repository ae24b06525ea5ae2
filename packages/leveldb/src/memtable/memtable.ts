/**
 * The newest entries of a database, which are in its log but not yet in a table: a skip list of internal keys.
 *
 *     nodes:  (start of the key in the arena | bytes of the key | bytes of the value | node before | abbreviation (2) | next node at each level)*
 *
 * A node is identified by its start in `nodes`. The fields that a search needs are adjacent, in one line of the processor's cache: with an
 * array for each field, and a second comparison with the same node a level below, an insertion took an eighth longer.
 *
 * Keys are compared by their abbreviations first (`key-abbreviation.ts`). In any other order than LevelDB's, all abbreviations are 0, and the
 * comparator decides.
 *
 * Entries are only ever added, so a cursor stays valid while others are added.
 *
 * Source: LevelDB, db/memtable.cc and db/skiplist.h.
 */
import { INTERNAL_KEY_TRAILER_LENGTH } from '@bloom/sstable/database';
import { compareBytes, compareInternalBytes, type CompareRange } from '@bloom/sstable/internal';
import { EntryArena } from './entry-arena.js';
import { KeyAbbreviation } from './key-abbreviation.js';
import type { MemtableArrays } from '../folder/table-thread.js';
import { grown } from './memtable-full.js';
import { MemtableHashIndex } from './memtable-hash-index.js';
import { MemtableMemory } from './memtable-memory.js';
import { MAX_HEIGHT, NodeHeights } from './node-heights.js';
import { TableBound } from './table-bound.js';

/** The node before the first entry; as a link: none. */
export const HEAD = 0;
// The offsets of a node's fields.
const KEY_START = 0;
const KEY_LENGTH = 1;
const VALUE_LENGTH = 2;
const BEFORE = 3;
const ABBREVIATION = 4;
/** The offset of a node's links in `MemtableArrays.nodes`. */
export const LINKS = 6;

/** The largest capacity that a memtable takes over from the one before it, which may have needed it for a single large batch. */
const MAX_EXPECTED_BYTES = 8 * 2 ** 20;

/**
 * No index is made for fewer entries, so that V8 does not compile the code of the index in a process that opens only small databases. Without it, a
 * lookup of a present key takes as long, and one of an absent key 50 ns longer.
 */
const MIN_INDEXED = 256;
/** The index is made, and grows, once there has been a lookup for each group of this many entries: it costs more than a few searches. */
const ENTRIES_PER_LOOKUP = 8;
/**
 * How many nodes each lookup puts into a new index. A full memtable has about 36,000: adding all of them at once delayed one lookup by 10 to 40
 * ms.
 */
const INDEXED_AT_ONCE = 500;
/** The most newer versions of a key that a lookup skips one by one. To skip more, a search in the skip list is faster. */
const MAX_PASSED_VERSIONS = 4;

/** Entries by internal key. */
export class Memtable {
  private readonly compare: CompareRange;
  /** Whether keys are in the order of the abbreviations. */
  private readonly isAbbreviated: boolean;
  readonly #arena: EntryArena;
  #count = 0;
  private nodes: Uint32Array;
  private nodesLength = LINKS + MAX_HEIGHT;
  private height = 1;
  #last = HEAD;
  /** On each level, the node before the entry that is inserted. A comparator may look up other keys meanwhile. */
  private readonly path = new Uint32Array(MAX_HEIGHT);
  private readonly heights = new NodeHeights();
  private readonly memory = new MemtableMemory(MAX_HEIGHT);
  readonly #tableBound = new TableBound();
  /**
   * The node after the position of the last search. The node before that position may have another one after it, if the comparator called something that
   * added entries.
   */
  private found = HEAD;
  /** Whether a cursor was made for it. Its callers may still have views of the arena. */
  isLent = false;
  private readonly abbreviation = new KeyAbbreviation();
  /** The newest entry of each user key, as long as that is worth its memory. Complete only when `unindexed` is HEAD. */
  private index: MemtableHashIndex | undefined;
  /** The next node to put into the index; HEAD when all are in it. Without an index, it has no meaning. */
  private unindexed = HEAD;
  /**
   * Whether an index can be made: only in LevelDB's own order, since another order may treat different user keys as equal, and only as long as
   * no index was full.
   */
  private isIndexable: boolean;
  private lookups = 0;

  /**
   * @param expectedBytes the initial capacity, for keys and values.
   * @param expectedItems the same for the skip list.
   */
  constructor(compareInternalKeys: CompareRange, expectedBytes = 0, expectedItems = 1024) {
    this.compare = compareInternalKeys;
    this.isAbbreviated = this.isIndexable = compareInternalKeys === compareInternalBytes;
    this.#arena = new EntryArena(expectedBytes);
    this.nodes = new Uint32Array(expectedItems);
  }

  /**
   * An empty memtable that follows a full one. It has the other's capacity from the start: arrays that double leave as many bytes of garbage
   * as the memtable has. The system gives memory to pages of a new array only when they are written.
   */
  static following({ arena, nodes }: Memtable, compareInternalKeys: CompareRange): Memtable {
    try {
      return new Memtable(compareInternalKeys, Math.min(arena.length, MAX_EXPECTED_BYTES), Math.min(nodes.length, MAX_EXPECTED_BYTES / 4));
    } catch {
      // The host may have too little memory for that.
      return new Memtable(compareInternalKeys);
    }
  }

  /** An empty memtable that takes the arrays of another one, which must not be used any longer. */
  static reusing({ arena, nodes }: Memtable, compareInternalKeys: CompareRange): Memtable {
    const memtable = new Memtable(compareInternalKeys, 0, 0);
    memtable.#arena.bytes = arena;
    memtable.nodes = nodes.fill(0, HEAD, LINKS + MAX_HEIGHT);
    return memtable;
  }

  /** A memtable made of the arrays of another. It can only be walked forward: not searched, and not added to. */
  static of(arrays: MemtableArrays, compareInternalKeys: CompareRange): Memtable {
    const memtable = new Memtable(compareInternalKeys);
    memtable.#arena.bytes = arrays.arena;
    memtable.nodes = arrays.nodes;
    return memtable;
  }

  /** The arrays for {@link Memtable.of}: views that are valid until the next entry is added. */
  get arrays(): MemtableArrays {
    const { bytes, length } = this.#arena;
    return { arena: bytes.subarray(0, length), nodes: this.nodes.subarray(0, this.nodesLength) };
  }

  get count(): number {
    return this.#count;
  }

  /** The bytes that LevelDB's memtable would take. They decide when to switch logs. */
  get memoryUsage(): number {
    return this.memory.byteLength;
  }

  /** An upper bound of the size of the table that it becomes. */
  get tableBound(): TableBound {
    return this.#tableBound;
  }

  /** The keys and values of all entries. Views of it stay valid, even when later entries move the bytes to a larger array. */
  get arena(): Uint8Array {
    return this.#arena.bytes;
  }

  /**
   * Adds an entry. Of two with the same internal key, the later one comes first.
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
    const start = this.#arena.add(sequence, type, bytes, keyStart, keyEnd, valueStart, valueEnd);
    this.#insert(start, keyEnd - keyStart + INTERNAL_KEY_TRAILER_LENGTH, valueEnd - valueStart);
  }

  /** The first node whose key is at or after `key`; 0 for none. */
  seek(key: Uint8Array): number {
    this.seekBefore(key, false);
    return this.found;
  }

  /** The first node whose key is after `key`; 0 for none. */
  seekAfter(key: Uint8Array): number {
    this.seekBefore(key, true);
    return this.found;
  }

  /** {@link seek} for a lookup: it may return 0 if no entry from there on has the user key of `key`. */
  find(key: Uint8Array): number {
    this.lookups++;
    const index = this.#wholeIndex();
    if (index === undefined) return this.seek(key);
    let node = this.#newestOf(index, key, 0, key.length - INTERNAL_KEY_TRAILER_LENGTH);
    for (let passed = 0; node !== HEAD && this.#compareTo(node, key, 0, key.length) < 0; passed++) {
      if (passed === MAX_PASSED_VERSIONS) return this.seek(key);
      node = this.after(node);
    }
    return node;
  }

  /** The last node whose key is before `key`, or equal to it if `inclusive`; 0 for none. */
  seekBefore(key: Uint8Array, inclusive: boolean): number {
    if (this.isAbbreviated) this.abbreviation.makeOfAny(key, 0, key.length - INTERNAL_KEY_TRAILER_LENGTH, this.#arena.bytes);
    return this.#findBefore(key, 0, key.length, inclusive, undefined);
  }

  /** The first and the last internal key of a memtable that is not empty: copies. */
  get bounds(): { readonly smallest: Uint8Array; readonly largest: Uint8Array } {
    return { smallest: this.#keyOf(this.first), largest: this.#keyOf(this.#last) };
  }

  #keyOf(node: number): Uint8Array {
    const start = this.keyStart(node);
    return this.arena.slice(start, start + this.keyLength(node));
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
    return this.nodes[node + LINKS]!;
  }

  /** The node before `node`; 0 for none. */
  before(node: number): number {
    return this.nodes[node + BEFORE]!;
  }

  /** Whether the entry before `node` has the same internal key, which happens only when a log contains a record twice. */
  isCopy(node: number): boolean {
    const before = this.nodes[node + BEFORE]!;
    if (before === HEAD) return false;
    const arena = this.#arena.bytes;
    const start = this.nodes[node + KEY_START]!;
    const end = start + this.nodes[node + KEY_LENGTH]!;
    const otherStart = this.nodes[before + KEY_START]!;
    const otherEnd = otherStart + this.nodes[before + KEY_LENGTH]!;
    // The lowest byte of the sequence differs between nearly all neighbours.
    const sequence = INTERNAL_KEY_TRAILER_LENGTH - 1;
    return arena[end - sequence] === arena[otherEnd - sequence] && this.compare(arena, start, end, arena, otherStart, otherEnd) === 0;
  }

  /** The start of the internal key of `node` in the arena; the value follows it. */
  keyStart(node: number): number {
    return this.nodes[node + KEY_START]!;
  }

  keyLength(node: number): number {
    return this.nodes[node + KEY_LENGTH]!;
  }

  valueLength(node: number): number {
    return this.nodes[node + VALUE_LENGTH]!;
  }

  get #isIndexDue(): boolean {
    return this.#count >= MIN_INDEXED && this.lookups * ENTRIES_PER_LOOKUP >= this.#count;
  }

  /** The index, if it has all nodes. Builds one step by step, if it is due. */
  #wholeIndex(): MemtableHashIndex | undefined {
    if (this.index === undefined) {
      if (!this.isIndexable || !this.#isIndexDue) return undefined;
      this.index = MemtableHashIndex.create(this.#count);
      this.isIndexable = this.index !== undefined;
      this.unindexed = this.#last;
    }
    if (this.unindexed !== HEAD) this.#indexMore();
    return this.unindexed === HEAD ? this.index : undefined;
  }

  #indexMore(): void {
    let node = this.unindexed;
    // Backward, so that the first of several entries of a user key stays.
    for (let i = 0; i < INDEXED_AT_ONCE && node !== HEAD && this.index !== undefined; i++) {
      this.#addToIndex(this.index, node);
      node = this.before(node);
    }
    this.unindexed = node;
  }

  /** Puts a node into the index, unless that has an earlier entry of the same user key. @returns whether there was room. */
  #put(index: MemtableHashIndex, node: number): boolean {
    const arena = this.#arena.bytes;
    const start = this.keyStart(node);
    const end = start + this.keyLength(node);
    const newest = this.#newestOf(index, arena, start, end - INTERNAL_KEY_TRAILER_LENGTH);
    return (newest !== HEAD && this.#compareTo(newest, arena, start, end) < 0) || index.put(node);
  }

  /** Adds a node to the index. A full index grows if there were enough lookups, and is dropped otherwise. */
  #addToIndex(index: MemtableHashIndex, node: number): void {
    if (index.isFull && !this.#isIndexDue) {
      this.index = undefined;
      return;
    }
    if ((!index.isFull || index.grow()) && this.#put(index, node)) return;
    this.index = undefined;
    this.isIndexable = false;
  }

  /** The node that the index has for the user key `bytes[start, end)`; 0 for none. */
  #newestOf(index: MemtableHashIndex, bytes: Uint8Array, start: number, end: number): number {
    let node = index.first(bytes, start, end);
    while (node !== HEAD && !this.#hasUserKey(node, bytes, start, end)) node = index.next();
    return node;
  }

  #hasUserKey(node: number, bytes: Uint8Array, start: number, end: number): boolean {
    const nodeStart = this.keyStart(node);
    return compareBytes(this.#arena.bytes, nodeStart, nodeStart + this.keyLength(node) - INTERNAL_KEY_TRAILER_LENGTH, bytes, start, end) === 0;
  }

  /** The order of the internal key of `node` and `bytes[start, end)`. */
  #compareTo(node: number, bytes: Uint8Array, start: number, end: number): number {
    const nodeStart = this.keyStart(node);
    return this.compare(this.#arena.bytes, nodeStart, nodeStart + this.keyLength(node), bytes, start, end);
  }

  #insert(start: number, keyLength: number, valueLength: number): void {
    const arena = this.#arena.bytes;
    const userKeyEnd = start + keyLength - INTERNAL_KEY_TRAILER_LENGTH;
    const abbreviation = this.abbreviation;
    if (this.isAbbreviated) {
      if (this.#count === 0) abbreviation.shareAll(start, userKeyEnd);
      else if (abbreviation.share(arena, start, userKeyEnd)) this.#abbreviateAgain();
      abbreviation.make(arena, start, userKeyEnd);
    }
    const path = this.path;
    this.#findBefore(arena, start, start + keyLength, false, path);
    const height = this.heights.next();
    this.memory.add(keyLength, valueLength, height);
    this.#tableBound.add(keyLength, valueLength);
    // On levels above those of all nodes, the path is HEAD from the start.
    if (this.height < height) this.height = height;
    const node = this.#addNode(height);
    const nodes = this.nodes;
    nodes[node + KEY_START] = start;
    nodes[node + KEY_LENGTH] = keyLength;
    nodes[node + VALUE_LENGTH] = valueLength;
    nodes[node + BEFORE] = path[0]!;
    nodes[node + ABBREVIATION] = abbreviation.first;
    nodes[node + ABBREVIATION + 1] = abbreviation.second;
    for (let level = LINKS; level < LINKS + height; level++) {
      const link = path[level - LINKS]! + level;
      nodes[node + level] = nodes[link]!;
      nodes[link] = node;
    }
    const after = nodes[node + LINKS]!;
    if (after === HEAD) this.#last = node;
    else nodes[after + BEFORE] = node;
    if (this.index !== undefined) this.#addToIndex(this.index, node);
  }

  /** The last node before the abbreviated key, or at it if `inclusive`. @param path receives the path to it. */
  #findBefore(bytes: Uint8Array, start: number, end: number, inclusive: boolean, path: Uint32Array | undefined): number {
    const most = inclusive ? 0 : -1;
    const { first, second } = this.abbreviation;
    const nodes = this.nodes;
    let node = HEAD;
    /** The last node that compared greater. It need not be compared again one level down. */
    let late = HEAD;
    for (let level = this.height - 1; level >= 0; level--) {
      for (;;) {
        const next = nodes[node + LINKS + level]!;
        if (next === late) break;
        let order = nodes[next + ABBREVIATION]! - first;
        if (order === 0) order = nodes[next + ABBREVIATION + 1]! - second;
        if (order === 0) {
          const nextStart = nodes[next + KEY_START]!;
          order = this.compare(this.#arena.bytes, nextStart, nextStart + nodes[next + KEY_LENGTH]!, bytes, start, end);
        }
        if (order > most) {
          late = next;
          break;
        }
        node = next;
      }
      if (path !== undefined) path[level] = node;
    }
    this.found = late;
    return node;
  }

  #abbreviateAgain(): void {
    const nodes = this.nodes;
    const arena = this.#arena.bytes;
    const abbreviation = this.abbreviation;
    for (let node = this.first; node !== HEAD; node = this.after(node)) {
      const start = nodes[node + KEY_START]!;
      abbreviation.make(arena, start, start + nodes[node + KEY_LENGTH]! - INTERNAL_KEY_TRAILER_LENGTH);
      nodes[node + ABBREVIATION] = abbreviation.first;
      nodes[node + ABBREVIATION + 1] = abbreviation.second;
    }
  }

  #addNode(height: number): number {
    const node = this.nodesLength;
    const end = node + LINKS + height;
    if (end > this.nodes.length) this.nodes = grown(this.nodes, end, (length) => new Uint32Array(length));
    this.nodesLength = end;
    this.#count++;
    return node;
  }
}
