import { goldenTables, type KeyValue, realTables, seeded } from '@bloom/fixtures';
import { maskedCrc32c } from '@bloom/crc32c';
import { bytewiseComparator, MemorySource, SyncTable } from '@bloom/sstable';
import { profileTable, salvagedEntries, type SalvageOptions, type SalvageReport, salvageTable, verifyTable } from '@bloom/sstable/inspect';
import { encodeInternalKey, internalKeyComparator, VALUE } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { encodeBlockHandle } from '../src/format/block-handle.js';
import { decodeFooter, encodeFooter, FOOTER_LENGTH } from '../src/format/footer.js';
import { BLOCK_TRAILER_LENGTH } from '../src/format/stored-block.js';
import { assembleTable, blockOf } from './assemble-table.js';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { putTogether, takeApart } from './damage.js';
import { hex, numberedEntries, sameEntries, utf8 } from './entries.js';
import { WatchedSource } from './sources.js';
import { storedDataBlocks } from './stored-data-blocks.js';
import { zlibCodecs } from './zlib-codecs.js';

interface Salvaged {
  readonly entries: KeyValue[];
  readonly report: SalvageReport;
}

async function salvage(bytes: Uint8Array, options: SalvageOptions = {}): Promise<Salvaged> {
  const entries: KeyValue[] = [];
  const take = (key: Uint8Array, value: Uint8Array): void => void entries.push([key.slice(), value.slice()]);
  const report = await salvageTable(new MemorySource(bytes, 'damaged.ldb'), take, options);
  return { entries, report };
}

/** The entries of `written` that are missing in `saved`, and the entries of `saved` that were not written. */
function compared(saved: readonly KeyValue[], written: readonly KeyValue[]): { missing: KeyValue[]; strange: KeyValue[] } {
  const id = ([key, value]: KeyValue): string => `${hex(key)}=${hex(value)}`;
  const [have, had] = [new Set(saved.map(id)), new Set(written.map(id))];
  return {
    missing: written.filter((entry) => !have.has(id(entry))),
    strange: saved.filter((entry) => !had.has(id(entry))),
  };
}

describe('every entry of an intact table is saved', () => {
  test.each(goldenTables())('$name', async (golden) => {
    const { entries, report } = await salvage(golden.bytes());
    expect(sameEntries(entries, golden.input())).toBe(true);
    const { dataBlocks } = await profileTable(new MemorySource(golden.bytes()));
    expect(report).toEqual({
      entries: golden.entries,
      dataBlocks,
      foundBlocks: 0,
      outOfOrder: 0,
      lost: [],
      lostBytes: 0,
      moreLost: 0,
      findings: [],
      moreFindings: 0,
      isDatabaseTable: false,
    });
  });

  test.each(realTables().filter(({ entries }) => entries < 20_000))('$file of $repo', async (table) => {
    const isBytewise = table.adjacentBytewiseInversions === 0;
    const internal = table.keyKind === 'internal' ? { comparator: isBytewise ? internalKeyComparator() : null } : {};
    const { entries, report } = await salvage(table.bytes(), { codecs: zlibCodecs, ...internal });
    const written = [...SyncTable.open(new MemorySource(table.bytes()), { codecs: zlibCodecs }).entries()];
    expect(sameEntries(entries, written)).toBe(true);
    expect(report).toMatchObject({ entries: table.entries, foundBlocks: 0, outOfOrder: 0, lost: [], findings: [] });
  });
});

