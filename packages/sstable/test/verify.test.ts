import { fromHex, goldenTables, type KeyValue, realFiles, realTables } from '@bloom/fixtures';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Comparator, MemorySource, SyncTable } from '@bloom/sstable';
import { type Finding, profileTable, type VerifyOptions, verifyTable } from '@bloom/sstable/inspect';
import { encodeInternalKey, internalKeyComparator, internalKeyPolicy, VALUE } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { BlockBuilder } from '../src/format/block-builder.js';
import { encodeBlockHandle } from '../src/format/block-handle.js';
import { decodeFooter, encodeFooter, FOOTER_LENGTH } from '../src/format/footer.js';
import { BLOCK_TRAILER_LENGTH } from '../src/format/stored-block.js';
import { assembleTable, blockOf } from './assemble-table.js';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { putTogether, snappyBomb, takeApart } from './damage.js';
import { numberedEntries, utf8 } from './entries.js';
import { WatchedSource } from './sources.js';
import { zlibCodecs } from './zlib-codecs.js';

async function verify(bytes: Uint8Array, options?: VerifyOptions): Promise<readonly Finding[]> {
  return (await verifyTable(new MemorySource(bytes, 'a.ldb'), options)).findings;
}

/** The parts of findings that tests compare. */
function brief(findings: readonly Finding[]): string[] {
  return findings.map(({ code, structure, offset }) => `${code} ${structure} ${offset}`);
}

const bloom = new BloomFilterPolicy();
const internal = { comparator: internalKeyComparator(), filterPolicies: [internalKeyPolicy(bloom)], codecs: zlibCodecs };

describe('nothing is wrong with', () => {
  test.each(goldenTables())('LevelDB’s $name', async (golden) => {
    expect(await verify(golden.bytes())).toEqual([]);
  });

  test.each(goldenTables({ comparator: 'trailing-space' }))('$name with an unknown comparator', async (golden) => {
    expect(await verify(golden.bytes(), { comparator: null })).toEqual([]);
  });

  const real = realTables();

  test.each(real.filter(({ keyKind }) => keyKind === 'raw'))('$file of $repo', async (table) => {
    expect(await verify(table.bytes())).toEqual([]);
  });

  test.each(real.filter(({ keyKind }) => keyKind === 'internal'))('$file of $repo with the comparator of a database', async (table) => {
    const isBytewise = table.adjacentBytewiseInversions === 0;
    expect(await verify(table.bytes(), { ...internal, ...(!isBytewise && { comparator: null }) })).toEqual([]);
  });

  test('tables with various block sizes, restart intervals and filters', async () => {
    const entries = numberedEntries(800);
    for (const options of [{ blockSize: 1 }, { blockSize: 100, blockRestartInterval: 1 }, { filterPolicy: null }, { blockRestartInterval: 3 }]) {
      expect(await verify(buildTable(entries, options)), JSON.stringify(options)).toEqual([]);
    }
  });
});

test('a table with a comparator other than the given one has out-of-order findings', async () => {
  const [table] = realTables().filter(({ adjacentBytewiseInversions }) => adjacentBytewiseInversions > 0);
  const findings = await verify(table!.bytes(), internal);
  expect(new Set(findings.map(({ code }) => code))).toContain('BLOOM_OUT_OF_ORDER');
});

const a = utf8('a');
const one = utf8('1');
/** A block with the entry `key` = 1, of 13 bytes and a trailer of 5. */
function block(...keys: string[]): Uint8Array {
  return blockOf(keys.map((key): KeyValue => [utf8(key), one]));
}

describe('a file that is not a table', () => {
  test.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [47, '47 bytes'],
  ])('of length %d', async (length, shown) => {
    const findings = await verify(new Uint8Array(length));
    expect(findings).toEqual([{ code: 'BLOOM_NOT_A_TABLE', structure: 'file', offset: 0, problem: expect.stringContaining(`it has ${shown},`) as string }]);
  });

  test('is found by its magic number, with the offset of the footer', async () => {
    expect(brief(await verify(new Uint8Array(100)))).toEqual(['BLOOM_NOT_A_TABLE footer 52']);
  });

  test.each(realFiles().filter(({ isTable, size }) => !isTable && size >= 48))('$file of $repo', async (file) => {
    const [finding, ...others] = await verify(file.bytes());
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ structure: 'footer', offset: file.size - 48 });
    const foreign = file.magic === 'rocksblk' || file.magic === 'pebble';
    expect(finding!.code).toBe(foreign ? 'BLOOM_UNSUPPORTED_FORMAT' : 'BLOOM_NOT_A_TABLE');
  });
});

