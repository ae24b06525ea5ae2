import { seeded } from '@bloom/fixtures';
import { KeyBuffer } from '@bloom/policy';
import { describe, expect, test } from 'vitest';
import { hex, utf8 } from './keys.js';

/** Reads the keys in every way. @returns the name of a way that does not return `keys`, or undefined. */
function difference(buffer: KeyBuffer, keys: readonly Uint8Array[]): string | undefined {
  const expected = keys.map(hex).join();
  const { bytes, offsets, length } = buffer;
  if (length !== keys.length) return 'length';
  if (Array.from(keys, (_, i) => hex(buffer.at(i))).join() !== expected) return 'at';
  if (Array.from(buffer, hex).join() !== expected) return 'iteration';
  const flat = Array.from(keys, (_, i) => hex(bytes.subarray(offsets[i], offsets[i + 1])));
  if (flat.join() !== expected || offsets[0] !== 0) return 'bytes and offsets';
  return undefined;
}

test('holds the same keys as an array after any pushes and clears', () => {
  const seed = 9;
  const random = seeded(seed);
  const wrong: string[] = [];
  for (let run = 0; run < 100; run++) {
    const buffer = new KeyBuffer();
    let keys: Uint8Array[] = [];
    for (let step = 0; step < 200; step++) {
      const kind = random.below(100);
      if (kind === 0) {
        buffer.clear();
        keys = [];
      } else {
        // Short, near the length at which the method of copying changes, and longer than the whole buffer.
        const key = random.bytes(kind < 60 ? random.below(8) : kind < 97 ? random.below(70) : random.below(5000));
        const start = random.below(key.length + 1);
        const end = start + random.below(key.length - start + 1);
        if (step % 3 === 0) buffer.pushRange(key, start, end);
        else buffer.push(key);
        keys.push(step % 3 === 0 ? key.slice(start, end) : key.slice());
        key.fill(0xee);
      }
      if (step % 20 === 19) {
        const what = difference(buffer, keys);
        if (what !== undefined) wrong.push(`run ${run}, step ${step}: ${what}`);
      }
    }
  }
  expect(wrong.slice(0, 3), `seed ${seed}`).toEqual([]);
});

test('takes all keys of other lists, wherever in their bytes these start', () => {
  const random = seeded(11);
  for (let run = 0; run < 50; run++) {
    const buffer = new KeyBuffer(random.below(20), 1 + random.below(4));
    const keys: Uint8Array[] = [];
    for (let step = 0; step < 10; step++) {
      if (random.below(8) === 0) {
        buffer.clear();
        keys.length = 0;
      }
      const others = KeyBuffer.from(Array.from({ length: random.below(100) }, () => random.bytes(random.below(30))));
      const skipped = random.below(others.length + 1);
      const list = { bytes: others.bytes, offsets: others.offsets.subarray(skipped), length: others.length - skipped };
      buffer.pushAll(step === 5 ? buffer : list);
      keys.push(...(step === 5 ? [...keys] : Array.from(others, (key) => key.slice()).slice(skipped)));
      others.bytes.fill(0xee);
      const key = random.bytes(5);
      buffer.push(key);
      keys.push(key);
    }
    expect(difference(buffer, keys)).toBeUndefined();
  }
});

test.each([
  { what: 'offsets that do not ascend', offsets: [0, 3, 2, 4] },
  { what: 'offsets past the bytes', offsets: [0, 3, 4, 9] },
  { what: 'too few offsets', offsets: [0, 3] },
])('refuses a list with $what, and stays as it was', ({ offsets }) => {
  const buffer = KeyBuffer.from([utf8('a')]);
  expect(() => buffer.pushAll({ bytes: new Uint8Array(8), offsets: Uint32Array.from(offsets), length: 3 })).toThrow(RangeError);
  expect(difference(buffer, [utf8('a')])).toBeUndefined();
});

test('refuses a list without bytes', () => {
  expect(() => new KeyBuffer().pushAll({ bytes: 'ab' as unknown as Uint8Array, offsets: Uint32Array.of(0, 1), length: 1 })).toThrow(TypeError);
});

