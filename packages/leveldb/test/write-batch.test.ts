import { fromHex, seeded } from '@bloom/fixtures';
import { bytewiseComparator } from '@bloom/sstable';
import { MAX_SEQUENCE } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { keyOrderOf } from '../src/format/database-key.js';
import { hasSequences, mayBeginBatch, WriteBatch, WriteBatchReader } from '../src/format/write-batch.js';
import { Memtable } from '../src/memtable/memtable.js';
import { MemtableCursor } from '../src/memtable/memtable-cursor.js';

// LevelDB, db/write_batch_test.cc.

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The contents of a memtable after the record is applied, and the record's problem, like PrintContents in the C++ test. */
function printed(record: Uint8Array): string {
  const memtable = new Memtable(keyOrderOf(bytewiseComparator).compareInternalKeys);
  const reader = new WriteBatchReader(record);
  for (let sequence = reader.sequence; reader.next(); sequence++) {
    memtable.add(sequence, reader.type, reader.bytes, reader.keyStart, reader.keyEnd, reader.valueStart, reader.valueEnd);
  }
  let out = '';
  const cursor = new MemtableCursor(memtable);
  for (cursor.seekToFirst(); cursor.valid; cursor.next()) {
    const { keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd } = cursor.entry;
    const key = text(keyBytes.subarray(keyStart, keyEnd - 8));
    const trailer = new DataView(keyBytes.buffer, keyBytes.byteOffset + keyEnd - 8).getBigUint64(0, true);
    out += (trailer & 0xffn) === 1n ? `Put(${key}, ${text(valueBytes.subarray(valueStart, valueEnd))})` : `Delete(${key})`;
    out += `@${trailer >> 8n}`;
  }
  return reader.problem === undefined ? out : `${out}${reader.problem}`;
}

const multiple = (): WriteBatch => new WriteBatch().put(utf8('foo'), utf8('bar')).delete(utf8('box')).put(utf8('baz'), utf8('boo'));

test('Empty: an empty batch is only a header', () => {
  const batch = new WriteBatch();
  expect([hex(batch.encode(0n)), batch.count, batch.byteLength]).toEqual(['000000000000000000000000', 0, 12]);
  expect(printed(batch.encode(7n))).toBe('');
});

test('Multiple: three operations have the expected bytes and are in key order in the memtable', () => {
  const record = multiple().encode(100n);
  expect(hex(record)).toBe(hex(fromHex('6400000000000000 03000000 01 03666f6f 03626172 00 03626f78 01 0362617a 03626f6f')));
  expect(printed(record)).toBe('Put(baz, boo)@102Delete(box)@101Put(foo, bar)@100');
});

test('Corruption: the operations before the damage are applied', () => {
  const record = new WriteBatch().put(utf8('foo'), utf8('bar')).delete(utf8('box')).encode(200n);
  expect(printed(record.subarray(0, -1))).toBe('Put(foo, bar)@200bad WriteBatch Delete');
});

test('Append: appended batches add their operations in order', () => {
  const b1 = new WriteBatch();
  const b2 = new WriteBatch();
  b1.append(b2);
  expect(printed(b1.encode(200n))).toBe('');
  b2.put(utf8('a'), utf8('va'));
  b1.append(b2);
  expect(printed(b1.encode(200n))).toBe('Put(a, va)@200');
  b2.clear().put(utf8('b'), utf8('vb'));
  b1.append(b2);
  expect(printed(b1.encode(200n))).toBe('Put(a, va)@200Put(b, vb)@201');
  b2.delete(utf8('foo'));
  b1.append(b2);
  expect(printed(b1.encode(200n))).toBe('Put(a, va)@200Put(b, vb)@202Put(b, vb)@201Delete(foo)@203');
});

