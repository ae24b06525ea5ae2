import { fromHex, type GoldenTable, goldenTables, type KeyValue, seeded } from '@bloom/fixtures';
import { CorruptionError, MemorySource, SyncTable, Table, UnsupportedError } from '@bloom/sstable';
import { profileTable } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { encodeBlockHandle } from '../../src/format/block-handle.js';
import { decodeFooter, encodeFooter, FOOTER_LENGTH } from '../../src/format/footer.js';
import { BLOCK_TRAILER_LENGTH } from '../../src/format/stored-block.js';
import { assembleTable, blockOf } from '../assemble-table.js';
import { buildTable } from '../build-table.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect, hex, numberedEntries, sameBytes, utf8 } from '../entries.js';

function isCoded(error: unknown): boolean {
  return (
    (error instanceof CorruptionError || error instanceof UnsupportedError) &&
    error.code.startsWith('BLOOM_') &&
    Number.isFinite(error.offset)
  );
}

function isNotATable(error: unknown): boolean {
  return error instanceof CorruptionError && error.code === 'BLOOM_NOT_A_TABLE';
}

/** The problem with how a damaged file is read, or undefined if it is read correctly or refused with a coded error. */
function complaints(damaged: Uint8Array, entries: readonly KeyValue[]): string[] {
  let table: SyncTable;
  try {
    table = SyncTable.open(new MemorySource(damaged));
  } catch (error) {
    return isCoded(error) ? [] : [`open: ${String(error)}`];
  }
  const wrong: string[] = [];
  const lookups = entries.length > 50 ? [entries[0]!, entries[entries.length >> 1]!, entries.at(-1)!] : entries;
  for (const [key, value] of lookups) {
    try {
      if (!sameBytes(table.get(key), value)) wrong.push(`get ${hex(key)} gives another value`);
    } catch (error) {
      if (!isCoded(error)) wrong.push(`get ${hex(key)}: ${String(error)}`);
    }
  }
  for (const reverse of [false, true]) {
    const expected = reverse ? [...entries].reverse() : entries;
    let count = 0;
    try {
      for (const [key, value] of table.entries({ reverse })) {
        const entry = expected[count++];
        if (!entry || !sameBytes(key, entry[0]) || !sameBytes(value, entry[1])) {
          wrong.push(`entry ${count - 1} is another`);
          break;
        }
      }
      if (count !== entries.length) wrong.push(`there are ${count} entries`);
    } catch (error) {
      if (!isCoded(error)) wrong.push(`entries: ${String(error)}`);
    }
  }
  return wrong;
}

const goldens = goldenTables();
const small = goldens.filter(({ size }) => size < 200);
const large = goldens.filter(({ size }) => size > 10_000 && size < 100_000);

describe.each(small)('$name, of LevelDB', (golden) => {
  const bytes = golden.bytes();
  const entries = golden.input();

  test('with any bit flipped is refused or read correctly', () => {
    const wrong: string[] = [];
    for (let i = 0; i < bytes.length * 8; i++) {
      const damaged = bytes.slice();
      damaged[i >> 3]! ^= 1 << (i & 7);
      wrong.push(...complaints(damaged, entries).map((complaint) => `bit ${i & 7} of byte ${i >> 3}: ${complaint}`));
    }
    expect(wrong).toEqual([]);
  });

  test('with any byte set to 00, 7f, 80 or ff is refused or read correctly', () => {
    const wrong: string[] = [];
    for (let i = 0; i < bytes.length; i++) {
      for (const byte of [0x00, 0x7f, 0x80, 0xff]) {
        const damaged = bytes.slice();
        damaged[i] = byte;
        wrong.push(...complaints(damaged, entries).map((complaint) => `${byte} at byte ${i}: ${complaint}`));
      }
    }
    expect(wrong).toEqual([]);
  });

  test('is refused as not a table when it is truncated to any length', () => {
    const wrong: string[] = [];
    for (let length = 0; length < bytes.length; length++) {
      const error = caught(() => SyncTable.open(new MemorySource(bytes.subarray(0, length))));
      if (!isNotATable(error)) wrong.push(`${length}: ${String(error)}`);
    }
    expect(wrong).toEqual([]);
  });

  test('without its first bytes is refused or read correctly', () => {
    const wrong: string[] = [];
    for (let start = 1; start < bytes.length; start++) {
      wrong.push(...complaints(bytes.subarray(start), entries).map((complaint) => `from ${start} on: ${complaint}`));
    }
    expect(wrong).toEqual([]);
  });
});