// LevelDB, db/corruption_test.cc: keys of 16 digits, values of 1000 printable characters, bytes damaged by 0x80. Its
// Check(least, most) is applied to one table here.
describe('as in LevelDB', () => {
  function build(count: number): KeyValue[] {
    const random = seeded(1000);
    const characters = (length: number): Uint8Array => random.bytes(length).map((byte) => 0x20 + (byte % 95));
    return Array.from({ length: count }, (_, i): KeyValue => [utf8(String(i).padStart(16, '0')), characters(1000)]);
  }

  function corrupt(bytes: Uint8Array, at: number, count: number): Uint8Array {
    const damaged = bytes.slice();
    const start = at < 0 ? Math.max(0, bytes.length + at) : at;
    for (let i = start; i < Math.min(start + count, bytes.length); i++) damaged[i]! ^= 0x80;
    return damaged;
  }

  test.each([
    ['TableFile', 100, {}, 100, 1, 90, 99],
    ['TableFileRepair', 100, { blockSize: 2000 }, 100, 1, 95, 99],
    ['CompactionInputError', 10, {}, 100, 1, 5, 9],
    ['UnrelatedKeys', 10, { blockSize: 100 }, 100, 1, 9, 9],
  ] as const)('%s: saves at least as many entries as LevelDB’s test requires', async (_, count, options, at, length, least, most) => {
    const written = build(count);
    const { entries, report } = await salvage(corrupt(buildTable(written, options), at, length));
    expect(entries.length).toBeGreaterThanOrEqual(least);
    expect(entries.length).toBeLessThanOrEqual(most);
    expect(compared(entries, written).strange).toEqual([]);
    expect(report.lost).toHaveLength(1);
    expect(report.lost[0]).toMatchObject({ offset: 0 });
  });

  // LevelDB gives up the whole table, and its test accepts half of the database.
  test('TableFileIndexData: saves every entry, because no data block is damaged', async () => {
    const written = build(10_000);
    const damaged = corrupt(buildTable(written, { filterPolicy: null }), -2000, 500);
    const { entries, report } = await salvage(damaged);
    expect(sameEntries(entries, written)).toBe(true);
    expect(report.findings.map(({ code, structure }) => `${code} ${structure}`)).toContain('BLOOM_BAD_CHECKSUM index block');
  });
});

const entries = numberedEntries(24, 10);
const small = buildTable(entries, { blockSize: 100, compression: 'none' });

