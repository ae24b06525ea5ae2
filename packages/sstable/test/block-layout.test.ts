import { fromHex } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import { BlockBuilder } from '../src/format/block-builder.js';
import { blockLayout } from '../src/format/block.js';
import { utf8 } from './entries.js';

type Entries = readonly (readonly [string, string])[];

function build(entries: Entries, restartInterval: number): Uint8Array {
  const builder = new BlockBuilder(restartInterval);
  for (const [key, value] of entries) builder.add(utf8(key), utf8(value));
  return builder.finish().slice();
}

/** Each range as `offset + length: label (value)`. */
function lines(contents: Uint8Array, describe?: (value: Uint8Array) => string | undefined): string[] {
  const all = [...blockLayout(contents, 100, describe)];
  return all.map(({ offset, byteLength, label, value }) => `${offset} + ${byteLength}: ${label}${value === undefined ? '' : ` (${value})`}`);
}

test('labels the parts of entries, the restarts and their number, with their offsets in the file', () => {
  expect(lines(build([['apple', 'a'], ['apply', ''], ['beet', 'root']], 2))).toEqual([
    '100 + 3: entry 0: lengths (shared 0, unshared 5, value 1)',
    '103 + 5: entry 0: key ("apple")',
    '108 + 1: entry 0: value ("a")',
    '109 + 3: entry 1: lengths (shared 4, unshared 1, value 0)',
    '112 + 1: entry 1: end of key ("apply")',
    '113 + 3: entry 2: lengths (shared 0, unshared 4, value 4)',
    '116 + 4: entry 2: key ("beet")',
    '120 + 4: entry 2: value ("root")',
    '124 + 4: offset of restart 0 (0)',
    '128 + 4: offset of restart 1 (13)',
    '132 + 4: number of restarts (2)',
  ]);
});

test('an empty key has no range', () => {
  expect(lines(build([['', 'v']], 16)).slice(0, 2)).toEqual(['100 + 3: entry 0: lengths (shared 0, unshared 0, value 1)', '103 + 1: entry 0: value ("v")']);
});

test('values are shown if the caller describes them', () => {
  const describe = (value: Uint8Array): string | undefined => (value.length === 2 ? 'two bytes' : undefined);
  const values = lines(build([['a', 'xy'], ['b', 'xyz']], 16), describe).filter((line) => line.includes(': value'));
  expect(values).toEqual(['104 + 2: entry 0: value (two bytes)', '110 + 3: entry 1: value ("xyz")']);
});

test('bytes outside printable ASCII, quotes and backslashes are shown in hex, and at most 24 bytes of a text', () => {
  const value = (bytes: Uint8Array): string => {
    const builder = new BlockBuilder(16);
    builder.add(utf8('k'), bytes);
    return [...blockLayout(builder.finish(), 0)].find(({ label }) => label === 'entry 0: value')!.value!;
  };
  expect(value(Uint8Array.of(0x00, 0x0f, 0x1f, 0x20, 0x21, 0x22, 0x5b, 0x5c, 0x5d, 0x7e, 0x7f, 0xff))).toBe(
    String.raw`"\x00\x0f\x1f !\x22[\x5c]~\x7f\xff"`,
  );
  expect(value(utf8('x'.repeat(24)))).toBe(`"${'x'.repeat(24)}"`);
  expect(value(utf8('x'.repeat(25)))).toBe(`"${'x'.repeat(24)}"… 25 bytes`);
});

test('a block without entries has only its restarts', () => {
  expect(lines(fromHex('0000000001000000'))).toEqual(['100 + 4: offset of restart 0 (0)', '104 + 4: number of restarts (1)']);
});

test('bytes before the restarts that are not entries are labelled as such', () => {
  expect(lines(fromHex('ffffff' + '00000000'))).toEqual(['100 + 3: bytes before the restarts', '103 + 4: number of restarts (0)']);
  const [before] = blockLayout(fromHex('ffffff' + '00000000'), 100);
  expect(before).toStrictEqual({ offset: 100, byteLength: 3, label: 'bytes before the restarts' });
});

test('damage is a single range from its offset on, with the problem', () => {
  const contents = build([['apple', 'a'], ['beet', 'root']], 16);
  // The entry shares more bytes than the previous key has.
  contents[9] = 9;
  const layout = lines(contents);
  expect(layout.slice(0, 3)).toEqual(lines(build([['apple', 'a']], 16)).slice(0, 3));
  expect(layout).toHaveLength(4);
  expect(layout[3]).toMatch(/^109 \+ 19: damaged \(.+\)$/);
  expect(lines(fromHex('010203'))).toEqual([expect.stringMatching(/^100 \+ 3: damaged/)]);
  expect(lines(fromHex(''))).toEqual([]);
});

test('errors that are not about the bytes are passed on', () => {
  const failure = new TypeError('mine');
  const describe = (): string => {
    throw failure;
  };
  expect(() => lines(build([['a', 'b']], 16), describe)).toThrow(failure);
});