describe.each(large)('$name, of LevelDB', (golden) => {
  const bytes = golden.bytes();
  const entries = golden.input();
  const seed = 0xda;

  test(`with random bytes changed (seed ${seed}) is refused or read correctly`, () => {
    const random = seeded(seed);
    const wrong: string[] = [];
    for (let trial = 0; trial < 30; trial++) {
      const damaged = bytes.slice();
      // Half of the changes are where index, metaindex and footer are.
      const start = random.below(2) === 0 ? 0 : bytes.length - 500;
      const changed = Array.from({ length: 1 + random.below(3) }, () => start + random.below(bytes.length - start));
      for (const i of changed) damaged[i]! ^= 1 + random.below(255);
      wrong.push(...complaints(damaged, entries).map((complaint) => `bytes ${changed.join(', ')}: ${complaint}`));
    }
    expect(wrong).toEqual([]);
  });

  test(`is refused as not a table when it is truncated to random lengths (seed ${seed})`, () => {
    const random = seeded(seed);
    const lengths = Array.from({ length: 200 }, () => random.below(bytes.length));
    const taken = lengths.filter((length) => {
      const error = caught(() => SyncTable.open(new MemorySource(bytes.subarray(0, length))));
      return !isNotATable(error);
    });
    expect(taken).toEqual([]);
  });
});

/** Where the parts of a golden start. */
async function parts(golden: GoldenTable): Promise<Record<'filter' | 'metaindex' | 'index' | 'footer', number>> {
  const bytes = golden.bytes();
  const footer = bytes.length - FOOTER_LENGTH;
  const handles = decodeFooter(bytes.subarray(footer), { structure: 'footer', offset: footer });
  const { filterBytes } = await profileTable(new MemorySource(bytes));
  const filter = handles.metaindex.offset - filterBytes - BLOCK_TRAILER_LENGTH;
  return { filter, metaindex: handles.metaindex.offset, index: handles.index.offset, footer };
}

/** Every offset in [start, end), or about fifty of them. */
function positions(start: number, end: number): number[] {
  const step = Math.max(1, Math.floor((end - start) / 50));
  return Array.from({ length: Math.ceil((end - start) / step) }, (_, i) => start + i * step);
}

describe.each(goldens.filter(({ size, options }) => size < 20_000 && options.bitsPerKey !== null))('in $name', async (golden) => {
  const bytes = golden.bytes();
  const { filter, metaindex, index, footer } = await parts(golden);
  const entries = golden.input();

  test.each([
    ['filter block', filter, metaindex],
    ['metaindex block', metaindex, index],
  ] as const)('a damaged %s costs only the filters, and every key is still found', (structure, start, end) => {
    const wrong: string[] = [];
    for (const i of positions(start, end)) {
      const damaged = bytes.slice();
      damaged[i]! ^= 0x20;
      const table = SyncTable.open(new MemorySource(damaged, 'a.ldb'));
      const { filterStatus } = table;
      if (filterStatus.state !== 'corrupt') wrong.push(`byte ${i}: ${filterStatus.state}`);
      else {
        const { error } = filterStatus;
        const told =
          error instanceof CorruptionError &&
          error.code === 'BLOOM_BAD_CHECKSUM' &&
          error.structure === structure &&
          error.offset === start &&
          error.file === 'a.ldb';
        if (!told) wrong.push(`byte ${i}: ${error.message}`);
      }
      const found = table.getMany(entries.map(([key]) => key));
      if (found.some((value, j) => !sameBytes(value, entries[j]![1]))) wrong.push(`byte ${i}: a key is missing`);
    }
    expect(wrong).toEqual([]);
  });

  test('a damaged index block is an error that gives its offset', () => {
    const wrong: string[] = [];
    for (const i of positions(index, footer)) {
      const damaged = bytes.slice();
      damaged[i]! ^= 0x01;
      const error = caught(() => SyncTable.open(new MemorySource(damaged)));
      const { code, structure, offset } = error as CorruptionError;
      const told = code === 'BLOOM_BAD_CHECKSUM' && structure === 'index block' && offset === index;
      if (!told) wrong.push(`byte ${i}: ${String(error)}`);
    }
    expect(wrong).toEqual([]);
  });

  test.skipIf(entries.length === 0)('a damaged data block is an error that gives its offset, and the other blocks are read', () => {
    const damaged = bytes.slice();
    damaged[0]! ^= 0x01;
    const table = SyncTable.open(new MemorySource(damaged));
    const errors = entries.map(([key]) => caught(() => table.get(key)));
    const failed = errors.filter((error) => error !== undefined);
    expect(failed.length).toBeGreaterThan(0);
    expect(table.blockCount === 1 || failed.length < entries.length).toBe(true);
    const elsewhere = failed.filter((error) => {
      const { code, structure, offset } = error as CorruptionError;
      return code !== 'BLOOM_BAD_CHECKSUM' || structure !== 'data block' || offset !== 0;
    });
    expect(elsewhere).toEqual([]);
  });
});

