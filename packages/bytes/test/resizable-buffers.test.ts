// Arrays whose buffers are resized.
import { mustBeBytes, RangeCopier } from '@bloom/bytes/internal';
import { expect, test } from 'vitest';

type Resizable = ArrayBuffer & { resize(byteLength: number): void };
// TypeScript's library for Node.js 20 does not have them.
const ResizableBuffer = ArrayBuffer as unknown as new (byteLength: number, options: { readonly maxByteLength: number }) => Resizable;

test('a copier copies from arrays that grow', () => {
  const buffer = new ResizableBuffer(40, { maxByteLength: 400 });
  const from = new Uint8Array(buffer);
  const to = new Uint8Array(400);
  const copier = new RangeCopier();
  for (let i = 0; i < 3; i++) copier.copy(from, 0, 40, to, 0);
  buffer.resize(400);
  from.fill(9);
  copier.copy(from, 300, 400, to, 0);
  expect(to.subarray(0, 101)).toEqual(new Uint8Array(101).fill(9, 0, 100));
});

test('mustBeBytes rejects an array whose buffer was resized and is now too short', () => {
  const buffer = new ResizableBuffer(8, { maxByteLength: 16 });
  const key = new Uint8Array(buffer, 4, 4);
  buffer.resize(2);
  expect(key.length).toBe(0);
  expect(() => mustBeBytes('key', key)).toThrow('detached');
});
