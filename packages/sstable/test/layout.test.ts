import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { goldenTables, realTables, seeded, vectors } from '@bloom/fixtures';
import type { LabelledRange } from '@bloom/bytes';
import { BloomFilterPolicy, KeyBuffer } from '@bloom/policy';
import { bytewiseComparator, MemorySource, type TableBuilderOptions } from '@bloom/sstable';
import { tableLayout } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { FOOTER_LENGTH } from '../src/format/footer.js';
import { assembleTable, blockOf } from './assemble-table.js';
import { buildTable } from './build-table.js';
import { damage, takeApart } from './damage.js';
import { collect, numberedEntries, utf8 } from './entries.js';
import { zlibCodecs } from './zlib-codecs.js';

type Detail = 'blocks' | 'fields';
const details: Detail[] = ['blocks', 'fields'];

function layoutOf(bytes: Uint8Array, detail: Detail = 'fields', maxBlockBytes = 2 ** 26): Promise<LabelledRange[]> {
  return collect(tableLayout(new MemorySource(bytes), { detail, codecs: zlibCodecs, maxBlockBytes }));
}

/** The first problem if the ranges do not cover the file exactly once and in order, or undefined. */
function fault(ranges: readonly LabelledRange[], byteLength: number): string | undefined {
  let position = 0;
  for (const range of ranges) {
    if (range.offset !== position || !(range.byteLength > 0) || range.label === '') return JSON.stringify(range);
    position += range.byteLength;
  }
  return position === byteLength ? undefined : `ends at ${position} of ${byteLength}`;
}

const files = [
  ...[...goldenTables(), ...goldenTables({ comparator: 'trailing-space' })].map(({ name, bytes }) => ({ name, bytes })),
  ...realTables().map(({ file, bytes }) => ({ name: file, bytes })),
];

describe('every byte is labelled exactly once and in order', () => {
  test.each(files)('of $name', async ({ bytes }) => {
    const file = bytes();
    for (const detail of details) {
      const ranges = await layoutOf(file, detail);
      expect(fault(ranges, file.length)).toBeUndefined();
      // These tables have no unused bytes and no damage.
      expect(ranges.filter(({ label }) => /nothing points|damaged|not a filter block|of no filter/.test(label))).toEqual([]);
    }
  });

  test('of files that are not tables', async () => {
    for (const length of [0, 1, 47, 48, 100]) {
      const ranges = await layoutOf(new Uint8Array(length));
      expect(fault(ranges, length)).toBeUndefined();
    }
  });

  // The long run `damage` has more.
  const damages = Number(process.env.BLOOM_DAMAGE_RUNS ?? 500);
  test(`of ${damages} damaged tables (seed 4711)`, { timeout: 3_600_000 }, async () => {
    const random = seeded(4711);
    const small = files.map(({ name, bytes }) => ({ name, file: bytes() })).filter(({ file }) => file.length < 30_000);
    const bases = small.map(({ name, file }) => ({ name, file, table: takeApart(file) }));
    const wrong: string[] = [];
    for (let i = 0; i < damages; i++) {
      const { name, file, table } = random.pick(bases);
      const { kind, bytes } = damage(random, file, table, random.pick(bases).file);
      const found = fault(await layoutOf(bytes, i % 4 === 0 ? 'fields' : 'blocks', 2 ** 18), bytes.length);
      if (found !== undefined) wrong.push(`${i}, ${name}, ${kind}: ${found}`);
    }
    expect(wrong).toEqual([]);
  });

  test('of a block of 50,000 entries', async () => {
    const entries = numberedEntries(50_000, 0);
    const bytes = buildTable(entries, { blockSize: 2 ** 24, compression: 'none' });
    expect(fault(await layoutOf(bytes), bytes.length)).toBeUndefined();
  });

  test('of tables with overlapping blocks and bytes that nothing points to', async () => {
    const data = blockOf([[utf8('a'), utf8('1')]]);
    const bytes = assembleTable({ data: [[utf8('a'), data], [utf8('b'), data]], index: blockOf([[utf8('a'), Uint8Array.of(3, 10)], [utf8('b'), Uint8Array.of(3, 12)]]) });
    const ranges = await layoutOf(bytes, 'blocks');
    expect(fault(ranges, bytes.length)).toBeUndefined();
    expect(ranges[0]).toEqual({ offset: 0, byteLength: 3, label: 'bytes that nothing points to' });
  });
});

test('a layout without fields has one range per block', async () => {
  const bytes = buildTable(numberedEntries(30), { blockSize: 300, compression: 'none' });
  const labels = (await layoutOf(bytes, 'blocks')).map(({ label }) => label);
  expect(labels).toEqual([
    'data block 0',
    'data block 1',
    'data block 2',
    'filter.leveldb.BuiltinBloomFilter2',
    'metaindex block',
    'index block',
    'footer',
  ]);
});

test('an unknown detail is refused', async () => {
  await expect(layoutOf(buildTable(numberedEntries(10)), 'field' as Detail)).rejects.toThrow(new RangeError(`detail must be 'blocks' or 'fields', got "field"`));
});

test('the fields of each block cover the range of that block in a layout without fields', async () => {
  const bytes = buildTable(numberedEntries(300), { blockSize: 1000 });
  const [blocks, fields] = [await layoutOf(bytes, 'blocks'), await layoutOf(bytes, 'fields')];
  const wrong = blocks.filter(({ offset, byteLength, label }) => {
    const inside = fields.filter((field) => field.offset >= offset && field.offset < offset + byteLength);
    const length = inside.reduce((sum, field) => sum + field.byteLength, 0);
    return length !== byteLength || !inside.every((field) => field.label.startsWith(`${label}: `));
  });
  expect(wrong).toEqual([]);
});

