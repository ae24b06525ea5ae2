import { caught } from '@bloom/fixtures/caught';
import { fromHex, seeded, vectors } from '@bloom/fixtures';
import { crc32c, maskCrc, maskedCrc32c, unmaskCrc } from '@bloom/crc32c';
import { describe, expect, test, vi } from 'vitest';
import { makeCrc32c } from '../src/crc32c.js';
import { kernelCrc32c } from '../src/crc32c-kernel.js';
import { CRC32C_KERNEL } from '../src/crc32c-kernel.wasm.js';
import { makeCrcTables } from '../src/crc-tables.js';
import { type Crc32c, plainCrc32c } from '../src/plain-crc32c.js';

/** What `make` returns in a host whose WebAssembly is `host`. */
function inHost<T>(host: unknown, make: () => T): T {
  vi.stubGlobal('WebAssembly', host);
  try {
    return make();
  } finally {
    vi.unstubAllGlobals();
  }
}

/** The checksum after as many bytes as it takes without trying to make a kernel. */
function warmCrc32c(): Crc32c {
  const crc = makeCrc32c();
  crc(new Uint8Array(8193), 0, 8193);
  return crc;
}

const refuse = function (): never {
  throw new EvalError('no unsafe-eval');
};

const implementations: Record<string, Crc32c> = {
  'in WebAssembly': kernelCrc32c(makeCrcTables())!,
  'in plain TypeScript': plainCrc32c(makeCrcTables()),
  'as exported': crc32c,
  'as exported, in a new process': makeCrc32c(),
  'in a host without WebAssembly': inHost(undefined, warmCrc32c),
  'in a host that forbids WebAssembly': inHost({ Module: refuse, Instance: refuse }, warmCrc32c),
};

/** The definition, bit by bit. */
function model(bytes: Uint8Array): number {
  let register = -1;
  for (const byte of bytes) {
    register ^= byte;
    for (let bit = 0; bit < 8; bit++) register = (register >>> 1) ^ (-(register & 1) & 0x82f63b78);
  }
  return ~register >>> 0;
}

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);

describe.each(Object.entries(implementations))('the checksum %s', (_, implementation) => {
  const crc = (bytes: Uint8Array, seed: number): number => implementation(bytes, seed, bytes.length);

  // Measured from LevelDB.
  test.each(vectors().crcs)('of $data is LevelDB’s', ({ data, crc32c: expected, masked }) => {
    expect(crc(data, 0)).toBe(expected);
    if (masked === undefined) return;
    expect(maskCrc(crc(data, 0))).toBe(masked);
    expect(unmaskCrc(masked)).toBe(expected);
  });

  // RFC 3720, section B.4; also in LevelDB, util/crc32c_test.cc.
  test('gives the results in the iSCSI standard', () => {
    const ascending = Uint8Array.from({ length: 32 }, (__, i) => i);
    const read = fromHex(
      '01c00000 00000000 00000000 00000000 14000000 00000400 00000014 00000018 28000000 00000000 02000000 00000000',
    );
    const results = [new Uint8Array(32), new Uint8Array(32).fill(0xff), ascending, ascending.slice().reverse(), read];
    expect(results.map((bytes) => crc(bytes, 0).toString(16))).toEqual([
      '8a9136aa',
      '62a8ab43',
      '46dd794e',
      '113fdb5c',
      'd9963a56',
    ]);
  });

  // LevelDB, util/crc32c_test.cc: Values and Extend.
  test('distinguishes "a" from "foo", and continues "hello " with "world"', () => {
    expect(crc(ascii('a'), 0)).not.toBe(crc(ascii('foo'), 0));
    expect(crc(ascii('world'), crc(ascii('hello '), 0))).toBe(crc(ascii('hello world'), 0));
  });

  test('of a view covers only its own bytes', () => {
    expect(crc(ascii('..123456789..').subarray(2, 11), 0)).toBe(0xe3069283);
    const long = seeded(1).bytes(5000);
    expect(crc(long.subarray(7, 4500), 0)).toBe(model(long.slice(7, 4500)));
  });

  test('of a Buffer, and of memory that threads share, is that of its bytes', () => {
    const bytes = seeded(2).bytes(3000);
    const shared = new Uint8Array(new SharedArrayBuffer(3000));
    shared.set(bytes);
    expect([crc(Buffer.from(bytes), 0), crc(shared, 0)]).toEqual([model(bytes), model(bytes)]);
  });

  test('changes no byte of the data', () => {
    const bytes = seeded(3).bytes(100_000);
    const copy = bytes.slice();
    crc(bytes, 7);
    expect(Buffer.compare(bytes, copy)).toBe(0);
  });

  test('of every length up to 1,500 bytes is that of the definition', () => {
    const bytes = seeded(4).bytes(1503);
    const wrong: number[] = [];
    // Long data is followed by short, so that nothing of one call may be left for the next.
    for (let i = 0; i <= 1500; i++) {
      const length = i % 2 === 0 ? i : 1501 - i;
      const view = bytes.subarray(length % 4, (length % 4) + length);
      if (crc(view, 0) !== model(view)) wrong.push(length);
    }
    expect(wrong).toEqual([]);
  });

  test('of random lengths, continued at random places, is that of the definition', () => {
    const random = seeded(5);
    const wrong: number[][] = [];
    for (let i = 0; i < 400; i++) {
      const bytes = random.bytes(random.below(random.pick([64, 700, 5000, 20_000])));
      const expected = model(bytes);
      const places = Array.from({ length: random.below(4) }, () => random.below(bytes.length + 1)).sort((a, b) => a - b);
      let start = 0;
      let sum = 0;
      for (const end of [...places, bytes.length]) {
        sum = crc(bytes.subarray(start, end), sum);
        start = end;
      }
      if (sum !== expected) wrong.push([bytes.length, ...places]);
    }
    expect(wrong).toEqual([]);
  });

  test.each([32_767, 32_768, 32_769, 32_768 + 447, 65_535, 65_536, 65_537, 200_003])('of %s bytes is that of the definition', (length) => {
    const bytes = seeded(length).bytes(length);
    expect(crc(bytes, 0)).toBe(model(bytes));
    // A whole number of zeros has another remainder than none: no length is taken for another.
    expect(crc(new Uint8Array(length), 0)).toBe(model(new Uint8Array(length)));
  });

  test.each([0, 1, 255, 256, 257, 4096, 32_768, 32_769, 100_000])('of the first %d bytes does not depend on the bytes after them', (length) => {
    const prefix = seeded(length).bytes(length);
    const expected = model(prefix);
    for (const behind of [0, 4, 5, 300, 70_000]) {
      const bytes = new Uint8Array(length + behind).fill(0xa5);
      bytes.set(prefix);
      expect(implementation(bytes, 0, length)).toBe(expected);
    }
  });

  test('of nothing is the seed', () => {
    expect([0, 1, 0x7fffffff, 0x80000000, 0xffffffff].map((seed) => crc(new Uint8Array(0), seed))).toEqual([
      0, 1, 0x7fffffff, 0x80000000, 0xffffffff,
    ]);
  });
});