test('is empty at first', () => {
  const buffer = new KeyBuffer();
  expect(buffer).toHaveLength(0);
  expect([...buffer]).toEqual([]);
  expect(buffer.offsets[0]).toBe(0);
});

test('holds keys of every length from 0 to 100 bytes', () => {
  const keys = Array.from({ length: 101 }, (_, length) => new Uint8Array(length).fill(length + 1));
  expect([...KeyBuffer.from(keys)]).toEqual(keys);
});

test('from accepts keys that can be iterated only once', () => {
  function* keys(): Generator<Uint8Array> {
    const lent = new Uint8Array(1);
    for (let i = 0; i < 3; i++) {
      lent[0] = i;
      yield lent;
    }
  }
  expect([...KeyBuffer.from(keys())]).toEqual([Uint8Array.of(0), Uint8Array.of(1), Uint8Array.of(2)]);
});

test('copies a key that is a view of its own bytes, even while it grows', () => {
  const buffer = KeyBuffer.from([utf8('0123456789'.repeat(5))]);
  for (let i = 0; i < 200; i++) buffer.push(buffer.at(i));
  expect(new Set(Array.from(buffer, hex))).toEqual(new Set([hex(utf8('0123456789'.repeat(5)))]));
  expect(buffer).toHaveLength(201);
});

test('at lends a view, not a copy', () => {
  const buffer = KeyBuffer.from([utf8('foo'), utf8('bar')]);
  expect(buffer.at(1).buffer).toBe(buffer.bytes.buffer);
});

test('clear keeps the memory, and the old keys do not reappear', () => {
  const buffer = KeyBuffer.from(Array.from({ length: 1000 }, (_, i) => utf8(`key ${i}`)));
  const { bytes, offsets } = buffer;
  buffer.clear();
  expect(difference(buffer, [])).toBeUndefined();
  buffer.push(utf8('a'));
  expect(difference(buffer, [utf8('a')])).toBeUndefined();
  expect(buffer.bytes).toBe(bytes);
  expect(buffer.offsets).toBe(offsets);
});