test('a damaged block is labelled as damaged, with its problem', async () => {
  const bytes = buildTable(numberedEntries(3), { compression: 'none' });
  bytes[1]! ^= 1;
  const [first] = await layoutOf(bytes);
  expect(first).toMatchObject({ offset: 0, label: 'data block 0: damaged' });
  expect(first!.value).toContain('checksum');
});

const folder = fileURLToPath(new URL('../../../tooling/fixtures/data/annotated/', import.meta.url));

/** One line for each range: its offset, its bytes, its label. */
function annotate(bytes: Uint8Array, ranges: readonly LabelledRange[]): string {
  const lines = ranges.map(({ offset, byteLength, label, value }) => {
    const shown = Array.from(bytes.subarray(offset, offset + Math.min(byteLength, 12)), (byte) => byte.toString(16).padStart(2, '0'));
    const hex = shown.join(' ') + (byteLength > 12 ? ` … ${byteLength} bytes` : '');
    return `${String(offset).padStart(6)}  ${hex.padEnd(50)}  ${label}${value === undefined ? '' : `: ${value}`}`;
  });
  return `${lines.join('\n')}\n`;
}

const golden = (name: string): Uint8Array => [...goldenTables(), ...goldenTables({ comparator: 'trailing-space' })].find((table) => table.name === name)!.bytes();

function trimmed(key: Uint8Array): Uint8Array {
  let end = key.length;
  while (end > 0 && key[end - 1] === 0x20) end--;
  return key.subarray(0, end);
}

const bloom = new BloomFilterPolicy();
/** A comparator that ignores trailing spaces, and a filter policy that readers only know if it is passed. */
const trailingSpace: TableBuilderOptions = {
  comparator: {
    name: 'bloom.example.TrailingSpaceComparator',
    keyEquivalence: 'trailing spaces',
    compare: (a, b) => bytewiseComparator.compare(trimmed(a), trimmed(b)),
    findShortestSeparator: (start) => start,
    findShortSuccessor: (key) => key,
  },
  filterPolicy: {
    name: 'bloom.example.TrailingSpaceBloom',
    keyEquivalence: 'trailing spaces',
    createFilter(keys, dst) {
      const trimmedKeys = new KeyBuffer();
      for (const key of keys) trimmedKeys.push(trimmed(key));
      bloom.createFilter(trimmedKeys, dst);
    },
    keyMayMatch: (key, filter) => bloom.keyMayMatch(trimmed(key), filter),
  },
  blockSize: 60,
  compression: 'none',
};

/** Tables whose annotated bytes are committed for people to read. */
const annotated: Record<string, () => Uint8Array> = {
  'empty-bits10': () => golden('empty-bits10.ldb'),
  'empty': () => golden('empty.ldb'),
  'one-bits10': () => golden('one-bits10.ldb'),
  'empty-key-bits10': () => golden('empty-key-bits10.ldb'),
  'simple-multi-bloom': () => vectors().tables.find(({ name }) => name === 'SimpleMulti bloom')!.bytes,
  'internal-keys-bits10': () => vectors().internalKeyTable.bytes,
  'trailing-space': () => buildTable(['a ', 'a b', 'b   ', 'b  c ', 'c'].map((key) => [utf8(key), utf8(`value of ${key}`)]), trailingSpace),
  'goleveldb-snappy': () => realTables().find(({ file }) => file === 'golang-leveldb/db-stage-3/000005.sst')!.bytes(),
  'compressible-snappy-bits10': () => golden('compressible-snappy-bits10.ldb'),
  'tensorflow-variables': () => realTables().find(({ size, repo }) => size === 142 && repo === 'tensorflow/rust')!.bytes(),
  // Built by us, byte for byte as LevelDB builds it, with several blocks that fit on a page.
  'four-blocks-bits10': () => buildTable(numberedEntries(14, 12), { blockSize: 80, blockRestartInterval: 2, compression: 'none' }),
};

describe('the annotated table', () => {
  // UPDATE_ANNOTATED=1, or `pnpm --filter @bloom/long-tests annotate`, rewrites them; read the diff.
  const isUpdate = process.env.UPDATE_ANNOTATED === '1';

  test.each(Object.keys(annotated))('%s is the same as the committed one', async (name) => {
    const bytes = annotated[name]!();
    const ranges = await layoutOf(bytes);
    const text = annotate(bytes, ranges);
    const path = join(folder, `${name}.txt`);
    if (isUpdate) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(path, text);
    }
    expect(existsSync(path), 'run it with UPDATE_ANNOTATED=1 first').toBe(true);
    expect(text).toBe(readFileSync(path, 'utf8'));
    expect(fault(ranges, bytes.length)).toBeUndefined();
    expect(text.split('\n').at(-2)).toContain('57 fb 80 8b 24 75 47 db');
    expect(ranges.at(-1)!.offset + ranges.at(-1)!.byteLength).toBeGreaterThanOrEqual(FOOTER_LENGTH);
  });

  test('is not committed for any other table', () => {
    expect(readdirSync(folder).sort()).toEqual(Object.keys(annotated).map((name) => `${name}.txt`).sort());
  });
});
