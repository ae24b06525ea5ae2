/**
 * Values in a form that readers in other languages can produce too: it distinguishes what all of them distinguish.
 *
 * | form | values |
 * | --- | --- |
 * | `["whole", "5"]`, `["double", "3ff8…"]` | whole numbers and BigInts; other numbers by their bits, `nan` |
 * | `["text", …]`, `["boolean", …]`, `["null"]`, `["undefined"]` | these values, also boxed |
 * | `["date", "0"]`, `["pattern", source, flags]` | Date in milliseconds, RegExp with V8's bits for its flags |
 * | `["object", [[name, value], …]]` | objects and Maps by their names; names of Maps that are not texts are forms in JSON |
 * | `["set", […]]`, `["array", [element, …], [[name, value], …]]` | sorted elements; elements and further properties |
 * | `["bytes", hex]`, `["view", kind, offset, length, bytes]` | ArrayBuffer, and views with V8's character for their kind |
 * | `["host", name]`, `["error"]` | an object of the browser, an error |
 * | `["cycle"]` | an object that contains this place |
 */
import { HostObject, StoredBlob } from '@bloom/web-storage';

/** The form of a value. */
export type Comparable = readonly [form: string, ...parts: (string | number | boolean | Comparable | readonly Comparable[] | readonly (readonly [string, Comparable])[])[]];

/** In the order of V8's bits. The one of `l` is for an engine that is not on by default. */
const FLAGS = 'gimyusldv';
const VIEWS: Readonly<Record<string, string>> = {
  Int8Array: 'b', Uint8Array: 'B', Uint8ClampedArray: 'C', Int16Array: 'w', Uint16Array: 'W', Int32Array: 'd', Uint32Array: 'D',
  Float16Array: 'h', Float32Array: 'f', Float64Array: 'F', BigInt64Array: 'q', BigUint64Array: 'Q', DataView: '?',
};
const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

/** The form of a value. */
export function comparable(value: unknown, path: readonly object[] = []): Comparable {
  switch (typeof value) {
    case 'undefined':
      return ['undefined'];
    case 'boolean':
      return ['boolean', value];
    case 'bigint':
      return ['whole', String(value)];
    case 'number':
      return numberForm(value);
    case 'string':
      return ['text', value];
    default:
  }
  if (value === null) return ['null'];
  const object = value as object;
  if (path.includes(object)) return ['cycle'];
  return objectForm(object, [...path, object]);
}

function numberForm(value: number): Comparable {
  if (Number.isNaN(value)) return ['double', 'nan'];
  if (Number.isInteger(value) && !Object.is(value, -0)) return ['whole', String(BigInt(value))];
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  return ['double', bits.getBigUint64(0).toString(16).padStart(16, '0')];
}

function objectForm(object: object, path: readonly object[]): Comparable {
  const form = (value: unknown): Comparable => comparable(value, path);
  if (object instanceof Date) return ['date', String(object.getTime())];
  if (object instanceof RegExp) return ['pattern', object.source, String(flagBits(object.flags))];
  if (object instanceof Map) return ['object', [...object].map(([key, mapped]) => [nameOf(key, path), form(mapped)] as const).sort(byText)];
  if (object instanceof Set) return ['set', [...object].map(form).sort(byText)];
  if (object instanceof ArrayBuffer) return ['bytes', Buffer.from(object).toString('hex')];
  if (ArrayBuffer.isView(object)) return ['view', VIEWS[object.constructor.name]!, object.byteOffset, object.byteLength, form(object.buffer)];
  if (object instanceof Error) return ['error'];
  if (object instanceof StoredBlob) return ['host', object.kind === 'file' ? 'FileIndex' : 'BlobIndex'];
  if (object instanceof HostObject) return ['host', object.interfaceName ?? 'unknown'];
  if (Array.isArray(object)) {
    const others = Object.keys(object).filter((name) => !(Number(name) < object.length && String(Number(name)) === name));
    return ['array', Array.from(object, form), others.map((name) => [name, form((object as unknown as Record<string, unknown>)[name])] as const).sort(byText)];
  }
  const boxed: unknown = object.valueOf();
  if (typeof boxed !== 'object') return form(boxed);
  return ['object', Object.entries(object).map(([name, part]) => [name, form(part)] as const).sort(byText)];
}

function flagBits(flags: string): number {
  let bits = 0;
  for (const flag of flags) bits |= 1 << FLAGS.indexOf(flag);
  return bits;
}

function nameOf(key: unknown, path: readonly object[]): string {
  if (typeof key === 'string') return key;
  if (typeof key === 'number' && Number.isInteger(key) && !Object.is(key, -0)) return String(key);
  if (typeof key === 'bigint') return String(key);
  return JSON.stringify(comparable(key, path));
}
