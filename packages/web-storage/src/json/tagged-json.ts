/**
 * JavaScript values as JSON. What JSON lacks is an object with the member `$type`; the README of this package has a table of them.
 *
 * The conversion keeps its own stack: a value may be nested as deeply as it could be decoded, and its JSON is up to four times as deep.
 */
import { isResizable } from '../value/array-buffer-view.js';
import { HostObject, StoredBlob } from '../value/host-object.js';
import { base64 } from './base64.js';
import { tooLong } from './too-long.js';

/** A value of JSON. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [name: string]: JsonValue };

/** How to convert a value. */
export interface TaggedJsonOptions {
  /** The file to which the bytes of a blob were copied, for the member `file`; undefined if there is none. */
  readonly fileOf?: ((blob: StoredBlob) => string | undefined) | undefined;
}

type JsonObject = Record<string, JsonValue>;

/** A part of the value, and the member or element of the JSON that is to be its JSON. */
interface Part {
  readonly value: unknown;
  readonly holder: JsonObject | JsonValue[];
  readonly name: string | number;
}

/** The place of an object's JSON. */
interface Place {
  readonly holder: JsonObject | JsonValue[];
  readonly name: string | number;
  /** Set once a second reference to the object was found. */
  id: number | undefined;
}

/**
 * Converts a value that a browser stored to JSON, in which tags stand for what JSON lacks, such as `{ "$type": "Date", "value": "…" }`.
 *
 * @example
 * ```ts
 * taggedJson(new Map([['a', 1n]])); // { $type: 'Map', entries: [['a', { $type: 'bigint', value: '1' }]] }
 * ```
 * @throws TypeError for functions and symbols, which structured clone refuses; WebStorageError BLOOM_TOO_LARGE for a buffer whose base64 is
 *   longer than the host's longest string.
 */
export function taggedJson(value: unknown, options: TaggedJsonOptions = {}): JsonValue {
  try {
    return new Conversion(options).of(value);
  } catch (error) {
    throw tooLong(error);
  }
}

class Conversion {
  readonly #fileOf: TaggedJsonOptions['fileOf'];
  /** In reverse: the next part is the last. */
  readonly #parts: Part[] = [];
  readonly #places = new Map<object, Place>();
  /** Buffers whose bytes are in the short form of a view. */
  readonly #shortViews = new Map<object, JsonObject>();
  #lastId = 0;

  constructor({ fileOf }: TaggedJsonOptions) {
    this.#fileOf = fileOf;
  }