// The checksums are correct: the blocks were written with these contents.
describe('contents that are not a block', () => {
  const good = blockOf([[utf8('a'), utf8('1')]]);
  const bad: readonly (readonly [string, Uint8Array])[] = [
    ['too short', fromHex('000000')],
    ['with more restarts than fit', fromHex('000101 61 31 00000000 ffffffff')],
    ['with an entry past its end', fromHex('000109 61 31 00000000 01000000')],
    ['with an entry that shares what is not there', fromHex('020101 61 31 00000000 01000000')],
    ['with a second entry that shares what is not there', fromHex('000101 61 31 020101 62 32 00000000 01000000')],
    ['with an entry at a restart that shares', fromHex('000101 61 31 010101 62 32 00000000 05000000 02000000')],
    ['with lengths that wrap', fromHex('00ffffffff0fffffffff0f 61 31 00000000 01000000')],
  ];

  test.each(bad)('%s, as a data block, are an error by every way of reading it', async (_, contents) => {
    const file = assembleTable({
      data: [
        [utf8('a'), good],
        [utf8('z'), contents],
      ],
    });
    const offset = good.length + BLOCK_TRAILER_LENGTH;
    const expected = { code: 'BLOOM_BAD_BLOCK', structure: 'data block', offset, file: 'a.ldb' };
    const source = new MemorySource(file, 'a.ldb');
    const syncTable = SyncTable.open(source);
    const table = await Table.open(source);
    const errors = [
      caught(() => syncTable.get(utf8('y'))),
      caught(() => [...syncTable.entries()]),
      caught(() => [...syncTable.entries({ reverse: true })]),
      caught(() => syncTable.cursor().seekToLast()),
      await rejection(table.get(utf8('y'))),
      await rejection(collect(table)),
      await rejection(collect(table.entries({ reverse: true }))),
      await rejection(table.cursor().seek(utf8('y'))),
      await rejection(profileTable(source)),
    ];
    for (const error of errors) expect(error).toMatchObject(expected);
    expect(syncTable.get(utf8('a'))).toEqual(utf8('1'));
  });

  test.each(bad)('%s, as the index, are refused', (_, contents) => {
    const error = caught(() => SyncTable.open(new MemorySource(assembleTable({ index: contents }))));
    expect(error).toBeInstanceOf(CorruptionError);
    // The metaindex, which precedes the index, has 13 bytes.
    expect(error).toMatchObject({ code: 'BLOOM_BAD_BLOCK', structure: 'index block', offset: 13 });
  });

  test.each(bad)('%s, as the metaindex, cost only the filters', (_, contents) => {
    const file = assembleTable({ data: [[utf8('a'), good]], metaindex: contents });
    const table = SyncTable.open(new MemorySource(file));
    const error = { code: 'BLOOM_BAD_BLOCK', structure: 'metaindex block' };
    expect(table.filterStatus).toMatchObject({ state: 'corrupt', error });
    expect(table.get(utf8('a'))).toEqual(utf8('1'));
  });
});