describe('a small table of several blocks', () => {
  const blocks = storedDataBlocks(new MemorySource(small));

  test('has several blocks', () => {
    expect(blocks.length).toBeGreaterThan(3);
    expect(sameEntries(blocks.flatMap(({ entries: own }) => own), entries)).toBe(true);
  });

  test.each([0x01, 0x80, 0xff])('loses only the entries of one block if any byte is changed by %d', async (mask) => {
    const wrong: string[] = [];
    for (let i = 0; i < small.length; i++) {
      const damaged = small.slice();
      damaged[i]! ^= mask;
      const whole = blocks.filter(({ start, end }) => i < start || i >= end).flatMap(({ entries: own }) => own);
      const { entries: saved, report } = await salvage(damaged);
      const { missing, strange } = compared(saved, whole);
      if (missing.length > 0) wrong.push(`byte ${i}: ${missing.length} entries are missing`);
      if (strange.length > 0) wrong.push(`byte ${i}: ${strange.length} entries are others`);
      if (saved.length !== whole.length || report.entries !== saved.length) wrong.push(`byte ${i}: ${saved.length} of ${whole.length}`);
      const isTold = report.lost.length > 0 || report.findings.length > 0;
      // Damage to filters or unused bytes is not a loss of entries.
      if (whole.length < entries.length && !isTold) wrong.push(`byte ${i}: the loss is not told`);
    }
    expect(wrong).toEqual([]);
  });

  test('keeps every complete block if it is truncated to any length', async () => {
    const wrong: string[] = [];
    for (let length = 0; length < small.length; length++) {
      const whole = blocks.filter(({ end }) => end <= length).flatMap(({ entries: own }) => own);
      const { entries: saved } = await salvage(small.subarray(0, length));
      if (!sameEntries(saved, whole)) wrong.push(`${length}: ${saved.length} instead of ${whole.length}`);
    }
    expect(wrong).toEqual([]);
  });

  test('without its first blocks keeps exactly the entries of the later blocks', async () => {
    const wrong: string[] = [];
    const footer = footerOf(small);
    for (const start of [...blocks.map(({ end }) => end), footer.metaindex.offset, footer.index.offset]) {
      const whole = blocks.filter((block) => block.start >= start).flatMap(({ entries: own }) => own);
      const { entries: saved } = await salvage(small.subarray(start));
      if (!sameEntries(saved, whole)) wrong.push(`from ${start} on: ${saved.length} instead of ${whole.length}`);
    }
    expect(wrong).toEqual([]);
  });

  const footer = footerOf(small);
  const destroyed: [string, (bytes: Uint8Array) => void][] = [
    ['index', (bytes) => bytes.fill(0, footer.index.offset, bytes.length - FOOTER_LENGTH)],
    ['footer', (bytes) => bytes.fill(0, bytes.length - FOOTER_LENGTH)],
    ['index and footer', (bytes) => bytes.fill(0, footer.index.offset)],
    ['metaindex', (bytes) => bytes.fill(0, footer.metaindex.offset, footer.index.offset)],
    ['everything after the data', (bytes) => bytes.fill(0x55, blocks.at(-1)!.end)],
    ['filter', (bytes) => bytes.fill(0xaa, blocks.at(-1)!.end, footer.metaindex.offset)],
  ];

  test.each(destroyed)('keeps all entries if this is destroyed: %s', async (_, destroy) => {
    const damaged = small.slice();
    destroy(damaged);
    const { entries: saved, report } = await salvage(damaged);
    expect(sameEntries(saved, entries)).toBe(true);
    expect(report.entries).toBe(entries.length);
  });

  test.each(destroyed)('gives no wrong entries if a block and this are destroyed: %s', async (_, destroy) => {
    for (const { start, end } of blocks) {
      const damaged = small.slice();
      destroy(damaged);
      damaged[start + 3]! ^= 1;
      const { entries: saved } = await salvage(damaged);
      expect(compared(saved, entries).strange).toEqual([]);
      // All entries before the block are saved, whatever else is destroyed.
      const before = blocks.filter((block) => block.end <= start).flatMap(({ entries: own }) => own);
      expect(compared(saved, before).missing).toEqual([]);
      expect(end).toBeGreaterThan(start);
    }
  });

  test('has no findings when it is rebuilt from the saved entries', async () => {
    const random = seeded(3);
    for (let i = 0; i < 60; i++) {
      const damaged = small.slice();
      for (let j = 1 + random.below(5); j > 0; j--) damaged[random.below(small.length)]! ^= 1 + random.below(255);
      const { entries: saved } = await salvage(damaged);
      const again = buildTable(saved);
      expect((await verifyTable(new MemorySource(again))).findings).toEqual([]);
      expect(sameEntries(SyncTable.open(new MemorySource(again)).entries(), saved)).toBe(true);
    }
  });

  test.each(['metaindex', 'index'] as const)('keeps all entries if its footer points to a data block as the %s', async (which) => {
    for (const { start, end } of blocks) {
      const handle = { offset: start, size: end - start - BLOCK_TRAILER_LENGTH };
      const bytes = new Uint8Array(Buffer.concat([small.subarray(0, -FOOTER_LENGTH), encodeFooter({ ...footer, [which]: handle })]));
      const { entries: saved } = await salvage(bytes);
      expect(sameEntries(saved, entries), `block at ${start}: ${saved.length} entries`).toBe(true);
    }
  });
});

