/**
 * A write batch: operations that are applied atomically, and the contents of a log's record.
 *
 *     sequence (u64) | count (u32) | operation*
 *
 *     operation:  01 | key (string) | value (string)      a put
 *                 00 | key (string)                       a deletion
 *
 * A string is its length (varint32) and its bytes. Operation i has the sequence of the batch plus i. All integers are
 * little-endian.
 *
 * Source: LevelDB, db/write_batch.cc.
 */
import { type Bytes, type LabelledRange, putVarint, VarintReader } from '@bloom/bytes';
import { bytesOf, copyBytes, mustBeBytes, mustHaveAtMost } from '@bloom/bytes/internal';
import { DELETION, MAX_SEQUENCE, VALUE } from '@bloom/sstable/database';
import { uint32At } from '@bloom/sstable/internal';

/** Sequence and count. */
const BATCH_HEADER_LENGTH = 12;

const MAX_VARINT32_LENGTH = 5;
const COUNT_POSITION = 8;
const NO_BYTES = new Uint8Array(0);

/** LevelDB's error texts for a record that is not a write batch. */
export type BatchProblem =
  | 'log record too small'
  | 'unknown WriteBatch tag'
  | 'bad WriteBatch Put'
  | 'bad WriteBatch Delete'
  | 'WriteBatch has wrong count';

/**
 * Puts and deletions that are written together.
 *
 * @example
 * ```ts
 * const batch = new WriteBatch().put('foo', 'bar').delete('box');
 * ```
 */
export class WriteBatch {
  #bytes = NO_BYTES;
  #view: DataView<ArrayBuffer> | undefined;
  /** The last record, which is returned again if the length is the same: often the case with batches of one put. */
  #record: Bytes | undefined;
  #length = BATCH_HEADER_LENGTH;
  #count = 0;

  /** The number of operations. */
  get count(): number {
    return this.#count;
  }

  /** The size of the batch's record in bytes. */
  get byteLength(): number {
    return this.#length;
  }