describe('a handle that points outside the file', () => {
  const good = blockOf([[utf8('a'), utf8('1')]]);

  test('of a data block costs only that block', () => {
    const index = blockOf([
      [utf8('a'), encodeBlockHandle({ offset: 0, size: good.length })],
      [utf8('b'), encodeBlockHandle({ offset: 10, size: 2 ** 40 })],
      [utf8('c'), fromHex('ffff')],
    ]);
    const file = assembleTable({ data: [[utf8('a'), good]], index });
    const table = SyncTable.open(new MemorySource(file));
    expect(table.get(utf8('a'))).toEqual(utf8('1'));
    const expected = { code: 'BLOOM_BAD_HANDLE', structure: 'data block' };
    expect(caught(() => table.get(utf8('b')))).toMatchObject({ ...expected, offset: 10 });
    expect(caught(() => table.get(utf8('c')))).toMatchObject(expected);
  });

  test('of the filter block costs only the filters', () => {
    const policyName = 'leveldb.BuiltinBloomFilter2';
    for (const handle of [fromHex('ff'), encodeBlockHandle({ offset: 5, size: 2 ** 50 })]) {
      const metaindex = blockOf([[utf8(`filter.${policyName}`), handle]]);
      const table = SyncTable.open(new MemorySource(assembleTable({ data: [[utf8('a'), good]], metaindex })));
      expect(table.filterStatus).toMatchObject({ state: 'corrupt', policyName, error: { code: 'BLOOM_BAD_HANDLE' } });
      expect(table.get(utf8('a'))).toEqual(utf8('1'));
    }
  });

  test('of the index is refused, and of the metaindex costs only the filters', () => {
    const file = buildTable([[utf8('a'), utf8('1')]]);
    const footer = file.length - FOOTER_LENGTH;
    const { metaindex, index } = decodeFooter(file.subarray(footer), { structure: 'footer', offset: footer });
    const outside = { offset: file.length, size: 10 };
    const withFooter = (handles: Parameters<typeof encodeFooter>[0]): MemorySource =>
      new MemorySource(new Uint8Array(Buffer.concat([file.subarray(0, footer), encodeFooter(handles)])));
    const error = caught(() => SyncTable.open(withFooter({ metaindex, index: outside })));
    expect(error).toMatchObject({ code: 'BLOOM_BAD_HANDLE', structure: 'footer', offset: footer });
    const table = SyncTable.open(withFooter({ metaindex: outside, index }));
    expect(table.filterStatus).toMatchObject({ state: 'corrupt', error: { code: 'BLOOM_BAD_HANDLE', structure: 'footer' } });
    expect(table.get(utf8('a'))).toEqual(utf8('1'));
  });
});

// The contents have a correct checksum but are not filters. Damage may cost reads, but must not hide a key.
describe('a filter block with a correct checksum', () => {
  const entries = numberedEntries(30);
  const name = 'leveldb.BuiltinBloomFilter2';

  test.each([
    ['no bytes', ''],
    ['four bytes', '0000000b'],
    ['offsets past its end', 'ffffffff0b'],
    ['a filter past its end', '00000000 ffffffff 00000000 0b'],
    ['filters in the wrong order', 'ff'.repeat(9) + '06 09000000 00000000 0a000000 0b'],
    ['a base of 2^255', 'ff'.repeat(9) + '06 00000000 0a000000 ff'],
    ['more probes than are known', 'ff 00 00 00 00 00 00 00 1f 00000000 09000000 0b'],
    ['no probes', 'ff 00 00 00 00 00 00 00 00 00000000 09000000 0b'],
  ])('and %s hides no key', (_, contents) => {
    const file = assembleTable({ data: [[utf8('z'), blockOf(entries)]], filter: { name, contents: fromHex(contents) } });
    const table = SyncTable.open(new MemorySource(file));
    expect(table.getMany(entries.map(([key]) => key))).toEqual(entries.map(([, value]) => value));
  });
});

test('a walk skips an empty data block, as some programs write, in both directions', () => {
  const empty = fromHex('0000000001000000');
  const a: KeyValue = [utf8('a'), utf8('1')];
  const c: KeyValue = [utf8('c'), utf8('2')];
  const file = assembleTable({
    data: [
      [utf8('0'), empty],
      [utf8('a'), blockOf([a])],
      [utf8('b'), empty],
      [utf8('bb'), fromHex('00000000')],
      [utf8('c'), blockOf([c])],
      [utf8('d'), empty],
    ],
  });
  const table = SyncTable.open(new MemorySource(file));
  expect([...table.entries()]).toEqual([a, c]);
  expect([...table.entries({ reverse: true })]).toEqual([c, a]);
  expect([...table.entries({ gt: utf8('a') })]).toEqual([c]);
  expect([...table.entries({ lt: utf8('c'), reverse: true })]).toEqual([a]);
  expect([...table.entries({ lte: utf8('bb'), reverse: true })]).toEqual([a]);
  const found = [utf8('a'), utf8('b'), utf8('c'), utf8('d')].map((key) => table.get(key));
  expect(found).toEqual([a[1], undefined, c[1], undefined]);
  const cursor = table.cursor();
  expect([cursor.seek(utf8('b')), hex(cursor.key)]).toEqual([true, '63']);
  expect([cursor.prev(), hex(cursor.key)]).toEqual([true, '61']);
  expect(cursor.prev()).toBe(false);
});
