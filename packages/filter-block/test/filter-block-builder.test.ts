import { vectors } from '@bloom/fixtures';
import { FILTER_BASE, FILTER_BASE_LG, FilterBlockBuilder, FilterBlockReader } from '@bloom/filter-block';
import { BloomFilterPolicy, type FilterPolicy, KeyBuffer } from '@bloom/policy';
import { describe, expect, test } from 'vitest';
import { hex, listPolicy, testHashPolicy, utf8 } from './test-policies.js';

test('the default filter range is 2 KiB', () => {
  expect([FILTER_BASE_LG, FILTER_BASE]).toEqual([11, 2048]);
});

describe('bytes', () => {
  test.each(vectors().filterBlocks)('of "$name" are those measured from LevelDB', ({ policy, calls, bytes }) => {
    const builder = new FilterBlockBuilder(policy === 'bloom-10' ? new BloomFilterPolicy(10) : testHashPolicy);
    for (const call of calls) {
      if ('startBlock' in call) builder.startBlock(call.startBlock);
      else builder.addKey(call.addKey);
    }
    expect(hex(builder.finish())).toBe(hex(bytes));
  });

  test('of keys that are added together are those of the same keys one by one', () => {
    const keys = Array.from({ length: 50 }, (_, i) => utf8(`key ${i}`));
    const [together, apart] = [new FilterBlockBuilder(new BloomFilterPolicy(10)), new FilterBlockBuilder(new BloomFilterPolicy(10))];
    for (const offset of [0, 1000, 9000]) {
      for (const builder of [together, apart]) builder.startBlock(offset);
      together.addKeys(KeyBuffer.from(keys));
      for (const key of keys) apart.addKey(key);
    }
    expect(hex(together.finish())).toBe(hex(apart.finish()));
    expect(() => together.addKeys(KeyBuffer.from(keys))).toThrow(TypeError);
  });

  test('of a block without filters are the offset of the offsets, 0, and baseLg (LevelDB, table/filter_block_test.cc)', () => {
    expect(hex(new FilterBlockBuilder(testHashPolicy).finish())).toBe('00000000' + '0b');
  });

  test('after a data block at 5000 without keys are those of two empty filters', () => {
    const builder = new FilterBlockBuilder(testHashPolicy);
    builder.startBlock(5000);
    expect(hex(builder.finish())).toBe('00000000' + '00000000' + '00000000' + '0b');
  });

  // LevelDB, table/filter_block_test.cc, MultiChunk.
  test.each([
    {
      name: 'hashes',
      policy: testHashPolicy,
      filters: ['c43577fe378c73d9', '26960fc8', '', '', '26960fc8bf278b0e'],
      offsets: ['00000000', '08000000', '0c000000', '0c000000', '0c000000', '14000000'],
    },
    {
      name: 'Bloom filters at 10 bits',
      policy: new BloomFilterPolicy(10),
      filters: ['214912000010420806', '800000040810204006', '', '', '814000050c10604006'],
      offsets: ['00000000', '09000000', '12000000', '12000000', '12000000', '1b000000'],
    },
  ])('of five ranges, two of them without keys, are right for $name', ({ policy, filters, offsets }) => {
    const builder = new FilterBlockBuilder(policy);
    builder.startBlock(0);
    builder.addKey(utf8('foo'));
    builder.startBlock(2000);
    builder.addKey(utf8('bar'));
    builder.startBlock(3100);
    builder.addKey(utf8('box'));
    builder.startBlock(9000);
    builder.addKey(utf8('box'));
    builder.addKey(utf8('hello'));
    expect(hex(builder.finish())).toBe([...filters, ...offsets, '0b'].join(''));
  });
});

