import { createHash } from 'node:crypto';
import process from 'node:process';
import { collectGarbage } from '@bloom/fixtures/collect-garbage';
import { fromHex, seeded } from '@bloom/fixtures';
import { maskedCrc32c } from '@bloom/crc32c';
import { type LogDrop, LogReader, type LogRecord, type LogTail, LogWriter, logLayout, putFragment, readLog } from '@bloom/log';
import { describe, expect, test } from 'vitest';

// Names in CamelCase are those of cases in LevelDB, db/log_test.cc. Sizes and hashes were measured with LevelDB 1.23.

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Repeats `text` up to `length` characters, like BigString in log_test.cc. */
function big(text: string, length: number): string {
  return text.repeat(Math.ceil(length / text.length)).slice(0, length);
}

function written(records: readonly (string | Uint8Array)[], before: Uint8Array = new Uint8Array(0)): Uint8Array {
  const parts = [before];
  const writer = new LogWriter({ append: (bytes) => parts.push(bytes) }, before.length);
  for (const record of records) writer.addRecord(typeof record === 'string' ? ascii(record) : record);
  const bytes = new Uint8Array(Buffer.concat(parts));
  expect(writer.byteLength).toBe(bytes.length);
  return bytes;
}

function texts(bytes: Uint8Array): string[] {
  return readLog(bytes).records.map((record) => new TextDecoder().decode(record.bytes));
}

