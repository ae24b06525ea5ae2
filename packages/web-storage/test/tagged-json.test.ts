import { serialize } from 'node:v8';
import { describe, expect, test } from 'vitest';
import { seeded } from '@bloom/bytes/internal';
import { describeClone, randomClone } from '@bloom/fixtures/random-clone';
import { decodeValue, HostObject, jsonText, type JsonValue, StoredBlob, taggedJson } from '../src/index.js';

type Tagged = Record<string, unknown> & { readonly $type: string };
type View = new (buffer: ArrayBuffer, byteOffset: number, length: number) => object;

const bytesOf = (base64: unknown): ArrayBuffer => Uint8Array.from(Buffer.from(base64 as string, 'base64')).buffer;

/** Reads tagged JSON by the table of the README. */
function untagged(root: unknown): unknown {
  const shared = new Map<unknown, object>();
  const define = (object: object, name: string, value: unknown): void => void Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  const read = (json: unknown, id?: unknown): unknown => {
    const made = <T extends object>(object: T): T => {
      if (id !== undefined) shared.set(id, object);
      return object;
    };
    if (typeof json !== 'object' || json === null) return json;
    if (Array.isArray(json)) {
      const array = made<unknown[]>([]);
      for (const element of json) array.push(read(element));
      return array;
    }
    if (!Object.hasOwn(json, '$type')) {
      const object = made({});
      for (const [name, value] of Object.entries(json)) define(object, name, read(value));
      return object;
    }
    const { $type: type, ...tagged } = json as Tagged;
    const entries = (tagged.entries ?? []) as [unknown, unknown][];
    switch (type) {
      case 'shared':
        return read(tagged.value, tagged.id);
      case 'reference':
        return shared.get(tagged.id);
      case 'undefined':
        return undefined;
      case 'number':
        return Number(tagged.value);
      case 'bigint':
        return BigInt(tagged.value as string);
      case 'string':
        return String.fromCharCode(...(tagged.utf16 as string).match(/.{4}/gu)!.map((unit) => Number.parseInt(unit, 16)));
      case 'Number':
      case 'String':
      case 'Boolean':
      case 'BigInt':
        return made(Object(read(tagged.value)) as object);
      case 'Date':
        return made(new Date((tagged.value as string | null) ?? Number.NaN));
      case 'RegExp':
        return made(new RegExp(read(tagged.source) as string, tagged.flags as string));
      case 'Map': {
        const map = made(new Map<unknown, unknown>());
        for (const [key, value] of entries) map.set(read(key), read(value));
        return map;
      }
      case 'Set': {
        const set = made(new Set<unknown>());
        for (const value of tagged.values as unknown[]) set.add(read(value));
        return set;
      }
      case 'Array':
      case 'Object': {
        const object = made(type === 'Array' ? new Array<unknown>(tagged.length as number) : {});
        for (const [name, value] of entries) define(object, read(name) as string, read(value));
        return object;
      }
      case 'Error': {
        const error = made(new (globalThis as unknown as Record<string, ErrorConstructor>)[tagged.name as string]!());
        for (const name of ['message', 'stack', 'cause'] as const) {
          if (name === 'stack' || name in tagged) Object.defineProperty(error, name, { value: read(tagged[name]), enumerable: false });
        }
        return error;
      }
      case 'ArrayBuffer':
        return made(bytesOf(tagged.base64));
      default: {
        const buffer = (tagged.base64 === undefined ? read(tagged.buffer) : bytesOf(tagged.base64)) as ArrayBuffer;
        return made(new (globalThis as unknown as Record<string, View>)[type]!(buffer, (tagged.byteOffset ?? 0) as number, tagged.length as number));
      }
    }
  };
  return read(root);
}

// The long run has more.
const values = Number(process.env.BLOOM_RANDOM_VALUES ?? 200);

