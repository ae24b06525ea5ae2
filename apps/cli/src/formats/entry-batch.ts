import { RangeCopier } from '@bloom/bytes/internal';

/** Entries as arrays that can be transferred to another thread. */
export interface PackedBatch {
  readonly length: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly positions: Float64Array<ArrayBuffer>;
}

/** A batch in the form in which it can be transferred. */
export function packed({ length, bytes, ends, positions }: PackedBatch): PackedBatch {
  return { length, bytes, ends, positions };
}

/** The buffers to transfer with a batch. */
export function buffersOf({ bytes, ends, positions }: PackedBatch): ArrayBuffer[] {
  return [bytes.buffer, ends.buffer, positions.buffer];
}

/**
 * Entries that were decoded from an input, one after another in one array: an entry costs a few numbers instead of objects.
 */
export class EntryBatch implements PackedBatch {
  /** The number of entries. */
  length = 0;
  /** Key, value, key, value, and so on; then room for more. */
  bytes: Uint8Array<ArrayBuffer>;
  /** The ends of each entry's key and value. A key starts where the previous value ends. */
  ends: Uint32Array<ArrayBuffer>;
  /** The position of each entry in the input: its line, from 1, or its offset in bytes. */
  positions: Float64Array<ArrayBuffer>;
  /** The number of bytes in use. */
  end = 0;
  readonly #copier = new RangeCopier();

  /** @param byteLength initial room for keys and values. @param count initial room for entries. */
  constructor(byteLength = 64 * 1024, count = 1024) {
    this.bytes = new Uint8Array(byteLength);
    this.ends = new Uint32Array(2 * count);
    this.positions = new Float64Array(count);
  }

  keyStart(i: number): number {
    return i === 0 ? 0 : this.ends[2 * i - 1]!;
  }

  keyEnd(i: number): number {
    return this.ends[2 * i]!;
  }

  valueEnd(i: number): number {
    return this.ends[2 * i + 1]!;
  }

  /** The key of entry `i`: a view. */
  key(i: number): Uint8Array {
    return this.bytes.subarray(this.keyStart(i), this.keyEnd(i));
  }

  /** The value of entry `i`: a view. */
  value(i: number): Uint8Array {
    return this.bytes.subarray(this.keyEnd(i), this.valueEnd(i));
  }

  clear(): void {
    this.length = this.end = 0;
  }

  /** Makes room for `byteLength` more bytes of keys and values, which the caller writes at `end`. */
  reserve(byteLength: number): void {
    const needed = this.end + byteLength;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.end));
    this.bytes = grown;
  }

  /** Appends bytes to the entry that is being written. @param copier one that often copies from the same array. */
  put(from: Uint8Array, start = 0, end = from.length, copier = this.#copier): void {
    this.reserve(end - start);
    copier.copy(from, start, end, this.bytes, this.end);
    this.end += end - start;
  }

  /** Ends an entry whose key and value were written at `end`. */
  push(keyEnd: number, valueEnd: number, position: number): void {
    const i = this.length;
    if (i === this.positions.length) this.#grow();
    this.ends[2 * i] = keyEnd;
    this.ends[2 * i + 1] = valueEnd;
    this.positions[i] = position;
    this.length = i + 1;
    this.end = valueEnd;
  }

  /** Appends an entry. */
  add(key: Uint8Array, value: Uint8Array, position: number): void {
    this.put(key);
    const keyEnd = this.end;
    this.put(value);
    this.push(keyEnd, this.end, position);
  }

  /** Appends the entry of the key `from[keyStart, keyEnd)` and the value `from[valueStart, valueEnd)`. */
  addRange(from: Uint8Array, keyStart: number, keyEnd: number, valueStart: number, valueEnd: number, position: number): void {
    this.put(from, keyStart, keyEnd);
    const end = this.end;
    this.put(from, valueStart, valueEnd);
    this.push(end, this.end, position);
  }

  /** A batch from a {@link PackedBatch}. Entries can be added after `clear`. */
  static of({ length, bytes, ends, positions }: PackedBatch): EntryBatch {
    const batch = new EntryBatch(0, 0);
    batch.length = length;
    batch.bytes = bytes;
    batch.ends = ends;
    batch.positions = positions;
    return batch;
  }

  #grow(): void {
    const count = Math.max(64, this.positions.length * 2);
    const ends = new Uint32Array(2 * count);
    ends.set(this.ends);
    this.ends = ends;
    const positions = new Float64Array(count);
    positions.set(this.positions);
    this.positions = positions;
  }
}

/** Decodes the column `line[start, end)` and adds its bytes. @throws LineError when it is invalid. */
export type FieldDecoder = (line: Uint8Array, start: number, end: number, batch: EntryBatch) => void;