describe('a handle', () => {
  const good = buildTable(numberedEntries(100), { compression: 'none', blockSize: 500 });
  const footerOffset = good.length - FOOTER_LENGTH;
  const footer = decodeFooter(good.subarray(footerOffset), { structure: 'footer', offset: footerOffset });
  const withFooter = (bytes: Uint8Array): Uint8Array =>
    new Uint8Array(Buffer.concat([good.subarray(0, good.length - bytes.length), bytes]));

  test('in the footer that cannot be read is found', async () => {
    const bad = encodeFooter(footer);
    bad.fill(0xff, 0, 40);
    expect(brief(await verify(withFooter(bad)))).toEqual([`BLOOM_BAD_HANDLE footer ${footerOffset}`]);
  });

  test.each([{ offset: good.length, size: 5 }, { offset: 0, size: 2 ** 40 }, { offset: 2 ** 50, size: 1 }, { offset: footerOffset - 5, size: 1 }])(
    'of the metaindex that points outside the file, %j, is found, and the rest is checked',
    async (metaindex) => {
      const findings = await verify(withFooter(encodeFooter({ ...footer, metaindex })));
      expect(brief(findings)).toEqual([`BLOOM_BAD_HANDLE footer ${footerOffset}`]);
      expect(findings[0]!.problem).toContain('metaindex');
    },
  );

  test('of the index that points outside the file is found', async () => {
    const findings = await verify(withFooter(encodeFooter({ ...footer, index: { offset: good.length, size: 5 } })));
    expect(brief(findings)).toEqual([`BLOOM_BAD_HANDLE footer ${footerOffset}`]);
    expect(findings[0]!.problem).toContain('index');
  });

  test.each([
    ['points outside the file', encodeBlockHandle({ offset: 7, size: 2 ** 45 })],
    ['runs into the footer', encodeBlockHandle({ offset: footerOffset - 20, size: 16 })],
    ['cannot be read', fromHex('ffff')],
    ['is missing', fromHex('')],
  ])('of a data block that %s is found at the index, and the other blocks are checked', async (_, value) => {
    const { parts } = takeApart(good);
    let index = 0;
    const bytes = putTogether(parts, {
      listings: (entries) => {
        entries[2]![1] = value;
      },
      footer: (handles) => {
        index = handles.index.offset;
        return handles;
      },
    });
    const damaged = bytes.slice();
    damaged[3]! ^= 1;
    const findings = brief(await verify(damaged));
    expect(findings.slice(0, 2)).toEqual([`BLOOM_BAD_HANDLE index block ${index}`, 'BLOOM_BAD_CHECKSUM data block 0']);
  });

  test('of a filter block that cannot be read or points outside the file is found at the metaindex', async () => {
    for (const value of [fromHex('ff'), encodeBlockHandle({ offset: 2 ** 33, size: 9 })]) {
      const metaindex = blockOf([[utf8('filter.leveldb.BuiltinBloomFilter2'), value]]);
      const bytes = assembleTable({ data: [[a, block('a')]], metaindex });
      expect(brief(await verify(bytes))).toEqual(['BLOOM_BAD_HANDLE metaindex block 18']);
    }
  });

  test('with an unknown name may be anything that does not point outside the file', async () => {
    const name = utf8('rocksdb.properties');
    const value = async (bytes: Uint8Array): Promise<string[]> =>
      brief(await verify(assembleTable({ data: [[a, block('a')]], metaindex: blockOf([[name, bytes]]) })));
    expect(await value(fromHex('ff'))).toEqual([]);
    expect(await value(encodeBlockHandle({ offset: 999, size: 9 }))).toEqual(['BLOOM_BAD_HANDLE metaindex block 18']);
  });

  test('that is followed by padding causes no finding', async () => {
    const padded = (value: Uint8Array): Uint8Array => Uint8Array.of(...value, ...new Uint8Array(20 - value.length));
    const { parts } = takeApart(good);
    const bytes = putTogether(parts, {
      listings(index, metaindex) {
        for (const entry of [...index, ...metaindex]) entry[1] = padded(entry[1]);
      },
    });
    expect(await verify(bytes)).toEqual([]);
    expect([...SyncTable.open(new MemorySource(bytes)).keys()]).toHaveLength(100);
  });
});