describe('taggedJson', () => {
  test(`keeps all of ${values} random values`, () => {
    const random = seeded(7);
    for (let i = 0; i < values; i++) {
      const value = randomClone(random);
      const text = jsonText(taggedJson(value));
      expect(describeClone(untagged(JSON.parse(text)))).toBe(describeClone(value));
    }
  });

  test('leaves values of JSON unchanged', () => {
    const value = { a: [1, 'é', true, null, { b: [] }], 'c d': 0.1 };
    expect(taggedJson(value)).toEqual(value);
  });

  const buffer = new ArrayBuffer(4);
  const cycle: unknown[] = [];
  cycle.push(cycle);
  const twice = {};
  test.each<[string, unknown, JsonValue]>([
    ['a Date', new Date(0), { $type: 'Date', value: '1970-01-01T00:00:00.000Z' }],
    ['an invalid Date', new Date(Number.NaN), { $type: 'Date', value: null }],
    ['a BigInt that is too long for decimal digits', 1n << 65535n, { $type: 'bigint', value: `0x8${'0'.repeat(16383)}` }],
    ['a negative one', -(1n << 65536n), { $type: 'bigint', value: `-0x1${'0'.repeat(16384)}` }],
    ['the longest BigInt in decimal digits', (1n << 65535n) - 1n, { $type: 'bigint', value: String((1n << 65535n) - 1n) }],
    ['a BigInt', -5n, { $type: 'bigint', value: '-5' }],
    ['-0', -0, { $type: 'number', value: '-0' }],
    ['undefined', [undefined], [{ $type: 'undefined' }]],
    // eslint-disable-next-line no-sparse-arrays -- the hole is the point.
    ['an array with a hole', [1, , 2], { $type: 'Array', length: 3, entries: [['0', 1], ['2', 2]] }],
    ['a lone surrogate', 'a\ud800', { $type: 'string', utf16: '0061d800' }],
    ['an object with the name of the tag', { $type: 'Date' }, { $type: 'Object', entries: [['$type', 'Date']] }],
    ['a lone surrogate in a name', { '\udc00': 1 }, { $type: 'Object', entries: [[{ $type: 'string', utf16: 'dc00' }, 1]] }],
    ['a boxed number', Object(1), { $type: 'Number', value: 1 }],
    ['a boxed BigInt', Object(1n), { $type: 'BigInt', value: { $type: 'bigint', value: '1' } }],
    ['a cycle', cycle, { $type: 'shared', id: 1, value: [{ $type: 'reference', id: 1 }] }],
    ['an object that occurs twice', [twice, twice], [{ $type: 'shared', id: 1, value: {} }, { $type: 'reference', id: 1 }]],
    ['a view of all of its buffer', Uint16Array.of(1, 2), { $type: 'Uint16Array', base64: 'AQACAA==', length: 2 }],
    ['a view of a part of its buffer', new Uint8Array(buffer, 1, 2), { $type: 'Uint8Array', buffer: { $type: 'ArrayBuffer', base64: 'AAAAAA==' }, byteOffset: 1, length: 2 }],
    [
      'a view and its buffer',
      [new Uint8Array(buffer), buffer],
      [
        { $type: 'Uint8Array', buffer: { $type: 'shared', id: 1, value: { $type: 'ArrayBuffer', base64: 'AAAAAA==' } }, byteOffset: 0, length: 4 },
        { $type: 'reference', id: 1 },
      ],
    ],
    ['an object of the browser', new HostObject('DOMPoint', 'Q', { x: 1, y: Number.NaN }), { $type: 'DOMPoint', x: 1, y: { $type: 'number', value: 'NaN' } }],
    ['an unknown object of the browser', new HostObject(undefined, '%', {}, Uint8Array.of(1, 2)), { $type: 'unknown', tag: '%', base64: 'AQI=' }],
    ['a blob without an entry', new StoredBlob('blob', 0, undefined, undefined), { $type: 'Blob' }],
  ])('tags %s', (_, value, json) => {
    expect(taggedJson(value)).toEqual(json);
  });

  test('gives a File its metadata, and the file that it was copied to', () => {
    const entry = { kind: 'file', blobNumber: 9, type: 'text/plain', size: 3, name: 'a.txt', lastModified: new Date(0) } as const;
    expect(taggedJson(new StoredBlob('file', 0, entry, undefined), { fileOf: () => 'blobs/9' })).toEqual({
      $type: 'File', name: 'a.txt', type: 'text/plain', size: 3, lastModified: { $type: 'Date', value: '1970-01-01T00:00:00.000Z' }, blobNumber: 9, file: 'blobs/9',
    });
  });

  test('keeps a property named __proto__', () => {
    const text = '{"__proto__":{"x":1}}';
    expect(jsonText(taggedJson(JSON.parse(text)))).toBe(text);
  });

  test('agrees with base64 of Buffer for each length, and across portions', () => {
    for (const length of [...Array(70).keys(), 3071, 3072, 3073, 100_000]) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 83 + length) & 255);
      expect(taggedJson(bytes)).toEqual({ $type: 'Uint8Array', base64: Buffer.from(bytes).toString('base64'), length });
    }
  });

  test('refuses functions', () => {
    expect(() => taggedJson([() => 1])).toThrow(TypeError);
  });

  test.each([
    ['arrays', (inner: unknown) => [inner], '['],
    ['objects', (inner: unknown) => ({ a: inner }), '{"a":'],
    ['maps', (inner: unknown) => new Map([['k', inner]]), '{"$type":"Map","entries":[["k",'],
    ['errors', (inner: unknown) => new Error('e', { cause: inner }), '{"$type":"Error","name":"Error","message":"e","stack":'],
  ])('converts 20,000 nested %s to JSON and to text', (_, around, start) => {
    let value: unknown = 1;
    // The stacks of errors would be most of the text.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      for (let i = 0; i < 20_000; i++) value = around(value);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
    expect(jsonText(taggedJson(value)).startsWith(start)).toBe(true);
  });

  test('converts what decodeValue gives', () => {
    const { value } = decodeValue(serialize({ at: new Date(0), tags: new Set(['a']) }));
    expect(taggedJson(value)).toEqual({ at: { $type: 'Date', value: '1970-01-01T00:00:00.000Z' }, tags: { $type: 'Set', values: ['a'] } });
  });
});