describe('at', () => {
  test.each([-1, 2, 3, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('rejects key number %d when there are two keys', (i) => {
    const buffer = KeyBuffer.from([utf8('foo'), utf8('bar')]);
    expect(() => buffer.at(i)).toThrow(RangeError);
    expect(() => buffer.at(i)).toThrow(/^i must be a whole number below 2, the number of keys, got /);
  });

  test('rejects the number of a key that clear removed', () => {
    const buffer = KeyBuffer.from([utf8('foo')]);
    buffer.clear();
    expect(() => buffer.at(0)).toThrow(RangeError);
  });
});

// Has a length, but not the bytes.
const long = Object.defineProperty(new Uint8Array(), 'length', { value: 2 ** 32 - 1 });

test('rejects keys that have 4 GiB in total, and is unchanged then', () => {
  const buffer = KeyBuffer.from([utf8('a')]);
  expect(() => {
    buffer.push(long);
  }).toThrow(new RangeError('keys must be less than 4 GiB in total'));
  expect(difference(buffer, [utf8('a')])).toBeUndefined();
});

test('accepts keys that have 4 GiB less one byte in total', () => {
  // Pages that are not touched take no memory.
  const buffer = new KeyBuffer();
  buffer.push(long);
  expect(buffer.offsets.subarray(0, 2)).toEqual(Uint32Array.of(0, 2 ** 32 - 1));
  expect(buffer.bytes.length).toBe(2 ** 32 - 1);
});

const roomOf = ({ bytes, offsets }: KeyBuffer): number[] => [bytes.length, offsets.length];

test('a new list has room for 1,024 bytes and 63 keys by default, or for what the caller requests', () => {
  expect(roomOf(new KeyBuffer())).toEqual([1024, 64]);
  expect(roomOf(new KeyBuffer(10, 2))).toEqual([10, 3]);
});

test('from allocates exactly the room that the keys of an array need', () => {
  expect(roomOf(KeyBuffer.from(['quux', '', 'foo'].map(utf8)))).toEqual([7, 4]);
  expect(roomOf(KeyBuffer.from([]))).toEqual([0, 1]);
});

test('doubles its room only when it is full, or grows to what a longer key needs', () => {
  const buffer = new KeyBuffer(10, 2);
  const rooms = [10, 1, 1, 30].map((byteLength) => {
    buffer.push(new Uint8Array(byteLength));
    return roomOf(buffer);
  });
  expect(rooms).toEqual([
    [10, 3],
    [20, 3],
    [20, 6],
    [42, 6],
  ]);
});

test.each([31, 32, 33, 60])('pushRange writes exactly the %d bytes of the key', (byteLength) => {
  const from = new Uint8Array(61).fill(0xee);
  for (const start of [0, 61 - byteLength]) {
    const buffer = new KeyBuffer(byteLength, 1);
    const roomier = new KeyBuffer(100, 1);
    for (const target of [buffer, roomier]) target.pushRange(from, start, start + byteLength);
    expect(hex(buffer.bytes)).toBe('ee'.repeat(byteLength));
    expect(hex(roomier.bytes)).toBe('ee'.repeat(byteLength) + '00'.repeat(100 - byteLength));
  }
});

test.each([
  [-1, 2],
  [2, 1],
  [0, 5],
  [0.5, 2],
  [0, NaN],
])('pushRange rejects [%s, %s) of four bytes', (start, end) => {
  const buffer = new KeyBuffer();
  expect(() => buffer.pushRange(new Uint8Array(4), start, end)).toThrow(
    new RangeError(`start and end must be in order and within the 4 bytes, got ${start} and ${end}`),
  );
  expect(buffer).toHaveLength(0);
});

describe('a key that is not a Uint8Array', () => {
  const detached = new Uint8Array(4);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });

  test.each<[string, unknown]>([
    ['a string', 'abc'],
    ['wider numbers', Uint16Array.of(0x1234)],
    ['a DataView', new DataView(new ArrayBuffer(2))],
    ['null', null],
    ['a detached array', detached],
  ])('is rejected by push, pushRange and from: %s', (_, value) => {
    const buffer = KeyBuffer.from([utf8('a')]);
    const key = value as Uint8Array;
    expect(() => {
      buffer.push(key);
    }).toThrow(/^key must be a Uint8Array( with its bytes)?, got/);
    expect(() => {
      buffer.pushRange(key, 0, 0);
    }).toThrow(/^from must be a Uint8Array( with its bytes)?, got/);
    expect(() => {
      buffer.pushAll({ bytes: key, offsets: Uint32Array.of(0), length: 0 });
    }).toThrow(/^keys\.bytes must be a Uint8Array( with its bytes)?, got/);
    for (const keys of [[utf8('a'), key], new Set([key])]) {
      expect(() => KeyBuffer.from(keys)).toThrow(/^key must be a Uint8Array( with its bytes)?, got/);
    }
    expect(difference(buffer, [utf8('a')])).toBeUndefined();
  });
});

describe('the room of a new list', () => {
  test.each<[string, unknown]>([
    ['byteLength', -1],
    ['byteLength', 1.5],
    ['byteLength', 2 ** 32],
    ['byteLength', '8'],
    ['count', -1],
    ['count', NaN],
    ['count', null],
  ])('%s is not %s', (name, value) => {
    const [byteLength, count] = name === 'count' ? [0, value as number] : [value as number, 0];
    expect(() => new KeyBuffer(byteLength, count)).toThrow(new RegExp(`^${name} must be a whole number, from 0 to 4294967295, got `));
  });

  test('may be none', () => {
    const buffer = new KeyBuffer(0, 0);
    buffer.push(utf8('a'));
    buffer.pushAll(KeyBuffer.from([utf8('bc')]));
    expect(difference(buffer, [utf8('a'), utf8('bc')])).toBeUndefined();
  });
});