describe('what was lost', () => {
  test('is reported with its offset and the reason', async () => {
    const [, second] = storedDataBlocks(new MemorySource(small));
    const damaged = small.slice();
    damaged[second!.start + 4]! ^= 1;
    const { report } = await salvage(damaged);
    expect(report.lost).toEqual([
      { offset: second!.start, byteLength: second!.end - second!.start, code: 'BLOOM_BAD_CHECKSUM', problem: expect.stringContaining('checksum') as string },
    ]);
    expect(report).toMatchObject({ findings: [], foundBlocks: 0, outOfOrder: 0 });
  });

  test('has a code, such as that of a missing codec or of bytes without a block', async () => {
    const codesOf = async (bytes: Uint8Array): Promise<string[]> => [...new Set((await salvage(bytes)).report.lost.map(({ code }) => code))];
    const [, second] = storedDataBlocks(new MemorySource(small));
    const otherCodec = small.slice();
    otherCodec[second!.end - BLOCK_TRAILER_LENGTH] = 99;
    const checksum = maskedCrc32c(otherCodec.subarray(second!.start, second!.end - BLOCK_TRAILER_LENGTH + 1));
    new DataView(otherCodec.buffer).setUint32(second!.end - 4, checksum, true);
    expect(await codesOf(otherCodec)).toEqual(['BLOOM_UNSUPPORTED_CODEC']);
    const withoutIndex = otherCodec.slice(0, second!.end);
    expect(await codesOf(withoutIndex)).toEqual(['BLOOM_UNSUPPORTED_CODEC']);
    withoutIndex.fill(0, second!.start);
    expect(await codesOf(withoutIndex)).toEqual(['BLOOM_BAD_CHECKSUM']);
  });

  test('is inside the file, and in file order', async () => {
    const random = seeded(12);
    const wrong: string[] = [];
    for (let i = 0; i < 300; i++) {
      const damaged = small.slice(0, random.below(3) === 0 ? random.below(small.length) : small.length);
      for (let j = random.below(6); j > 0; j--) damaged[random.below(damaged.length)]! ^= 1 + random.below(255);
      const { report } = await salvage(damaged);
      let last = -1;
      for (const { offset, byteLength } of report.lost) {
        if (offset < last || !(byteLength > 0) || offset + byteLength > damaged.length) wrong.push(`${i}: ${offset}, ${byteLength}`);
        last = offset;
      }
    }
    expect(wrong).toEqual([]);
  });

  test('because of out-of-order keys is counted', async () => {
    const block = (...keys: string[]): Uint8Array => blockOf(keys.map((key): KeyValue => [utf8(key), utf8('1')]));
    const bytes = assembleTable({ data: [[utf8('b'), block('a', 'b')], [utf8('d'), block('b', 'd')], [utf8('f'), block('c', 'f')]] });
    const { entries: saved, report } = await salvage(bytes);
    expect(saved.map(([key]) => new TextDecoder().decode(key))).toEqual(['a', 'b', 'd', 'f']);
    expect(report).toMatchObject({ entries: 4, outOfOrder: 2, dataBlocks: 3 });
    const all = await salvage(bytes, { comparator: null });
    expect(all.report).toMatchObject({ entries: 6, outOfOrder: 0 });
  });

  test('of a block with a correct checksum does not include the entries before the damage', async () => {
    const { parts } = takeApart(small);
    const bytes = putTogether(parts.map((part, i) => {
      if (i !== 1) return part;
      const payload = part.payload.slice();
      // Changes the value length of its second entry.
      payload[part.payload.findIndex((byte, at) => at > 3 && byte === 0x0a)] = 0x7f;
      return { ...part, payload };
    }));
    const { entries: saved, report } = await salvage(bytes);
    expect(compared(saved, entries).strange).toEqual([]);
    expect(saved.length).toBeGreaterThan(18);
    expect(report.lost).toHaveLength(1);
    expect(report.lost[0]!.problem).toContain('entry');
  });

  test('of a compressed table without an index is nothing, because its blocks are found by their checksums', async () => {
    const written = numberedEntries(500, 50);
    for (const compression of ['snappy', zlibCodecs[0]!] as const) {
      const bytes = buildTable(written, { blockSize: 500, compression });
      const { entries: saved, report } = await salvage(bytes.subarray(0, bytes.length - 100), { codecs: zlibCodecs });
      expect(sameEntries(saved, written)).toBe(true);
      expect(report.foundBlocks).toBe(report.dataBlocks);
    }
  });
});