describe('a block', async () => {
  const good = buildTable(numberedEntries(100), { compression: 'none', blockSize: 500 });
  const table = SyncTable.open(new MemorySource(good));
  const footerOffset = good.length - FOOTER_LENGTH;
  const footer = decodeFooter(good.subarray(footerOffset), { structure: 'footer', offset: footerOffset });
  const second = table.approximateOffset(numberedEntries(100)[20]![0]);
  const filterOffset = footer.metaindex.offset - (await profileTable(new MemorySource(good))).filterBytes - BLOCK_TRAILER_LENGTH;

  test.each([
    ['data block', 0],
    ['data block', second],
    ['filter block', filterOffset],
    ['metaindex block', footer.metaindex.offset],
    ['index block', footer.index.offset],
  ] as const)('whose checksum is wrong is found: the %s at %d', async (structure, offset) => {
    const damaged = good.slice();
    damaged[offset + 2]! ^= 0x10;
    const findings = brief(await verify(damaged));
    expect(findings[0]).toBe(`BLOOM_BAD_CHECKSUM ${structure} ${offset}`);
    // A damaged byte of the index may also make a handle or an index key wrong.
    if (structure !== 'index block') expect(findings).toHaveLength(1);
  });

  test('of an unknown kind has its checksum verified too', async () => {
    const bytes = assembleTable({ data: [[a, block('a')]], filter: { name: 'unknown', contents: utf8('whatever') } });
    expect(await verify(bytes)).toEqual([]);
    bytes[19]! ^= 1;
    expect(brief(await verify(bytes))).toEqual(['BLOOM_BAD_CHECKSUM filter block 18']);
  });

  test('whose contents are not a block is found, even if its checksum is correct', async () => {
    const none = fromHex('000109 61 31 00000000 01000000');
    const data = [[a, block('a')] as const, [utf8('b'), none] as const, [utf8('c'), block('c')] as const];
    expect(brief(await verify(assembleTable({ data })))).toEqual(['BLOOM_BAD_BLOCK data block 18']);
    expect(brief(await verify(assembleTable({ data: [], metaindex: none })))).toEqual(['BLOOM_BAD_BLOCK metaindex block 0']);
    const [index] = await verify(assembleTable({ data: [], index: none }));
    expect(index).toMatchObject({ code: 'BLOOM_BAD_BLOCK', structure: 'index block', offset: 13 });
  });

  test('that cannot be decompressed, is too large, or lacks a codec is found', async () => {
    const { parts } = takeApart(buildTable(numberedEntries(60), { compression: 'none', blockSize: 300, filterPolicy: null }));
    const bytes = putTogether(
      parts.map((part, i) => {
        if (i === 0) return { ...part, payload: utf8('\x7fnot snappy'), type: 1 };
        if (i === 1) return { ...part, payload: snappyBomb(2 ** 20), type: 1 };
        return i === 2 ? { ...part, type: 9 } : part;
      }),
    );
    const findings = await verify(bytes, { maxBlockBytes: 2 ** 16 });
    expect(findings.map(({ code }) => code)).toEqual(['BLOOM_BAD_COMPRESSION', 'BLOOM_TOO_LARGE', 'BLOOM_UNSUPPORTED_CODEC']);
    expect(findings.map(({ structure }) => structure)).toEqual(['data block', 'data block', 'data block']);
  });

  test('that overlaps another, or is listed twice, is found', async () => {
    const twice = assembleTable({
      data: [[a, block('a')]],
      index: blockOf([
        [a, encodeBlockHandle({ offset: 0, size: 13 })],
        [utf8('b'), encodeBlockHandle({ offset: 0, size: 13 })],
      ]),
    });
    expect(brief(await verify(twice))).toContain('BLOOM_OVERLAP data block 0');
    const overlapping = assembleTable({
      data: [[a, block('a', 'b', 'c')]],
      index: blockOf([
        [utf8('c'), encodeBlockHandle({ offset: 0, size: block('a', 'b', 'c').length })],
        [utf8('d'), encodeBlockHandle({ offset: 10, size: 13 })],
      ]),
    });
    expect(brief(await verify(overlapping))).toContain('BLOOM_OVERLAP data block 10');
    const filterOnData = assembleTable({
      data: [[a, block('a')]],
      metaindex: blockOf([[utf8('filter.leveldb.BuiltinBloomFilter2'), encodeBlockHandle({ offset: 0, size: 13 })]]),
    });
    expect((await verify(filterOnData)).map(({ code }) => code)).toContain('BLOOM_OVERLAP');
  });

  test('that is followed by a gap causes no finding', async () => {
    const data = block('a');
    const bytes = assembleTable({ data: [[a, data]], filter: { name: 'unknown', contents: utf8('gap') }, metaindex: blockOf([]) });
    expect(await verify(bytes)).toEqual([]);
  });
});

/** A block of `entries` whose single restart is replaced by other restarts. */
function withRestarts(keys: readonly string[], restarts: readonly number[]): Uint8Array {
  const builder = new BlockBuilder(100);
  for (const key of keys) builder.add(utf8(key), one);
  const contents = builder.finish();
  const bytes = new Uint8Array(contents.length - 8 + restarts.length * 4 + 4);
  bytes.set(contents.subarray(0, -8));
  const view = new DataView(bytes.buffer);
  [...restarts, restarts.length].forEach((word, i) => view.setUint32(contents.length - 8 + i * 4, word, true));
  return bytes;
}

