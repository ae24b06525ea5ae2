/**
 * The order of keys in Chromium's IndexedDB databases, whose LevelDB folders name it `idb_cmp1`.
 *
 *     sizes (u8)                                   database id bytes - 1 << 5 | object store id bytes - 1 << 2 | index id bytes - 1
 *     database id, object store id, index id       little-endian
 *     rest
 *
 * | ids | rest |
 * | --- | --- |
 * | database 0: about all databases | type (u8); of type 50 bytes, 100 a varint, 201 two texts |
 * | store 0: about one database | type (u8); of type 50 a varint and a byte, 100 two varints and a byte, 150 a varint, 151 two varints, 200 a text, 201 a varint and a text |
 * | index 1, 2, 3: data, existence, blobs | an encoded key |
 * | index 30 and above | an encoded key, a sequence number (varint), the encoded primary key |
 *
 *     text          count of UTF-16 units (varint) | these, big-endian
 *     encoded key   00 null · 01 text · 02 date (f64) · 03 number (f64) · 04 array: count (varint), encoded keys · 05 minimum ·
 *                   06 binary: length (varint), bytes
 *
 * Source: Chromium, content/browser/indexed_db/indexed_db_leveldb_coding.cc.
 */
import { VarintReader } from '@bloom/bytes';
import { mustHaveAtMost } from '@bloom/bytes/internal';
import { BloomFilterPolicy, type FilterPolicy, mustBeFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Comparator } from '@bloom/sstable';

/** Index ids with a meaning of their own, and the first of the indexes that pages make. */
const OBJECT_STORE_DATA = 1;
const BLOB_ENTRIES = 3;
const FIRST_INDEX = 30;

/** The fields after a type byte; `bytes` takes all remaining bytes. */
type Field = 'varint' | 'byte' | 'text' | 'bytes';
const globalFields: Readonly<Partial<Record<number, readonly Field[]>>> = {
  50: ['bytes'],
  100: ['varint'],
  201: ['text', 'text'],
};
const databaseFields: Readonly<Partial<Record<number, readonly Field[]>>> = {
  50: ['varint', 'byte'],
  100: ['varint', 'varint', 'byte'],
  150: ['varint'],
  151: ['varint', 'varint'],
  200: ['text'],
  201: ['varint', 'text'],
};

const TEXT = 1;
const DATE = 2;
const NUMBER = 3;
const ARRAY = 4;
const BINARY = 6;
/** The rank of each type of encoded key: the order is 5, 3, 2, 1, 6, 4, 0. */
const typeRanks = [6, 3, 2, 1, 5, 0, 4];

/**
 * Reads a key from its start to its end. Damaged parts sort before undamaged ones, by their bytes, so that any bytes have a place in the order.
 */
class KeyReader {
  readonly bytes: Uint8Array;
  readonly end: number;
  position: number;
  /** Whether it has reached something that has another spelling, or damage. */
  isAmbiguous = false;
  readonly #varints: VarintReader;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.bytes = bytes;
    this.position = start;
    this.end = end;
    this.#varints = new VarintReader(bytes, start, end);
  }

  get left(): number {
    return this.end - this.position;
  }

  /** The next byte, or -1. */
  byte(): number {
    return this.position < this.end ? this.bytes[this.position++]! : -1;
  }

  /** The next varint, or -1. */
  varint(): bigint {
    this.#varints.position = this.position;
    const value = this.#varints.bigVarint64();
    if (value === undefined) return -1n;
    // A last byte of 0 adds nothing, and encoders omit it.
    const length = this.#varints.position - this.position;
    if (length > 1 && this.bytes[this.#varints.position - 1] === 0) this.isAmbiguous = true;
    this.position = this.#varints.position;
    return value;
  }

  /** The next double, or undefined. */
  double(): number | undefined {
    if (this.left < 8) return undefined;
    // As Chromium stores it: in the processor's byte order, which is little-endian everywhere that it runs.
    const value = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.position, 8).getFloat64(0, true);
    this.position += 8;
    // Zero has two signs.
    if (value === 0 || Number.isNaN(value)) this.isAmbiguous = true;
    return value;
  }

  /** The start of the next `length` bytes, or -1. */
  skip(length: bigint): number {
    if (length < 0n || length > BigInt(this.left)) return -1;
    const start = this.position;
    this.position += Number(length);
    return start;
  }
}

/**
 * The order of two keys that agree so far, at least one of which cannot be read further. A damaged key comes before an undamaged one; two
 * damaged ones are in the bytewise order of the rest, from `aStart` and `bStart` on.
 */
function compareDamage(a: KeyReader, b: KeyReader, isBadA: boolean, isBadB: boolean, aStart: number, bStart: number): number {
  if (!isBadA) return 1;
  if (!isBadB) return -1;
  return compareBytes(a.bytes, aStart, a.end, b.bytes, bStart, b.end);
}

function compareBytes(a: Uint8Array, aStart: number, aEnd: number, b: Uint8Array, bStart: number, bEnd: number): number {
  return bytewiseComparator.compareRange!(a, aStart, aEnd, b, bStart, bEnd);
}