describe('jsonText', () => {
  test('gives deep values the text that JSON.stringify gives them', () => {
    const random = seeded(3);
    const sound = taggedJson(randomClone(random));
    let deep: JsonValue = sound;
    for (let i = 0; i < 50_000; i++) deep = i % 2 === 0 ? [deep, i] : { a: deep, 'b"': null };
    const text = jsonText(deep);
    let inner: unknown = JSON.parse(text);
    for (let i = 49_999; i >= 0; i--) inner = i % 2 === 0 ? (inner as unknown[])[0] : (inner as { a: unknown }).a;
    expect(inner).toEqual(sound);
    expect(jsonText([{}, [], { a: [] }])).toBe('[{},[],{"a":[]}]');
  });
});

test('a Float16Array has the same JSON where the host has none', () => {
  const buffer = [0x42, 4, 0, 0x3e, 0, 0x80];
  const view = (byteOffset: number, byteLength: number): number[] => [0x56, 0x68, byteOffset, byteLength, 0];
  const json = (...value: readonly number[]): JsonValue => taggedJson(decodeValue(Uint8Array.of(0xff, 15, ...value)).value);
  expect(json(...buffer, ...view(0, 4))).toEqual({ $type: 'Float16Array', base64: 'AD4AgA==', length: 2 });
  expect(json(...buffer, ...view(2, 2))).toEqual({ $type: 'Float16Array', buffer: { $type: 'ArrayBuffer', base64: 'AD4AgA==' }, byteOffset: 2, length: 1 });
});
