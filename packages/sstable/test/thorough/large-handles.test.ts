import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MemorySource, SyncTable } from '@bloom/sstable';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BlockHandle, encodeBlockHandle } from '../../src/format/block-handle.js';
import { encodeFooter, FOOTER_LENGTH } from '../../src/format/footer.js';
import { assembleTable, blockOf, encodeStoredBlock } from '../assemble-table.js';
import { buildTable } from '../build-table.js';
import { caught } from '@bloom/fixtures/caught';
import { utf8 } from '../entries.js';

const parts = ['index', 'metaindex', 'filter', 'data'] as const;
type Part = (typeof parts)[number];
const FILTER_NAME = 'filter.leveldb.BuiltinBloomFilter2';

/** A table with 'a' and 'b' in separate blocks. The footer is at the end of `byteLength` bytes, most of which are a hole. */
async function writeSparse(path: string, byteLength: number, large: Part, handle: BlockHandle): Promise<void> {
  const written: Uint8Array[] = [];
  let length = 0;
  const append = (contents: Uint8Array): BlockHandle => {
    const stored = encodeStoredBlock(contents, undefined);
    written.push(stored);
    length += stored.length;
    return { offset: length - stored.length, size: contents.length };
  };
  const handleOf = (part: Part, contents: Uint8Array): BlockHandle => (part === large ? handle : append(contents));
  const [a, b] = ['a', 'b'].map((key) => append(blockOf([[utf8(key), utf8(`value of ${key}`)]])));
  // One filter for all blocks, which every key passes.
  const filter = handleOf('filter', Uint8Array.of(0xff, 31, 0, 0, 0, 0, 2, 0, 0, 0, 11));
  const metaindex = handleOf('metaindex', blockOf([[utf8(FILTER_NAME), encodeBlockHandle(filter)]]));
  const blocks = [['a', a!], ['b', large === 'data' ? handle : b!]] as const;
  const index = handleOf('index', blockOf(blocks.map(([key, block]) => [utf8(key), encodeBlockHandle(block)])));
  const file = await open(path, 'w');
  await file.writev(written);
  await file.write(encodeFooter({ index, metaindex }), 0, FOOTER_LENGTH, byteLength - FOOTER_LENGTH);
  await file.close();
}

interface Outcome {
  readonly path: string;
  readonly outcomes: Record<string, unknown>;
  readonly peak: number;
}

const GIB = 2 ** 30;
const sizes: [name: string, byteLength: number, handle: BlockHandle][] = [
  ['3 GB', 3e9, { offset: 4096, size: 2.5e9 }],
  ['6 GiB, where offset and size are past 4 GiB', 6 * GIB, { offset: 4 * GIB + 7, size: 1.5 * GIB }],
  ['9 GiB, where the size is past 4 GiB', 9 * GIB, { offset: 4096, size: 8.5 * GIB }],
];

let folder: string;
let outcomes: readonly Outcome[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bloom-large-'));
  const paths: string[] = [];
  for (const [i, [, byteLength, handle]] of sizes.entries()) {
    for (const part of parts) {
      const path = join(folder, `${i} ${part}.ldb`);
      await writeSparse(path, byteLength, part, handle);
      paths.push(path);
    }
  }
  const script = fileURLToPath(new URL('../large-handles-runner.ts', import.meta.url));
  const args = ['--conditions=bloom-source', '--import', 'tsx', script, ...paths];
  const child = promisify(execFile)(process.execPath, args, { cwd: fileURLToPath(new URL('.', import.meta.url)) });
  // If the process dies, it has printed lines for the tables before.
  const { stdout } = await child.catch((error: unknown) => error as { stdout: string });
  outcomes = stdout.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Outcome);
});
afterAll(() => rm(folder, { recursive: true }));

describe.each(sizes.map((size, i) => [size[0], i, size[2]] as const))('in a file of %s', (_, i, handle) => {
  const tooLarge = (structure: string): object => ({ code: 'BLOOM_TOO_LARGE', structure, offset: handle.offset });
  const outcomesOf = (part: Part): Record<string, unknown> => {
    const outcome = outcomes.find(({ path }) => path === join(folder, `${i} ${part}.ldb`));
    if (outcome === undefined) throw new Error('the process ended before it came to this table');
    // The process itself and its compiler take two thirds of the limit.
    expect(outcome.peak).toBeLessThan(300e6);
    return outcome.outcomes;
  };

  test('an index handle of gigabytes is refused without reading them', () => {
    const found = Object.values(outcomesOf('index'));
    expect(found).toEqual(Array.from({ length: 8 }, () => tooLarge('index block')));
  });

  test.each(['metaindex', 'filter'] as const)('a %s handle of gigabytes costs only the filters', (part) => {
    const found = outcomesOf(part);
    for (const name of ['openSync', 'open']) expect(found[name]).toMatchObject({ state: 'corrupt', error: tooLarge(`${part} block`) });
    expect(found).toMatchObject({
      getSync: ['value of a', 'value of b'],
      keysSync: ['a', 'b'],
      get: 'value of b',
      getMany: ['value of a', 'value of b'],
      keys: ['a', 'b'],
      'keys reversed': ['b', 'a'],
    });
  });

  test('a data block handle of gigabytes costs only that block', () => {
    const found = outcomesOf('data');
    for (const name of ['openSync', 'open']) expect(found[name]).toMatchObject({ state: 'used' });
    for (const name of ['getSync', 'keysSync', 'get', 'getMany', 'keys', 'keys reversed']) expect(found[name], name).toEqual(tooLarge('data block'));
  });
});

describe('maxBlockBytes', () => {
  const data = blockOf([[utf8('a'), new Uint8Array(1000)]]);

  test('limits the stored size of a block, whatever its decompressed size', () => {
    const bytes = buildTable([[utf8('a'), new Uint8Array(1000).map((_, i) => (i * 7919) >> 3)]], { compression: 'none', filterPolicy: null });
    const table = SyncTable.open(new MemorySource(bytes), { maxBlockBytes: 1000 });
    expect(caught(() => table.get(utf8('a')))).toMatchObject({ code: 'BLOOM_TOO_LARGE', structure: 'data block', offset: 0 });
    expect(SyncTable.open(new MemorySource(bytes), { maxBlockBytes: 1100 }).get(utf8('a'))).toHaveLength(1000);
  });

  test('limits every read, including the tail', () => {
    const reads: number[] = [];
    const bytes = assembleTable({ data: Array.from({ length: 50 }, (_, i) => [utf8(String(i).padStart(2, '0')), data]) });
    const source = new MemorySource(bytes);
    const watched = {
      byteLength: bytes.length,
      read: (offset: number, length: number) => {
        reads.push(length);
        return source.read(offset, length);
      },
    };
    const table = SyncTable.open(watched, { maxBlockBytes: 1500, tailBytes: 1e9, cache: null });
    expect([...table.keys()]).toHaveLength(50);
    expect(Math.max(...reads)).toBeLessThanOrEqual(1505);
  });
});
