/**
 * Stored values as JSON. What JSON lacks is an object with the member `$type`:
 *
 *     undefined                       {"$type":"undefined"}
 *     NaN, ±Infinity, -0              {"$type":"number","value":"-0"}
 *     bigint                          {"$type":"bigint","value":"12"}
 *     Date                            {"$type":"Date","value":"2024-01-01T00:00:00.000Z"}, or null
 *     RegExp                          {"$type":"RegExp","source":"a+","flags":"u"}
 *     Map, Set                        {"$type":"Map","entries":[[key,value]]}, {"$type":"Set","values":[]}
 *     ArrayBuffer and its views       {"$type":"Uint8Array","base64":"AAEC"}
 *     an array with holes or names    {"$type":"Array","length":9,"entries":[["8",1]]}
 *     an object with a name `$type`   {"$type":"Object","entries":[["$type",1]]}
 *     Boolean, Number, String, BigInt {"$type":"Number","value":1}, boxed primitives
 *     Error                           {"$type":"Error","name":"TypeError","message":"","stack":"","cause":1}
 *     Blob, File                      {"$type":"File","type":"text/plain","size":3,"name":"a.txt","lastModified":"…","path":"…"}
 *     other objects of the browser    {"$type":"HostObject","interface":"DOMRect","tag":"E","fields":{"x":1}}, and "base64" if unknown
 *     an object that came before      {"$type":"reference","to":"/a/0"}: where it first stands in this JSON (RFC 6901)
 */
import { WebStorageError } from '../web-storage-error.js';
import { HostObject, StoredBlob } from './host-object.js';

/** The member that marks what JSON lacks. */
export const TYPE_MEMBER = '$type';

/** The longest string that every JavaScript engine can make. */
const MAX_CHARACTERS = 2 ** 29 - 25;

/** How to write values as JSON. */
export interface TaggedJsonOptions {
  /** The path under which the bytes of a blob or a file were saved: the member `path`. */
  readonly pathOf?: ((blob: StoredBlob) => string | undefined) | undefined;
}

/** A piece of JSON, or a value whose JSON goes there. `name` is its step in the path of a reference. */
type Part = string | { readonly value: unknown; readonly name: string };

/**
 * The JSON of a value that `@bloom/web-storage` has read, in one line. Objects that JSON has stand for themselves, and others are
 * objects with the member `$type`. Values can be nested in any depth, shared and circular.
 *
 * @returns ASCII and other characters; halves of surrogate pairs are escaped, as `JSON.stringify` does.
 * @throws WebStorageError BLOOM_TOO_LARGE when the JSON would have more than 2^29 characters.
 *
 * @example
 * ```ts
 * taggedJson({ at: new Date(0), tags: new Set(['a']) }); // {"at":{"$type":"Date","value":"1970-01-01T00:00:00.000Z"},"tags":{"$type":"Set","values":["a"]}}
 * ```
 */
export function taggedJson(value: unknown, { pathOf }: TaggedJsonOptions = {}): string {
  const pieces: string[] = [];
  let length = 0;
  /** Where each object first stands. */
  const paths = new Map<object, string>();
  const open: { readonly parts: Iterator<Part>; readonly path: string }[] = [{ parts: [{ value, name: '' }].values(), path: '' }];
  // A stack of iterators instead of recursion, because values may be nested more deeply than calls.
  while (open.length > 0) {
    const { parts, path } = open.at(-1)!;
    const next = parts.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    const part = next.value;
    let text: string | undefined;
    if (typeof part === 'string') text = part;
    else {
      const inner = open.length === 1 ? '' : `${path}/${part.name}`;
      text = primitiveJson(part.value);
      if (text === undefined) {
        const object = part.value as object;
        const before = paths.get(object);
        if (before === undefined) {
          paths.set(object, inner);
          open.push({ parts: partsOf(object, pathOf), path: inner });
          continue;
        }
        text = tagged('reference', { to: before });
      }
    }
    pieces.push(text);
    length += text.length;
    if (length > MAX_CHARACTERS) throw new WebStorageError('BLOOM_TOO_LARGE', 'value', 0, 'its JSON has more than 2^29 characters');
  }
  return pieces.join('');
}

/** The JSON of a primitive value; undefined for objects. */
function primitiveJson(value: unknown): string | undefined {
  switch (typeof value) {
    case 'undefined':
      return tagged('undefined', {});
    case 'bigint':
      return tagged('bigint', { value: String(value) });
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? String(value) : tagged('number', { value: Object.is(value, -0) ? '-0' : String(value) });
    case 'object':
      return value === null ? 'null' : undefined;
    case 'function':
    case 'symbol':
      throw new TypeError(`a ${typeof value} cannot have been stored`);
    default:
      return JSON.stringify(value);
  }
}

function tagged(type: string, members: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ [TYPE_MEMBER]: type, ...members });
}

function partsOf(object: object, pathOf: TaggedJsonOptions['pathOf']): Iterator<Part> {
  if (Array.isArray(object)) return isDense(object) ? elements(object) : namedEntries('Array', object, `"length":${object.length},`);
  if (object instanceof Map) return mapEntries(object);
  if (object instanceof Set) return setValues(object);
  if (object instanceof Error) return errorMembers(object);
  if (object instanceof HostObject) return hostMembers(object);
  const leaf = leafJson(object, pathOf);
  if (leaf !== undefined) return [leaf].values();
  return Object.hasOwn(object, TYPE_MEMBER) ? namedEntries('Object', object, '') : members(object);
}