  of(value: unknown): JsonValue {
    const root: JsonValue[] = [];
    this.#parts.push({ value, holder: root, name: 0 });
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) this.#convert(part);
    return root[0]!;
  }

  #convert({ value, holder, name }: Part): void {
    if (typeof value !== 'object' || value === null) {
      set(holder, name, primitiveJson(value));
      return;
    }
    const place = this.#places.get(value);
    if (place === undefined) {
      const shortView = this.#shortViews.get(value);
      if (shortView !== undefined) this.#lengthen(shortView, value);
      else {
        this.#places.set(value, { holder, name, id: undefined });
        set(holder, name, this.#objectJson(value));
        return;
      }
    }
    set(holder, name, { $type: 'reference', id: this.#idOf(this.#places.get(value)!) });
  }

  /** The id of an object that has a second reference. The JSON of the first one becomes `shared`. */
  #idOf(place: Place): number {
    if (place.id !== undefined) return place.id;
    place.id = ++this.#lastId;
    const { holder, name, id } = place;
    set(holder, name, { $type: 'shared', id, value: (holder as JsonObject)[name]! });
    return id;
  }

  /** Gives a view its buffer, because something else refers to the buffer. */
  #lengthen(view: JsonObject, buffer: object): void {
    const { base64: contents, length } = view;
    delete view.base64;
    delete view.length;
    Object.assign(view, { buffer: { $type: 'ArrayBuffer', base64: contents }, byteOffset: 0, length });
    this.#shortViews.delete(buffer);
    this.#places.set(buffer, { holder: view, name: 'buffer', id: undefined });
  }

  /** The JSON of an object, whose parts follow. */
  #objectJson(object: object): JsonValue {
    if (Array.isArray(object)) return this.#arrayJson(object);
    const prototype: unknown = Object.getPrototypeOf(object);
    if (prototype === Object.prototype || prototype === null) return this.#plainJson(object as Record<string, unknown>);
    if (object instanceof Date) return { $type: 'Date', value: Number.isNaN(object.getTime()) ? null : object.toISOString() };
    if (object instanceof Map) return { $type: 'Map', entries: this.#entries([...object]) };
    if (object instanceof Set) return { $type: 'Set', values: this.#elements([...object]) };
    if (object instanceof RegExp) return this.#fields('RegExp', { source: object.source, flags: object.flags });
    if (object instanceof ArrayBuffer) return bufferJson(object);
    if (ArrayBuffer.isView(object)) return this.#viewJson(object);
    if (object instanceof Error) return this.#errorJson(object);
    if (object instanceof StoredBlob) return this.#blobJson(object);
    if (object instanceof HostObject) return this.#hostJson(object);
    const boxed: unknown = object.valueOf();
    if (typeof boxed !== 'object') return { $type: object.constructor.name, value: primitiveJson(boxed) };
    return this.#plainJson(object as Record<string, unknown>);
  }

  /** Elements that are converted in order, after the current ones. */
  #elements(values: readonly unknown[]): JsonValue[] {
    const array: JsonValue[] = new Array<JsonValue>(values.length).fill(null);
    this.#follow(values.map((value, name) => ({ value, holder: array, name })));
    return array;
  }

  #entries(entries: readonly (readonly [unknown, unknown])[]): JsonValue[] {
    const pairs = entries.map((): JsonValue[] => [null, null]);
    this.#follow(entries.flatMap(([key, value], i) => [{ value: key, holder: pairs[i]!, name: 0 }, { value, holder: pairs[i]!, name: 1 }]));
    return pairs;
  }

  /** A tagged object with the members that are not undefined. */
  #fields(type: string, fields: Readonly<Record<string, unknown>>): JsonObject {
    const json: JsonObject = { $type: type };
    this.#members(json, Object.entries(fields).filter(([, value]) => value !== undefined));
    return json;
  }

  #members(json: JsonObject, entries: readonly (readonly [string, unknown])[]): void {
    for (const [name] of entries) set(json, name, null);
    this.#follow(entries.map(([name, value]) => ({ value, holder: json, name })));
  }

  #follow(parts: readonly Part[]): void {
    const later: Part[] = [];
    for (const part of parts) {
      if (typeof part.value === 'object' && part.value !== null) later.push(part);
      else set(part.holder, part.name, primitiveJson(part.value));
    }
    for (let i = later.length - 1; i >= 0; i--) this.#parts.push(later[i]!);
  }

  #arrayJson(array: readonly unknown[]): JsonValue {
    const names = Object.keys(array);
    const { length } = array;
    // Names of elements come first, in their order.
    const isPlain = names.length === length && (length === 0 || names[length - 1] === String(length - 1));
    if (isPlain) return this.#elements(array);
    return { $type: 'Array', length, entries: this.#entries(names.map((name) => [name, (array as unknown as Record<string, unknown>)[name]])) };
  }

  #plainJson(object: Record<string, unknown>): JsonValue {
    const entries = Object.entries(object);
    if (entries.some(([name]) => name === '$type' || LONE_SURROGATE.test(name))) return { $type: 'Object', entries: this.#entries(entries) };
    const json: JsonObject = {};
    this.#members(json, entries);
    return json;
  }

  #viewJson(view: ArrayBufferView): JsonValue {
    const { byteLength } = view;
    const type = (view as unknown as { readonly [Symbol.toStringTag]: string })[Symbol.toStringTag];
    const length = (view as { length?: number }).length ?? byteLength;
    return this.#viewOf(type, view, length, byteLength);
  }

  #viewOf(type: string, { buffer, byteOffset }: Pick<ArrayBufferView, 'buffer' | 'byteOffset'>, length: number, byteLength: number): JsonValue {
    const isWhole = byteLength === buffer.byteLength && !isResizable(buffer as ArrayBuffer) && !this.#places.has(buffer) && !this.#shortViews.has(buffer);
    if (!isWhole) return this.#fields(type, { buffer, byteOffset, length });
    const json: JsonObject = { $type: type, base64: base64(new Uint8Array(buffer)), length };
    this.#shortViews.set(buffer, json);
    return json;
  }

  #errorJson(error: Error): JsonValue {
    const own = (name: 'message' | 'stack' | 'cause'): unknown => (Object.hasOwn(error, name) ? error[name] : undefined);
    const json = this.#fields('Error', { name: error.name, message: own('message'), stack: own('stack') });
    // A cause can be undefined.
    if (Object.hasOwn(error, 'cause')) this.#members(json, [['cause', error.cause]]);
    return json;
  }

  #blobJson(blob: StoredBlob): JsonValue {
    const { kind, name, type, size, lastModified, blobNumber } = blob;
    return this.#fields(kind === 'file' ? 'File' : 'Blob', { name, type, size, lastModified, blobNumber, file: this.#fileOf?.(blob) });
  }

  #hostJson({ interfaceName, tag, fields, bytes }: HostObject): JsonValue {
    // Where the host has none, it is the same JSON as elsewhere.
    if (interfaceName === 'Float16Array') return this.#viewOf(interfaceName, fields as unknown as ArrayBufferView, Number(fields.length), Number(fields.length) * FLOAT16_BYTES);
    if (interfaceName === undefined) return { $type: 'unknown', tag: primitiveJson(tag), base64: base64(bytes ?? new Uint8Array(0)) };
    return this.#fields(interfaceName, fields);
  }
}

