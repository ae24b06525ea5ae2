import { BloomFilterPolicy, FilterBuffer, KeyBuffer } from '@bloom/policy';
import { describe, expect, test } from 'vitest';
import { hex, utf8 } from './keys.js';

describe('createFilter', () => {
  const policy = new BloomFilterPolicy(10);

  test('appends a filter and leaves earlier ones unchanged', () => {
    const sink = new FilterBuffer();
    sink.extend(3).set([0xaa, 0xbb, 0xcc]);
    policy.createFilter(KeyBuffer.from([utf8('hello'), utf8('world')]), sink);
    policy.createFilter(KeyBuffer.from([]), sink);
    expect(hex(sink.toBytes())).toBe('aabbcc' + '114000414410401006' + '000000000000000006');
  });

  test('does not change keys', () => {
    const keys = KeyBuffer.from([utf8('hello'), utf8('world')]);
    const bytes = keys.bytes.slice();
    const offsets = keys.offsets.slice();
    policy.createFilter(keys, new FilterBuffer());
    expect(keys).toHaveLength(2);
    expect(keys.bytes).toEqual(bytes);
    expect(keys.offsets).toEqual(offsets);
  });

  test('does not read past the keys', () => {
    const keys = KeyBuffer.from([utf8('a much longer key'), utf8('and more')]);
    keys.clear();
    keys.push(utf8('hello'));
    keys.push(utf8('world'));
    const sink = new FilterBuffer();
    policy.createFilter(keys, sink);
    expect(hex(sink.toBytes())).toBe('114000414410401006');
  });
});

describe('FilterBuffer', () => {
  test('is empty at first', () => {
    const buffer = new FilterBuffer();
    expect(buffer.byteLength).toBe(0);
    expect(buffer.toBytes()).toEqual(new Uint8Array());
  });

  test('lends exactly as many zero bytes as requested', () => {
    const buffer = new FilterBuffer();
    for (const length of [0, 1, 9, 5000]) {
      const part = buffer.extend(length);
      expect(part).toEqual(new Uint8Array(length));
      part.fill(0xff);
    }
    expect(buffer.byteLength).toBe(5010);
  });

  test('keeps the parts in order, settled or not', () => {
    const buffer = new FilterBuffer();
    let expected = '';
    for (let i = 1; i <= 200; i++) {
      buffer.extend(i % 7).fill(i);
      expected += i.toString(16).padStart(2, '0').repeat(i % 7);
      if (i % 3 === 0) buffer.settle();
    }
    expect(hex(buffer.toBytes())).toBe(expected);
    expect(buffer.byteLength).toBe(expected.length / 2);
  });

  test('keeps two parts that are lent at the same time separate', () => {
    const buffer = new FilterBuffer();
    const first = buffer.extend(2);
    const second = buffer.extend(2);
    second.fill(2);
    first.fill(1);
    expect(hex(buffer.toBytes())).toBe('01010202');
  });

  test('does not give access to earlier content, even through the buffer of a part', () => {
    const buffer = new FilterBuffer();
    buffer.extend(100).fill(0xee);
    buffer.settle();
    buffer.extend(100).fill(0xdd);
    const part = buffer.extend(100);
    const reach = new Uint8Array(part.buffer);
    expect(reach.some((byte) => byte !== 0)).toBe(false);
    reach.fill(0x11);
    expect(hex(buffer.toBytes())).toBe('ee'.repeat(100) + 'dd'.repeat(100) + '11'.repeat(100));
  });

  test('ignores writes to a part after settle', () => {
    const buffer = new FilterBuffer();
    const part = buffer.extend(4);
    part.fill(1);
    buffer.settle();
    part.fill(2);
    buffer.extend(1).fill(3);
    part.fill(4);
    expect(hex(buffer.toBytes())).toBe('0101010103');
    part.fill(5);
    expect(hex(buffer.toBytes())).toBe('0101010103');
  });

  test('toBytes returns a new copy each time', () => {
    const buffer = new FilterBuffer();
    buffer.extend(2).fill(1);
    buffer.toBytes().fill(9);
    expect(hex(buffer.toBytes())).toBe('0101');
    buffer.extend(1).fill(2);
    expect(hex(buffer.toBytes())).toBe('010102');
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53 - 1, 2 ** 53])(
    'refuses a part of %d bytes, and stays as it was',
    (byteLength) => {
      const buffer = new FilterBuffer();
      buffer.extend(2).fill(7);
      const isLength = Number.isSafeInteger(byteLength) && byteLength >= 0;
      expect(() => buffer.extend(byteLength)).toThrow(RangeError);
      // A whole number that is too large is refused by the host, with the host's message.
      if (!isLength) expect(() => buffer.extend(byteLength)).toThrow(`byteLength must be a whole number of bytes, got ${byteLength}`);
      expect(buffer.byteLength).toBe(2);
      expect(hex(buffer.toBytes())).toBe('0707');
    },
  );
});

test.each<unknown>([-1, NaN, '10', null, 10n])('a FilterBuffer refuses the limit %s', (maxBytes) => {
  expect(() => new FilterBuffer(maxBytes as number)).toThrow(/^maxBytes must be a number, at least 0, got /);
});

test('a FilterBuffer takes as many bytes as it may, refuses more, and tells how many those would be', () => {
  const buffer = new FilterBuffer(10);
  buffer.extend(4);
  buffer.extend(6).fill(7);
  expect(buffer.refusedLength).toBeUndefined();
  expect(() => buffer.extend(3)).toThrow(new RangeError('filters would have 13 bytes, the limit is 10'));
  expect([buffer.refusedLength, buffer.byteLength, hex(buffer.toBytes())]).toEqual([13, 10, '00'.repeat(4) + '07'.repeat(6)]);
  expect(() => buffer.extend(0)).not.toThrow();
});
