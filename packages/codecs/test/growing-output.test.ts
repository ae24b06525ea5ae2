import { describe, expect, test } from 'vitest';
import { GrowingOutput } from '../src/growing-output.js';

describe('an output of unknown length', () => {
  test('has at once the room that is expected, as far as the limit allows', () => {
    expect([new GrowingOutput(100, 1000), new GrowingOutput(1000, 100), new GrowingOutput(0, 0)].map(({ bytes }) => bytes.length)).toEqual([100, 100, 0]);
  });

  test('keeps its bytes when it grows, doubles while it may, and never exceeds the limit', () => {
    const output = new GrowingOutput(4, 100);
    const lengths = new Set<number>();
    for (let i = 0; i < 100; i++) {
      output.reserve(1);
      output.bytes[output.length++] = i;
      lengths.add(output.bytes.length);
    }
    expect([...lengths]).toEqual([4, 8, 16, 32, 64, 100]);
    expect([...output.toBytes()]).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  test('grows to the needed length if that is more than twice as much, and not at all while there is room', () => {
    const output = new GrowingOutput(4, 100);
    output.length = 3;
    const { bytes } = output;
    output.reserve(1);
    expect(output.bytes).toBe(bytes);
    output.reserve(40);
    expect(output.bytes).toHaveLength(43);
    output.reserve(97);
    expect(output.bytes).toHaveLength(100);
  });

  test('refuses one byte more than the limit, and stays as it was', () => {
    const output = new GrowingOutput(4, 10);
    output.length = 4;
    expect(() => output.reserve(7)).toThrow(new RangeError('the contents exceed the limit of 10 bytes'));
    expect([output.length, output.bytes.length]).toEqual([4, 4]);
  });

  test('gives the written bytes in a buffer of their length, without a copy where that is the whole', () => {
    const output = new GrowingOutput(4, 10);
    output.bytes.set([1, 2, 3, 4]);
    output.length = 3;
    expect([[...output.toBytes()], output.toBytes().buffer.byteLength]).toEqual([[1, 2, 3], 3]);
    output.length = 4;
    expect(output.toBytes()).toBe(output.bytes);
  });
});
