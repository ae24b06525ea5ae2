import { bloomFilterLayout } from '@bloom/policy';
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