describe('restarts', () => {
  // Entries of five bytes: a1, b1, c1.
  test.each([
    ['at the same entry twice', [0, 0]],
    ['out of order', [0, 10, 5]],
    ['inside an entry', [0, 7]],
    ['inside the last entry', [0, 5, 11]],
  ])('%s are found in a data block', async (_, restarts) => {
    const bytes = assembleTable({ data: [[utf8('0'), block('0')], [utf8('c'), withRestarts(['a', 'b', 'c'], restarts)]] });
    expect(brief(await verify(bytes))).toEqual(['BLOOM_BAD_RESTART data block 18']);
  });

  test('at each entry cause no finding', async () => {
    for (const restarts of [[0], [0, 5], [0, 10], [0, 5, 10]]) {
      const bytes = assembleTable({ data: [[utf8('c'), withRestarts(['a', 'b', 'c'], restarts)]] });
      expect(await verify(bytes), String(restarts)).toEqual([]);
    }
  });

  test('past the entries, or at an entry that shares bytes, make the contents not a block', async () => {
    for (const contents of [withRestarts(['a', 'b'], [0, 10]), withRestarts(['aa', 'ab'], [0, 6])]) {
      const bytes = assembleTable({ data: [[utf8('c'), contents]] });
      expect((await verify(bytes)).map(({ structure, offset }) => `${structure} ${offset}`)).toEqual(['data block 0']);
    }
  });

  /** An index of three blocks with other restarts. Each of its entries has six bytes. */
  function index(restarts: readonly number[]): Uint8Array {
    const parts = ['a', 'b', 'c'].map((key, i) => Uint8Array.of(0, 1, 2, key.charCodeAt(0), 18 * i, 13));
    const words = new Uint8Array(new Uint32Array([...restarts, restarts.length]).buffer);
    return new Uint8Array(Buffer.concat([...parts, words]));
  }

  const data = ['a', 'b', 'c'].map((key) => [utf8(key), block(key)] as const);

  test('of the index that are correct cause no finding', async () => {
    for (const restarts of [[0, 6, 12], [0], [0, 12]]) {
      expect(await verify(assembleTable({ data, index: index(restarts) })), String(restarts)).toEqual([]);
    }
  });

  test.each([
    ['out of order', [0, 12, 6]],
    ['at the same entry twice', [0, 0, 6, 12]],
    ['inside an entry', [0, 7]],
  ])('of the index, %s, are found, and no block is skipped', async (_, restarts) => {
    const bytes = assembleTable({ data, index: index(restarts) });
    const indexOffset = bytes.length - FOOTER_LENGTH - BLOCK_TRAILER_LENGTH - index(restarts).length;
    const expected = expect.stringMatching(new RegExp(`^BLOOM_BAD_(RESTART|BLOCK) index block ${indexOffset}$`)) as string;
    expect(brief(await verify(bytes))).toContainEqual(expected);
    // The last block is still checked.
    bytes[36 + 3]! ^= 1;
    expect(brief(await verify(bytes))).toContain('BLOOM_BAD_CHECKSUM data block 36');
  });
});

describe('keys', () => {
  test('out of order within a block, or equal, are found', async () => {
    for (const keys of [['b', 'a'], ['b', 'b']]) {
      const bytes = assembleTable({ data: [[utf8('0'), block('0')], [utf8('c'), block('a', ...keys)]] });
      expect(brief(await verify(bytes))).toEqual(['BLOOM_OUT_OF_ORDER data block 18']);
    }
  });

  test('out of order between blocks are found', async () => {
    const bytes = assembleTable({ data: [[utf8('c'), block('a', 'c')], [utf8('d'), block('b', 'd')]] });
    const findings = brief(await verify(bytes));
    expect(findings).toContain(`BLOOM_OUT_OF_ORDER data block ${block('a', 'c').length + BLOCK_TRAILER_LENGTH}`);
  });

  test('out of order cause no finding if the comparator is unknown', async () => {
    const bytes = assembleTable({ data: [[utf8('0'), block('b', 'a')]] });
    expect(await verify(bytes, { comparator: null })).toEqual([]);
  });

  test('in the order of the given comparator cause no finding', async () => {
    const backwards: Comparator = {
      name: 'test.Backwards',
      compare: (x, y) => bytewiseComparator.compare(y, x),
      findShortestSeparator: (start) => start,
      findShortSuccessor: (key) => key,
    };
    const bytes = buildTable(numberedEntries(300).reverse(), { comparator: backwards });
    expect(await verify(bytes, { comparator: backwards })).toEqual([]);
    expect(new Set((await verify(bytes)).map(({ code }) => code))).toContain('BLOOM_OUT_OF_ORDER');
  });
});

