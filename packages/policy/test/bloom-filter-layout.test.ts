import { bloomFilterLayout, bloomFilterRate } from '@bloom/policy';
import { expect, test } from 'vitest';

test('a filter has two parts, its bits and the number of probes, with their offsets in the file', () => {
  expect(bloomFilterLayout(Uint8Array.of(1, 2, 3, 6), 100)).toEqual([
    { offset: 100, byteLength: 3, label: 'bits', value: '24 bits' },
    { offset: 103, byteLength: 1, label: 'number of probes', value: '6' },
  ]);
});

test('the shortest filter has two bytes', () => {
  expect(bloomFilterLayout(Uint8Array.of(1, 30), 0)).toEqual([
    { offset: 0, byteLength: 1, label: 'bits', value: '8 bits' },
    { offset: 1, byteLength: 1, label: 'number of probes', value: '30' },
  ]);
});

test('a single byte is labelled as too short to be a filter, and zero bytes have no parts', () => {
  expect(bloomFilterLayout(Uint8Array.of(6), 7)).toEqual([{ offset: 7, byteLength: 1, label: 'filter too short to be one' }]);
  expect(bloomFilterLayout(new Uint8Array(), 7)).toEqual([]);
});

test.each<[string, number[], number]>([
  ['all of its bits', [0xff, 0xff, 6], 1],
  ['half of its bits, and one probe', [0x0f, 1], 1 / 2],
  ['a quarter of its bits, and two probes', [0xf0, 0x00, 2], 1 / 16],
  ['an eighth of its bits, in every byte', [0x80, 0x01, 0x10, 1], 1 / 8],
  ['half of its bits, and 30 probes', [0x55, 30], 2 ** -30],
  ['half of its bits, and no probes', [0x55, 0], 1],
  ['no bits', [0, 0, 6], 0],
  ['more than 30 probes, so that it matches every key', [0x01, 31], 1],
  ['a single byte, so that it matches no key', [6], 0],
  ['no bytes', [], 0],
])('the rate of a filter with %s', (_, filter, rate) => {
  expect(bloomFilterRate(Uint8Array.from(filter))).toBe(rate);
});