test.each([
  ['64000000000000 03000000', 'log record too small'],
  ['6400000000000000 00000000 02', 'unknown WriteBatch tag'],
  ['6400000000000000 01000000 02 000161', 'unknown WriteBatch tag'],
  ['6400000000000000 01000000 01', 'bad WriteBatch Put'],
  ['6400000000000000 01000000 0103', 'bad WriteBatch Put'],
  ['6400000000000000 01000000 01 ffffffff0f', 'bad WriteBatch Put'],
  ['6400000000000000 01000000 01 8080808080', 'bad WriteBatch Put'],
  ['6400000000000000 01000000 01 0161 05', 'bad WriteBatch Put'],
  ['6400000000000000 01000000 00 0561', 'bad WriteBatch Delete'],
  ['6400000000000000 02000000 00 0161', 'WriteBatch has wrong count'],
  ['6400000000000000 ffffffff', 'WriteBatch has wrong count'],
])('%s has the fault "%s"', (record, problem) => {
  const reader = new WriteBatchReader(fromHex(record));
  while (reader.next());
  expect(reader.problem).toBe(problem);
  expect(reader.next()).toBe(false);
});

test('keys and values of any length and all sequences are read as written', () => {
  const batch = new WriteBatch();
  const lengths = [0, 1, 127, 128, 300, 20_000];
  for (const length of lengths) batch.put(new Uint8Array(length).fill(1), new Uint8Array(length * 3).fill(2)).delete(new Uint8Array(length));
  for (const sequence of [0n, 1n, 2n ** 53n, 2n ** 56n - 1n]) {
    const reader = new WriteBatchReader(batch.encode(sequence));
    const found: [number, number, number][] = [];
    while (reader.next()) found.push([reader.type, reader.key.length, reader.value.length]);
    expect(found).toEqual(lengths.flatMap((length) => [[1, length, length * 3], [0, length, 0]]));
    expect([reader.sequence, reader.count, reader.problem]).toEqual([sequence, lengths.length * 2, undefined]);
  }
});

test('an encoded batch takes further operations, and is encoded again from its start', () => {
  const batch = new WriteBatch().put(utf8('a'), utf8('1'));
  const first = batch.encode(1n).slice();
  expect(hex(batch.encode(1n))).toBe(hex(first));
  batch.delete(utf8('b'.repeat(1000)));
  const reader = new WriteBatchReader(batch.encode(2n ** 56n));
  const found: string[] = [];
  while (reader.next()) found.push(`${reader.type} ${reader.key.length} ${text(reader.value)}`);
  expect([found, reader.sequence, reader.count, reader.found, reader.problem]).toEqual([['1 1 1', '0 1000 '], 2n ** 56n, 2, 2, undefined]);
  expect(batch.byteLength).toBe(batch.encode(0n).length);
});

test('a cleared batch is as a new one, and one that is appended to itself has its operations twice', () => {
  const batch = multiple();
  expect(hex(batch.clear().encode(5n))).toBe(hex(new WriteBatch().encode(5n)));
  expect([batch.count, batch.byteLength]).toEqual([0, 12]);
  batch.put(utf8('a'), utf8('1'));
  expect(printed(batch.append(batch).encode(3n))).toBe('Put(a, 1)@4Put(a, 1)@3');
});

test('many small operations are added without a copy of the batch for each', () => {
  const batch = new WriteBatch();
  const buffers = new Set<ArrayBufferLike>();
  for (let i = 0; i < 5000; i++) buffers.add(batch.put(utf8('key'), utf8('value')).encode(1n).buffer);
  expect(buffers.size).toBeLessThan(20);
});

test('a record is read from within a larger array, and where it ends there is no operation', () => {
  const bytes = Buffer.concat([utf8('before'), multiple().encode(100n), utf8('after')]);
  expect(printed(bytes.subarray(6, -5))).toBe('Put(baz, boo)@102Delete(box)@101Put(foo, bar)@100');
});

test('refuses keys and values that are not bytes, by their names', () => {
  expect(() => new WriteBatch().put(5 as unknown as Uint8Array, utf8('b'))).toThrow(/^key must/);
  expect(() => new WriteBatch().put(utf8('a'), 5 as unknown as Uint8Array)).toThrow(/^value must/);
  expect(() => new WriteBatch().delete(5 as unknown as Uint8Array)).toThrow(/^key must/);
});

test('refuses arguments that the methods do not have, by what they take', () => {
  const batch = new WriteBatch() as unknown as Record<'put' | 'delete' | 'append' | 'clear', (...args: unknown[]) => unknown>;
  expect(() => batch.put('a', 'b', {})).toThrow(new TypeError('WriteBatch.put takes a key and a value, got 3 arguments'));
  expect(() => batch.put('a', 'b', undefined, undefined)).toThrow(new TypeError('WriteBatch.put takes a key and a value, got 4 arguments'));
  expect(() => batch.delete('a', 'b')).toThrow(new TypeError('WriteBatch.delete takes a key, got 2 arguments'));
  expect(() => batch.append(new WriteBatch(), {})).toThrow(new TypeError('WriteBatch.append takes a batch, got 2 arguments'));
  expect(() => batch.clear(undefined)).toThrow(new TypeError('WriteBatch.clear takes no arguments, got 1 argument'));
  expect((batch as unknown as WriteBatch).count).toBe(0);
});