describe('index keys', () => {
  test('before the last key of their block are found', async () => {
    const bytes = assembleTable({ data: [[utf8('a'), block('a', 'b')], [utf8('d'), block('d')]] });
    expect(brief(await verify(bytes))).toEqual(['BLOOM_BAD_SEPARATOR data block 0']);
  });

  test('not before the first key of the next block are found', async () => {
    for (const separator of ['c', 'cc']) {
      const bytes = assembleTable({ data: [[utf8(separator), block('a')], [utf8('d'), block('c', 'd')]] });
      expect(brief(await verify(bytes)), separator).toContain('BLOOM_BAD_SEPARATOR data block 18');
    }
  });

  test('that are equal or descend are found', async () => {
    for (const [first, second] of [['b', 'b'], ['b', 'a']] as const) {
      const bytes = assembleTable({ data: [[utf8(first), fromHex('0000000001000000')], [utf8(second), fromHex('0000000001000000')]] });
      expect(brief(await verify(bytes))).toEqual(['BLOOM_BAD_SEPARATOR data block 13']);
    }
  });

  test('that are out of order by the comparator, so that lookups fail, are found', async () => {
    const { parts } = takeApart(buildTable(numberedEntries(100), { compression: 'none', blockSize: 300, filterPolicy: null }));
    const swapped = putTogether(parts, {
      listings: (index) => {
        [index[1], index[2]] = [index[2]!, index[1]!];
      },
    });
    const table = SyncTable.open(new MemorySource(swapped));
    const lost = numberedEntries(100).filter(([key]) => table.get(key) === undefined);
    const findings = await verify(swapped);
    expect({ lost: lost.length > 0, found: findings.length > 0 }).toEqual({ lost: true, found: true });
  });
});

describe('a filter', () => {
  const entries = numberedEntries(400);

  /** A policy whose filters miss every tenth key. */
  const forgetful: FilterPolicy = {
    name: bloom.name,
    createFilter(keys, dst) {
      const kept = [...keys].filter((_, i) => i % 10 > 0);
      const some = { length: kept.length, at: (i: number) => kept[i]!, [Symbol.iterator]: () => kept[Symbol.iterator](), bytes: new Uint8Array(Buffer.concat(kept)), offsets: Uint32Array.from([0, ...kept.map((_, i) => kept.slice(0, i + 1).reduce((sum, key) => sum + key.length, 0))]) };
      bloom.createFilter(some, dst);
    },
    keyMayMatch: (key, filter) => bloom.keyMayMatch(key, filter),
  };

  test('that does not match stored keys is found, with the block of those keys', async () => {
    const bytes = buildTable(entries, { filterPolicy: forgetful, compression: 'none' });
    const findings = await verify(bytes);
    expect(new Set(findings.map(({ code }) => code))).toEqual(new Set(['BLOOM_FILTER_MISS']));
    const table = SyncTable.open(new MemorySource(bytes));
    const offsets = new Set(findings.map(({ offset }) => offset));
    const lost = entries.filter(([key]) => table.get(key) === undefined);
    expect(lost.length).toBeGreaterThan(20);
    expect(lost.filter(([key]) => !offsets.has(table.approximateOffset(key)))).toEqual([]);
    expect(findings.every(({ structure }) => structure === 'data block')).toBe(true);
  });

  test('of a policy that answers undefined, which lookups take for no, is found', async () => {
    const silent: FilterPolicy = { name: bloom.name, createFilter: (keys, dst) => bloom.createFilter(keys, dst), keyMayMatch: () => undefined as unknown as boolean };
    const bytes = buildTable(entries, { filterPolicy: silent });
    expect(SyncTable.open(new MemorySource(bytes), { filterPolicies: [silent] }).get(entries[0]![0])).toBe(undefined);
    expect(new Set((await verify(bytes, { filterPolicies: [silent] })).map(({ code }) => code))).toEqual(new Set(['BLOOM_FILTER_MISS']));
  });

  test('of a policy that was not given is not checked', async () => {
    const bytes = buildTable(entries, { filterPolicy: { ...forgetful, name: 'other' }, compression: 'none' });
    expect(await verify(bytes)).toEqual([]);
    expect(await verify(bytes, { filterPolicies: [{ ...forgetful, name: 'other' }] })).not.toEqual([]);
  });

  test('that is empty is found if its range has a block with keys', async () => {
    const contents = fromHex('00000000 00000000 0b');
    const bytes = assembleTable({ data: [[a, block('a')]], filter: { name: bloom.name, contents } });
    expect(brief(await verify(bytes))).toEqual(['BLOOM_FILTER_MISS data block 0']);
  });

  // A reader uses the first filter block that the metaindex lists, wherever it is in the file.
  test('that is wrong is found if the metaindex lists it before a correct one', async () => {
    const good = takeApart(buildTable(entries, { compression: 'none' }));
    const filter = good.parts.find(({ kind }) => kind === 'meta')!;
    const denying = { ...filter, payload: fromHex('00000000 00000000 0b'), type: 0 };
    for (const order of [[filter, denying], [denying, filter]]) {
      const bytes = putTogether([...good.parts.filter(({ kind }) => kind === 'data'), ...order], {
        listings: (_, metaindex) => void metaindex.reverse(),
      });
      const table = SyncTable.open(new MemorySource(bytes));
      const lost = entries.filter(([key]) => table.get(key) === undefined).length;
      const findings = await verify(bytes);
      expect(findings.length > 0 || lost === 0, `${lost} keys are lost, ${findings.length} findings`).toBe(true);
    }
  });
});

