// A caller may change or use its buffers again as soon as a call has returned, also while the call's promise is pending.
import { PartWriter } from '@bloom/bulk';
import { describe, expect, test } from 'vitest';

describe('a part', () => {
  test('has the keys that were put, although the caller puts each of them in the same Buffer', async () => {
    const writer = new PartWriter({ sequence: 1n });
    const key = Buffer.alloc(5);
    for (const text of ['apple', 'lemon', 'peach']) {
      key.write(text);
      writer.put(key, key);
    }
    key.fill(0);
    const { part } = await writer.take();
    expect([part.first, part.last].map((bytes) => Buffer.from(bytes).toString())).toEqual(['apple', 'peach']);
  });

  test('that its caller changes does not change which keys may follow', async () => {
    const writer = new PartWriter({ sequence: 1n });
    writer.put('b', '');
    const { part } = await writer.take();
    part.last.fill(0);
    expect(() => writer.put('a', '')).toThrow(RangeError);
    part.last.fill(0xff);
    expect(() => writer.put('c', '')).not.toThrow();
  });
});