test('a masked checksum is not the checksum, and is unmasked again', () => {
  // LevelDB, util/crc32c_test.cc: Mask.
  const crc = crc32c(ascii('foo'));
  expect(maskedCrc32c(ascii('foo'))).toBe(maskCrc(crc));
  expect(maskCrc(crc)).not.toBe(crc);
  expect(maskCrc(maskCrc(crc))).not.toBe(crc);
  expect(unmaskCrc(maskCrc(crc))).toBe(crc);
  expect(unmaskCrc(unmaskCrc(maskCrc(maskCrc(crc))))).toBe(crc);
});

test('nothing is compiled at import nor for the first 8 KiB, and one module by many calls', async () => {
  const { WebAssembly: host } = globalThis as unknown as { WebAssembly: { Module: new (binary: Uint8Array) => object; Instance: unknown } };
  const sizes: number[] = [];
  class Module extends host.Module {
    constructor(binary: Uint8Array) {
      super(binary);
      sizes.push(binary.length);
    }
  }
  vi.resetModules();
  vi.stubGlobal('WebAssembly', { Module, Instance: host.Instance });
  try {
    const { crc32c: fresh } = await import('../src/index.js');
    expect(sizes).toEqual([]);
    for (let i = 0; i < 200; i++) fresh(new Uint8Array(255), 0);
    for (let i = 0; i < 32; i++) expect(fresh(new Uint8Array(256), 0)).toBe(model(new Uint8Array(256)));
    expect(sizes).toEqual([]);
    for (let i = 0; i < 10; i++) expect(fresh(ascii('123456789'.repeat(i * 50)), 0)).toBe(model(ascii('123456789'.repeat(i * 50))));
    expect(sizes).toEqual([CRC32C_KERNEL.length / 2]);
  } finally {
    vi.unstubAllGlobals();
  }
});

test('the kernel sums up 256 bytes or more, at most 32 KiB at a time; fewer are summed up without it', () => {
  const { WebAssembly: host } = globalThis as unknown as { WebAssembly: { Module: unknown; Instance: new (...args: object[]) => { exports: object } } };
  const lengths: number[] = [];
  class Instance {
    readonly exports: object;

    constructor(...args: object[]) {
      const exports = new host.Instance(...args).exports as { update(register: number, length: number): number };
      const update = (register: number, length: number): number => {
        lengths.push(length);
        return exports.update(register, length);
      };
      this.exports = { ...exports, update };
    }
  }
  const crc = inHost({ Module: host.Module, Instance }, warmCrc32c);
  expect(lengths).toEqual([8193]);
  lengths.length = 0;
  for (const length of [0, 255, 256, 32_768, 65_537]) crc(new Uint8Array(length), 0, length);
  expect(lengths).toEqual([256, 32_768, 32_768, 32_768, 1]);
});

test('the module is small enough to be compiled at once in any browser’s main thread', () => {
  // Older versions of Chromium compile larger ones only asynchronously there.
  expect(CRC32C_KERNEL.length / 2).toBeLessThan(4096);
});

test.each<[string, unknown[], string]>([
  ['text', ['hello'], 'TypeError: bytes must be a Uint8Array, got string'],
  ['wider numbers', [Uint16Array.of(1)], 'TypeError: bytes must be a Uint8Array, got a Uint16Array'],
  ['nothing', [], 'TypeError: bytes must be a Uint8Array, got undefined'],
  ['more bytes than there are', [new Uint8Array(12), 13], 'RangeError: length must be a whole number from 0 to 12, got 13'],
  ['fewer than no bytes', [new Uint8Array(12), -1], 'RangeError: length must be a whole number from 0 to 12, got -1'],
  ['a part of a byte', [new Uint8Array(12), 2.5], 'RangeError: length must be a whole number from 0 to 12, got 2.5'],
])('the checksum of %s is refused', (_, [bytes, length], message) => {
  const given = bytes as Uint8Array;
  expect(String(caught(() => crc32c(given, 0, length as number)))).toBe(message);
  expect(String(caught(() => maskedCrc32c(given, length as number)))).toBe(message);
});
