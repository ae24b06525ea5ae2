import { describe, expect, test } from 'vitest';
import { seeded } from '@bloom/bytes/internal';
import { randomClone } from '@bloom/fixtures/random-clone';
import { HostObject, StoredBlob, taggedJson } from '../src/index.js';

const parsed = (value: unknown): unknown => JSON.parse(taggedJson(value));

describe('taggedJson', () => {
  test.each([null, true, 'text', '\ud800 lone', 0, -1.5, [], {}, [1, [2, { a: null }]], { a: { b: [] }, '': 1, 'x/y~z': 2 }])('writes %j as JSON.stringify does', (value) => {
    expect(taggedJson(value)).toBe(JSON.stringify(value));
  });

  test.each<[string, unknown, unknown]>([
    ['undefined', undefined, { $type: 'undefined' }],
    ['NaN', Number.NaN, { $type: 'number', value: 'NaN' }],
    ['-Infinity', -Infinity, { $type: 'number', value: '-Infinity' }],
    ['negative zero', -0, { $type: 'number', value: '-0' }],
    ['a bigint', 12n ** 30n, { $type: 'bigint', value: String(12n ** 30n) }],
    ['a date', new Date(0), { $type: 'Date', value: '1970-01-01T00:00:00.000Z' }],
    ['an invalid date', new Date(Number.NaN), { $type: 'Date', value: null }],
    ['a regular expression', /a\/b/giu, { $type: 'RegExp', source: 'a\\/b', flags: 'giu' }],
    ['a map', new Map<unknown, unknown>([[{ a: 1 }, -0]]), { $type: 'Map', entries: [[{ a: 1 }, { $type: 'number', value: '-0' }]] }],
    ['an empty map', new Map(), { $type: 'Map', entries: [] }],
    ['a set', new Set([1, 'a']), { $type: 'Set', values: [1, 'a'] }],
    ['a buffer', Uint8Array.of(0, 1, 254, 255).buffer, { $type: 'ArrayBuffer', base64: 'AAH+/w==' }],
    ['the bytes of a view alone', new Uint16Array(Uint8Array.of(9, 9, 1, 2, 9, 9).buffer, 2, 1), { $type: 'Uint16Array', base64: 'AQI=' }],
    ['a DataView', new DataView(Uint8Array.of(7, 8, 9).buffer), { $type: 'DataView', base64: 'BwgJ' }],
    // eslint-disable-next-line no-sparse-arrays -- what a page can store
    ['a hole', [1, , 3], { $type: 'Array', length: 3, entries: [['0', 1], ['2', 3]] }],
    ['an array with a name', Object.assign([1], { a: 2 }), { $type: 'Array', length: 1, entries: [['0', 1], ['a', 2]] }],
    ['an object with the name $type', { $type: 'Date', value: 1 }, { $type: 'Object', entries: [['$type', 'Date'], ['value', 1]] }],
    ['a boxed number', Object(-0), { $type: 'Number', value: { $type: 'number', value: '-0' } }],
    ['a boxed string', Object('a'), { $type: 'String', value: 'a' }],
    ['a host object', new HostObject('DOMPoint', 'Q', { x: Number.NaN }), { $type: 'HostObject', interface: 'DOMPoint', tag: 'Q', fields: { x: { $type: 'number', value: 'NaN' } } }],
    ['an unknown host object', new HostObject(undefined, 'é', {}, Uint8Array.of(1)), { $type: 'HostObject', tag: 'é', base64: 'AQ==', fields: {} }],
  ])('tags %s', (_, value, expected) => {
    expect(parsed(value)).toEqual(expected);
  });

  test('keeps the property __proto__', () => {
    expect(taggedJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}');
  });

  test('tags errors with their causes', () => {
    const error = new TypeError('wrong', { cause: 1n });
    error.stack = 'where';
    expect(parsed(error)).toEqual({ $type: 'Error', name: 'TypeError', message: 'wrong', stack: 'where', cause: { $type: 'bigint', value: '1' } });
  });

  test('tags files, with the path under which they were saved', () => {
    const file = new StoredBlob('file', 0, { kind: 'file', blobNumber: 3, type: 'text/plain', size: 5, name: 'a.txt', lastModified: new Date(0) }, undefined);
    const members = { $type: 'File', type: 'text/plain', size: 5, name: 'a.txt', lastModified: '1970-01-01T00:00:00.000Z' };
    expect(parsed(file)).toEqual(members);
    expect(JSON.parse(taggedJson([file], { pathOf: ({ blobNumber }) => `blobs/${blobNumber}` }))).toEqual([{ ...members, path: 'blobs/3' }]);
  });

  test('refers to an object that came before by its JSON Pointer', () => {
    const shared = { n: 1 };
    const value: Record<string, unknown> = { 'a/~': [shared], b: shared, c: new Map([[shared, [new Set([[]])]]]) };
    value.self = value;
    value.inner = (value.c as Map<unknown, unknown>).get(shared);
    expect(parsed(value)).toEqual({
      'a/~': [{ n: 1 }],
      b: { $type: 'reference', to: '/a~1~0/0' },
      c: { $type: 'Map', entries: [[{ $type: 'reference', to: '/a~1~0/0' }, [{ $type: 'Set', values: [[]] }]]] },
      self: { $type: 'reference', to: '' },
      inner: { $type: 'reference', to: '/c/entries/0/1' },
    });
  });

  test('follows 100,000 levels of objects, arrays and maps', () => {
    let value: unknown = 1;
    for (let i = 0; i < 100_000; i++) value = i % 3 === 0 ? { a: value } : i % 3 === 1 ? [value] : new Map([[1, value]]);
    expect(taggedJson(value).length).toBeGreaterThan(1_000_000);
  });

  test('writes JSON of any value that can be cloned, in one line', () => {
    const random = seeded(7);
    for (let i = 0; i < 2000; i++) {
      const text = taggedJson(randomClone(random));
      expect(text).not.toContain('\n');
      JSON.parse(text);
    }
  });

  test('agrees with base64 of Buffer for each length', () => {
    for (let length = 0; length < 70; length++) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 83 + length) & 255);
      expect(parsed(bytes)).toEqual({ $type: 'Uint8Array', base64: Buffer.from(bytes).toString('base64') });
    }
  });
});
