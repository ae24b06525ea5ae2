import { HostObject, kindOfFolder, originText, StoredBlob } from '@bloom/web-storage';
import { expect, test } from 'vitest';
import { isOfBrowser, profileOf } from '../src/storage/dropped-profile.js';
import { visibleText } from '../src/bytes/quoted-text.js';
import { contains, leafText, lineOf, typeOf } from '../src/storage/value-text.js';
import { ValueTree } from '../src/storage/value-tree.js';

const dropped = (...paths: string[]) => paths.map((path) => ({ path, file: new File(['x'], path.slice(path.lastIndexOf('/') + 1)) }));

test.each([
  ['Default/IndexedDB/https_example.com_0.indexeddb.leveldb', 'indexeddb', 'IndexedDB of https://example.com'],
  ['IndexedDB/http_localhost_8080.indexeddb.leveldb', 'indexeddb', 'IndexedDB of http://localhost:8080'],
  ['WebStorage/7/IndexedDB/indexeddb.leveldb', 'indexeddb', 'IndexedDB of storage bucket 7'],
  ['IndexedDB/indexeddb.leveldb', 'indexeddb', 'IndexedDB of a storage bucket'],
  ['Local Storage/leveldb', 'local-storage', 'Local Storage'],
  ['Default/Session Storage', 'session-storage', 'Session Storage'],
  ['Service Worker/Database', undefined, 'Service workers'],
  ['Default/File System/002/t/Paths', undefined, 'File system 002, paths'],
  ['Local Extension Settings/aapbdbdomjkkjkaonfhkkikfgjllcleb', undefined, 'Settings of extension aapbdbdomjkkjkaonfhkkikfgjllcleb'],
  ['some/leveldb', undefined, 'some/leveldb'],
])('the folder %s is %s', (path, storage, title) => {
  expect(kindOfFolder(path)).toMatchObject({ storage, title });
});

test('a folder of a storage bucket has its number, and lacks an origin', () => {
  expect(kindOfFolder('WebStorage/7/IndexedDB/indexeddb.leveldb', 'https_a.example_0')).toEqual({ storage: 'indexeddb', title: 'IndexedDB of https://a.example, storage bucket 7', lacksOrigin: true, bucket: 7 });
  expect(kindOfFolder('IndexedDB/indexeddb.leveldb')).not.toHaveProperty('bucket');
  expect(kindOfFolder('IndexedDB/https_a.example_0.indexeddb.leveldb')).not.toHaveProperty('lacksOrigin');
});

test('an origin without a host, and what is no origin', () => {
  expect(originText('file__0')).toBe('file://');
  expect(originText('https_a_b.example_0@1')).toBe('https://a_b.example');
  expect(originText('page')).toBe('page');
});

test('a profile has a folder for each CURRENT, with its blobs, and those that pages fill come first', () => {
  const profile = profileOf(
    dropped('Default/Sync Data/LevelDB/CURRENT', 'Default/Local Storage/leveldb/CURRENT', 'Default/Local Storage/leveldb/000003.log', 'Default/IndexedDB/https_a_0.indexeddb.leveldb/CURRENT', 'Default/IndexedDB/https_a_0.indexeddb.blob/1/00/2', 'Default/Cache/data_0'),
  );
  expect(profile.name).toBe('Default');
  expect(profile.folders.map(({ path, files, blobs }) => [path, files.length, blobs.map(([blob]) => blob)])).toEqual([
    ['IndexedDB/https_a_0.indexeddb.leveldb', 1, ['1/00/2']],
    ['Local Storage/leveldb', 2, []],
    ['Sync Data/LevelDB', 1, []],
  ]);
  expect(isOfBrowser(profile)).toBe(true);
});

test('a single folder keeps as much of its path as says what it is', () => {
  expect(profileOf(dropped('https_a_0.indexeddb.leveldb/CURRENT'))).toMatchObject({ folders: [{ path: 'https_a_0.indexeddb.leveldb' }] });
  expect(profileOf(dropped('Local Storage/leveldb/CURRENT'))).toMatchObject({ name: 'Local Storage', folders: [{ path: 'leveldb' }] });
  expect(profileOf(dropped('words.db/CURRENT'))).toMatchObject({ name: 'words.db', folders: [{ path: '' }] });
  expect(profileOf(dropped('Session Storage/CURRENT'))).toMatchObject({ name: 'Session Storage', folders: [{ path: 'Session Storage' }] });
  expect(isOfBrowser(profileOf(dropped('words.db/CURRENT')))).toBe(false);
});

const cyclic: Record<string, unknown> = { name: 'a' };
cyclic.self = cyclic;