describe('startBlock', () => {
  test('separates a block at the last byte of a range from one at the first byte of the next', () => {
    const builder = new FilterBlockBuilder(listPolicy);
    for (const offset of [0, 2047, 2048, 4095, 4096]) {
      builder.startBlock(offset);
      builder.addKey(utf8(String(offset)));
    }
    const reader = new FilterBlockReader(listPolicy, builder.finish());
    expect(reader.filterCount).toBe(3);
    const rangesWith = (key: string): number[] =>
      [0, 2048, 4096].filter((offset) => reader.keyMayMatch(offset, utf8(key)));
    expect(['0', '2047', '2048', '4095', '4096'].map(rangesWith)).toEqual([[0], [0], [2048], [2048], [4096]]);
  });

  test('rejects a range whose filter is made, but accepts a smaller offset in the same range', () => {
    const builder = new FilterBlockBuilder(listPolicy);
    builder.startBlock(5000);
    builder.addKey(utf8('a'));
    builder.startBlock(4096);
    expect(() => {
      builder.startBlock(4095);
    }).toThrow(RangeError);
    expect(() => {
      builder.startBlock(0);
    }).toThrow(/blockOffset must not decrease/);
    builder.addKey(utf8('b'));
    const reader = new FilterBlockReader(listPolicy, builder.finish());
    expect(['a', 'b'].map((key) => reader.keyMayMatch(5000, utf8(key)))).toEqual([true, true]);
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('rejects the offset %d', (blockOffset) => {
    const builder = new FilterBlockBuilder(listPolicy);
    expect(() => {
      builder.startBlock(blockOffset);
    }).toThrow(new RangeError(`blockOffset must be a whole number of bytes, got ${blockOffset}`));
    expect(hex(builder.finish())).toBe('000000000b');
  });

  test('refuses an offset of 2 TiB or more without making filters for the ranges before it', () => {
    const builder = new FilterBlockBuilder(listPolicy);
    for (const blockOffset of [2 ** 41, 2 ** 53 - 1]) {
      expect(() => {
        builder.startBlock(blockOffset);
      }).toThrow(new RangeError(`blockOffset must be below ${2 ** 41}, got ${blockOffset}`));
    }
    expect(hex(builder.finish())).toBe('000000000b');
  });

  test('accepts an offset past 2^32, and makes an empty filter for every range before it', () => {
    const offset = 2 ** 32 + 5000;
    const builder = new FilterBlockBuilder(listPolicy);
    builder.startBlock(0);
    builder.addKey(utf8('first'));
    builder.startBlock(offset);
    builder.addKey(utf8('far'));
    const contents = builder.finish();
    const filters = 2 ** 21 + 3;
    expect(contents).toHaveLength('first'.length + 1 + 'far'.length + 1 + filters * 4 + 5);
    const reader = new FilterBlockReader(listPolicy, contents);
    expect(reader.filterCount).toBe(filters);
    const answers = [0, 5000, 2 ** 31 + 5000, 2 ** 32, offset, offset + 2048].map((at) =>
      ['first', 'far'].map((key) => reader.keyMayMatch(at, utf8(key))),
    );
    expect(answers).toEqual([
      [true, false],
      [false, false],
      [false, false],
      [false, false],
      [false, true],
      [true, true],
    ]);
  });
});

describe('addKey', () => {
  test('copies the key', () => {
    const builder = new FilterBlockBuilder(listPolicy);
    const key = utf8('hello');
    builder.startBlock(0);
    builder.addKey(key);
    key.fill(0);
    expect(hex(builder.finish()).startsWith(`05${hex(utf8('hello'))}`)).toBe(true);
  });

  test('adds a range of an array like the key itself', () => {
    const builders = [new FilterBlockBuilder(new BloomFilterPolicy(10)), new FilterBlockBuilder(new BloomFilterPolicy(10))] as const;
    for (const builder of builders) builder.startBlock(0);
    for (const key of ['', 'a', 'hello', 'x'.repeat(100)]) {
      builders[0].addKey(utf8(key));
      builders[1].addKeyRange(utf8(`<${key}>`), 1, 1 + key.length);
    }
    expect(() => builders[1].addKeyRange(utf8('abc'), 2, 4)).toThrow(RangeError);
    expect(() => builders[1].addKeyRange('abc' as never, 0, 1)).toThrow(TypeError);
    expect(builders[1].finish()).toEqual(builders[0].finish());
    expect(() => builders[1].addKeyRange(utf8('abc'), 0, 1)).toThrow(TypeError);
  });

  test('adds keys to the first range if no block was started', () => {
    const builder = new FilterBlockBuilder(listPolicy);
    builder.addKey(utf8('early'));
    builder.startBlock(2048);
    builder.addKey(utf8('late'));
    const reader = new FilterBlockReader(listPolicy, builder.finish());
    expect([0, 2048].map((at) => reader.keyMayMatch(at, utf8('early')))).toEqual([true, false]);
  });

  test('keeps the empty key and duplicate keys', () => {
    const builder = new FilterBlockBuilder(listPolicy);
    builder.startBlock(0);
    for (const key of ['', 'a', 'a']) builder.addKey(utf8(key));
    expect(hex(builder.finish())).toBe('00' + '0161' + '0161' + '00000000' + '05000000' + '0b');
  });
});

describe('the policy', () => {
  /** Lists its keys in the filter, and records its calls. */
  function recorder(): { policy: FilterPolicy; asked: string[][] } {
    const asked: string[][] = [];
    const policy: FilterPolicy = {
      ...listPolicy,
      createFilter(keys, dst) {
        asked.push(Array.from(keys, (key) => Buffer.from(key).toString()));
        listPolicy.createFilter(keys, dst);
      },
    };
    return { policy, asked };
  }

  test('makes one filter for each range with keys, in order, and none for a range without', () => {
    const { policy, asked } = recorder();
    const builder = new FilterBlockBuilder(policy);
    for (const [offset, keys] of [
      [0, ['b', 'a']],
      [1000, ['c']],
      [9000, ['a', 'a']],
      [20_000, []],
    ] as const) {
      builder.startBlock(offset);
      for (const key of keys) builder.addKey(utf8(key));
    }
    builder.finish();
    expect(asked).toEqual([
      ['b', 'a', 'c'],
      ['a', 'a'],
    ]);
  });

  test('cannot change an earlier filter while it makes the next one', () => {
    const parts: Uint8Array[] = [];
    const policy: FilterPolicy = {
      ...listPolicy,
      createFilter(_, dst) {
        for (const part of parts) part.fill(0xff);
        parts.push(dst.extend(2));
      },
    };
    const builder = new FilterBlockBuilder(policy);
    for (const offset of [0, 2048, 4096]) {
      builder.startBlock(offset);
      builder.addKey(utf8('a'));
    }
    expect(hex(builder.finish()).slice(0, 12)).toBe('00'.repeat(6));
  });

  test('may append nothing, which means that the range matches no key', () => {
    const policy: FilterPolicy = { ...listPolicy, createFilter: () => {} };
    const builder = new FilterBlockBuilder(policy);
    builder.startBlock(0);
    builder.addKey(utf8('a'));
    expect(hex(builder.finish())).toBe('00000000' + '00000000' + '0b');
  });
});

describe('after the policy threw', () => {
  /** Appends half a filter and throws, the first time it is called. */
  function failingOnce(): { policy: FilterPolicy; error: Error } {
    const error = new Error('no memory today');
    let calls = 0;
    const policy: FilterPolicy = {
      ...listPolicy,
      createFilter(keys, dst) {
        if (calls++ > 0) {
          listPolicy.createFilter(keys, dst);
          return;
        }
        dst.extend(3);
        throw error;
      },
    };
    return { policy, error };
  }

  test.each<[string, (builder: FilterBlockBuilder) => unknown]>([
    ['startBlock', (builder) => builder.startBlock(5000)],
    ['finish', (builder) => builder.finish()],
  ])('in %s, every call throws a TypeError with the cause, so that a retry cannot lose a key', (_, fail) => {
    const { policy, error } = failingOnce();
    const builder = new FilterBlockBuilder(policy);
    builder.startBlock(0);
    builder.addKey(utf8('a'));
    expect(() => fail(builder)).toThrow(error);
    for (const call of [
      () => fail(builder),
      () => builder.startBlock(0),
      () => builder.startBlock(9000),
      () => builder.addKey(utf8('b')),
      () => builder.finish(),
    ]) {
      expect(call).toThrow(TypeError);
      expect(call).toThrow(expect.objectContaining({ message: 'the filter block is incomplete: making a filter failed', cause: error }));
    }
  });

  test('a thrown value that is not an Error is passed on, and is the cause of later errors', () => {
    const thrown: unknown = Object.create(null);
    const policy: FilterPolicy = {
      ...listPolicy,
      createFilter() {
        throw thrown;
      },
    };
    const builder = new FilterBlockBuilder(policy);
    builder.addKey(utf8('a'));
    const caught: unknown[] = [];
    for (let attempt = 0; attempt < 2; attempt++) {
      try {
        builder.finish();
      } catch (error) {
        caught.push(error);
      }
    }
    expect(caught[0]).toBe(thrown);
    expect(caught[1]).toMatchObject({ cause: thrown });
  });
});

describe('a caller\'s mistake', () => {
  test.each<[string, unknown, string]>([
    ['a class', BloomFilterPolicy, 'policy must be a FilterPolicy, got a function: if BloomFilterPolicy is a class, give new BloomFilterPolicy()'],
    ['nothing', undefined, 'policy must be a FilterPolicy, got undefined'],
    ['an object without methods', { name: 'x' }, 'policy must be a FilterPolicy, got an object without createFilter, keyMayMatch'],
  ])('%s instead of a policy is rejected by builder and reader', (_, policy, message) => {
    expect(() => new FilterBlockBuilder(policy as FilterPolicy)).toThrow(new TypeError(message));
    expect(() => new FilterBlockReader(policy as FilterPolicy, new Uint8Array(5))).toThrow(new TypeError(message));
  });

  test('keys and contents that are not a Uint8Array are rejected by name, and the builder can continue', () => {
    const builder = new FilterBlockBuilder(listPolicy);
    for (const key of ['a', Uint16Array.of(0x161), null]) {
      expect(() => {
        builder.addKey(key as unknown as Uint8Array);
      }).toThrow(/^key must be a Uint8Array, got (string|a Uint16Array|null)$/);
    }
    builder.addKey(utf8('a'));
    expect(hex(builder.finish())).toBe('0161' + '00000000' + '02000000' + '0b');
    expect(() => new FilterBlockReader(listPolicy, '0000' as unknown as Uint8Array)).toThrow('contents must be a Uint8Array, got string');
    const reader = new FilterBlockReader(listPolicy, new Uint8Array(5));
    for (const key of ['a', undefined]) expect(() => reader.keyMayMatch(0, key as unknown as Uint8Array)).toThrow(`key must be a Uint8Array, got ${typeof key}`);
    expect(() => new FilterBlockBuilder(listPolicy, 2048, '100' as unknown as number)).toThrow(new RangeError('maxBytes must be a number, at least 0, got "100"'));
  });
});

describe('byteLength and filterCount', () => {
  test('match what finish returns once every key is in a filter', () => {
    const builder = new FilterBlockBuilder(new BloomFilterPolicy(10));
    expect([builder.byteLength, builder.filterCount]).toEqual([5, 0]);
    builder.startBlock(0);
    builder.addKey(utf8('a'));
    expect([builder.byteLength, builder.filterCount]).toEqual([5, 0]);
    builder.startBlock(5000);
    expect([builder.byteLength, builder.filterCount]).toEqual([9 + 2 * 4 + 5, 2]);
    expect(builder.finish()).toHaveLength(9 + 2 * 4 + 5);
  });
});

describe('after finish', () => {
  test('every call throws a TypeError', () => {
    const builder = new FilterBlockBuilder(listPolicy);
    builder.startBlock(0);
    builder.addKey(utf8('a'));
    builder.finish();
    for (const call of [
      () => {
        builder.startBlock(0);
      },
      () => {
        builder.addKey(utf8('b'));
      },
      () => builder.finish(),
    ]) {
      expect(call).toThrow(TypeError);
      expect(call).toThrow('the filter block is finished');
    }
  });
});

describe('maxBytes', () => {
  test('is the most bytes of all filters: a filter that passes it is refused, and ends the builder', () => {
    const made = (maxBytes: number): FilterBlockBuilder => {
      const builder = new FilterBlockBuilder(new BloomFilterPolicy(10), 16, maxBytes);
      for (const offset of [0, 16]) {
        builder.startBlock(offset);
        builder.addKey(utf8(`key ${offset}`));
      }
      return builder;
    };
    // Each of the filters has 64 bits and a byte for the number of probes.
    const whole = made(18);
    expect(whole.finish()).toHaveLength(18 + 2 * 4 + 5);
    expect(whole.refusedLength).toBeUndefined();
    const refused = made(17);
    expect(() => refused.finish()).toThrow(new RangeError('filters would have 18 bytes, the limit is 17'));
    expect(refused.refusedLength).toBe(18);
    expect(() => refused.finish()).toThrow(TypeError);
  });
});