function dropsOf(bytes: Uint8Array): [number, string][] {
  return readLog(bytes).drops.map(({ byteLength, reason }) => [byteLength, reason]);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** Changes the type of the fragment whose header is at `offset`, and corrects its checksum. */
function setType(bytes: Uint8Array, offset: number, type: number): Uint8Array {
  bytes[offset + 6] = type;
  const length = bytes[offset + 4]! | (bytes[offset + 5]! << 8);
  new DataView(bytes.buffer).setUint32(offset, maskedCrc32c(bytes.subarray(offset + 6, offset + 7 + length)), true);
  return bytes;
}

/** A log of these fragments, in which each byte of a payload is an `a`. */
function fragmentsOf(...fragments: (readonly [type: number, length: number])[]): Uint8Array {
  const bytes = new Uint8Array(fragments.reduce((sum, [, length]) => sum + 7 + length, 0));
  let position = 0;
  for (const [type, length] of fragments) position = putFragment(bytes, position, type, new Uint8Array(length).fill(0x61), 0, length);
  return bytes;
}

const [FULL, FIRST, MIDDLE, LAST] = [1, 2, 3, 4] as const;
const B = 32_768;

describe('writing', () => {
  test('ReadWrite: four small records have the expected bytes and are read back', () => {
    const bytes = written(['foo', 'bar', '', 'xxxx']);
    expect(hex(bytes)).toBe(
      hex(fromHex('dd5fb37a030001666f6f baeaec44030001626172 052b2843000001 153d26e904000178787878')),
    );
    expect(texts(bytes)).toEqual(['foo', 'bar', '', 'xxxx']);
  });

  test('ManyBlocks: 100,000 records take 1,289,116 bytes and are all read back', () => {
    const records = Array.from({ length: 100_000 }, (_, i) => `${i}.`);
    const bytes = written(records);
    expect(bytes).toHaveLength(1_289_116);
    expect(texts(bytes)).toEqual(records);
  });

  test('Fragmentation: records that span several blocks have the expected bytes and are read back', () => {
    const records = ['small', big('medium', 50_000), big('large', 100_000)];
    const bytes = written(records);
    expect(bytes).toHaveLength(150_054);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe('c2df3caf8657dd7cdf8a3abc3daca72e72279501109b8bca1942de1e6c22d772');
    expect(texts(bytes)).toEqual(records);
  });

  test('MarginalTrailer: an empty record fits into the last seven bytes of a block', () => {
    const records = [big('foo', B - 14), '', 'bar'];
    const bytes = written(records);
    expect(hex(bytes.subarray(B - 7, B))).toBe('052b2843000001');
    expect(bytes).toHaveLength(B + 10);
    expect(texts(bytes)).toEqual(records);
  });

  test('MarginalTrailer2: a record that is not empty starts in the last seven bytes of a block with an empty FIRST', () => {
    const records = [big('foo', B - 14), 'bar'];
    const bytes = written(records);
    expect(hex(bytes.subarray(B - 7))).toBe('6451d0e9000002059e8137030004626172');
    expect(texts(bytes)).toEqual(records);
    expect(dropsOf(bytes)).toEqual([]);
  });

  test('ShortTrailer: fewer than seven bytes at the end of a block are filled with zeros', () => {
    const records = [big('foo', B - 10), '', 'bar'];
    const bytes = written(records);
    expect(hex(bytes.subarray(B - 3, B + 7))).toBe('000000052b2843000001');
    expect(texts(bytes)).toEqual(records);
  });

  test('AlignedEof: a file may end where no header fits into the block', () => {
    const records = [big('foo', B - 10)];
    expect(texts(written(records))).toEqual(records);
    expect(readLog(written(records)).tail).toBeUndefined();
  });

  test('the records in the example of doc/log_format.md are at the offsets given there', () => {
    const bytes = written([big('a', 1000), big('b', 97_270), big('c', 8000)]);
    expect(readLog(bytes).records.map(({ offset }) => offset)).toEqual([0, 1007, 98_304]);
    expect(hex(bytes.subarray(98_298, 98_304))).toBe('000000000000');
  });

  test('OpenForAppend: a writer continues at the end of a file', () => {
    const bytes = written(['world'], written(['hello']));
    expect(hex(bytes)).toBe(hex(written(['hello', 'world'])));
  });

  test('appending at any position of a block gives the same bytes as a single writer', () => {
    for (const length of [B - 15, B - 14, B - 13, B - 10, B - 8, B - 7, B - 6, 2 * B - 20]) {
      const first = written([big('x', length)]);
      const records = ['', 'bar', big('y', 70_000)];
      expect(hex(written(records, first))).toBe(hex(written([big('x', length), ...records])));
      expect(texts(written(records, first))).toEqual([big('x', length), ...records]);
    }
  });

  test('each record reaches the sink in one call', () => {
    const lengths: number[] = [];
    const writer = new LogWriter({ append: (bytes) => lengths.push(bytes.length) });
    for (const record of ['a', big('b', 100_000), '']) writer.addRecord(ascii(record));
    expect(lengths).toEqual([8, 100_028, 7]);
  });

  test('a sink that is lent the bytes gets the same ones, all records of up to a megabyte in one array', () => {
    const random = seeded(8);
    for (let round = 0; round < 20; round++) {
      // Whatever the end of a block has room for, after records whose bytes are not zeros.
      const records = Array.from({ length: 30 }, () => new Uint8Array(random.below(4) === 0 ? 32_700 + random.below(100) : random.below(200)).fill(0xff));
      records.push(new Uint8Array(2 ** 20 + 1), new Uint8Array(5));
      const parts: Uint8Array[] = [];
      const buffers = new Set<ArrayBufferLike>();
      const writer = new LogWriter({
        isLent: true,
        append: (bytes) => {
          parts.push(bytes.slice());
          buffers.add(bytes.buffer);
          bytes.fill(0xee);
        },
      });
      for (const record of records) writer.addRecord(record);
      expect(Buffer.concat(parts).equals(written(records))).toBe(true);
      expect(buffers.size).toBeLessThan(12);
    }
  });

  test('records of one length are lent in one array, longer and longer ones in few, and one of more than a megabyte is not kept', () => {
    const buffers: ArrayBufferLike[] = [];
    const writer = new LogWriter({ isLent: true, append: (bytes) => buffers.push(bytes.buffer) });
    for (let i = 0; i < 10; i++) writer.addRecord(new Uint8Array(93));
    expect(new Set(buffers).size).toBe(1);
    for (let length = 100; length < 2000; length++) writer.addRecord(new Uint8Array(length));
    expect(new Set(buffers).size).toBeLessThan(8);
    writer.addRecord(new Uint8Array(2 ** 20));
    writer.addRecord(new Uint8Array(1));
    expect(buffers.at(-1)!.byteLength).toBeLessThan(2 ** 13);
  });

  test('a record that the sink refuses leaves the writer unchanged', () => {
    let full = true;
    const parts: Uint8Array[] = [];
    const writer = new LogWriter({
      append: (bytes) => {
        if (full) throw new Error('no space');
        parts.push(bytes);
      },
    });
    expect(() => writer.addRecord(ascii('a'))).toThrow('no space');
    full = false;
    writer.addRecord(ascii('b'));
    expect([hex(Buffer.concat(parts)), writer.byteLength]).toEqual([hex(written(['b'])), 8]);
  });

  test('refuses records and pieces that are not bytes, lengths that are not whole numbers, and unknown options, by their names', () => {
    const reading = { record: () => {} };
    expect(() => new LogWriter({ append: () => {} }).addRecord('text' as unknown as Uint8Array)).toThrow(/^record must/);
    expect(() => new LogWriter({ append: () => {} }, -1)).toThrow(/^byteLength must/);
    expect(() => new LogReader(reading, 0.5)).toThrow(/^start must/);
    expect(() => new LogReader(reading).push('text' as unknown as Uint8Array)).toThrow(/^bytes must/);
    expect(() => new LogReader(reading, 0, { maxRecordLength: 32_767 })).toThrow(/^maxRecordLength must/);
    expect(() => new LogReader(reading, 0, { maxRecord: 2 ** 20 } as object)).toThrow(/^LogReader has no option "maxRecord"/);
  });
});

describe('damage', () => {
  test('BadRecordType: an unknown type is dropped, with its payload', () => {
    const bytes = setType(written(['foo']), 0, 101);
    expect([texts(bytes), dropsOf(bytes)]).toEqual([[], [[3, 'unknown record type 101']]]);
  });

  test('TruncatedTrailingRecord: a truncated header is the end of the log, not damage', () => {
    const bytes = written(['foo']).subarray(0, 6);
    expect(readLog(bytes)).toEqual({ records: [], drops: [], tail: { offset: 0, byteLength: 6, problem: 'cut header' } });
  });

  test('BadLength: a length past the end of a full block drops that block, and the next one is read', () => {
    const bytes = written([big('bar', B - 7), 'foo']);
    bytes[4]!++;
    expect([texts(bytes), dropsOf(bytes)]).toEqual([['foo'], [[B, 'bad record length']]]);
  });

  test('BadLengthAtEndIsIgnored: a truncated payload is the end of the log, not damage', () => {
    const bytes = written(['foo']).subarray(0, 9);
    expect(readLog(bytes)).toEqual({ records: [], drops: [], tail: { offset: 0, byteLength: 9, problem: 'cut payload' } });
  });

  test('a length that no block can hold is damage in the last block too', () => {
    const bytes = written([big('a', 100), 'b', big('c', 100)]);
    // The checksum must not show that only the length was changed.
    bytes[107]! ^= 1;
    bytes[112] = 0x80;
    const drop = { offset: 107, byteLength: bytes.length - 107, reason: 'bad record length' };
    expect(readLog(bytes)).toMatchObject({ records: [{ offset: 0 }], drops: [drop], tail: undefined });
    // The longest record that the block can hold may have been cut, also where reading starts in the middle of the block.
    for (const [length, drops] of [[B - 107 - 7, []], [B - 107 - 6, [drop]]] as const) {
      bytes[111] = length;
      bytes[112] = length >>> 8;
      expect(readLog(bytes).drops).toEqual(drops);
      const found: LogDrop[] = [];
      const reader = new LogReader({ record: () => {}, drop: (one) => found.push(one) }, 107);
      reader.push(bytes.subarray(107));
      reader.finish();
      expect(found).toEqual(drops);
    }
  });

  test('ChecksumMismatch: a wrong checksum drops the rest of the block', () => {
    const bytes = written(['foo']);
    bytes[0]! += 10;
    expect([texts(bytes), dropsOf(bytes)]).toEqual([[], [[10, 'checksum mismatch']]]);
  });

  test.each([
    ['UnexpectedMiddleType', 3, 'missing start of fragmented record(1)'],
    ['UnexpectedLastType', 4, 'missing start of fragmented record(2)'],
  ])('%s: a fragment without a start is dropped', (_, type, reason) => {
    expect(dropsOf(setType(written(['foo']), 0, type))).toEqual([[3, reason]]);
  });

  test('UnexpectedFullType: a FIRST fragment without a LAST one is dropped, and the record after it is read', () => {
    const bytes = setType(written(['foo', 'bar']), 0, 2);
    expect([texts(bytes), dropsOf(bytes)]).toEqual([['bar'], [[3, 'partial record without end(1)']]]);
  });

  test('UnexpectedFirstType: a FIRST fragment after a FIRST fragment drops the earlier one', () => {
    const long = big('bar', 100_000);
    const bytes = setType(written(['foo', long]), 0, 2);
    expect([texts(bytes), dropsOf(bytes)]).toEqual([[long], [[3, 'partial record without end(2)']]]);
  });

  test('an empty FIRST fragment before a whole record is not damage, because old writers left it at the end of a block', () => {
    const bytes = setType(written(['', 'foo']), 0, 2);
    expect([texts(bytes), dropsOf(bytes)]).toEqual([['foo'], []]);
  });

  test.each([
    ['MissingLastIsIgnored', 14],
    ['PartialLastIsIgnored', 1],
  ])('%s: a truncated record is the tail of the log', (_, cut) => {
    const whole = written([big('bar', B)]);
    const bytes = whole.subarray(0, whole.length - cut);
    expect(readLog(bytes)).toEqual({
      records: [],
      drops: [],
      tail: { offset: 0, byteLength: bytes.length, problem: 'cut record' },
    });
  });

  test('ErrorJoinsRecords: the halves of two records are not joined into one', () => {
    const bytes = written([big('foo', B), big('bar', B), 'correct']);
    bytes.fill(0x78, B, 2 * B);
    expect(texts(bytes)).toEqual(['correct']);
    const dropped = dropsOf(bytes).reduce((sum, [byteLength]) => sum + byteLength, 0);
    expect(dropped).toBeGreaterThanOrEqual(2 * B);
    expect(dropped).toBeLessThanOrEqual(2 * B + 100);
  });

  test('a Git LFS pointer in place of a log is not taken for an empty log', () => {
    const pointer = new TextEncoder().encode(`version https://git-lfs.github.com/spec/v1\noid sha256:${'4d'.repeat(32)}\nsize 12345\n`);
    expect(readLog(pointer)).toEqual({ records: [], drops: [{ offset: 0, byteLength: pointer.length, reason: 'a Git LFS pointer, not the file itself: run git lfs pull' }], tail: undefined });
    // The same bytes at another place are just no record.
    expect(readLog(pointer.subarray(1)).drops).toEqual([{ offset: 0, byteLength: pointer.length - 1, reason: 'bad record length' }]);
  });

  test.each<[string, (bytes: Uint8Array) => void, [number, number, string][]]>([
    ['a length past its end', (bytes) => (bytes[2 * B - 29] = 200), [[2 * B - 33, 33, 'bad record length']]],
    ['a wrong checksum', (bytes) => (bytes[2 * B - 33]! ^= 1), [[2 * B - 33, 33, 'checksum mismatch']]],
    ['zeros', (bytes) => bytes.fill(0, 2 * B - 33, 2 * B), [[2 * B - 33, 33, 'zeros in the middle']]],
  ])('%s at the end of the second block costs that end and the record that crosses it, and the next block is read', (_, change, rest) => {
    // The FULL record of the second block becomes a FIRST, so that a record is being put together where the damage is.
    const bytes = written([big('a', B - 7), big('b', B - 40), big('c', 26), 'next']);
    change(setType(bytes, B, FIRST));
    const { records, drops } = readLog(bytes);
    expect(records.map(({ bytes: { length } }) => length)).toEqual([B - 7, 4]);
    expect(drops.map(({ offset, byteLength, reason }) => [offset, byteLength, reason])).toEqual([...rest, [B, B - 40, 'error in middle of record']]);
    // The same where the block comes in two pieces.
    const found: LogDrop[] = [];
    const reader = new LogReader({ record: () => {}, drop: (drop) => found.push(drop) });
    for (const piece of [bytes.subarray(0, B + 10), bytes.subarray(B + 10)]) reader.push(piece);
    reader.finish();
    expect(found).toEqual(drops);
  });

  test('an empty FIRST fragment before another FIRST one is not damage', () => {
    const { records, drops } = readLog(fragmentsOf([FIRST, 0], [FIRST, 3], [LAST, 4]));
    expect([records.map(({ bytes }) => bytes.length), drops]).toEqual([[7], []]);
  });

  test('an unknown type within a record drops that record too, from its start', () => {
    expect(readLog(fragmentsOf([FULL, 2], [FIRST, 3], [77, 4], [LAST, 5])).drops).toEqual([
      { offset: 9, byteLength: 7, reason: 'unknown record type 77' },
      { offset: 30, byteLength: 5, reason: 'missing start of fragmented record(2)' },
    ]);
    expect(readLog(fragmentsOf([FULL, 2], [77, 4])).drops).toEqual([{ offset: 9, byteLength: 4, reason: 'unknown record type 77' }]);
  });

  test('type 0 with a payload is an unknown type, not space that was allocated ahead', () => {
    const { records, drops } = readLog(fragmentsOf([0, 3], [FULL, 1]));
    expect([records.length, drops]).toEqual([1, [{ offset: 0, byteLength: 3, reason: 'unknown record type 0' }]]);
  });

  test('a reading that takes no note of damage gets the records around it', () => {
    const bytes = written([big('bar', B - 7), 'foo']);
    bytes[0]! ^= 1;
    const found: number[] = [];
    const reader = new LogReader({ record: (record) => found.push(record.length) });
    reader.push(bytes);
    reader.finish();
    expect(found).toEqual([3]);
  });

  test.each([
    ['cut header', 5, 30],
    ['cut payload', 15, 30],
    ['cut record', B + 20, 2 * B],
  ])('the tail is the part after the last whole record: a %s', (problem, byteLength, length) => {
    const bytes = written([big('a', 100), big('b', length)]).subarray(0, 107 + byteLength);
    expect(readLog(bytes)).toMatchObject({ records: [{ offset: 0 }], drops: [], tail: { offset: 107, byteLength, problem } });
  });

  test.each([
    ['of a whole record', [big('a', 100), big('b', 40)], 107],
    ['of an empty record', [big('a', 100), ''], 107],
    ['of a record before others', [big('a', 100), big('b', 40), 'c', 'd'], 107],
    ['of the last fragment of a record', [big('a', B + 40)], B],
  ])('a length %s that was changed to one past the end of the file is damage, not a truncated record', (_, records, header) => {
    const bytes = written(records);
    bytes[header + 5]! ^= 0x40;
    const { drops, tail } = readLog(bytes);
    expect([drops[0], tail]).toEqual([{ offset: header, byteLength: bytes.length - header, reason: 'bad record length' }, undefined]);
    expect(logLayout(bytes).at(-1)).toMatchObject({ offset: header, label: 'rest of the block: bad record length' });
  });

  describe('the start of a record that the end of the file truncates', () => {
    /** A record of 100 bytes, and the first 50 bytes of another, with another type. */
    const cutAfter = (before: Uint8Array, type: number, length: number): Uint8Array => {
      const bytes = new Uint8Array(before.length + 50).fill(0x61);
      bytes.set(before);
      bytes.set([1, 2, 3, 4, length, length >>> 8, type], before.length);
      return bytes;
    };
    const one = written([big('a', 100)]);
    const begun = written([big('a', 2 * B)]).subarray(0, B);
    const endOfBlock = B - one.length - 7;

    test.each<[string, Uint8Array, number, number]>([
      ['an unknown type', one, 5, 200],
      ['the type of space allocated ahead, and other bytes than zeros', one, 0, 200],
      ['the type MIDDLE, although no record was begun', one, MIDDLE, endOfBlock],
      ['the type LAST, although no record was begun', one, LAST, 200],
      ['the type FIRST, but does not reach the end of its block', one, FIRST, endOfBlock - 1],
      ['the type MIDDLE, but does not reach the end of its block', begun, MIDDLE, B - 8],
    ])('is damage if it has %s', (_, before, type, length) => {
      const bytes = cutAfter(before, type, length);
      const drop = { offset: before.length, byteLength: 50, reason: 'bad record length' };
      expect(readLog(bytes).drops[0]).toEqual(drop);
      expect(readLog(bytes).tail).toBeUndefined();
      expect(logLayout(bytes).at(-1)).toMatchObject({ offset: before.length, label: 'rest of the block: bad record length' });
    });

    test.each<[string, Uint8Array, number, number]>([
      ['FULL', one, FULL, 200],
      ['FIRST, and reaches the end of its block', one, FIRST, endOfBlock],
      ['MIDDLE, and continues a record', begun, MIDDLE, B - 7],
      ['LAST, and continues a record', begun, LAST, 200],
      ['FULL, after a record that was interrupted', begun, FULL, 200],
    ])('is no damage if it is %s', (_, before, type, length) => {
      const bytes = cutAfter(before, type, length);
      expect(readLog(bytes).drops).toEqual([]);
      expect(readLog(bytes).tail).toBeDefined();
      expect(logLayout(bytes).at(-1)).toMatchObject({ offset: before.length, label: 'cut payload' });
    });

    test('is damage if no record can begin with it', () => {
      const read = (before: Uint8Array, type: number, length: number, can: boolean): unknown[] => {
        const found: unknown[] = [];
        const reader = new LogReader({
          record: ({ length }) => found.push(length),
          drop: ({ offset, byteLength, reason }) => found.push([offset, byteLength, reason]),
          mayBegin: (bytes, recordLength) => {
            found.push(bytes, recordLength);
            return can;
          },
        });
        reader.push(cutAfter(before, type, length));
        const tail = reader.finish();
        return [...found, tail?.problem];
      };
      const bytes = new Uint8Array(43).fill(0x61);
      expect(read(one, FULL, 200, true)).toEqual([100, bytes, 200, 'cut payload']);
      expect(read(one, FULL, 200, false)).toEqual([100, bytes, 200, [107, 50, 'bad record length'], undefined]);
      expect(read(one, FIRST, endOfBlock, false)).toEqual([100, bytes, undefined, [107, 50, 'bad record length'], undefined]);
      expect(read(begun, LAST, 200, false)).toEqual(['cut record']);
    });

    test('is no damage if a power failure left zeros from its type on', () => {
      const bytes = cutAfter(one, 0, 200);
      bytes.fill(0, one.length + 6);
      expect(readLog(bytes)).toMatchObject({ drops: [], tail: { offset: one.length, problem: 'cut payload' } });
    });
  });

  test.each([
    ['FIRST', big('a', B), B, 'next', 'partial record without end(1)'],
    ['MIDDLE', big('a', 2 * B), 2 * B, big('b', 2 * B), 'partial record without end(2)'],
  ])('a log that ended with a %s fragment, and that another process continued, has a record that was interrupted', (_, record, length, next, reason) => {
    const { records, drops, tail } = readLog(written([next], written([record]).subarray(0, length)));
    expect(records.map(({ bytes }) => bytes.length)).toEqual([next.length]);
    expect([drops, tail]).toEqual([[{ offset: 0, byteLength: length - (7 * length) / B, reason, isInterrupted: true }], undefined]);
  });

  test('preallocated zeros are neither records nor damage', () => {
    const bytes = new Uint8Array(40_010);
    bytes.set(written(['foo']));
    expect(readLog(bytes)).toMatchObject({ drops: [], tail: undefined });
    expect(texts(bytes)).toEqual(['foo']);
  });

  describe('zeros after a whole record', () => {
    const zeroed = (from: number, to: number, ...texts: string[]): Uint8Array => written(texts).fill(0, from, to);

    test.each<[string, Uint8Array, number, number, string[]]>([
      ['in a later block', zeroed(B, 2 * B, big('a', B - 7), big('b', B - 7), 'next'), B, B, [big('a', B - 7), 'next']],
      ['after several blocks', zeroed(B, 4 * B, big('a', B - 7), big('b', B - 7), big('c', B - 7), big('d', B - 7), 'next'), B, 3 * B, [big('a', B - 7), 'next']],
      ['in the same block', zeroed(10, 20, 'foo', 'bar', 'next'), 10, 21, ['foo']],
      ['in the same block of two', zeroed(10, 20, 'foo', 'bar', big('c', B - 27), 'next'), 10, B - 10, ['foo', 'next']],
    ])('are damage if records follow %s', (_, bytes, offset, byteLength, found) => {
      const drops = [{ offset, byteLength, reason: 'zeros in the middle' }];
      expect([texts(bytes), readLog(bytes).drops, readLog(bytes).tail]).toEqual([found, drops, undefined]);
      const pieces: LogDrop[] = [];
      const reader = new LogReader({ record: () => {}, drop: (drop) => pieces.push(drop) });
      for (let i = 0; i < bytes.length; i += 1000) reader.push(bytes.subarray(i, i + 1000));
      reader.finish();
      expect(pieces).toEqual(drops);
    });
  });

  describe('zeros from within a record to the end of the file', () => {
    const sector = 512;
    const long = 2 * B + 1000;
    // The second record starts where the first ends; if it starts before 512, its fragments also start at 32,768 and 65,536.
    test.each([
      ['in the checksum of a record in one fragment', sector - 2, 40, sector, undefined],
      ['in its length', sector - 5, 40, sector, sector - 5],
      ['at its type', sector - 6, 40, sector, sector - 6],
      ['in its payload', 107, 600, sector, 107],
      ['at its last byte', 107, sector - 107 - 7 + 1, sector, 107],
      ['in its payload, so that only zeros fill the next blocks', 107, B, sector, 107],
      ['in the payload of the first of three fragments', 107, long, 3 * sector, 107],
      ['at the header of the second fragment', 107, long, B, 107],
      ['in the payload of the second fragment', 107, long, B + sector, 107],
      ['in the payload of the last fragment', 107, long, 2 * B + sector, 107],
    ])('are the tail of the log, and not damage, if they begin at a multiple of 512, %s', (_, second, length, start, offset) => {
      const whole = written([big('a', second - 7), big('b', length)]);
      // Space that was allocated ahead changes nothing.
      for (const more of [0, 3, 500, B, 2 * B - (whole.length % B)]) {
        const bytes = Buffer.concat([whole.fill(0, start), new Uint8Array(more)]);
        const tail = offset === undefined ? undefined : { offset, byteLength: bytes.length - offset, problem: 'zeroed end' };
        expect(readLog(bytes), String(more)).toMatchObject({ records: [{ offset: 0 }], drops: [], tail });
        const reader = new LogReader({ record: () => {} });
        for (let i = 0; i < bytes.length; i += 1000) reader.push(bytes.subarray(i, i + 1000));
        expect([reader.finish(), reader.resumeOffset]).toEqual([tail, second]);
        // Reading continues in the middle of a block and of a sector.
        const drops: LogDrop[] = [];
        const later = new LogReader({ record: () => {}, drop: (drop) => drops.push(drop) }, second);
        later.push(bytes.subarray(second));
        expect([later.finish(), drops]).toEqual([tail, []]);
      }
    });

    test('are damage if they begin elsewhere, because records also end with zeros of their own', () => {
      const whole = written([big('a', 100), `${big('b', 33)}${'\0'.repeat(7)}`]);
      for (const more of [0, 500, 2 * B]) {
        for (let at = 107; at < whole.length; at++) {
          const bytes = Buffer.concat([whole, new Uint8Array(more)]);
          bytes[at]! ^= 0x10;
          // A longer record can end in the zeros that follow.
          const isLonger = (at === 112 && more < 4096) || (at === 111 && more === 0);
          expect(readLog(bytes), String(at)).toMatchObject({ drops: [{ offset: 107, reason: isLonger ? 'bad record length' : 'checksum mismatch' }], tail: undefined });
        }
      }
      expect(readLog(written([big('a', 100), big('b', 600)]).fill(0, 513)).drops).toMatchObject([{ offset: 107, reason: 'checksum mismatch' }]);
    });

    describe('in space that was allocated ahead', () => {
      const random = seeded(11);
      const payload = (length: number): Uint8Array => random.bytes(length).map((byte) => byte | 1);

      test.each([
        ['in the middle of a sector', 100, 40],
        ['across a sector', sector - 20, 40],
        ['up to the end of a block', B - 7 - 7 - 40, 40],
        ['across blocks', B - 100, B + 300],
      ])('are what a killed writer leaves, wherever they begin: %s', (_, length, second) => {
        const whole = written([payload(length), payload(second)]);
        const at = length + 7;
        // After the header, and wherever the copy of the payload stopped, except before its last byte.
        for (let left = 2; left <= 40; left += 2) {
          for (const end of [whole.length, ...(second > B ? [B] : [])]) {
            const bytes = new Uint8Array(4 * B);
            bytes.set(whole.subarray(0, end - left));
            expect(readLog(bytes), String(left)).toMatchObject({ records: [{ offset: 0 }], drops: [], tail: { offset: at, byteLength: bytes.length - at, problem: 'zeroed end' } });
            expect(logLayout(bytes).some(({ label }) => label === 'zeroed end')).toBe(true);
            const drops: LogDrop[] = [];
            const later = new LogReader({ record: () => {}, drop: (drop) => drops.push(drop) }, at);
            later.push(bytes.subarray(at));
            expect([later.finish()?.problem, drops, later.resumeOffset]).toEqual(['zeroed end', [], at]);
          }
        }
      });

      test('are what a killed writer leaves of a last fragment with one byte', () => {
        const whole = written([payload(B - 7 - 40), payload(33 + 1)]);
        const bytes = new Uint8Array(4 * B);
        bytes.set(whole.subarray(0, -1));
        expect(readLog(bytes)).toMatchObject({ records: [{ offset: 0 }], drops: [], tail: { offset: B - 40, problem: 'zeroed end' } });
      });

      test('do not hide one changed byte in a last record that ends with zeros, however many', () => {
        for (const zeros of [1, 8, 60]) {
          const whole = written([payload(100), new Uint8Array([...payload(50), ...new Uint8Array(zeros)])]);
          // All of the header, and some of the payload.
          for (let at = 107; at < whole.length; at += at < 114 ? 1 : 5) {
            for (const change of [1, 0xff]) {
              const bytes = new Uint8Array(2 * B);
              bytes.set(whole);
              bytes[at]! ^= change;
              if ((bytes[111]! | (bytes[112]! << 8)) > B - 107 - 7) continue;
              expect(readLog(bytes), `${at} ${change}`).toMatchObject({ drops: [{ offset: 107, reason: 'checksum mismatch' }], tail: undefined });
            }
          }
        }
      });
    });

    test('are damage if another byte follows, at any distance', () => {
      const drop = { offset: 107, byteLength: B - 107, reason: 'checksum mismatch' };
      for (const blocks of [1, 2, 5]) {
        const bytes = new Uint8Array((blocks + 1) * B);
        bytes.set(written([big('a', 100), big('b', 600)]).fill(0, 512));
        bytes.set(written(['next']), blocks * B);
        const { records, drops: found, tail } = readLog(bytes);
        expect([records.map(({ offset }) => offset), found, tail]).toEqual([[0, blocks * B], [drop], undefined]);
      }
      const bytes = written([big('a', 100), big('b', 600), 'next']).fill(0, 512, 714);
      expect(readLog(bytes)).toMatchObject({ drops: [{ offset: 107, byteLength: bytes.length - 107, reason: 'checksum mismatch' }], tail: undefined });
    });

    test('are damage if they begin only after the record', () => {
      const bytes = Buffer.concat([written(['foo']), new Uint8Array(100)]);
      bytes[0]! ^= 1;
      expect(readLog(bytes)).toMatchObject({ drops: [{ offset: 0, byteLength: 110, reason: 'checksum mismatch' }], tail: undefined });
    });
  });

  test('a last block of exactly 32,768 bytes is not a truncated one, so its damage is reported', () => {
    const bytes = written([big('x', B)]).slice(0, B);
    bytes[4] = 0xff;
    bytes[5] = 0xff;
    expect(dropsOf(bytes)).toEqual([[B, 'bad record length']]);
  });

  test('a damaged MIDDLE fragment drops all fragments of its record, each of them once', () => {
    const bytes = written([big('a', 3 * B), 'after']);
    bytes[B + 100]! ^= 1;
    expect([texts(bytes), dropsOf(bytes)]).toEqual([
      ['after'],
      [
        [B, 'checksum mismatch'],
        [B - 7, 'error in middle of record'],
        [B - 7, 'missing start of fragmented record(1)'],
        [21, 'missing start of fragmented record(2)'],
      ],
    ]);
    expect(readLog(bytes).drops.map(({ offset }) => offset)).toEqual([B, 0, 2 * B, 3 * B]);
  });
});

describe('with resumesInBlock', () => {
  const read = (bytes: Uint8Array): { texts: string[]; drops: LogDrop[]; tail: LogTail | undefined } => {
    const found: string[] = [];
    const drops: LogDrop[] = [];
    const reader = new LogReader({ record: (record) => found.push(new TextDecoder().decode(record)), drop: (drop) => drops.push(drop) }, 0, { resumesInBlock: true });
    reader.push(bytes);
    const tail = reader.finish();
    return { texts: found, drops, tail };
  };
  // Each of the records has 13 bytes with its header, so record i starts at 13 * i.
  const six = ['record', 'second', 'third!', 'fourth', 'fifth!', 'sixth!'];
  const changed = (change: (bytes: Uint8Array) => unknown, records = six): Uint8Array => {
    const bytes = written(records);
    change(bytes);
    return bytes;
  };

  test.each<[string, (bytes: Uint8Array) => unknown, number, number, LogDrop['reason']]>([
    ['a changed byte', (bytes) => (bytes[13 + 9]! ^= 1), 1, 2, 'checksum mismatch'],
    ['a changed checksum', (bytes) => (bytes[13]! ^= 1), 1, 2, 'checksum mismatch'],
    ['a smaller length', (bytes) => (bytes[13 + 4] = 3), 1, 2, 'checksum mismatch'],
    ['a larger length', (bytes) => (bytes[13 + 4] = 20), 1, 2, 'checksum mismatch'],
    ['a length past the end of the block', (bytes) => (bytes[13 + 5] = 0xff), 1, 2, 'bad record length'],
    ['zeros over two records', (bytes) => bytes.fill(0, 13, 39), 1, 3, 'zeros in the middle'],
    ['other bytes over parts of three records', (bytes) => bytes.fill(0x61, 20, 50), 1, 4, 'checksum mismatch'],
  ])('the records after %s are read, and only what is damaged is dropped', (_, change, first, next, reason) => {
    const { texts: found, drops, tail } = read(changed(change));
    expect(found).toEqual([...six.slice(0, first), ...six.slice(next)]);
    expect(drops).toEqual([{ offset: 13 * first, byteLength: 13 * (next - first), reason }]);
    expect(tail).toBeUndefined();
  });

  test('two damaged records of a block cost only themselves', () => {
    const { texts: found, drops } = read(changed((bytes) => [13 + 9, 39 + 9].forEach((i) => (bytes[i]! ^= 1))));
    expect([found, drops.map(({ offset }) => offset)]).toEqual([['record', 'third!', 'fifth!', 'sixth!'], [13, 39]]);
  });

  test('reads on in each of several blocks, and in a last one that is truncated', () => {
    const long = [big('a', 20_000), 'one', big('b', 20_000), 'two', big('c', 30_000), 'three', 'four'];
    const bytes = changed((all) => [5000, B + 3000, 2 * B + 100].forEach((i) => (all[i]! ^= 1)), long).subarray(0, -2);
    const { texts: found, drops, tail } = read(bytes);
    expect(found.map((record) => record.slice(0, 10))).toEqual(['one', 'two', 'three']);
    expect(drops.map(({ reason }) => reason)).toEqual(['checksum mismatch', 'checksum mismatch', 'error in middle of record', 'checksum mismatch', 'error in middle of record']);
    expect(tail).toMatchObject({ problem: 'cut payload', byteLength: 9 });
  });

  test('the fragments of a log inside a damaged record are not read', () => {
    const inner = written(['inner', 'other']);
    const outer = Buffer.concat([Buffer.from('before '), inner, Buffer.from(' after')]).toString('latin1');
    for (const change of [(bytes: Uint8Array) => (bytes[13 + 8]! ^= 1), (bytes: Uint8Array) => (bytes[13 + 4]! ^= 1)]) {
      const parts: Uint8Array[] = [];
      const writer = new LogWriter({ append: (part) => parts.push(part.slice()) });
      for (const record of ['record', outer, 'last']) writer.addRecord(Buffer.from(record, 'latin1'));
      const bytes = new Uint8Array(Buffer.concat(parts));
      change(bytes);
      expect(read(bytes).texts).toEqual(['record', 'last']);
    }
  });

  test('is the same as without it in a log that is not damaged', () => {
    for (let seed = 0; seed < 20; seed++) {
      const random = seeded(seed);
      const records = Array.from({ length: 30 }, () => 'x'.repeat(random.below(4000)));
      const bytes = written(records);
      expect(read(bytes)).toEqual({ texts: records, drops: [], tail: undefined });
      const cut = bytes.subarray(0, random.below(bytes.length));
      expect(read(cut)).toEqual({ texts: texts(cut), drops: readLog(cut).drops, tail: readLog(cut).tail });
    }
  });

  test('takes little time for blocks whose bytes are headers everywhere', () => {
    const bytes = new Uint8Array(8 * B);
    for (let i = 0; i < bytes.length; i++) bytes[i] = [1, 0x3f, 1][i % 3]!;
    const start = performance.now();
    expect(read(bytes).texts).toEqual([]);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

/** The result of reading, in a form that is quick to compare. */
function summary(records: readonly LogRecord[], drops: readonly LogDrop[], tail: LogTail | undefined): unknown {
  const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
  return { records: records.map(({ bytes, offset }) => [offset, bytes.length, digest(bytes)]), drops, tail };
}

/** A log of records of all sizes, sometimes damaged, and sometimes truncated. */
function randomLog(seed: number): Uint8Array {
  const random = seeded(seed);
  const records = Array.from({ length: 1 + random.below(40) }, () =>
    random.bytes(random.pick([0, 1, 20, 500, B - 14, B - 7, 50_000, random.below(3 * B)])),
  );
  const bytes = written(records);
  for (let damage = random.below(4); damage > 0; damage--) bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
  return bytes.subarray(0, bytes.length - (random.below(2) === 0 ? 0 : random.below(Math.min(100, bytes.length))));
}

describe('a record that is larger than maxRecordLength', () => {
  const MAX = 100_000;
  const read = (bytes: Uint8Array, start = 0): { records: number[]; drops: LogDrop[]; tail: LogTail | undefined; resumeOffset: number } => {
    const records: number[] = [];
    const drops: LogDrop[] = [];
    const reader = new LogReader({ record: (record) => records.push(record.length), drop: (drop) => drops.push(drop) }, start, { maxRecordLength: MAX });
    reader.push(bytes.subarray(start));
    return { records, drops, tail: reader.finish(), resumeOffset: reader.resumeOffset };
  };

  test('is dropped as soon as so much of it was seen, and the records around it are read', () => {
    for (const length of [MAX + 1, MAX + 40_000, 500_000]) {
      const { records, drops, tail } = read(written(['first', new Uint8Array(length), 'last', new Uint8Array(MAX)]));
      expect(records).toEqual([5, 4, MAX]);
      expect(drops).toHaveLength(1);
      expect(drops[0]).toMatchObject({ offset: 12, reason: 'record too large' });
      expect(drops[0]!.byteLength).toBeLessThan(MAX + 40_000);
      expect(tail).toBeUndefined();
    }
  });

  test('is dropped once if it is truncated, and one of exactly that length is read', () => {
    const bytes = written([new Uint8Array(500_000)]).subarray(0, 300_000);
    expect(read(bytes)).toMatchObject({ records: [], drops: [{ offset: 0, reason: 'record too large' }] });
    expect(read(written([new Uint8Array(MAX)]))).toMatchObject({ records: [MAX], drops: [] });
  });

  test('costs only itself when its LAST fragment is missing', () => {
    // The end of the large record's last block is that of another log.
    const large = written([new Uint8Array(500_000)]).subarray(0, 10 * B);
    expect(read(written(['next'], large).slice(0)).records).toEqual([4]);
    expect(read(written([new Uint8Array(70_000)], large)).records).toEqual([70_000]);
  });

  test.each([0, 1])('never takes much more memory than the limit, whatever the blocks around fragments of %d bytes', (length) => {
    // Each block is a buffer of its own, full of empty fragments but for one.
    const first = fragmentsOf([FIRST, 0], ...new Array<[number, number]>(4680).fill([MIDDLE, 0]));
    const middle = fragmentsOf([MIDDLE, length], ...new Array<[number, number]>(4680).fill([MIDDLE, 0]));
    const pad = (bytes: Uint8Array): Uint8Array => new Uint8Array(Buffer.concat([bytes.subarray(0, B), new Uint8Array(Math.max(0, B - bytes.length))]));
    const reader = new LogReader({ record: () => undefined }, 0, { maxRecordLength: MAX });
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    reader.push(pad(first));
    for (let i = 0; i < 150; i++) reader.push(pad(middle));
    collectGarbage();
    // The blocks have five million bytes.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2_000_000);
    expect(reader.finish()).toMatchObject({ problem: 'cut record' });
  });

  test('has more bytes than the limit: fragments of exactly the limit are kept, and one more is too many', () => {
    const read = (...fragments: (readonly [number, number])[]): unknown[] => {
      const found: unknown[] = [];
      const reader = new LogReader({ record: ({ length }) => found.push(length), drop: ({ reason }) => found.push(reason) }, 0, { maxRecordLength: B });
      reader.push(fragmentsOf([FIRST, B - 7], ...fragments));
      reader.finish();
      return found;
    };
    expect(read([MIDDLE, 7], [LAST, 0])).toEqual([B]);
    expect(read([MIDDLE, 8], [LAST, 0])).toEqual(['record too large']);
    expect(read([LAST, 7])).toEqual([B]);
    expect(read([LAST, 8])).toEqual(['record too large']);
  });

  test('does not hide that the next record lost its start to damage', () => {
    const bytes = written([new Uint8Array(65_622), new Uint8Array(32_760)]);
    bytes[2 * B + 20]! ^= 1;
    const reasonsFor = (maxRecordLength: number): string[] => {
      const reasons: string[] = [];
      const reader = new LogReader({ record: () => undefined, drop: ({ reason }) => reasons.push(reason) }, 0, { maxRecordLength });
      reader.push(bytes);
      reader.finish();
      return reasons;
    };
    expect(reasonsFor(2 ** 20)).toEqual(['checksum mismatch', 'error in middle of record', 'missing start of fragmented record(2)']);
    expect(reasonsFor(B)).toEqual(['record too large', 'checksum mismatch', 'missing start of fragmented record(2)']);
  });

  test('is found by a limit that is a whole number of at least a block', () => {
    for (const maxRecordLength of [0, 32_767, 1.5, Number.NaN]) expect(() => new LogReader({ record: () => undefined }, 0, { maxRecordLength })).toThrow(RangeError);
  });
});

describe('reading piece by piece', () => {
  test('gives the same records, drops and tail for pieces of any size', () => {
    for (let seed = 0; seed < 60; seed++) {
      const random = seeded(seed);
      const bytes = randomLog(seed);
      const expected = readLog(bytes);
      const records: LogRecord[] = [];
      const drops: LogDrop[] = [];
      const reader = new LogReader({ record: (record, offset) => records.push({ bytes: record, offset }), drop: (drop) => drops.push(drop) });
      for (let position = 0; position < bytes.length; ) {
        const length = random.pick([1, 7, 1000, B - 1, B, B + 1, 100_000]);
        reader.push(bytes.subarray(position, position + length));
        position += length;
      }
      const tail = reader.finish();
      expect(summary(records, drops, tail)).toEqual(summary(expected.records, expected.drops, expected.tail));
    }
  });

  test('a growing log that is read from resumeOffset each time gives the same as when it is read from the start', () => {
    for (let seed = 0; seed < 60; seed++) {
      const random = seeded(seed + 1000);
      const bytes = randomLog(seed);
      const expected = readLog(bytes);
      const records: LogRecord[] = [];
      let drops: LogDrop[] = [];
      let finalDrops = 0;
      let resumeOffset = 0;
      let tail: LogTail | undefined;
      const ends = Array.from({ length: 5 }, () => random.below(bytes.length + 1)).sort((a, b) => a - b);
      for (const end of [...ends, bytes.length]) {
        if (end < resumeOffset) continue;
        drops = drops.slice(0, finalDrops);
        const reader = new LogReader(
          {
            record: (record, offset) => {
              records.push({ bytes: record, offset });
              finalDrops = drops.length;
            },
            drop: (drop) => drops.push(drop),
          },
          resumeOffset,
        );
        reader.push(bytes.subarray(resumeOffset, end));
        tail = reader.finish();
        resumeOffset = reader.resumeOffset;
      }
      expect(summary(records, drops, tail)).toEqual(summary(expected.records, expected.drops, expected.tail));
    }
  });

  test('a finished reader refuses further calls', () => {
    const reader = new LogReader({ record: () => {} });
    reader.finish();
    expect(() => reader.push(new Uint8Array(1))).toThrow(new TypeError('the reader is finished: read on with a new one'));
    expect(() => reader.finish()).toThrow(new TypeError('the reader is finished'));
  });

  test('a record in one fragment of a complete block is a view of the pushed bytes', () => {
    const bytes = written([big('a', B - 20), 'b', big('c', B)]);
    const records: Uint8Array[] = [];
    const reader = new LogReader({ record: (record) => records.push(record) });
    reader.push(bytes);
    expect(records.map(({ buffer, byteOffset }) => [buffer === bytes.buffer, byteOffset])).toEqual([
      [true, 7],
      [true, B - 6],
    ]);
  });
});

describe('layout', () => {
  test('labels every byte of a random log exactly once, in order', () => {
    for (let seed = 0; seed < 60; seed++) {
      const bytes = randomLog(seed);
      let position = 0;
      for (const range of logLayout(bytes)) {
        expect(range.offset).toBe(position);
        expect(range.byteLength).toBeGreaterThan(0);
        position += range.byteLength;
      }
      expect(position).toBe(bytes.length);
    }
  });

  test('labels the fields of a small log', () => {
    expect(logLayout(written(['foo', '']).subarray(0, 20))).toEqual([
      { offset: 0, byteLength: 4, label: 'fragment 0: masked checksum' },
      { offset: 4, byteLength: 2, label: 'fragment 0: length', value: '3' },
      { offset: 6, byteLength: 1, label: 'fragment 0: type', value: 'FULL' },
      { offset: 7, byteLength: 3, label: 'fragment 0: payload' },
      { offset: 10, byteLength: 4, label: 'fragment 1: masked checksum' },
      { offset: 14, byteLength: 2, label: 'fragment 1: length', value: '0' },
      { offset: 16, byteLength: 1, label: 'fragment 1: type', value: 'FULL' },
    ]);
  });
});