test('nothing is saved from a file that was never a table', async () => {
  const random = seeded(5);
  for (const bytes of [new Uint8Array(0), new Uint8Array(3000), random.bytes(5000), utf8('hello '.repeat(500))]) {
    const { entries: saved, report } = await salvage(bytes);
    expect(saved).toEqual([]);
    expect(report.entries).toBe(0);
    expect(report.findings).toHaveLength(1);
  }
});

test('an error that `take` throws ends the salvage', async () => {
  const failure = new Error('enough');
  const error = await rejection(
    salvageTable(new MemorySource(small), () => {
      throw failure;
    }),
  );
  expect(error).toBe(failure);
});

test('an unreadable index entry does not hide its block', async () => {
  const { parts } = takeApart(small);
  const bytes = putTogether(parts, {
    listings: (index) => {
      index[2]![1] = encodeBlockHandle({ offset: 2 ** 40, size: 7 });
      index[3]![1] = Uint8Array.of(0xff);
    },
  });
  const { entries: saved, report } = await salvage(bytes);
  expect(sameEntries(saved, entries)).toBe(true);
  expect(report.foundBlocks).toBe(2);
});

/** A table without the bytes after its data blocks, some of which have a changed byte in the middle. */
function dataOf(bytes: Uint8Array, damagedBlocks: readonly number[] = []): { damaged: Uint8Array; whole: KeyValue[] } {
  const blocks = storedDataBlocks(new MemorySource(bytes));
  const damaged = bytes.slice(0, blocks.at(-1)!.end);
  for (const i of damagedBlocks) damaged[(blocks[i]!.start + blocks[i]!.end) >> 1]! ^= 0x20;
  return { damaged, whole: blocks.flatMap((block, i) => (damagedBlocks.includes(i) ? [] : block.entries)) };
}

describe('without an index', () => {
  const written = numberedEntries(10_000, 20);

  test.each(['none', 'snappy'] as const)('continues after damaged blocks, compression %s', async (compression) => {
    const { damaged, whole } = dataOf(buildTable(written, { compression }), [0, 30, 31]);
    const { entries: saved, report } = await salvage(damaged);
    expect(whole.length).toBeGreaterThan(9500);
    expect(sameEntries(saved, whole)).toBe(true);
    expect(report.foundBlocks).toBe(report.dataBlocks);
    expect(report.lost.filter(({ problem }) => problem.includes('no block'))).toHaveLength(2);
  });

  test('continues after a damaged filter block, and does not report an intact one as lost', async () => {
    const good = buildTable(written, { compression: 'none' });
    const footer = footerOf(good);
    for (const at of [footer.metaindex.offset - 100, undefined]) {
      const damaged = good.slice();
      damaged.fill(0x77, footer.index.offset);
      if (at !== undefined) damaged[at]! ^= 1;
      const { entries: saved } = await salvage(damaged);
      expect(sameEntries(saved, written)).toBe(true);
    }
  });

  // Tables as values, as in a database of backups. The blocks inside have correct checksums too.
  test('saves no entries of tables that are values', async () => {
    const inner = buildTable(numberedEntries(2000), { compression: 'none' });
    const outer = Array.from({ length: 6 }, (_, i): KeyValue => [utf8(`table ${i}`), inner.subarray(0, inner.length - (i === 3 ? 40 : 0))]);
    const bytes = buildTable(outer, { compression: 'none' });
    // The changed byte is in one block of the inner table, and the other inner blocks are intact.
    for (const damagedBlocks of [[], [1], [0, 5]]) {
      const { damaged, whole } = dataOf(bytes, damagedBlocks);
      const keys = (entries: readonly KeyValue[]): string[] => entries.map(([key]) => new TextDecoder().decode(key));
      const { entries: saved } = await salvage(damaged);
      expect(keys(saved), String(damagedBlocks)).toEqual(keys(whole));
      expect(sameEntries(saved, whole)).toBe(true);
    }
  });

  test('saves entries whose values look like handles, but no entries of an index', async () => {
    const handles = Array.from({ length: 300 }, (_, i): KeyValue => [utf8(`key ${String(i).padStart(4, '0')}`), encodeBlockHandle({ offset: i * 105, size: 100 })]);
    const bytes = buildTable(handles, { blockSize: 256, compression: 'none' });
    const footer = footerOf(bytes);
    for (const end of [footer.metaindex.offset, footer.index.offset, bytes.length - FOOTER_LENGTH, bytes.length - 5]) {
      for (const first of [0, 1]) {
        const { damaged, whole } = dataOf(bytes, first === 1 ? [0] : []);
        const { entries: saved } = await salvage(new Uint8Array(Buffer.concat([damaged, bytes.subarray(damaged.length, end)])));
        expect(compared(saved, whole), `cut to ${end}, block ${first}`).toEqual({ missing: [], strange: [] });
      }
    }
  });
});