// A reader uses the filter block even if another name has the same handle.
test('a wrong filter is found if another name in the metaindex has the same handle', async () => {
  const data = blockOf(numberedEntries(5));
  const handle = encodeBlockHandle({ offset: data.length + BLOCK_TRAILER_LENGTH, size: 9 });
  const names = [utf8('a'), utf8(`filter.${bloom.name}`)];
  const bytes = assembleTable({
    data: [[utf8('z'), data]],
    filter: { name: 'x', contents: fromHex('00000000 00000000 0b') },
    metaindex: blockOf(names.map((name): KeyValue => [name, handle])),
  });
  // A lookup detects that the filter contradicts the table, and does not use it.
  const [key, value] = numberedEntries(1)[0]!;
  expect(SyncTable.open(new MemorySource(bytes)).get(key)).toEqual(value);
  expect(brief(await verify(bytes))).toContain('BLOOM_FILTER_MISS data block 0');
});

test('several faults are all found, each with its offset', async () => {
  const { parts } = takeApart(buildTable(numberedEntries(100), { compression: 'none', blockSize: 300, filterPolicy: null }));
  const offsets: number[] = [];
  const bytes = putTogether(
    parts.map((part, i) => (i === 5 ? { ...part, payload: block('z', 'y'), type: 0 } : part)),
    {
      listings(index, _, handles) {
        offsets.push(...handles.map(({ offset }) => offset));
        index[7]![1] = fromHex('ff');
      },
    },
  );
  bytes[offsets[1]! + 4]! ^= 1;
  bytes[offsets[3]! + 4]! ^= 1;
  const findings = brief(await verify(bytes));
  expect(findings).toEqual(expect.arrayContaining([
    expect.stringMatching(/^BLOOM_BAD_HANDLE index block/),
    `BLOOM_BAD_CHECKSUM data block ${offsets[1]}`,
    `BLOOM_BAD_CHECKSUM data block ${offsets[3]}`,
    `BLOOM_OUT_OF_ORDER data block ${offsets[5]}`,
    `BLOOM_BAD_SEPARATOR data block ${offsets[5]}`,
  ] as string[]));
  // There are no findings about intact blocks.
  expect(findings.filter((line) => [0, 2, 4].some((i) => line.endsWith(` ${offsets[i]}`)))).toEqual([]);
});

test('the blocks of an index with a wrong checksum are still checked', async () => {
  const good = buildTable(numberedEntries(100), { compression: 'none', blockSize: 300 });
  const damaged = good.slice();
  // Only the checksum itself is damaged, not the bytes that it covers.
  damaged[good.length - FOOTER_LENGTH - 1]! ^= 1;
  damaged[5]! ^= 1;
  const findings = brief(await verify(damaged));
  expect(findings[0]).toMatch(/^BLOOM_BAD_CHECKSUM index block/);
  expect(findings[1]).toBe('BLOOM_BAD_CHECKSUM data block 0');
  expect(findings).toHaveLength(2);
});

test('an error of the source is thrown, and missing bytes cause an error', async () => {
  const bytes = buildTable(numberedEntries(3000));
  const source = new WatchedSource(bytes);
  const failure = new Error('the disk is gone');
  source.answer = () => Promise.reject(failure);
  expect(await rejection(verifyTable(source))).toBe(failure);
  source.answer = (part) => part.subarray(0, -1);
  expect(await rejection(verifyTable(source))).toMatchObject({ code: 'BLOOM_TRUNCATED', file: source.name });
});

