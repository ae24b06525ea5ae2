import { allCodecs } from '@bloom/codecs';
import { folderFiles, realDatabases, seeded } from '@bloom/fixtures';
import { MemoryFolder } from '@bloom/leveldb';
import { storedEntries } from '@bloom/leveldb/inspect';
import { minecraftKey } from '@bloom/report';
import { indexedDbKey } from '@bloom/web-storage';
import { expect, test } from 'vitest';
import { partsOf, typedBytes, typedForm } from '../src/bytes/byte-forms.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

async function keysOf(path: string): Promise<Uint8Array[]> {
  const keys: Uint8Array[] = [];
  for await (const { key } of storedEntries(new MemoryFolder(Object.fromEntries(folderFiles(path))), { codecs: allCodecs, damage: 'skip' })) {
    keys.push(key.slice());
    if (keys.length === 3000) break;
  }
  return keys;
}

test.each(realDatabases().filter(({ open }) => open === 'OK').map(({ name, path }) => [name, path]))('every key of %s is typed as it is shown', async (_, path) => {
  const keys = await keysOf(path);
  for (const key of keys) {
    const preferred = indexedDbKey(key) !== undefined ? 'indexeddb' : minecraftKey(key) !== undefined ? 'minecraft' : 'text';
    const { key: typed, typing } = typedForm(key, preferred);
    expect(`${typed} is ${hex(typedBytes(typed, typing)!)}`).toBe(`${typed} is ${hex(key)}`);
    // The bytes of a scope are not shown.
    expect(typing, typed).toBe(indexedDbKey(key) === 'scope' ? 'text' : preferred);
  }
});

test('any bytes are the same after they are shown as text and typed', () => {
  const random = seeded(3);
  for (let i = 0; i < 2000; i++) {
    const bytes = i % 2 === 0 ? random.bytes(random.below(30)) : Uint8Array.from({ length: random.below(12) }, () => '\\x0afg\u00e9'.charCodeAt(random.below(7)) & 0xff);
    const text = partsOf(bytes, 'text').map((part) => part.text).join('');
    expect(`${text}: ${hex(typedBytes(text, 'text')!)}`).toBe(`${text}: ${hex(bytes)}`);
  }
});

test.each([
  [' ', '\\x20'],
  ['  ', '\\x20\\x20'],
  [' two words ', '\\x20two words\\x20'],
  ['two words', 'two words'],
])('the text "%s" is shown as %s: a space at its start or end can be seen', (text, shown) => {
  const parts = partsOf(new TextEncoder().encode(text), 'text');
  expect(parts.map((part) => part.text).join('')).toBe(shown);
});

test('a key of which only the beginning is typed gives the bytes with which such keys begin', () => {
  expect(hex(typedBytes('database 1', 'indexeddb')!)).toBe('00010000');
  expect(hex(typedBytes('database 1, store 2', 'indexeddb')!)).toBe('00010200');
  expect(hex(typedBytes('database 1, store 2, record', 'indexeddb')!)).toBe('00010201');
  expect(typedBytes('database one', 'indexeddb')).toBeUndefined();
  expect(hex(typedBytes('chunk 3, -4 of the Nether', 'minecraft')!)).toBe('03000000fcffffff01000000');
});