describe('data whose keys are like the names of a metaindex', () => {
  test.each([
    ['filter.color', 'red', 'filter.size', 'big'],
    ['filter.a', 'ok', 'filter.b', 'no'],
    ['partitionedfilter.a', 'ok', 'rocksdb.b', 'no'],
  ])('is salvaged without footer and index: %s, %s', async (...texts) => {
    const [first, one, second, other] = texts.map(utf8) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
    const entries: KeyValue[] = [[first, one], [second, other]];
    for (const more of [[], numberedEntries(50)]) {
      const bytes = buildTable([...entries, ...more.map(([key, value]): KeyValue => [Uint8Array.of(0x7a, ...key), value])], { blockSize: 30, compression: 'none' });
      const { entries: saved, report } = await salvage(dataOf(bytes, []).damaged);
      expect(sameEntries(saved.slice(0, 2), entries)).toBe(true);
      expect([saved.length, report.lost]).toEqual([2 + more.length, []]);
    }
  });

  test('is salvaged if it has more names, or longer ones, than a metaindex may have', async () => {
    const value = encodeBlockHandle({ offset: 0, size: 0 });
    const many = Array.from({ length: 5000 }, (_, i): KeyValue => [utf8(`filter.${String(i).padStart(4, '0')}`), value]);
    const long: KeyValue[] = [[utf8(`filter.${'a'.repeat(2 ** 20)}`), value]];
    for (const entries of [many, long]) {
      const bytes = buildTable(entries, { blockSize: 2 ** 22, compression: 'none', filterPolicy: null });
      const { entries: saved, report } = await salvage(dataOf(bytes, []).damaged);
      expect(sameEntries(saved, entries)).toBe(true);
      expect(report.lost).toEqual([]);
    }
  });
});

describe('an index whose footer is damaged', () => {
  const good = buildTable(numberedEntries(3000), { compression: 'none' });

  test('is found at the end of the file, so that every block is found', async () => {
    const blocks = storedDataBlocks(new MemorySource(good));
    const damaged = good.slice();
    damaged.fill(0, good.length - FOOTER_LENGTH);
    damaged[blocks[3]!.start + 10]! ^= 1;
    const { entries: saved, report } = await salvage(damaged);
    expect(sameEntries(saved, blocks.filter((_, i) => i !== 3).flatMap(({ entries: own }) => own))).toBe(true);
    expect(report.foundBlocks).toBe(0);
    expect(report.lost).toEqual([
      { offset: blocks[3]!.start, byteLength: blocks[3]!.end - blocks[3]!.start, code: 'BLOOM_BAD_CHECKSUM', problem: expect.stringContaining('checksum') as string },
    ]);
  });

  test('saves no entries if its only data block is damaged', async () => {
    for (const filterPolicy of [null, undefined]) {
      const one = buildTable(numberedEntries(20), { filterPolicy });
      for (const from of [one.length - FOOTER_LENGTH, one.length - 10]) {
        const damaged = one.slice();
        damaged[40]! ^= 1;
        damaged.fill(0, from);
        expect((await salvage(damaged)).entries).toEqual([]);
      }
    }
  });
});

