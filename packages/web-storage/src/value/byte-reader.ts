/** The elements of stored keys and values: varints, doubles, strings. */
import { VarintReader } from '@bloom/bytes';
import { numberOf, plainBytes } from '@bloom/bytes/internal';
import { type StoredStructure, WebStorageError } from '../web-storage-error.js';

/** The most characters that are passed to `String.fromCharCode` at once: its arguments are on the stack. */
const PORTION = 4096;
/** Up to this length a string is joined character by character, which takes less time than a call with an array. */
const SHORT = 24;
/** UTF-16 of this length in bytes and longer is decoded by a TextDecoder first. */
const LONG = 192;

/** The most objects of one key or value. In Node 20 as many empty ones take a gigabyte, and a megabyte of input can describe 700,000. */
export const DEFAULT_MAX_OBJECTS = 2 ** 23;

/** How many empty objects take the memory of an empty ArrayBuffer. */
export const BUFFER_WEIGHT = 3;

/** Made when it is first needed. For 100 ASCII characters, it takes a sixth of the time of `String.fromCharCode` with the array (Node 20). */
let decoder: InstanceType<typeof TextDecoder> | undefined;

/** Reads from the start of `bytes` to the end, and refuses to read past it. */
export class ByteReader extends VarintReader {
  readonly structure: StoredStructure;
  readonly #view: DataView;
  private readonly maxObjects: number;
  /** The weights of the objects that were counted. */
  protected counted = 0;

  /** @param maxObjects the most objects that may be counted. */
  constructor(bytes: Uint8Array, structure: StoredStructure, position = 0, maxObjects = DEFAULT_MAX_OBJECTS) {
    // The slice of a Buffer would be a view of it, in what is decoded.
    super(plainBytes(bytes), position);
    this.structure = structure;
    this.maxObjects = maxObjects;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get remaining(): number {
    return this.bytes.length - this.position;
  }

  get isAtEnd(): boolean {
    return this.position >= this.bytes.length;
  }

  /** @throws WebStorageError where bytes are left. */
  mustBeAtEnd(): void {
    if (!this.isAtEnd) throw this.bad(`${numberOf(this.remaining, 'byte')} too many`);
  }

  /** An error about what is at `offset`, or at the position. */
  bad(problem: string, offset = this.position): WebStorageError {
    return new WebStorageError(this.structure === 'key' ? 'BLOOM_BAD_KEY' : this.structure === 'value' ? 'BLOOM_BAD_VALUE' : 'BLOOM_BAD_METADATA', this.structure, offset, problem);
  }

  /**
   * Counts an object that is about to be made.
   *
   * @param weight how many empty objects would take its memory or its time.
   * @throws WebStorageError BLOOM_TOO_LARGE if there are too many.
   */
  countObject(weight = 1): void {
    if ((this.counted += weight) > this.maxObjects) throw new WebStorageError('BLOOM_TOO_LARGE', this.structure, this.position, `its objects would take more memory than ${this.maxObjects} empty ones`);
  }

  byte(): number {
    if (this.position >= this.bytes.length) throw this.bad('ends early');
    return this.bytes[this.position++]!;
  }

  /** A view of the next `length` bytes. */
  take(length: number): Uint8Array {
    const start = this.position;
    if (length > this.bytes.length - start) throw this.bad(`ends early: ${numberOf(length, 'byte')} needed, ${this.bytes.length - start} left`);
    this.position = start + length;
    return this.bytes.subarray(start, this.position);
  }

  /** Up to 2^32 - 1; higher bits are dropped, as in V8. */
  override varint32(): number {
    const { bytes, position } = this;
    // Nearly all have one byte.
    if (position < bytes.length && bytes[position]! < 0x80) return bytes[this.position++]!;
    const value = super.varint32();
    if (value < 0) throw this.#badVarint(5);
    return value;
  }

  /** Exact up to 2^53. */
  override varint64(): number {
    const value = super.varint64();
    if (value < 0) throw this.#badVarint(10);
    return value;
  }

  #badVarint(mostBytes: number): WebStorageError {
    return this.bad(this.isAtEnd ? 'ends within a varint' : `a varint has more than ${mostBytes} bytes`);
  }

  /** Little-endian. */
  double(): number {
    const start = this.position;
    if (this.bytes.length - start < 8) throw this.bad('ends within a double');
    this.position = start + 8;
    return this.#view.getFloat64(start, true);
  }

  /** A character for each of `length` bytes. */
  latin1(length: number): string {
    const { bytes, position: start } = this;
    if (length > bytes.length - start) throw this.bad(`ends within a string of ${numberOf(length, 'byte')}`);
    const end = start + length;
    this.position = end;
    if (length <= SHORT) {
      let text = '';
      for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i]!);
      return text;
    }
    if (isAscii(bytes, start, end)) return (decoder ??= new TextDecoder()).decode(bytes.subarray(start, end));
    return fromUnits(bytes.subarray(start, end));
  }

  /** UTF-8 of `length` bytes. @param isStrict whether invalid UTF-8 is refused, or read as U+FFFD, as in V8. */
  utf8(length: number, isStrict = true): string {
    const start = this.position;
    const bytes = this.take(length);
    try {
      return new TextDecoder('utf-8', { ignoreBOM: true, fatal: isStrict }).decode(bytes);
    } catch {
      throw this.bad('a string is not UTF-8', start);
    }
  }

  /** UTF-16 of `length` bytes; surrogates without their partner stay as they are. */
  utf16(length: number, littleEndian: boolean): string {
    const start = this.position;
    if (length % 2 !== 0) throw this.bad(`a string of two-byte characters has ${numberOf(length, 'byte')}`);
    const bytes = this.take(length);
    if (length >= LONG) {
      try {
        return new TextDecoder(littleEndian ? 'utf-16le' : 'utf-16be', { ignoreBOM: true, fatal: true }).decode(bytes);
      } catch {
        // A surrogate without its partner, which a TextDecoder would replace.
      }
    }
    const units = new Uint16Array(length / 2);
    for (let i = 0; i < units.length; i++) units[i] = this.#view.getUint16(start + i * 2, littleEndian);
    return fromUnits(units);
  }
}

function fromUnits(units: Uint8Array | Uint16Array): string {
  let text = '';
  // Spread arguments would be iterated, which takes six times as long (Node 20).
  for (let i = 0; i < units.length; i += PORTION) text += String.fromCharCode.apply(undefined, units.subarray(i, i + PORTION) as unknown as number[]);
  return text;
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  let all = 0;
  for (let i = start; i < end; i++) all |= bytes[i]!;
  return all < 0x80;
}