/** The JSON of an object that has no other objects in it; undefined for those that have. */
function leafJson(object: object, pathOf: TaggedJsonOptions['pathOf']): string | undefined {
  if (object instanceof Date) return tagged('Date', { value: Number.isNaN(object.getTime()) ? null : object.toISOString() });
  if (object instanceof RegExp) return tagged('RegExp', { source: object.source, flags: object.flags });
  if (object instanceof ArrayBuffer) return tagged('ArrayBuffer', { base64: base64(new Uint8Array(object)) });
  if (ArrayBuffer.isView(object)) {
    const type = object instanceof DataView ? 'DataView' : (object as Uint8Array)[Symbol.toStringTag];
    return tagged(type, { base64: base64(new Uint8Array(object.buffer, object.byteOffset, object.byteLength)) });
  }
  if (object instanceof StoredBlob) {
    const { kind, type, size, name, lastModified } = object;
    const modified = lastModified && (Number.isNaN(lastModified.getTime()) ? null : lastModified.toISOString());
    return tagged(kind === 'file' ? 'File' : 'Blob', { type, size, name, lastModified: modified, path: pathOf?.(object) });
  }
  for (const boxed of [Boolean, Number, String, BigInt]) {
    if (object instanceof boxed) return `{"${TYPE_MEMBER}":"${boxed.name}","value":${primitiveJson(object.valueOf())!}}`;
  }
  return undefined;
}

/** Whether an array has an element at each index, and nothing else. */
function isDense(array: readonly unknown[]): boolean {
  const names = Object.keys(array);
  return names.length === array.length && (names.length === 0 || names.at(-1) === String(array.length - 1));
}

function* elements(array: readonly unknown[]): Generator<Part, void, undefined> {
  for (let i = 0; i < array.length; i++) {
    yield i === 0 ? '[' : ',';
    yield { value: array[i], name: String(i) };
  }
  yield array.length === 0 ? '[]' : ']';
}

function* members(object: object): Generator<Part, void, undefined> {
  let before = '{';
  for (const name of Object.keys(object)) {
    yield `${before}${JSON.stringify(name)}:`;
    yield { value: (object as Record<string, unknown>)[name], name: pointerStep(name) };
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** The properties of an object as pairs, so that none is taken for another member. */
function* namedEntries(type: string, object: object, before: string): Generator<Part, void, undefined> {
  yield `{"${TYPE_MEMBER}":"${type}",${before}"entries":[`;
  for (const [i, name] of Object.keys(object).entries()) {
    yield `${i === 0 ? '' : ','}[${JSON.stringify(name)},`;
    yield { value: (object as Record<string, unknown>)[name], name: `entries/${i}/1` };
    yield ']';
  }
  yield ']}';
}

function* mapEntries(map: ReadonlyMap<unknown, unknown>): Generator<Part, void, undefined> {
  yield `{"${TYPE_MEMBER}":"Map","entries":[`;
  let i = 0;
  for (const [key, value] of map) {
    yield i === 0 ? '[' : ',[';
    yield { value: key, name: `entries/${i}/0` };
    yield ',';
    yield { value, name: `entries/${i++}/1` };
    yield ']';
  }
  yield ']}';
}

function* setValues(set: ReadonlySet<unknown>): Generator<Part, void, undefined> {
  yield `{"${TYPE_MEMBER}":"Set","values":[`;
  let i = 0;
  for (const value of set) {
    if (i > 0) yield ',';
    yield { value, name: `values/${i++}` };
  }
  yield ']}';
}

function* errorMembers(error: Error): Generator<Part, void, undefined> {
  const { name, message, stack } = error;
  yield tagged('Error', { name, message, stack: typeof stack === 'string' ? stack : undefined }).slice(0, -1);
  if (Object.hasOwn(error, 'cause')) {
    yield ',"cause":';
    yield { value: error.cause, name: 'cause' };
  }
  yield '}';
}

function* hostMembers({ interfaceName, tag, fields, bytes }: HostObject): Generator<Part, void, undefined> {
  yield `${tagged('HostObject', { interface: interfaceName, tag, base64: bytes && base64(bytes) }).slice(0, -1)},"fields":`;
  yield { value: fields, name: 'fields' };
  yield '}';
}

/** A name as a step of a JSON Pointer. */
function pointerStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

const BASE64_DIGITS = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const PADDING = 0x3d;

/** Source: RFC 4648, section 4. Own code, since a platform-free core has neither `btoa` nor `Buffer`. */
function base64(bytes: Uint8Array): string {
  const digits = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  for (let from = 0, to = 0; from < bytes.length; from += 3, to += 4) {
    const three = (bytes[from]! << 16) | ((bytes[from + 1] ?? 0) << 8) | (bytes[from + 2] ?? 0);
    digits[to] = BASE64_DIGITS[three >> 18]!;
    digits[to + 1] = BASE64_DIGITS[(three >> 12) & 63]!;
    digits[to + 2] = from + 1 < bytes.length ? BASE64_DIGITS[(three >> 6) & 63]! : PADDING;
    digits[to + 3] = from + 2 < bytes.length ? BASE64_DIGITS[three & 63]! : PADDING;
  }
  return new TextDecoder().decode(digits);
}
