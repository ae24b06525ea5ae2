/** Stored values as one line of text, for lists and for searches. */
import { HostObject, StoredBlob, taggedJson } from '@bloom/web-storage';
import { counted, hexDigits } from '@bloom/report';
import { quotedText, startOf } from '../bytes/quoted-text.js';

/** The depth of nested objects that a line shows. */
const LINE_DEPTH = 2;
/** The number of bytes of an ArrayBuffer that are shown. */
const SHOWN_BYTES = 24;

/** The type of a value, such as `Array(3)` or `Date`. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  if (Array.isArray(value)) return `Array(${value.length})`;
  if (value instanceof Map || value instanceof Set) return `${value instanceof Map ? 'Map' : 'Set'}(${value.size})`;
  if (value instanceof ArrayBuffer) return `ArrayBuffer(${value.byteLength})`;
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${value instanceof DataView ? value.byteLength : (value as Uint8Array).length})`;
  if (value instanceof StoredBlob) return value.kind === 'file' ? 'File' : 'Blob';
  if (value instanceof HostObject) return value.interfaceName ?? 'unknown object';
  if (value instanceof Error) return value.name;
  for (const type of [Date, RegExp, Boolean, Number, String]) if (value instanceof type) return type.name;
  return Object.prototype.toString.call(value) === '[object BigInt]' ? 'BigInt' : 'Object';
}

/** The text of a value without parts; undefined for one with parts. Strings are in quotes. */
export function leafText(value: unknown, limit = Infinity): string | undefined {
  switch (typeof value) {
    case 'string':
      return quotedText(startOf(value, limit));
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
      // In decimal, a BigInt of a megabyte would take seconds.
      return `${(taggedJson(value) as { readonly value: string }).value.slice(0, limit)}n`;
    case 'object':
      break;
    default:
      return String(value);
  }
  if (value === null) return 'null';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof StoredBlob) return [value.name && quotedText(value.name), value.type, value.size !== undefined && counted(value.size, 'byte')].filter(Boolean).join(', ');
  if (value instanceof ArrayBuffer) return bytesText(new Uint8Array(value));
  if (value instanceof DataView) return bytesText(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  if (value instanceof Boolean || value instanceof Number || value instanceof String || Object.prototype.toString.call(value) === '[object BigInt]') return leafText(value.valueOf(), limit);
  return undefined;
}

function bytesText(bytes: Uint8Array): string {
  const shown = hexDigits(bytes.subarray(0, SHOWN_BYTES), ' ');
  return bytes.length > SHOWN_BYTES ? `${shown} …` : shown;
}

/** A value as a line of at most about `limit` characters. @param depth of the value within the value of the line. */
export function lineOf(value: unknown, limit: number, depth = 0): string {
  let text = '';
  const add = (part: string): boolean => {
    text += part;
    return text.length < limit;
  };
  // False as soon as the line is full.
  const write = (part: unknown, partDepth: number): boolean => {
    const leaf = leafText(part, limit);
    if (leaf !== undefined) return add(leaf);
    const object = part as object;
    const isList = Array.isArray(object) || object instanceof Set || ArrayBuffer.isView(object);
    const type = typeOf(object);
    if (partDepth >= LINE_DEPTH) return add(type === 'Object' ? '{…}' : type);
    if (type !== 'Object' && !Array.isArray(object) && !add(`${type} `)) return false;
    if (!add(isList ? '[' : '{')) return false;
    let separator = '';
    const item = (itemText: string): boolean => {
      const hasRoom = add(separator + itemText);
      separator = ', ';
      return hasRoom;
    };
    // The elements of an array come before its other properties. Holes among them are counted.
    let next = 0;
    const length = Array.isArray(object) ? object.length : 0;
    const skipTo = (index: number): boolean => index <= next || item(`<${counted(index - next, 'empty item')}>`);
    for (const [label, child] of partsOf(object)) {
      let isNamed = !isList;
      if (Array.isArray(object)) {
        isNamed = !isIndex(label as string);
        const index = isNamed ? length : Number(label);
        if (!skipTo(index)) return false;
        next = isNamed ? length : index + 1;
      }
      if (!item('')) return false;
      if (isNamed && !(add(typeof label === 'string' ? nameText(label) : lineOf(label, 40, partDepth + 1)) && add(': '))) return false;
      if (!write(child, partDepth + 1)) return false;
    }
    if (!skipTo(length)) return false;
    return add(isList ? ']' : '}');
  };
  write(value, depth);
  return text.length <= limit ? text : `${text.slice(0, limit)}…`;
}

/** The name of a property, in quotes unless it can be written without them. `__proto__` would name the prototype. */
export function nameText(name: string): string {
  return isPlainName(name) && name !== '__proto__' ? name : quotedText(name);
}

/** Whether the name of an array's property is that of an element, whose index is at most 2^32-2. */
function isIndex(name: string): boolean {
  return /^(?:0|[1-9]\d*)$/u.test(name) && Number(name) < 2 ** 32 - 1;
}

/** Whether a name can follow a dot, or is an index. */
export function isPlainName(name: string): boolean {
  return /^(?:\d+|[\p{ID_Start}$_][\p{ID_Continue}$]*)$/u.test(name);
}

/** The direct parts of an object with their names, in order. Holes of arrays are left out. Keys of Maps can be any value. */
export function* partsOf(object: object): Generator<readonly [label: unknown, part: unknown], void, undefined> {
  if (object instanceof Map) yield* object;
  else if (object instanceof Set) {
    let i = 0;
    for (const element of object) yield [String(i++), element];
  } else if (ArrayBuffer.isView(object) && !(object instanceof DataView)) {
    const { length } = object as Uint8Array;
    for (let i = 0; i < length; i++) yield [String(i), (object as Uint8Array)[i]];
  } else if (object instanceof HostObject) {
    yield* Object.entries(object.fields);
    if (object.bytes !== undefined) yield ['bytes', object.bytes];
  } else if (object instanceof Error) {
    for (const name of ['message', 'stack', 'cause'] as const) if (Object.hasOwn(object, name) && (name === 'cause' || object[name] !== undefined)) yield [name, object[name]];
    yield* Object.entries(object);
  } else if (leafText(object, 0) === undefined) {
    for (const name in object) if (Object.hasOwn(object, name)) yield [name, (object as Readonly<Record<string, unknown>>)[name]];
  }
}

/** Whether a text is in a value: in its strings, numbers and dates, the names of its properties, and its files. Ignores case. */
export function contains(value: unknown, lowerCase: string): boolean {
  const seen = new Set<object>();
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const part = waiting.pop();
    // Elements of typed arrays are not searched.
    if (ArrayBuffer.isView(part) || part instanceof ArrayBuffer) continue;
    const leaf = typeof part === 'string' ? part : leafText(part);
    if (leaf !== undefined) {
      if (leaf.toLowerCase().includes(lowerCase)) return true;
      continue;
    }
    if (seen.has(part as object)) continue;
    seen.add(part as object);
    const hasNames = !(Array.isArray(part) || part instanceof Set);
    for (const [label, child] of partsOf(part as object)) waiting.push(child, ...(hasNames ? [label] : []));
  }
  return false;
}