  /** @internal The operations as in a record, after an empty header: a view that is valid until the next change. */
  get operations(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Adds a put. The last operation on a key takes effect. Strings are stored as UTF-8. */
  put(key: Uint8Array | string, value: Uint8Array | string): this {
    if (arguments.length > 2) mustHaveAtMost('WriteBatch.put', 'a key and a value', 2, arguments.length);
    const keyBytes = bytesOf('key', key);
    const valueBytes = bytesOf('value', value);
    this.#reserve(1 + 2 * MAX_VARINT32_LENGTH + keyBytes.length + valueBytes.length);
    this.#bytes[this.#length++] = VALUE;
    this.#putString(keyBytes);
    this.#putString(valueBytes);
    this.#count++;
    return this;
  }

  /** Adds a deletion. */
  delete(key: Uint8Array | string): this {
    if (arguments.length > 1) mustHaveAtMost('WriteBatch.delete', 'a key', 1, arguments.length);
    const keyBytes = bytesOf('key', key);
    this.#reserve(1 + MAX_VARINT32_LENGTH + keyBytes.length);
    this.#bytes[this.#length++] = DELETION;
    this.#putString(keyBytes);
    this.#count++;
    return this;
  }

  /** Adds all operations of another batch. */
  append(other: WriteBatch): this {
    mustHaveAtMost('WriteBatch.append', 'a batch', 1, arguments.length);
    if (!(#bytes in (Object(other) as object))) throw new TypeError('other must be a WriteBatch');
    const length = other.#length - BATCH_HEADER_LENGTH;
    this.#reserve(length);
    this.#bytes.set(other.#bytes.subarray(BATCH_HEADER_LENGTH, other.#length), this.#length);
    this.#length += length;
    this.#count += other.#count;
    return this;
  }

  /** Removes all operations. */
  clear(): this {
    mustHaveAtMost('WriteBatch.clear', 'no arguments', 0, arguments.length);
    this.#length = BATCH_HEADER_LENGTH;
    this.#count = 0;
    return this;
  }

  /** The record of the batch with its first operation at `sequence`: a view that is valid until the next change or call of `encode`. */
  encode(sequence: bigint): Bytes {
    this.#reserve(0);
    const view = (this.#view ??= new DataView(this.#bytes.buffer));
    view.setBigUint64(0, sequence, true);
    view.setUint32(COUNT_POSITION, this.#count, true);
    if (this.#record?.length !== this.#length) this.#record = this.#bytes.subarray(0, this.#length);
    return this.#record;
  }

  #putString(bytes: Uint8Array): void {
    const start = putVarint(this.#bytes, this.#length, bytes.length);
    copyBytes(bytes, 0, bytes.length, this.#bytes, start);
    this.#length = start + bytes.length;
  }

  #reserve(length: number): void {
    const needed = this.#length + length;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = this.#record = undefined;
  }
}

/**
 * Iterates over the operations of a record.
 *
 * Operations before damage are returned, as LevelDB applies them too.
 *
 * @example
 * ```ts
 * const reader = new WriteBatchReader(record);
 * while (reader.next()) console.log(reader.type, reader.key, reader.value);
 * if (reader.problem !== undefined) throw new Error(reader.problem);
 * ```
 */
export class WriteBatchReader {
  readonly bytes: Uint8Array;
  /** The number of operations according to the header. */
  readonly count: number;
  /** The number of operations so far; that of the current one is `found - 1`. */
  found = 0;
  /** 1 (`VALUE`) or 0 (`DELETION`), as in `@bloom/sstable/database`. */
  type = DELETION;
  /** The key of the operation is `bytes[keyStart, keyEnd)`. */
  keyStart = 0;
  keyEnd = 0;
  /** The value of the operation is `bytes[valueStart, valueEnd)`; empty for a deletion. */
  valueStart = 0;
  valueEnd = 0;
  /** The problem, if there is one, once `next` has returned false. */
  problem: BatchProblem | undefined;

  readonly #reader: VarintReader;
  #sequence: bigint | undefined;

  constructor(record: Uint8Array) {
    this.bytes = record;
    this.#reader = new VarintReader(record, BATCH_HEADER_LENGTH);
    if (record.length < BATCH_HEADER_LENGTH) {
      this.#sequence = 0n;
      this.count = 0;
      this.problem = 'log record too small';
      return;
    }
    this.count = uint32At(record, COUNT_POSITION);
  }

  /** The sequence of the first operation. */
  get sequence(): bigint {
    // Read only when it is asked for, because a `DataView` is slow to make: callers that have just encoded the record know its sequence.
    return (this.#sequence ??= new DataView(this.bytes.buffer, this.bytes.byteOffset, BATCH_HEADER_LENGTH).getBigUint64(0, true));
  }

  /** A view of the key. */
  get key(): Uint8Array {
    return this.bytes.subarray(this.keyStart, this.keyEnd);
  }

  /** A view of the value. */
  get value(): Uint8Array {
    return this.bytes.subarray(this.valueStart, this.valueEnd);
  }

  /** Moves to the next operation. @returns whether there is one. If not, see `problem`. */
  next(): boolean {
    if (this.problem !== undefined) return false;
    const reader = this.#reader;
    if (reader.position >= this.bytes.length) {
      if (this.found !== this.count) this.problem = 'WriteBatch has wrong count';
      return false;
    }
    const tag = this.bytes[reader.position++]!;
    if (tag !== VALUE && tag !== DELETION) return this.#fail('unknown WriteBatch tag');
    const problem = tag === VALUE ? 'bad WriteBatch Put' : 'bad WriteBatch Delete';
    if (!this.#readString()) return this.#fail(problem);
    this.keyStart = this.valueStart;
    this.keyEnd = this.valueStart = this.valueEnd;
    if (tag === VALUE && !this.#readString()) return this.#fail(problem);
    this.type = tag;
    this.found++;
    return true;
  }

  /** Reads a string into `valueStart` and `valueEnd`. */
  #readString(): boolean {
    const reader = this.#reader;
    const length = reader.varint32();
    if (length < 0 || length > this.bytes.length - reader.position) return false;
    this.valueStart = reader.position;
    reader.position += length;
    this.valueEnd = reader.position;
    return true;
  }

  #fail(problem: BatchProblem): false {
    this.problem = problem;
    return false;
  }
}

/** Whether the sequences of a batch are valid. The highest sequence is reserved for lookups of all versions of a key. */
export function hasSequences({ sequence, count }: WriteBatchReader): boolean {
  return sequence + BigInt(count) <= MAX_SEQUENCE;
}

/**
 * Whether the record of a batch can begin with `bytes`. Zeros at their end are not considered: a power failure can leave them.
 *
 * @param recordLength of the whole record, as far as it is known.
 */
export function mayBeginBatch(bytes: Uint8Array, recordLength = Infinity): boolean {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  // Bytes that are missing in the header can only make its numbers larger.
  const header = new Uint8Array(BATCH_HEADER_LENGTH);
  header.set(bytes.subarray(0, Math.min(end, BATCH_HEADER_LENGTH)));
  const batch = new WriteBatchReader(header);
  if (recordLength < BATCH_HEADER_LENGTH || !hasSequences(batch)) return false;
  const reader = new VarintReader(bytes, BATCH_HEADER_LENGTH, end);
  for (let found = 1; reader.position < end; found++) {
    const tag = bytes[reader.position++]!;
    if ((tag !== VALUE && tag !== DELETION) || found > batch.count) return false;
    for (let strings = tag === VALUE ? 2 : 1; strings > 0 && reader.position < end; strings--) {
      const start = reader.position;
      const length = reader.varint32();
      if (length < 0) return reader.position === end && end - start < MAX_VARINT32_LENGTH;
      reader.position += length;
      if (reader.position > recordLength) return false;
    }
  }
  return true;
}

/**
 * The meaning of every byte of a record: each once, in order, with offsets from the start of the record.
 *
 * The damaged part is one range, whose label is LevelDB's error text.
 */
export function writeBatchLayout(record: Uint8Array): LabelledRange[] {
  mustBeBytes('record', record);
  const reader = new WriteBatchReader(record);
  const ranges: LabelledRange[] = [];
  let position = 0;
  /** Adds what lies between the last range and `end`. */
  function add(end: number, label: string, value?: string): void {
    if (end > position) ranges.push({ offset: position, byteLength: end - position, label, ...(value !== undefined && { value }) });
    position = end;
  }

  if (record.length >= BATCH_HEADER_LENGTH) {
    add(COUNT_POSITION, 'sequence', String(reader.sequence));
    add(BATCH_HEADER_LENGTH, 'count', String(reader.count));
  }
  while (reader.next()) {
    const { found, type, keyStart, keyEnd, valueStart, valueEnd } = reader;
    const name = `operation ${found - 1}`;
    const sequence = reader.sequence + BigInt(found - 1);
    add(position + 1, `${name}: type`, `${type === VALUE ? 'put' : 'deletion'} with sequence ${sequence}`);
    add(keyStart, `${name}: key length`, String(keyEnd - keyStart));
    add(keyEnd, `${name}: key`);
    add(valueStart, `${name}: value length`, String(valueEnd - valueStart));
    add(valueEnd, `${name}: value`);
  }
  if (position < record.length) add(record.length, reader.problem!);
  else if (reader.problem === 'WriteBatch has wrong count') {
    ranges[1] = { ...ranges[1]!, value: `${reader.count}: ${reader.problem}, there are ${reader.found}` };
  }
  return ranges;
}
