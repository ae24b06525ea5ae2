/**
 * Values as V8 serializes them, for IndexedDB and `v8.serialize`.
 *
 *     ff, version (varint)     9 to 16
 *     a value                  tag (u8), and what follows it
 *
 * | tag | value |
 * | --- | --- |
 * | `_` `0` `T` `F` | undefined, null, true, false |
 * | `I` `U` `N` `Z` | zigzag int32, uint32, double, BigInt: sign and length (varint), digits |
 * | `"` `c` `S` | string: length in bytes (varint), Latin-1, UTF-16LE or UTF-8 |
 * | `^` | an object that was read before: its id (varint); ids count all objects in the order of their tags |
 * | `o` … `{` | object: keys and values in turns, then their number |
 * | `A` n … `$` | dense array: n elements, `-` for a hole; keys and values of other properties; their number, n |
 * | `a` n … `@` | sparse array: keys and values; their number, n |
 * | `D` `y` `x` `n` `z` `s` | Date; boxed true, false, number, BigInt, string |
 * | `R` | RegExp: string, flags (varint) |
 * | `;` … `:`  `'` … `,` | Map: keys and values, twice their number; Set: elements, their number |
 * | `B` `~` | ArrayBuffer: length, bytes; resizable: length, largest length, bytes |
 * | `V` | a view of the ArrayBuffer before it, or of that which a `^` before it refers to: kind, offset, length, from version 14 on flags |
 * | `r` | error: see `v8-error.ts` |
 * | `\` | an object of the host: Blink's {@link HostObject}s |
 * | 00, `?` | padding; a count that means nothing any more |
 *
 * From version 16 on, lengths and offsets of ArrayBuffers and views have 64 bits. Chromium once wrote flags of views with version 13.
 *
 * Source: V8, src/objects/value-serializer.cc.
 */
import { numberOf } from '@bloom/bytes/internal';
import { WebStorageError } from '../web-storage-error.js';
import { newBuffer, viewOf } from './array-buffer-view.js';
import { readBigInt } from './big-int.js';
import { BUFFER_WEIGHT, ByteReader } from './byte-reader.js';
import { HostObject } from './host-object.js';
import { MAX_KEPT_NAME, type PropertyNames } from './property-names.js';
import * as Tag from './v8-tags.js';
import { regExpOf } from './reg-exp.js';
import { readError } from './v8-error.js';
import { isStackOverflow } from './stack-overflow.js';

/** The newest version that this reader knows. */
export const LATEST_V8_VERSION = 16;
const OLDEST_V8_VERSION = 9;
const VERSION_TAG = 0xff;

/** From these versions on: */
const EXPLICIT_HOST_TAG = 13;
const TAGGED_STRINGS = 12;
const HOLES_HAVE_A_TAG = 11;
const VIEWS_HAVE_FLAGS = 14;
const LENGTHS_OF_64_BITS = 16;

/** How deeply objects may be nested. The stack of most hosts overflows earlier, which is the same error. */
const MAX_DEPTH = 10_000;
/** V8 keeps an array in a hash table once it was longer than this, even if it is shortened later. Otherwise it reserves 8 bytes for each hole. */
const LONGEST_ARRAY = 2 ** 32 - 1;

/** V8 ends the process when it cannot make room for another element, which it cannot beyond 89 million. */
const MAX_ELEMENTS = 2 ** 26;
/** V8 ends the process beyond 22 million properties of an object. */
const MAX_PROPERTIES = 2 ** 24;

/** The weights of objects that take more memory than an empty object, or, for errors, whose stack takes time. */
const MAP_WEIGHT = 2;
const REGEXP_WEIGHT = 2;
const ERROR_WEIGHT = 16;
export const HOST_OBJECT_WEIGHT = 4;

/** Reads the objects of a host within a value. */
export interface HostObjectReader {
  /**
   * Reads an object, whose first byte, its tag, is at the position of `reader`.
   *
   * @returns undefined if the tag is unknown.
   */
  readHostObject(reader: V8ValueReader): object | undefined;
}

/** Reads one value. */
export class V8ValueReader extends ByteReader {
  /** The version of V8's format. */
  readonly version: number;
  readonly #host: HostObjectReader | undefined;
  /** The objects by their ids; undefined for one that is not read to its end yet. */
  #objects: (object | undefined)[] = [];
  #depth = 0;
  /** Whether views have flags although views of this version have none. */
  private hasEarlyFlags = false;
  private isWhole = true;
  private readonly names: PropertyNames;

