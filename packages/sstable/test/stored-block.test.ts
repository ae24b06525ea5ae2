import { fromHex } from '@bloom/fixtures';
import { type Codec, CorruptionError, snappyCodec, UnsupportedError } from '@bloom/sstable';
import { expect, test } from 'vitest';
import type { Place } from '@bloom/bytes';
import {
  BLOCK_TRAILER_LENGTH,
  type BlockDecoding,
  decodeStoredBlock,
  hasRightChecksum,
  isPlain,
  storedBlockTrailerLayout,
  storedEnd,
} from '../src/format/stored-block.js';
import { encodeStoredBlock } from './assemble-table.js';
import { caught } from '@bloom/fixtures/caught';
import { hex, utf8 } from './entries.js';

const place: Place = { structure: 'data block', offset: 4096, file: 'a.ldb' };
const plain: BlockDecoding = { codecs: new Map([[1, snappyCodec]]), maxBlockBytes: 2 ** 20 };

/** A codec that compresses anything to `compressedLength` zeros. */
function fakeCodec(compressedLength: number, type = 77): Codec {
  return {
    type,
    name: 'fake',
    compress: () => new Uint8Array(compressedLength),
    decompress: () => utf8('decompressed'),
  };
}

// The block of LevelDB's empty table: eight bytes, type 0, and the checksum.
test('the stored form of an empty block has the bytes that LevelDB writes', () => {
  const stored = encodeStoredBlock(fromHex('0000000001000000'), undefined);
  expect(hex(stored)).toBe('000000000100000000c0f2a1b0');
  expect(hex(decodeStoredBlock(stored, place, plain))).toBe('0000000001000000');
});

// LevelDB, table/table_builder.cc, WriteBlock: `compressed->size() < raw.size() - (raw.size() / 8u)`.
test.each([
  [80, 69, true],
  [80, 70, false],
  [87, 76, true],
  [87, 77, false],
  [88, 76, true],
  [88, 77, false],
  [8, 6, true],
  [8, 7, false],
  [7, 6, true],
  [7, 7, false],
  [1, 0, true],
  [1, 1, false],
  [0, 0, false],
])('of %d bytes, a compressed form of %d bytes is used: %s', (raw, compressed, kept) => {
  const contents = new Uint8Array(raw).fill(0xaa);
  const stored = encodeStoredBlock(contents, fakeCodec(compressed));
  const size = stored.length - BLOCK_TRAILER_LENGTH;
  expect([size, stored[size]]).toEqual(kept ? [compressed, 77] : [raw, 0]);
  if (!kept) expect(stored.subarray(0, size)).toEqual(contents);
});

test('contents are copied, so that later changes to them do not reach the stored block', () => {
  const contents = utf8('contents');
  const stored = encodeStoredBlock(contents, undefined);
  contents.fill(0);
  expect(decodeStoredBlock(stored, place, plain)).toEqual(utf8('contents'));
});

test('a changed byte anywhere in a stored block causes a checksum error', () => {
  const stored = encodeStoredBlock(utf8('some contents, not long'), undefined);
  const undetected: number[] = [];
  for (let i = 0; i < stored.length * 8; i++) {
    const damaged = stored.slice();
    damaged[i >> 3]! ^= 1 << (i & 7);
    const error = caught(() => decodeStoredBlock(damaged, place, plain));
    if (!(error instanceof CorruptionError && error.code === 'BLOOM_BAD_CHECKSUM' && error.offset === 4096)) {
      undetected.push(i);
    }
  }
  expect(undetected).toEqual([]);
});

test('a checksum error states both checksums, with all their digits', () => {
  const stored = fromHex('0000000001000000' + '00' + '0a000000');
  expect(caught(() => decodeStoredBlock(stored, place, plain))).toMatchObject({
    code: 'BLOOM_BAD_CHECKSUM',
    problem: 'checksum mismatch: stored 0000000a, computed b0a1f2c0',
  });
});

test('a codec that only reads leaves blocks uncompressed', () => {
  const { compress: _, ...readsOnly } = fakeCodec(10);
  const stored = encodeStoredBlock(utf8('contents'), readsOnly);
  expect(isPlain(stored)).toBe(true);
  expect(decodeStoredBlock(stored, place, plain)).toEqual(utf8('contents'));
});

test('a block is plain if its compression type is 0, whatever its contents', () => {
  const zeros = new Uint8Array(80);
  expect(isPlain(encodeStoredBlock(zeros, undefined))).toBe(true);
  expect(isPlain(encodeStoredBlock(zeros, fakeCodec(10)))).toBe(false);
  expect(isPlain(encodeStoredBlock(zeros.fill(1), undefined))).toBe(true);
});

test('a compression type without a codec causes an error that names the type', () => {
  const stored = encodeStoredBlock(new Uint8Array(80), fakeCodec(10));
  const error = caught(() => decodeStoredBlock(stored, place, plain));
  expect(error).toBeInstanceOf(UnsupportedError);
  expect(error).toMatchObject({ code: 'BLOOM_UNSUPPORTED_CODEC', structure: 'data block', offset: 4096, file: 'a.ldb' });
  expect((error as UnsupportedError).message).toContain('there is no codec for its compression type 77: pass one in codecs');
});

test.each([2, 4])('a block of compression type %i without a codec tells which package has one', (type) => {
  const error = caught(() => decodeStoredBlock(encodeStoredBlock(new Uint8Array(80), fakeCodec(10, type)), place, plain));
  expect((error as UnsupportedError).message).toContain(`its compression type ${type}: pass codecs: allCodecs, from the package @bloom/codecs`);
});