test.each<[unknown, string, string]>([
  [-0, 'number', '-0'],
  [12n, 'bigint', '12n'],
  ['a"b', 'string', '"a\\"b"'],
  [undefined, 'undefined', 'undefined'],
  [new Date(0), 'Date', '1970-01-01T00:00:00.000Z'],
  [new Date(Number.NaN), 'Date', 'invalid date'],
  ['a\u2028\u202Eb\0\u00AD\u00A0', 'string', `${String.raw`"a\u2028\u202eb\u0000\u00ad`}\u00A0"`],
  [{ 'a\u202E': 1 }, 'Object', String.raw`{"a\u202e": 1}`],
  [Object.assign([1], { 2: 'x' }), 'Array(3)', '[1, <1 empty item>, "x"]'],
  [Object.assign(Array.from({ length: 2 }), { extra: 'x', '-1': 0 }), 'Array(2)', '[undefined, undefined, extra: "x", "-1": 0]'],
  [Object.assign(new Array(3), { extra: 'x' }), 'Array(3)', '[<3 empty items>, extra: "x"]'],
  [Object.assign([1], { 4_294_967_295: 'x', z: 1 }), 'Array(1)', '[1, 4294967295: "x", z: 1]'],
  [Object.assign(new Array(5), { 1: 'x' }), 'Array(5)', '[<1 empty item>, "x", <3 empty items>]'],
  [new Map([['a', { b: 1 }]]), 'Map(1)', 'Map(1) {a: {b: 1}}'],
  [new Set(['a']), 'Set(1)', 'Set(1) ["a"]'],
  [Uint8Array.of(1, 2), 'Uint8Array(2)', 'Uint8Array(2) [1, 2]'],
  [Uint8Array.of(10, 255).buffer, 'ArrayBuffer(2)', '0a ff'],
  [new Number(5), 'Number', '5'],
  [Object(5n), 'BigInt', '5n'],
  [/a/gu, 'RegExp', '/a/gu'],
  [new HostObject('DOMPoint', 'Q', { x: 1 }), 'DOMPoint', 'DOMPoint {x: 1}'],
  [new HostObject(undefined, '?', {}, Uint8Array.of(1)), 'unknown object', 'unknown object {bytes: Uint8Array(1) [1]}'],
  [cyclic, 'Object', '{name: "a", self: {name: "a", self: {…}}}'],
])('%s is a %s in a line', (value, type, line) => {
  expect([typeOf(value), lineOf(value, 200)]).toEqual([type, line]);
});

test('a line of a Map that is its own key ends', () => {
  const map = new Map<unknown, unknown>();
  map.set(map, map);
  expect(lineOf(map, 200)).toBe('Map(1) {Map(1) {Map(1): Map(1)}: Map(1) {Map(1): Map(1)}}');
  expect(lineOf(new Map([[{ key: { of: { a: 'map' } } }, 1]]), 200)).toBe('Map(1) {{key: {…}}: 1}');
});

test('a line is as long as it may be, and a text is not copied beyond', () => {
  expect(lineOf('x'.repeat(1_000_000), 50)).toHaveLength(51);
  expect(lineOf(Array.from({ length: 1_000_000 }, (_, i) => i), 50)).toHaveLength(51);
  expect(leafText('abc', 2)).toBe('"ab"');
  expect(leafText('ab🌸', 3)).toBe('"ab"');
  expect(leafText('ab🌸', 4)).toBe('"ab🌸"');
  expect(leafText(new StoredBlob('blob', 0, { kind: 'blob', blobNumber: 1, type: '', size: 1, name: undefined, lastModified: undefined }, undefined))).toBe('1 byte');
});

test('a text is found in strings, names, numbers, dates and files, in any case, and not in the numbers of elements', () => {
  const file = new StoredBlob('file', 0, { kind: 'file', blobNumber: 1, type: 'text/plain', size: 3, name: 'Bread.txt', lastModified: undefined }, undefined);
  const value = { Title: 'Grüße', when: new Date(0), deep: [new Map([[{ key: 'In a key' }, 7312]])], file, list: ['a', 'b', 'c'] };
  for (const text of ['title', 'GRÜSSE'.replace('SS', 'ß'), '1970-01', 'in a KEY', '7312', 'bread.TXT']) expect([text, contains(value, text.toLowerCase())]).toEqual([text, true]);
  for (const text of ['2', 'bread.md']) expect([text, contains({ list: value.list, file }, text)]).toEqual([text, false]);
  expect(contains(cyclic, 'b')).toBe(false);
});

test('a tree shows an object once, and references to it elsewhere, also in cycles', () => {
  const shared = { a: 1 };
  const value: Record<string, unknown> = { first: shared, second: [shared] };
  value.me = value;
  const tree = new ValueTree();
  const root = tree.root('value', value);
  expect(root).toMatchObject({ type: 'Object', childCount: 3, label: undefined });
  const [first, second, me] = tree.children(root.id, 0, 100);
  expect(first).toMatchObject({ label: 'first', childCount: 1, sameAs: undefined });
  expect(me).toMatchObject({ label: 'me', childCount: 0, sameAs: 'value' });
  expect(tree.children(second!.id, 0, 100)).toMatchObject([{ label: '0', sameAs: 'value.first', childCount: 0 }]);
});

test('a tree is opened a part at a time, at any depth and length', () => {
  let deep: unknown = 'bottom';
  for (let i = 0; i < 5000; i++) deep = [deep];
  const tree = new ValueTree();
  let node = tree.root('value', deep);
  for (let i = 0; i < 5000; i++) node = tree.children(node.id, 0, 10)[0]!;
  expect(node.text).toBe('"bottom"');
  const long = tree.root('long', Array.from({ length: 100_000 }, (_, i) => i));
  expect(long.childCount).toBe(100_000);
  expect(tree.children(long.id, 250, 252)).toMatchObject([{ label: '250', text: '250' }, { label: '251' }]);
  const text = tree.root('text', 'y'.repeat(5000));
  expect([text.text.length, text.textLength, tree.text(text.id).length]).toEqual([1002, 5000, 5000]);
});

test('a BigInt that is too long for decimal digits is in hexadecimal, and cut to the line', () => {
  expect(leafText(-(1n << 65536n))).toBe(`-0x1${'0'.repeat(16384)}n`);
  expect(leafText(1n << 65536n, 5)).toBe('0x100n');
});

test('a tree has the entries of a Map by their keys, and keys with parts can be opened', () => {
  const tree = new ValueTree();
  const root = tree.root('value', new Map<unknown, unknown>([['a', 1], [{ x: 1 }, { y: 2 }]]));
  const [a, entry] = tree.children(root.id, 0, 9);
  expect(a).toMatchObject({ label: '"a"', text: '1' });
  expect(tree.children(entry!.id, 0, 9)).toMatchObject([{ label: 'key', type: 'Object' }, { label: 'value', type: 'Object' }]);
});

test('bytes and files can be saved', async () => {
  const tree = new ValueTree();
  const view = tree.root('value', new Uint16Array([1, 2]).subarray(1));
  expect(view.file).toEqual({ name: 'bytes', type: '', size: 2 });
  expect(new Uint8Array(await (await tree.file(view.id)).arrayBuffer())).toEqual(Uint8Array.of(2, 0));
  const missing = tree.root('file', new StoredBlob('blob', 0, undefined, undefined));
  await expect(tree.file(missing.id)).rejects.toMatchObject({ code: 'BLOOM_MISSING_BLOB' });
});

test('an error without a stack has none, and odd names of properties are in quotes', () => {
  const error = new RangeError('too far');
  Object.defineProperty(error, 'stack', { value: undefined });
  expect(lineOf(error, 200)).toBe('RangeError {message: "too far"}');
  const odd: object = JSON.parse('{"": 1, "a b": 2, "__proto__": 3, "\\"": 4, "é": 5, "7": 6, "-1": 7}') as object;
  expect(lineOf(odd, 200)).toBe('{7: 6, "": 1, "a b": 2, "__proto__": 3, "\\"": 4, é: 5, "-1": 7}');
  const tree = new ValueTree();
  expect(tree.children(tree.root('value', odd).id, 0, 9).map(({ label }) => label)).toEqual(['7', '""', '"a b"', '"__proto__"', '"\\""', 'é', '"-1"']);
});

test('text without quotes is put in quotes where it would not be seen', () => {
  expect(['plain "text"', 'שלום', '', 'a\0b', 'line\nline', '\ud800', 'a\u202eb', ' a b ', 'a b'].map((text) => visibleText(text))).toEqual(['plain "text"', 'שלום', '""', String.raw`"a\u0000b"`, String.raw`"line\nline"`, String.raw`"\ud800"`, String.raw`"a\u202eb"`, '" a b "', 'a b']);
  expect(visibleText('plain text', 6)).toBe('plain ');
});

test('an empty text is not shown like a text of two quotes', () => {
  expect(['', '""', '"a" b'].map((text) => visibleText(text))).toEqual(['""', String.raw`"\"\""`, String.raw`"\"a\" b"`]);
});

test('characters that join or separate visible ones are shown as they are', () => {
  const texts = ['👨‍👩‍👧 done', 'می\u200cخواهم', 'CD\u200cها', '10\u00a0€'];
  expect(texts.map((text) => visibleText(text))).toEqual(texts);
  expect(texts.map((text) => lineOf(text, 80))).toEqual(texts.map((text) => `"${text}"`));
  expect(['\u00a010', '10\u00a0'].map((text) => visibleText(text))).toEqual(['"\u00a010"', '"10\u00a0"']);
  expect(['\u200d', 'a\u200cb'].map((text) => visibleText(text))).toEqual([String.raw`"\u200d"`, String.raw`"a\u200cb"`]);
});