  constructor(bytes: Uint8Array, position: number, host: HostObjectReader | undefined, names: PropertyNames, maxObjects?: number) {
    super(bytes, 'value', position, maxObjects);
    this.#host = host;
    this.names = names;
    this.version = this.#header();
  }

  /** False if the value has an object that this reader does not know: everything after that object is missing. */
  get isComplete(): boolean {
    return this.isWhole;
  }

  /** The value. */
  read(): unknown {
    const start = this.position;
    try {
      return this.#whole(start);
    } catch (error) {
      if (isStackOverflow(error)) throw new WebStorageError('BLOOM_TOO_DEEP', 'value', this.position, 'objects are nested more deeply than the stack allows', { cause: error });
      if (error instanceof RangeError) throw new WebStorageError('BLOOM_BAD_VALUE', 'value', this.position, error.message, { cause: error });
      throw error;
    }
  }

  #whole(start: number): unknown {
    try {
      return this.value();
    } catch (error) {
      if (this.version !== VIEWS_HAVE_FLAGS - 1 || !(error instanceof WebStorageError) || error.code !== 'BLOOM_BAD_VALUE') throw error;
      try {
        this.position = start;
        this.#objects = [];
        this.counted = 0;
        this.#depth = 0;
        this.isWhole = true;
        this.hasEarlyFlags = true;
        return this.value();
      } catch {
        throw error;
      }
    }
  }

  #header(): number {
    const start = this.position;
    if (this.bytes[start] !== VERSION_TAG) throw new WebStorageError('BLOOM_UNSUPPORTED_VALUE', 'value', start, 'has no version: it is not a serialized value, or is one from before Chromium 57');
    this.position++;
    const version = this.varint32();
    if (version < OLDEST_V8_VERSION || version > LATEST_V8_VERSION) {
      throw new WebStorageError('BLOOM_UNSUPPORTED_VALUE', 'value', start, `has version ${version} of V8's format, versions ${OLDEST_V8_VERSION} to ${LATEST_V8_VERSION} are known`);
    }
    return version;
  }

  /** The next value, of any kind. */
  value(): unknown {
    const type = this.#tag();
    switch (type) {
      case Tag.ONE_BYTE_STRING:
        return this.latin1(this.varint32());
      case Tag.INT32: {
        const value = this.varint32();
        return (value >>> 1) ^ -(value & 1);
      }
      // Two stack frames per level, so that the stack allows as many levels as V8's.
      case Tag.OBJECT: {
        const object = this.#add<Record<string, unknown>>({});
        this.#enter();
        this.#properties(object, Tag.END_OBJECT);
        this.#depth--;
        return object;
      }
      case Tag.DENSE_ARRAY:
        return this.#denseArray();
      case Tag.TRUE:
        return true;
      case Tag.FALSE:
        return false;
      case Tag.NULL:
        return null;
      case Tag.UNDEFINED:
        return undefined;
      case Tag.DOUBLE:
        return this.double();
      default:
        return this.#rarerValue(type);
    }
  }

  #rarerValue(type: number): unknown {
    switch (type) {
      case Tag.TWO_BYTE_STRING:
        return this.utf16(this.varint32(), true);
      case Tag.UINT32:
        return this.varint32();
      case Tag.UTF8_STRING:
        return this.utf8(this.varint32(), false);
      case Tag.DATE:
        return this.#add(new Date(this.double()));
      case Tag.REFERENCE:
        return this.#reference();
      case Tag.BIGINT:
        return readBigInt(this);
      case Tag.SPARSE_ARRAY:
        return this.#sparseArray();
      case Tag.MAP:
        return this.#map();
      case Tag.SET:
        return this.#set();
      case Tag.ARRAY_BUFFER:
      case Tag.RESIZABLE_ARRAY_BUFFER:
        return this.#arrayBuffer(type === Tag.RESIZABLE_ARRAY_BUFFER);
      case Tag.IMMUTABLE_ARRAY_BUFFER:
        if (this.version < EXPLICIT_HOST_TAG) return this.#untaggedHostObject();
        return this.#arrayBuffer(false);
      case Tag.TRUE_OBJECT:
      case Tag.FALSE_OBJECT:
        return this.#add(Object(type === Tag.TRUE_OBJECT) as object);
      case Tag.NUMBER_OBJECT:
        return this.#add(Object(this.double()) as object);
      case Tag.BIGINT_OBJECT:
        return this.#add(Object(readBigInt(this)) as object);
      case Tag.STRING_OBJECT:
        return this.#boxedString();
      case Tag.REGEXP:
        return this.#regExp();
      case Tag.ERROR: {
        this.#enter();
        this.countObject(ERROR_WEIGHT);
        const error = readError(this, this.#objects);
        this.#depth--;
        return error;
      }
      case Tag.HOST_OBJECT:
        return this.#hostObject();
      case Tag.OBJECT_COUNT:
        this.varint32();
        return this.value();
      default:
        if (this.version < EXPLICIT_HOST_TAG) return this.#untaggedHostObject();
        this.position--;
        throw this.bad(`unknown tag ${quoted(type)}`);
    }
  }

  /** Before there was a tag for objects of the host, each of them had its own tag among V8's. */
  #untaggedHostObject(): unknown {
    this.position--;
    return this.#hostObject();
  }

  /** A string behind a tag, or, before version 12, UTF-8 without one. */
  string(): string {
    if (this.version < TAGGED_STRINGS) return this.utf8(this.varint32(), false);
    const start = this.position;
    const value = this.value();
    if (typeof value !== 'string') throw this.bad('not a string', start);
    return value;
  }

  #tag(): number {
    const { bytes } = this;
    for (;;) {
      if (this.position >= bytes.length) throw this.bad('ends where a value should start');
      const type = bytes[this.position++]!;
      if (type !== Tag.PADDING) return type;
    }
  }

  /** Whether the next tag is `type`, which is then skipped. */
  #isNext(type: number): boolean {
    const { bytes } = this;
    while (bytes[this.position] === Tag.PADDING) this.position++;
    if (bytes[this.position] !== type) return false;
    this.position++;
    return true;
  }

  #enter(): void {
    if (++this.#depth > MAX_DEPTH) throw new WebStorageError('BLOOM_TOO_DEEP', 'value', this.position, `more than ${MAX_DEPTH} objects are nested`);
  }

  #add<T extends object>(object: T, weight = 1): T {
    this.countObject(weight);
    this.#objects.push(object);
    return object;
  }

  /** Makes room for an object that is made after its parts are read. @returns its id. */
  #reserve(weight = 1): number {
    this.countObject(weight);
    return this.#objects.push(undefined) - 1;
  }

  #reference(): object {
    const start = this.position;
    const id = this.varint32();
    const object = this.#objects[id];
    if (object === undefined) throw this.bad(`refers to object ${id}, which was not read`, start);
    return object instanceof ArrayBuffer && this.#isNext(Tag.ARRAY_BUFFER_VIEW) ? this.#view(object) : object;
  }

  /** Reads properties up to `end`, and the count after it. */
  #properties(object: Record<string, unknown>, end: number): void {
    let count = 0;
    while (!this.#isNext(end)) {
      const start = this.position;
      const key = this.#propertyName();
      // V8 writes the length of an array separately, and it can only be set to a length.
      if (key === 'length' && end !== Tag.END_OBJECT) throw this.bad('the length of an array is among its properties', start);
      const value = this.value();
      // An assignment to it would set the prototype.
      if (key === '__proto__') Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
      else object[key] = value;
      if (++count > MAX_PROPERTIES) throw new WebStorageError('BLOOM_TOO_LARGE', 'value', start, `an object has more than ${MAX_PROPERTIES} properties`);
      if (!this.isWhole) return;
    }
    this.#mustBeCount(count, 'properties');
  }

  #propertyName(): string {
    const { bytes, position } = this;
    if (bytes[position] === Tag.ONE_BYTE_STRING) {
      // A length below 128 is one byte.
      const length = bytes[position + 1]!;
      if (length <= MAX_KEPT_NAME && length < bytes.length - position - 1) {
        this.position = position + 2 + length;
        return this.names.nameOf(bytes, position + 2, length);
      }
    }
    const key = this.value();
    if (typeof key === 'string') return key;
    if (typeof key === 'number') return String(key);
    throw this.bad('the name of a property is neither a string nor a number', position);
  }

  #mustBeCount(count: number, what: string): void {
    const start = this.position;
    const stored = this.varint32();
    if (stored !== count) throw this.bad(`has ${count} ${what}, but the stored count is ${stored}`, start);
  }

  #denseArray(): unknown[] {
    this.#enter();
    const start = this.position;
    const length = this.varint32();
    // Each element takes a byte at least.
    if (length > this.remaining) throw this.bad(`an array of ${numberOf(length, 'element')} does not fit in ${numberOf(this.remaining, 'byte')}`, start);
    if (length > MAX_ELEMENTS) throw new WebStorageError('BLOOM_TOO_LARGE', 'value', start, `an array has ${length} elements, more than ${MAX_ELEMENTS}`);
    const array = this.#add<unknown[]>([]);
    for (let i = 0; i < length; i++) {
      if (this.#isNext(Tag.HOLE)) continue;
      const element = this.value();
      // Before version 11, a hole was stored as undefined.
      if (element !== undefined || this.version >= HOLES_HAVE_A_TAG) array[i] = element;
      if (!this.isWhole) return array;
    }
    array.length = length;
    this.#properties(array as unknown as Record<string, unknown>, Tag.END_DENSE_ARRAY);
    if (this.isWhole) this.#mustBeCount(length, 'elements');
    this.#depth--;
    return array;
  }

  #sparseArray(): unknown[] {
    this.#enter();
    const length = this.varint32();
    const array = this.#add<unknown[]>([]);
    array.length = LONGEST_ARRAY;
    array.length = length;
    this.#properties(array as unknown as Record<string, unknown>, Tag.END_SPARSE_ARRAY);
    if (this.isWhole) this.#mustBeCount(length, 'elements');
    this.#depth--;
    return array;
  }

  #map(): Map<unknown, unknown> {
    this.#enter();
    const map = this.#add(new Map<unknown, unknown>(), MAP_WEIGHT);
    let count = 0;
    while (!this.#isNext(Tag.END_MAP)) {
      const key = this.value();
      map.set(key, this.isWhole ? this.value() : undefined);
      if (!this.isWhole) return map;
      count += 2;
    }
    this.#mustBeCount(count, 'keys and values');
    this.#depth--;
    return map;
  }

  #set(): Set<unknown> {
    this.#enter();
    const set = this.#add(new Set<unknown>(), MAP_WEIGHT);
    let count = 0;
    while (!this.#isNext(Tag.END_SET)) {
      set.add(this.value());
      if (!this.isWhole) return set;
      count++;
    }
    this.#mustBeCount(count, 'elements');
    this.#depth--;
    return set;
  }

  /** Its id comes before that of the string in it. */
  #boxedString(): object {
    const id = this.#reserve();
    const object = Object(this.string()) as object;
    this.#objects[id] = object;
    return object;
  }

  #regExp(): object {
    const id = this.#reserve(REGEXP_WEIGHT);
    const source = this.string();
    const start = this.position;
    const bits = this.varint32();
    const object = regExpOf(source, bits);
    if (object === undefined) throw this.bad(`unknown flags of a RegExp: ${bits}`, start);
    this.#objects[id] = object;
    return object;
  }

  #length(): number {
    return this.version >= LENGTHS_OF_64_BITS ? this.varint64() : this.varint32();
  }

  #arrayBuffer(isResizable: boolean): unknown {
    const id = this.#reserve(BUFFER_WEIGHT);
    const length = this.#length();
    const start = this.position;
    const maxByteLength = isResizable ? this.#length() : length;
    if (maxByteLength < length) throw this.bad(`a buffer has ${numberOf(length, 'byte')}, more than its maximum of ${maxByteLength}`, start);
    const contents = this.take(length);
    const buffer = newBuffer(length, isResizable ? maxByteLength : undefined);
    new Uint8Array(buffer).set(contents);
    this.#objects[id] = buffer;
    return this.#isNext(Tag.ARRAY_BUFFER_VIEW) ? this.#view(buffer) : buffer;
  }

  #view(buffer: ArrayBuffer): object {
    const start = this.position;
    const kind = String.fromCharCode(this.varint32());
    const byteOffset = this.#length();
    const byteLength = this.#length();
    const flags = this.version >= VIEWS_HAVE_FLAGS || this.hasEarlyFlags ? this.varint32() : 0;
    const view = viewOf(buffer, { kind, byteOffset, byteLength, flags });
    if (typeof view === 'string') throw this.bad(view, start);
    return this.#add(view);
  }

  #hostObject(): object {
    const id = this.#reserve(HOST_OBJECT_WEIGHT);
    const start = this.position;
    let object = this.#host?.readHostObject(this);
    if (object === undefined) {
      // Its end is not known.
      this.position = start;
      const type = String.fromCharCode(this.byte());
      object = new HostObject(undefined, type, {}, this.take(this.remaining).slice());
      this.isWhole = false;
    }
    this.#objects[id] = object;
    return object;
  }
}

function quoted(type: number): string {
  return type > 0x20 && type < 0x7f ? `'${String.fromCharCode(type)}'` : `0x${type.toString(16).padStart(2, '0')}`;
}