test('appends only another batch, and stays as it was after a refusal', () => {
  const batch = multiple();
  const before = hex(batch.encode(1n));
  for (const other of [undefined, null, 5, 'batch', {}, [], new Uint8Array(20), Object.create(WriteBatch.prototype), multiple().encode(1n)]) {
    expect(() => batch.append(other as WriteBatch)).toThrow(new TypeError('other must be a WriteBatch'));
  }
  expect(hex(batch.encode(1n))).toBe(before);
});

test('the operations of a batch are read before it is encoded', () => {
  const batch = multiple();
  expect(hex(batch.operations)).toBe('00'.repeat(12) + '01' + '03666f6f' + '03626172' + '00' + '03626f78' + '01' + '0362617a' + '03626f6f');
  batch.clear().delete(utf8('a'));
  expect(hex(batch.operations).slice(24)).toBe('000161');
});

test.each([
  ['before the reserved one', 0n, 3, true],
  ['of which the last is the one before the reserved one', MAX_SEQUENCE - 3n, 3, true],
  ['that end in the reserved one', MAX_SEQUENCE - 2n, 3, false],
  ['that begin with the reserved one', MAX_SEQUENCE, 1, false],
  ['of no operations', MAX_SEQUENCE, 0, true],
  ['that have more bits', 2n ** 63n, 0, false],
])('whether a batch has sequences %s: from %s on, %s operations', (_, sequence, count, isValid) => {
  const batch = new WriteBatch();
  for (let i = 0; i < count; i++) batch.delete(utf8('key'));
  expect(hasSequences(new WriteBatchReader(batch.encode(sequence)))).toBe(isValid);
});

describe('mayBeginBatch', () => {
  test('accepts every start of a batch, also with zeros in place of its end', () => {
    const random = seeded(5);
    for (let round = 0; round < 30; round++) {
      const batch = new WriteBatch();
      for (let i = random.below(6); i > 0; i--) {
        const key = random.bytes(random.pick([0, 1, 20, 127, 128, 300]));
        if (random.below(3) === 0) batch.delete(key);
        else batch.put(key, random.bytes(random.pick([0, 5, 200, 20_000])));
      }
      const record = batch.encode(BigInt(random.below(1e9)));
      for (let length = 0; length < record.length; length += 1 + random.below(1 + (length >> 5))) {
        const start = record.slice(0, length);
        expect(mayBeginBatch(start, record.length), `${round}: ${length} of ${record.length}`).toBe(true);
        expect(mayBeginBatch(start)).toBe(true);
        expect(mayBeginBatch(start.fill(0, random.below(length + 1)), record.length)).toBe(true);
      }
    }
  });

  const header = (sequence: bigint, count: number): string => hex(new Uint8Array(new BigUint64Array([sequence, BigInt(count)]).buffer, 0, 12));
  test.each([
    ['a sequence that is too high', header(MAX_SEQUENCE + 1n, 0), 100],
    ['a sequence that is too high, and no count', 'ff'.repeat(8), 100],
    ['a sequence that is too high for its count', header(MAX_SEQUENCE - 1n, 2), 100],
    ['a tag that is none', `${header(7n, 1)}02`, 100],
    ['a tag that is none, after an operation', `${header(7n, 2)}000161ff`, 100],
    ['more operations than its header says', `${header(7n, 1)}00016100016162`, 100],
    ['a key that ends after the record', `${header(7n, 1)}005a61`, 100],
    ['a value that ends after the record', `${header(7n, 1)}0101615761`, 100],
    ['a length of more than five bytes', `${header(7n, 1)}00ffffffffff`, undefined],
    ['a record that is shorter than a header', '07', 11],
  ])('refuses %s', (_, bytes, recordLength) => {
    expect(mayBeginBatch(fromHex(bytes), recordLength)).toBe(false);
  });
});
