import { fromHex } from '@bloom/fixtures';
import { describe, expect, test } from 'vitest';
import { commonTail, neighboursOf } from '@bloom/policy/compare';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The neighbours of the later key, as text. */
function neighbours(before: string, key: string): string[] {
  return [...neighboursOf(utf8(key), commonTail(utf8(before), utf8(key)))].map((bytes) => new TextDecoder().decode(bytes));
}

describe('the neighbours of a key', () => {
  test('are the next numbers, with a carry, where it ends with decimal digits', () => {
    expect(neighbours('user:00997', 'user:00999')).toEqual(['user:01000', 'user:00998', 'user:01001', 'user:00997', 'user:01002', 'user:00996']);
  });

  test('count what differs from the key before, and then its end', () => {
    expect(neighbours('user:41:mail', 'user:42:mail')).toEqual([
      ...['user:43:mail', 'user:41:mail', 'user:44:mail', 'user:40:mail', 'user:45:mail', 'user:39:mail'],
      ...['user:42:maim', 'user:42:maik', 'user:42:main', 'user:42:maij', 'user:42:maio', 'user:42:maii'],
    ]);
  });

  test('count a hexadecimal number as one, in its case', () => {
    expect(neighbours('deadbeef00', '1a2b3c4dff').slice(0, 2)).toEqual(['1a2b3c4e00', '1a2b3c4dfe']);
    expect(neighbours('DEADBEEF00', '1A2B3C4D9F').slice(0, 2)).toEqual(['1A2B3C4DA0', '1A2B3C4D9E']);
  });

  test('take eight digits and letters for a hexadecimal number, and seven for none', () => {
    expect(neighbours('x', '1a2b3c9f').slice(0, 2)).toEqual(['1a2b3ca0', '1a2b3c9e']);
    expect(neighbours('x', '1a2b39f').slice(0, 2)).toEqual(['1a2b39g', '1a2b39e']);
  });

  test('count decimal digits also after a space', () => {
    expect(neighbours('x', 'room 19').slice(0, 2)).toEqual(['room 20', 'room 18']);
  });

  test('take a short run of digits and letters, or letters alone, for no hexadecimal number', () => {
    expect(neighbours('x', 'aaaaaaaf').slice(0, 2)).toEqual(['aaaaaaag', 'aaaaaaae']);
    expect(neighbours('x', 'room9f').slice(0, 2)).toEqual(['room9g', 'room9e']);
    expect(neighbours('x', 'defaced').slice(0, 2)).toEqual(['defacee', 'defacec']);
    expect(neighbours('x', 'ABCZ').slice(0, 2)).toEqual(['ABDA', 'ABCY']);
  });

  test('count bytes as a big-endian number if the key is not text', () => {
    const key = fromHex('00000000000001ff');
    expect([...neighboursOf(key, 0)].slice(0, 2).map(hex)).toEqual(['0000000000000200', '00000000000001fe']);
  });

  test('leave out numbers that do not fit into the places of the key', () => {
    expect(neighbours('7', '9')).toEqual(['8', '7', '6']);
    expect([...neighboursOf(fromHex('ff'), 0)].map(hex)).toEqual(['fe', 'fd', 'fc']);
    expect(neighbours('n:8', 'n:0')).toEqual(['n:1', 'n:2', 'n:3']);
  });

  test('of an empty key are none', () => {
    expect([...neighboursOf(new Uint8Array(0), 0)]).toEqual([]);
  });

  test('of a Buffer are copies, and leave it as it is', () => {
    const key = Buffer.from('key 7');
    expect([...neighboursOf(key, 0)].slice(0, 2).map((bytes) => Buffer.from(bytes).toString())).toEqual(['key 8', 'key 6']);
    expect(key.toString()).toBe('key 7');
  });
});
