import { PrefixViews, seeded } from '@bloom/bytes/internal';
import { expect, test } from 'vitest';

test('a view of the first bytes has that length, shows what is written to them, and is made once', () => {
  const bytes = new Uint8Array(10_000);
  const views = new PrefixViews(bytes);
  const random = seeded(1);
  const lengths = [0, 1, 256, 255, 512, 10_000, ...Array.from({ length: 2000 }, () => random.below(10_001))];
  for (const length of lengths) {
    const view = views.of(length);
    expect([view.length, view.byteOffset]).toEqual([length, 0]);
    expect(view.buffer).toBe(bytes.buffer);
    expect(views.of(length)).toBe(view);
  }
  bytes[2] = 7;
  expect([...views.of(4)]).toEqual([0, 0, 7, 0]);
});

test('views of bytes within a buffer begin where those do', () => {
  const bytes = new Uint8Array(new ArrayBuffer(20), 5, 10).fill(3);
  expect([...new PrefixViews(bytes).of(2)]).toEqual([3, 3]);
});