test('blocks that were shifted by inserted or removed bytes are found', async () => {
  const good = buildTable(numberedEntries(3000), { compression: 'none' });
  const blocks = storedDataBlocks(new MemorySource(good));
  const { start, end } = blocks[4]!;
  const others = blocks.filter((_, i) => i !== 4).flatMap(({ entries: own }) => own);
  const pieces = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));
  for (const bytes of [
    pieces(good.subarray(0, start + 100), good.subarray(start + 612)),
    pieces(good.subarray(0, start + 100), new Uint8Array(512), good.subarray(start + 100)),
    pieces(good.subarray(0, start), good.subarray(end)),
  ]) {
    expect(sameEntries((await salvage(bytes)).entries, others)).toBe(true);
  }
});

describe('a table of a database', () => {
  const versions = [5n, 3n].flatMap((sequence, i) => numberedEntries(990).map(([userKey, value]) => ({ userKey, value, sequence, order: i })));
  const stored = versions
    .map(({ userKey, value, sequence }): KeyValue => [encodeInternalKey({ userKey, sequence, type: VALUE }), value])
    .sort(([a], [b]) => internalKeyComparator().compare(a, b));
  const bytes = buildTable(stored, { comparator: internalKeyComparator(), filterPolicy: null });

  test('is detected and keeps all of its entries by default', async () => {
    const { entries: saved, report } = await salvage(bytes);
    expect(sameEntries(saved, stored)).toBe(true);
    expect(report).toMatchObject({ outOfOrder: 0, isDatabaseTable: true });
  });

  test('loses the entries that are out of order by the given comparator, and reports their number', async () => {
    const { report } = await salvage(bytes, { comparator: bytewiseComparator });
    expect(report.entries + report.outOfOrder).toBe(stored.length);
    expect(report.outOfOrder).toBeGreaterThan(900);
  });

  test('is not detected if the keys are plain', async () => {
    expect((await salvage(buildTable(numberedEntries(100)))).report.isDatabaseTable).toBe(false);
  });
});

test('lost ranges beyond the limit are counted with their bytes', async () => {
  const good = buildTable(numberedEntries(500), { blockSize: 100, compression: 'none', filterPolicy: null });
  const blocks = storedDataBlocks(new MemorySource(good));
  const damaged = good.slice();
  for (const { start } of blocks) damaged[start + 5]! ^= 1;
  const { report } = await salvage(damaged, { maxFindings: 10 });
  expect(report.lost).toHaveLength(10);
  expect(report.moreLost).toBe(blocks.length - 10);
  expect(report.lostBytes).toBe(blocks.at(-1)!.end);
});

test('the first entries are returned before the rest of the file is read', async () => {
  const source = new WatchedSource(buildTable(numberedEntries(20_000), { compression: 'none' }));
  let entriesSeen = 0;
  for await (const _ of salvagedEntries(source)) if (++entriesSeen === 200) break;
  expect(source.reads.length).toBeLessThan(12);
});

test('an unknown option is refused with the name of the call', async () => {
  const source = new MemorySource(buildTable(numberedEntries(1)));
  const wrong = { anyOrder: true } as SalvageOptions;
  const known = 'it has codecs, maxBlockBytes, signal, comparator, maxFindings';
  const salvaged = rejection(salvageTable(source, () => undefined, wrong));
  expect(await salvaged).toEqual(new TypeError(`salvageTable has no option "anyOrder": ${known}`));
  const next = rejection(salvagedEntries(source, wrong).next());
  expect(await next).toEqual(new TypeError(`salvagedEntries has no option "anyOrder": ${known}`));
});

function footerOf(bytes: Uint8Array): ReturnType<typeof decodeFooter> {
  const offset = bytes.length - FOOTER_LENGTH;
  return decodeFooter(bytes.subarray(offset), { structure: 'footer', offset });
}
