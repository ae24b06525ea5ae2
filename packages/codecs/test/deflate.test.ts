import process from 'node:process';
import { runInNewContext } from 'node:vm';
import { constants, deflateSync } from 'node:zlib';
import { sampleContents, seeded } from '@bloom/fixtures';
import { allCodecs, deflateCodec, mojangCodecs, zlibCodec, zstdCodec, zstdOrZlibCodec } from '@bloom/codecs';
import { describe, expect, test, vi } from 'vitest';
import { caught } from '@bloom/fixtures/caught';
import { cases, implementations } from './deflate-cases.js';
import { rawBlock, skippedFrame, zstdFrame } from './zstd-frame.js';
import { sameBytes } from './outcome.js';

// What takes longer, such as many random streams, is in zlib.test.ts.

const MAX_BYTES = 2 ** 20;

describe.each(cases)('$format $where', ({ inflate, deflate, isRaw, write, reference }) => {
  test('writes streams that it and zlib read back', () => {
    const random = seeded(3);
    for (const length of [0, 1, 100, 5000, 100_000]) {
      const contents = sampleContents(random, length);
      const stream = deflate(contents, isRaw);
      expect(sameBytes(inflate(stream, isRaw, MAX_BYTES), contents)).toBe(true);
      expect(sameBytes(reference(stream), contents)).toBe(true);
    }
  });

  test('returns contents in a new buffer', () => {
    for (const length of [10, 5000, 50_000]) expect(inflate(new Uint8Array(write(new Uint8Array(length))), isRaw, MAX_BYTES).buffer.byteLength).toBe(length);
  });

  test('throws a RangeError for contents one byte longer than the limit', () => {
    for (const length of [1, 2, 1000, 50_000]) {
      const stream = new Uint8Array(write(sampleContents(seeded(length), length)));
      expect(() => inflate(stream, isRaw, length - 1)).toThrow(new RangeError(`the contents exceed the limit of ${length - 1} bytes`));
    }
  });

  test('reads contents of exactly the limit', () => {
    for (const length of [0, 1, 100, 1024, 1025, 5000]) {
      const contents = sampleContents(seeded(length), length);
      expect(sameBytes(inflate(new Uint8Array(write(contents)), isRaw, length), contents)).toBe(true);
    }
  });

  test('refuses a stream that is truncated or begins with other bytes, which is not a matter of the limit', () => {
    const stream = new Uint8Array(write(sampleContents(seeded(9), 500)));
    for (const damaged of [stream.subarray(0, -1), new Uint8Array(0), Uint8Array.of(0xff, 0xff, ...stream)]) {
      const error = caught(() => inflate(damaged, isRaw, MAX_BYTES));
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toBeInstanceOf(RangeError);
    }
  });

  test('says that a stream is truncated, also where its contents have exactly the limit', () => {
    for (const length of [0, 1, 500, 1024, 50_000]) {
      const contents = sampleContents(seeded(length), length);
      const unended = new Uint8Array(write(contents, { finishFlush: constants.Z_SYNC_FLUSH }));
      const error = caught(() => inflate(unended, isRaw, length));
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toBeInstanceOf(RangeError);
    }
  });

  test('ignores bytes after the end, as Mojang’s LevelDB does', () => {
    const contents = sampleContents(seeded(5), 500);
    const stream = Uint8Array.from([...write(contents), 0, 1, 2, 3]);
    expect(sameBytes(inflate(stream, isRaw, MAX_BYTES), contents)).toBe(true);
  });

  test('reads a view inside a larger buffer', () => {
    const contents = sampleContents(seeded(6), 500);
    const stream = new Uint8Array(write(contents));
    const around = new Uint8Array(stream.length + 20).fill(0xff);
    around.set(stream, 13);
    expect(sameBytes(inflate(around.subarray(13, 13 + stream.length), isRaw, MAX_BYTES), contents)).toBe(true);
  });
});