test.each([
  ['maxBlockBytes', { maxBlockBytes: 0 }],
  ['keyEquivalence', { filterPolicies: [{ name: 'x', keyEquivalence: 'spaces', createFilter() {}, keyMayMatch: () => true }] }],
])('an invalid %s is refused', async (_, options) => {
  expect(await rejection(verify(buildTable([]), options))).toBeInstanceOf(RangeError);
});

test('a filter whose equivalence is known is checked even if the order is unknown', async () => {
  const spaces: FilterPolicy = { name: 'test.Spaces', keyEquivalence: 'spaces', createFilter() {}, keyMayMatch: () => true };
  expect(await verify(buildTable(numberedEntries(10)), { comparator: null, filterPolicies: [spaces] })).toEqual([]);
});

describe('parts that cannot be checked are reported', () => {
  const entries = numberedEntries(200);
  const other: FilterPolicy = { name: 'test.Other', createFilter() {}, keyMayMatch: () => true };
  const caseless: Comparator = { ...bytewiseComparator, name: 'test.Caseless', keyEquivalence: 'case' };

  async function unchecked(bytes: Uint8Array, options?: VerifyOptions): Promise<string[]> {
    const report = await verifyTable(new MemorySource(bytes), options);
    return report.unchecked.map(({ part, reason }) => `${part}: ${reason}`);
  }

  const good = buildTable(entries, { compression: 'none' });
  const footerOffset = good.length - FOOTER_LENGTH;
  const footer = decodeFooter(good.subarray(footerOffset), { structure: 'footer', offset: footerOffset });
  const changed = (at: number): Uint8Array => good.map((byte, i) => (i === at ? byte ^ 1 : byte));

  test('except that an intact table has none, with or without filters', async () => {
    expect(await unchecked(good)).toEqual([]);
    expect(await unchecked(buildTable(entries, { filterPolicy: null }))).toEqual([]);
    expect(await unchecked(buildTable([]))).toEqual([]);
  });

  test.each([
    ['filters of a policy that was not given', buildTable(entries, { filterPolicy: other }), {}, 'filters: no filter policy of this name is known: test.Other'],
    ['filters if no policy agrees with the comparator', good, { comparator: caseless }, 'filters: no filter policy of this name is known: leveldb.BuiltinBloomFilter2'],
    ['filters of the whole file', assembleTable({ data: [[a, block('a')]], metaindex: blockOf([[utf8('fullfilter.x'), Uint8Array.of(0, 13)]]) }), {}, "filters: filters of this kind cannot be read: fullfilter.x"],
    ['filters whose checksum is wrong', changed(footer.metaindex.offset - 20), {}, 'filters: the block of filter.leveldb.BuiltinBloomFilter2 cannot be read'],
    ['too few filters', assembleTable({ data: [[a, block('a')]], filter: { name: bloom.name, contents: fromHex('00000000 0b') } }), {}, 'filters: 1 data blocks have no filter that can be read'],
    ['filters whose block is not a filter block', assembleTable({ data: [[a, block('a')]], filter: { name: bloom.name, contents: fromHex('ffffffffff') } }), {}, 'filters: 1 data blocks have no filter that can be read'],
    ['filters without a metaindex', changed(footer.metaindex.offset + 3), {}, 'filters: the metaindex cannot be read'],
    ['the order if the comparator is unknown', good, { comparator: null }, 'key order: the comparator is unknown'],
    ['blocks that a damaged index may not list', changed(footer.index.offset + 3), {}, 'data blocks: the index is damaged and may not list all of them'],
    ['everything without a footer', good.subarray(1), {}, undefined],
    ['everything without a magic number', changed(good.length - 1), {}, 'index: the footer cannot be read'],
  ] as const)('%s', async (_, bytes, options, expected) => {
    const parts = await unchecked(bytes, options);
    if (expected === undefined) expect(parts.length).toBeGreaterThan(0);
    else expect(parts).toContain(expected);
  });
});