const FLOAT16_BYTES = 2;

const LONE_SURROGATE = /\p{Surrogate}/u;

/** A value that JSON has is itself. @throws TypeError. */
function primitiveJson(value: unknown): JsonValue {
  switch (typeof value) {
    case 'string':
      return LONE_SURROGATE.test(value) ? { $type: 'string', utf16: utf16Digits(value) } : value;
    case 'number':
      if (Number.isFinite(value) && !Object.is(value, -0)) return value;
      return { $type: 'number', value: Object.is(value, -0) ? '-0' : String(value) };
    case 'boolean':
      return value;
    case 'bigint':
      return { $type: 'bigint', value: bigIntText(value) };
    case 'undefined':
      return { $type: 'undefined' };
    case 'object':
      return null;
    default:
      throw new TypeError(`value must not contain a ${typeof value}`);
  }
}

/** The longest BigInts that are written in decimal: V8 takes 1.5 ms for one of 2^16 bits, and 0.7 s for one of a megabyte (Node 20). */
const DECIMAL_BITS = 2 ** 16;

function bigIntText(value: bigint): string {
  if (BigInt.asIntN(DECIMAL_BITS, value) === value) return String(value);
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;
}

/** How many units to write at once: an array of all of them takes ten times the memory of their digits. */
const UNITS_AT_ONCE = 4096;

/** Four hexadecimal digits for each UTF-16 unit. */
function utf16Digits(text: string): string {
  let digits = '';
  for (let start = 0; start < text.length; start += UNITS_AT_ONCE) {
    const units: string[] = [];
    const end = Math.min(text.length, start + UNITS_AT_ONCE);
    for (let i = start; i < end; i++) units.push(text.charCodeAt(i).toString(16).padStart(4, '0'));
    digits += units.join('');
  }
  return digits;
}

function bufferJson(buffer: ArrayBuffer): JsonValue {
  const json: JsonObject = { $type: 'ArrayBuffer', base64: base64(new Uint8Array(buffer)) };
  if (isResizable(buffer)) json.maxByteLength = (buffer as unknown as { readonly maxByteLength: number }).maxByteLength;
  return json;
}

function set(holder: JsonObject | JsonValue[], name: string | number, value: JsonValue): void {
  // An assignment to it would set the prototype.
  if (name === '__proto__') Object.defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true });
  else (holder as JsonObject)[name] = value;
}