/** Both keys are damaged in the same way. Nothing is left to compare, so they are equal. */
const DONE = Symbol('the keys end here');

function compareVarints(a: KeyReader, b: KeyReader): number | typeof DONE {
  const aStart = a.position;
  const bStart = b.position;
  const aValue = a.varint();
  const bValue = b.varint();
  if (aValue < 0n || bValue < 0n) return compareDamage(a, b, aValue < 0n, bValue < 0n, aStart, bStart) || DONE;
  return aValue < bValue ? -1 : aValue > bValue ? 1 : 0;
}

/** Compares fields that start with a count of units of `unit` bytes. */
function compareCounted(a: KeyReader, b: KeyReader, unit: bigint): number | typeof DONE {
  const aWhole = a.position;
  const bWhole = b.position;
  const aStart = a.skip(a.varint() * unit);
  const bStart = b.skip(b.varint() * unit);
  if (aStart < 0 || bStart < 0) return compareDamage(a, b, aStart < 0, bStart < 0, aWhole, bWhole) || DONE;
  return compareBytes(a.bytes, aStart, a.position, b.bytes, bStart, b.position);
}

function compareDoubles(a: KeyReader, b: KeyReader): number | typeof DONE {
  const aStart = a.position;
  const bStart = b.position;
  const aValue = a.double();
  const bValue = b.double();
  if (aValue === undefined || bValue === undefined) {
    return compareDamage(a, b, aValue === undefined, bValue === undefined, aStart, bStart) || DONE;
  }
  if (Number.isNaN(aValue) || Number.isNaN(bValue)) return Number(Number.isNaN(bValue)) - Number(Number.isNaN(aValue));
  return aValue < bValue ? -1 : aValue > bValue ? 1 : 0;
}

/** Compares one encoded key of each, element by element: arrays may be nested to any depth. */
function compareEncodedKeys(a: KeyReader, b: KeyReader): number | typeof DONE {
  /** For each open array: the number of elements that both have and that are not compared yet, and how the counts compare. */
  const open: { left: bigint; order: number }[] = [];
  do {
    const aStart = a.position;
    const bStart = b.position;
    const aType = a.byte();
    const bType = b.byte();
    const aRank = typeRanks[aType] ?? -1;
    const bRank = typeRanks[bType] ?? -1;
    if (aRank < 0 || bRank < 0) return compareDamage(a, b, aRank < 0, bRank < 0, aStart, bStart) || DONE;
    if (aRank !== bRank) return aRank - bRank;
    let order: number | typeof DONE = 0;
    if (aType === TEXT) order = compareCounted(a, b, 2n);
    else if (aType === BINARY) order = compareCounted(a, b, 1n);
    else if (aType === DATE || aType === NUMBER) order = compareDoubles(a, b);
    else if (aType === ARRAY) {
      const aCount = a.varint();
      const bCount = b.varint();
      if (aCount < 0n || bCount < 0n) return compareDamage(a, b, aCount < 0n, bCount < 0n, aStart, bStart) || DONE;
      open.push({ left: (aCount < bCount ? aCount : bCount) + 1n, order: aCount < bCount ? -1 : aCount > bCount ? 1 : 0 });
    }
    if (order !== 0) return order;
    for (let last = open.at(-1); last !== undefined && --last.left === 0n; last = open.at(-1)) {
      if (last.order !== 0) return last.order;
      open.pop();
    }
  } while (open.length > 0);
  return 0;
}

function compareFields(a: KeyReader, b: KeyReader, fieldsOf: Readonly<Partial<Record<number, readonly Field[]>>>): number | typeof DONE {
  const aType = a.byte();
  const bType = b.byte();
  if (aType !== bType) return aType - bType;
  for (const field of fieldsOf[aType] ?? []) {
    let order: number | typeof DONE = 0;
    if (field === 'varint') order = compareVarints(a, b);
    else if (field === 'byte') order = a.byte() - b.byte();
    else if (field === 'text') order = compareCounted(a, b, 2n);
    if (order !== 0) return order;
  }
  return 0;
}

function compareRests(a: KeyReader, b: KeyReader, databaseIsGlobal: boolean, storeIsGlobal: boolean, index: bigint): number | typeof DONE {
  if (databaseIsGlobal) return compareFields(a, b, globalFields);
  if (storeIsGlobal) return compareFields(a, b, databaseFields);
  if (index < OBJECT_STORE_DATA || (index > BLOB_ENTRIES && index < FIRST_INDEX)) return 0;
  const order = compareEncodedKeys(a, b);
  if (order !== 0 || index < FIRST_INDEX) return order;
  // A missing part sorts first.
  if (a.left === 0 || b.left === 0) return a.left - b.left || DONE;
  const aStart = a.position;
  const bStart = b.position;
  const aSequence = a.varint();
  const bSequence = b.varint();
  if (aSequence < 0n || bSequence < 0n) return compareDamage(a, b, aSequence < 0n, bSequence < 0n, aStart, bStart) || DONE;
  if (a.left === 0 || b.left === 0) {
    if (a.left !== b.left) return a.left - b.left;
  } else {
    const primary = compareEncodedKeys(a, b);
    if (primary !== 0) return primary;
  }
  return aSequence < bSequence ? -1 : aSequence > bSequence ? 1 : 0;
}