describe('a table of a database', () => {
  const stored = numberedEntries(2000)
    .flatMap(([userKey, value]): KeyValue[] => [1n, 900n].map((sequence) => [encodeInternalKey({ userKey, sequence, type: VALUE }), value]))
    .sort(([x], [y]) => internalKeyComparator().compare(x, y));
  const bytes = buildTable(stored, { comparator: internalKeyComparator(), filterPolicy: internalKeyPolicy(bloom) });

  test.each([
    ['with default options', undefined],
    ['with an unknown comparator', { comparator: null }],
    ['as one', internal],
  ])('is detected and has no findings when it is verified %s', async (_, options) => {
    expect(await verifyTable(new MemorySource(bytes), options)).toMatchObject({ findings: [], isDatabaseTable: true });
  });

  test('has its filters checked against user keys', async () => {
    const { parts } = takeApart(bytes);
    const filter = parts.findIndex(({ kind }) => kind === 'meta');
    const filters = parts[filter]!.payload.slice();
    filters.fill(0, 300, 600);
    const { findings, isDatabaseTable } = await verifyTable(new MemorySource(putTogether(parts.map((part, i) => (i === filter ? { ...part, payload: filters } : part)))));
    expect(isDatabaseTable).toBe(true);
    expect(new Set(findings.map(({ code }) => code))).toEqual(new Set(['BLOOM_FILTER_MISS']));
    expect(findings.length).toBeLessThan(4);
  });

  test('with a damaged block has only that finding', async () => {
    const damaged = bytes.slice();
    damaged[5000]! ^= 1;
    const { findings } = await verifyTable(new MemorySource(damaged));
    expect(findings.map(({ code }) => code)).toEqual(['BLOOM_BAD_CHECKSUM']);
  });

  test.each(realTables().filter(({ keyKind, adjacentBytewiseInversions }) => keyKind === 'internal' && adjacentBytewiseInversions === 0))(
    'is $file of $repo, without findings either way',
    async (table) => {
      const { findings } = await verifyTable(new MemorySource(table.bytes()), { codecs: zlibCodecs });
      expect(findings).toEqual([]);
    },
  );

  test('is distinguished from a plain table by its keys', async () => {
    const plain = buildTable(numberedEntries(300));
    expect((await verifyTable(new MemorySource(plain))).isDatabaseTable).toBe(false);
    const { findings, isDatabaseTable } = await verifyTable(new MemorySource(plain), internal);
    expect(isDatabaseTable).toBe(false);
    expect(findings).toEqual([
      { code: 'BLOOM_BAD_INTERNAL_KEY', structure: 'file', offset: 0, problem: expect.stringContaining('300 of 300 keys') as string },
    ]);
  });

  test('whose keys are in neither order has out-of-order findings', async () => {
    const { parts } = takeApart(bytes);
    const data = parts.filter(({ kind }) => kind === 'data');
    const swapped = putTogether([data[3]!, data[1]!, data[2]!, data[0]!, ...data.slice(4)].map((part, i) => ({ ...part, key: data[i]!.key })));
    const { findings } = await verifyTable(new MemorySource(swapped));
    expect(findings.map(({ code }) => code)).toContain('BLOOM_OUT_OF_ORDER');
  });
});

test('a block has at most one finding of each kind, even if many of its keys are wrong', async () => {
  const keys = Array.from({ length: 100 }, (_, i) => utf8(String(200 - i)));
  const contents = blockOf(keys.map((key): KeyValue => [key, one]));
  const bytes = assembleTable({ data: [[utf8('3'), contents]], filter: { name: bloom.name, contents: fromHex('00000000 00000000 0b') } });
  const { findings } = await verifyTable(new MemorySource(bytes));
  expect(findings.map(({ code, problem }) => `${code}: ${problem}`)).toEqual([
    'BLOOM_OUT_OF_ORDER: the key at byte 7 is not after the previous key, and neither are 98 more of its keys',
    'BLOOM_FILTER_MISS: its filter does not match 100 of its keys',
  ]);
});

test('findings beyond the limit are counted', async () => {
  const bytes = assembleTable({ data: [], index: blockOf(Array.from({ length: 50 }, (_, i): KeyValue => [Uint8Array.of(i), fromHex('ff')])) });
  const all = await verifyTable(new MemorySource(bytes));
  expect(all).toMatchObject({ moreFindings: 0 });
  expect(all.findings).toHaveLength(50);
  const some = await verifyTable(new MemorySource(bytes), { maxFindings: 20 });
  expect(some.findings).toEqual(all.findings.slice(0, 20));
  expect(some.moreFindings).toBe(30);
});

test('a block whose handle is larger than maxBlockBytes is not read', async () => {
  const source = new WatchedSource(buildTable(numberedEntries(3000), { compression: 'none', blockSize: 50_000, filterPolicy: null }));
  const { findings } = await verifyTable(source, { maxBlockBytes: 20_000 });
  expect(new Set(findings.map(({ code, structure }) => `${code} ${structure}`))).toEqual(new Set(['BLOOM_TOO_LARGE data block']));
  expect(Math.max(...source.reads.map(({ length }) => length))).toBeLessThan(20_000);
});

test('values that are not policies are refused, whether or not the order is known', async () => {
  const source = new MemorySource(buildTable(numberedEntries(10)));
  for (const comparator of [undefined, null]) {
    for (const [filterPolicies, message] of [[[5], /^filterPolicies\[0\] must be/], [5, /^filterPolicies must be/]] as const) {
      const error = await rejection(verifyTable(source, { comparator, filterPolicies: filterPolicies as never }));
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toMatch(message);
    }
  }
});