test('the results of a codec must be bytes, and are refused by name', () => {
  const loose = (codec: object): Codec => codec as unknown as Codec;
  const compressing = loose({ ...fakeCodec(10), compress: () => 'text' });
  expect(caught(() => encodeStoredBlock(new Uint8Array(80), compressing))).toMatchObject({ name: 'TypeError', message: expect.stringContaining('the result of codec.compress must be') as string });
  const decompressing = loose({ ...fakeCodec(10), decompress: () => undefined });
  const stored = encodeStoredBlock(new Uint8Array(80), decompressing);
  const error = caught(() => decodeStoredBlock(stored, place, { ...plain, codecs: new Map([[77, decompressing]]) }));
  expect(error).toMatchObject({ name: 'TypeError', message: expect.stringContaining('the result of codec.decompress must be') as string });
});

test('a codec that returns undefined leaves a block uncompressed', () => {
  expect(isPlain(encodeStoredBlock(new Uint8Array(80), { ...fakeCodec(10), compress: (): never => undefined as never }))).toBe(true);
});

test('the checksum of a stored block is right until a byte changes', () => {
  const stored = encodeStoredBlock(utf8('contents'), undefined);
  expect(hasRightChecksum(stored)).toBe(true);
  for (let i = 0; i < stored.length; i++) {
    stored[i]! ^= 1;
    expect(hasRightChecksum(stored)).toBe(false);
    stored[i]! ^= 1;
  }
});

test('a stored block ends after its trailer', () => {
  expect(storedEnd({ offset: 100, size: 8 })).toBe(100 + 8 + BLOCK_TRAILER_LENGTH);
});

test('a codec that is passed is used for its type', () => {
  const codec = fakeCodec(10);
  const stored = encodeStoredBlock(new Uint8Array(80), codec);
  expect(decodeStoredBlock(stored, place, { ...plain, codecs: new Map([[77, codec]]) })).toEqual(utf8('decompressed'));
});

test('the limit of a block is exact to the byte, with and without compression', () => {
  const contents = new Uint8Array(1000);
  for (const codec of [undefined, snappyCodec]) {
    const stored = encodeStoredBlock(contents, codec);
    expect(decodeStoredBlock(stored, place, { ...plain, maxBlockBytes: 1000 })).toEqual(contents);
    const error = caught(() => decodeStoredBlock(stored, place, { ...plain, maxBlockBytes: 999 }));
    expect(error).toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ code: 'BLOOM_TOO_LARGE', structure: 'data block', offset: 4096 });
    if (codec === undefined) expect((error as CorruptionError).problem).toBe('the contents have 1000 bytes, the limit is 999: see maxBlockBytes');
  }
});

/** A block of type 1 with a correct checksum. */
function storedAsSnappy(compressed: string): Uint8Array {
  const bytes = fromHex(compressed);
  return encodeStoredBlock(new Uint8Array(8 * bytes.length + 64), { ...snappyCodec, compress: () => bytes });
}

// Snappy, format_description.txt: a varint32 of the length, then literals (tag & 3 = 0) and copies.
test.each([
  ['no length', ''],
  ['a length that does not end', 'ffffffffff'],
  ['a length and nothing else', '05'],
  ['a literal that runs past the end', '0510 6162'],
  ['fewer bytes than its length says', '0508 616263'],
  ['more bytes than its length says', '0208 616263'],
  ['a copy from before the start', '0801 10'],
  ['a copy with offset 0', '0500 61 0100'],
  ['a length that its bytes cannot stand for', 'ffffff7f 00 61'],
])('Snappy with %s is reported as damage', (_, compressed) => {
  const error = caught(() => decodeStoredBlock(storedAsSnappy(compressed), place, plain));
  expect(error).toBeInstanceOf(CorruptionError);
  expect(error).toMatchObject({ code: 'BLOOM_BAD_COMPRESSION', structure: 'data block', offset: 4096 });
  expect((error as CorruptionError).message).toContain('snappy');
});

test.each([
  [new Error('no luck'), 'BLOOM_BAD_COMPRESSION', 'fake: no luck'],
  [new RangeError('too much'), 'BLOOM_TOO_LARGE', 'fake: too much: see maxBlockBytes'],
  ['no error', 'BLOOM_BAD_COMPRESSION', 'fake: no error'],
])('what a codec throws is the cause of the error, which has its message: %s', (cause, code, problem) => {
  const codec: Codec = {
    ...fakeCodec(10),
    decompress: () => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- a caller's codec may throw anything
      throw cause;
    },
  };
  const stored = encodeStoredBlock(new Uint8Array(80), codec);
  const error = caught(() => decodeStoredBlock(stored, place, { ...plain, codecs: new Map([[77, codec]]) }));
  expect(error).toMatchObject({ code, problem, cause });
});

test('decompressing a block does not change earlier ones', () => {
  const blocks = Array.from({ length: 50 }, (_, i) => new Uint8Array(3000 + i * 100).fill(i));
  const decoded = blocks.map((contents) => decodeStoredBlock(encodeStoredBlock(contents, snappyCodec), place, plain));
  expect(decoded.map(hex)).toEqual(blocks.map(hex));
});

test('the layout of a trailer has the compression type, with its name, and the checksum, with their offsets in the file', () => {
  const block = encodeStoredBlock(utf8('contents'), undefined);
  const layout = (type: number): unknown => {
    block[8] = type;
    return storedBlockTrailerLayout(block, 4096, plain.codecs);
  };
  const checksum = { offset: 4105, byteLength: 4, label: 'masked checksum' };
  const rows = [[0, 'none'], [1, snappyCodec.name], [9, 'unknown']] as const;
  for (const [type, name] of rows) {
    expect(layout(type)).toEqual([{ offset: 4104, byteLength: 1, label: 'compression type', value: `${type}: ${name}` }, checksum]);
  }
});