/** The ids at the start of a key, or undefined when they are incomplete. */
function readIds(key: KeyReader): readonly [database: bigint, store: bigint, index: bigint] | undefined {
  const sizes = key.byte();
  if (sizes < 0) return undefined;
  const lengths = [(sizes >> 5) + 1, ((sizes >> 2) & 7) + 1, (sizes & 3) + 1] as const;
  if (key.left < lengths[0] + lengths[1] + lengths[2]) return undefined;
  const id = (length: number): bigint => {
    let value = 0n;
    for (let i = length - 1; i >= 0; i--) value = (value << 8n) | BigInt(key.bytes[key.position + i]!);
    // An id with more bytes than it needs is the same id.
    if (length > 1 && key.bytes[key.position + length - 1] === 0) key.isAmbiguous = true;
    key.position += length;
    return value;
  };
  return [id(lengths[0]), id(lengths[1]), id(lengths[2])];
}

function compareKeys(a: KeyReader, b: KeyReader): number {
  const aStart = a.position;
  const bStart = b.position;
  const aIds = readIds(a);
  const bIds = readIds(b);
  if (aIds === undefined || bIds === undefined) {
    return compareDamage(a, b, aIds === undefined, bIds === undefined, aStart, bStart);
  }
  for (let i = 0; i < aIds.length; i++) if (aIds[i] !== bIds[i]) return aIds[i]! < bIds[i]! ? -1 : 1;
  const order = compareRests(a, b, aIds[0] === 0n, aIds[1] === 0n, aIds[2]);
  if (order === DONE) return 0;
  // No one writes such keys, but any bytes have a place in the order.
  return order !== 0 ? order : compareBytes(a.bytes, a.position, a.end, b.bytes, b.position, b.end);
}

/** A zero equals the zero of the other sign, and numbers and ids of any length are compared by value. */
const KEY_EQUIVALENCE = 'idb_cmp1';

/**
 * The order of Chromium's IndexedDB databases. Its filters are used with {@link idbFilterPolicy}.
 *
 * @example
 * ```ts
 * const options = { comparators: [idbComparator], filterPolicies: [idbFilterPolicy] };
 * const database = await DatabaseReader.open(new NodeFolder('https_example.org_0.indexeddb.leveldb'), options);
 * ```
 */
export const idbComparator: Comparator = {
  name: 'idb_cmp1',
  keyEquivalence: KEY_EQUIVALENCE,
  compare: (a, b) => compareKeys(new KeyReader(a, 0, a.length), new KeyReader(b, 0, b.length)),
  compareRange: (a, aStart, aEnd, b, bStart, bEnd) => compareKeys(new KeyReader(a, aStart, aEnd), new KeyReader(b, bStart, bEnd)),
  // Chromium shortens no keys.
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};

/**
 * A policy over the bytes of keys, such as `new FittedBloomFilterPolicy(10)`, for IndexedDB databases. A key that can be written in several
 * ways, such as one with a zero, may be stored in another way, so the filter is not used for it. The filters, and the name that tables store
 * with them, are those of `policy`: Chromium uses the filters of LevelDB's Bloom policy, fitted or not.
 *
 * A stored key whose ids take more bytes than they need is found by its own bytes, but not by the bytes of the shorter key that is equal to it.
 * Chromium writes no such keys.
 *
 * @throws TypeError when `policy` is not a filter policy.
 * @throws RangeError when `policy` treats keys as equal by a rule of its own.
 * @example
 * ```ts
 * const filterPolicy = idbFilterPolicyOf(new FittedBloomFilterPolicy(10));
 * await Database.refilter(folder, { comparator: idbComparator, filterPolicy });
 * ```
 */
export function idbFilterPolicyOf(policy: FilterPolicy): FilterPolicy {
  if (arguments.length > 1) mustHaveAtMost('idbFilterPolicyOf', 'a policy', 1, arguments.length);
  mustBeFilterPolicy('policy', policy);
  const { name, keyEquivalence } = policy;
  if (keyEquivalence !== undefined) throw new RangeError(`policy must distinguish all keys, but ${name} treats keys as equal by ${JSON.stringify(keyEquivalence)}`);
  return {
    name,
    keyEquivalence: KEY_EQUIVALENCE,
    createFilter: (keys, dst) => policy.createFilter(keys, dst),
    keyMayMatch: (key, filter) => policy.keyMayMatch(key, filter) || hasOtherSpellings(key),
  };
}

/** LevelDB's Bloom filter for IndexedDB databases: {@link idbFilterPolicyOf} of `new BloomFilterPolicy(10)`. */
export const idbFilterPolicy: FilterPolicy = idbFilterPolicyOf(new BloomFilterPolicy());

function hasOtherSpellings(key: Uint8Array): boolean {
  const reader = new KeyReader(key, 0, key.length);
  // Compared with itself, a key is read to its end.
  compareKeys(reader, new KeyReader(key, 0, key.length));
  return reader.isAmbiguous;
}