describe.each(Object.entries(implementations))('zlib %s', (_, { inflate }) => {
  const contents = sampleContents(seeded(7), 300);
  const stream = new Uint8Array(deflateSync(contents));

  test.each([1, 2, 3, 4])('checks the Adler-32: byte %d from the end', (fromEnd) => {
    const changed = stream.slice();
    changed[changed.length - fromEnd]! ^= 1;
    expect(caught(() => inflate(changed, false, MAX_BYTES))).toBeInstanceOf(Error);
  });

  test.each<readonly [what: string, header: readonly number[]]>([
    ['a method other than deflate', [0x79, 0x9c]],
    ['a window of 64 KiB', [0x88, 0x1c]],
    ['a header whose check is wrong', [0x78, 0x9d]],
    ['a preset dictionary', [0x78, 0xbb]],
    ['the header of gzip', [0x1f, 0x8b]],
  ])('refuses %s', (what, header) => {
    const changed = Uint8Array.from([...header, ...stream.subarray(2)]);
    expect(caught(() => inflate(changed, false, MAX_BYTES))).toBeInstanceOf(Error);
    if (what === 'a preset dictionary') {
      const withDictionary = new Uint8Array(deflateSync(contents, { dictionary: contents.subarray(0, 100) }));
      expect(caught(() => inflate(withDictionary, false, MAX_BYTES))).toBeInstanceOf(Error);
    }
  });
});

test('Mojang’s codecs are zlib as type 2 and raw deflate as type 4', () => {
  expect(mojangCodecs).toEqual([zlibCodec, deflateCodec]);
  expect(mojangCodecs.map(({ type, name }) => [type, name])).toEqual([
    [2, 'zlib'],
    [4, 'deflate'],
  ]);
});

test('elsewhere than in Node, an error says whether the stream is truncated or needs a dictionary', () => {
  const stream = new Uint8Array(deflateSync(sampleContents(seeded(8), 500)));
  for (const end of [-1, 1, 0]) expect(() => implementations.elsewhere.inflate(stream.slice(0, end), false, MAX_BYTES)).toThrow(new Error('the stream is truncated'));
  const withDictionary = new Uint8Array(deflateSync('contents', { dictionary: Buffer.from('content') }));
  expect(() => implementations.elsewhere.inflate(withDictionary, false, MAX_BYTES)).toThrow(/dictionary/);
});

test('a limit of 0 allows empty contents only', () => {
  for (const { inflate } of Object.values(implementations)) {
    expect(inflate(new Uint8Array(deflateSync('')), false, 0)).toHaveLength(0);
    expect(() => inflate(new Uint8Array(deflateSync('a')), false, 0)).toThrow(RangeError);
  }
});

// Jest runs tests in a realm of their own, but not Node's modules.
test('contents above the limit are recognized by Node’s code, even if its error is of another realm', () => {
  const { RangeError: Other } = runInNewContext('globalThis') as { RangeError: typeof RangeError };
  const inflate = vi.spyOn(process.getBuiltinModule('node:zlib'), 'inflateSync').mockImplementationOnce(() => {
    throw Object.assign(new Other('Cannot create a Buffer larger than 3 bytes'), { code: 'ERR_BUFFER_TOO_LARGE' });
  });
  expect(() => implementations['in Node'].inflate(new Uint8Array(deflateSync('abcd')), false, 3)).toThrow(RangeError);
  expect(inflate).toHaveBeenCalledTimes(1);
  inflate.mockRestore();
});

test('the codec for zstd or zlib reads both, told apart by the first four bytes, and writes zlib', () => {
  const contents = Uint8Array.of(1, 2, 3);
  const frame = zstdFrame([rawBlock([1, 2, 3])]);
  for (const stream of [zlibCodec.compress!(contents), frame, Uint8Array.of(...skippedFrame([9], 15), ...frame)]) {
    expect(zstdOrZlibCodec.decompress(stream, 3)).toEqual(contents);
    expect(() => zstdOrZlibCodec.decompress(stream, 2)).toThrow(RangeError);
  }
  expect(zstdOrZlibCodec.compress!(contents)).toEqual(zlibCodec.compress!(contents));
  // Fewer bytes are no frame, so that zlib refuses them.
  expect((caught(() => zstdOrZlibCodec.decompress(frame.subarray(0, 3), 100)) as Error).message).not.toContain('frame');
  expect([zstdOrZlibCodec, zstdCodec].map(({ type, name }) => [type, name])).toEqual([[2, 'zstd or zlib'], [2, 'zstd']]);
  expect(allCodecs).toEqual([zstdOrZlibCodec, deflateCodec]);
});

test('Mojang’s codecs write what their names say', () => {
  const contents = new Uint8Array(100).fill(7);
  expect(zlibCodec.decompress(new Uint8Array(deflateSync(contents)), 100)).toEqual(contents);
  expect(caught(() => deflateCodec.decompress(zlibCodec.compress!(contents), 100))).toBeInstanceOf(Error);
  expect(deflateCodec.decompress(deflateCodec.compress!(contents), 100)).toEqual(contents);
});
