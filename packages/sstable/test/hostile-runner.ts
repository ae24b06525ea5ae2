// hostile.test.ts runs this in a separate process, so that a hang or a lack of memory ends only that process. It runs actions
// on tables that are crafted to be expensive, from number `first` on, and prints a line of JSON before and after each.
import process from 'node:process';
import { peakMemory } from '@bloom/fixtures/peak-memory';
import { CorruptionError, MemorySource, SyncTable, UnsupportedError } from '@bloom/sstable';
import { salvageTable, tableLayout, verifyTable } from '@bloom/sstable/inspect';
import { putVarint } from '@bloom/bytes';
import { encodeBlockHandle } from '../src/format/block-handle.js';
import { assembleTable, blockOf } from './assemble-table.js';
import { utf8 } from './entries.js';

const none = new Uint8Array(0);

/** A block with these restarts and `count` entries. Their keys have a common prefix and end in four ascending bytes. */
function longBlock(count: number, value: Uint8Array = none, prefix: Uint8Array = none, restarts: (starts: readonly number[]) => number[] = () => [0]): Uint8Array {
  const bytes = new Uint8Array(prefix.length + 16 + count * (20 + value.length));
  const view = new DataView(bytes.buffer);
  const starts: number[] = [];
  let position = 0;
  for (let i = 0; i < count; i++) {
    starts.push(position);
    position = putVarint(bytes, position, i === 0 ? 0 : prefix.length);
    position = putVarint(bytes, position, i === 0 ? prefix.length + 4 : 4);
    position = putVarint(bytes, position, value.length);
    if (i === 0) {
      bytes.set(prefix, position);
      position += prefix.length;
    }
    view.setUint32(position, i);
    bytes.set(value, position + 4);
    position += 4 + value.length;
  }
  const words = restarts(starts);
  const block = new Uint8Array(position + 4 * words.length + 4);
  block.set(bytes.subarray(0, position));
  const blockView = new DataView(block.buffer);
  [...words, words.length].forEach((word, i) => blockView.setUint32(position + 4 * i, word, true));
  return block;
}

const a = utf8('a');
const smallBlock = blockOf([[a, a]]);
const last = new Uint8Array(5).fill(0xff);
const megabytes = new Uint8Array(4e6).fill(0x61);
const toSmallBlock = encodeBlockHandle({ offset: 0, size: smallBlock.length });

/** The tables, of 4 to 20 MB each. */
const files: Record<string, () => Uint8Array> = {
  'a data block of a million entries and one restart': () => assembleTable({ data: [[last, longBlock(1_000_000)]] }),
  'a data block of 200,000 restarts': () => assembleTable({ data: [[last, longBlock(200_000, none, none, (starts) => [...starts])]] }),
  'a data block of 200,000 restarts in disorder': () =>
    assembleTable({ data: [[last, longBlock(200_000, none, none, (starts) => starts.map((_, i) => (i % 2 === 0 ? 0 : starts.at(-i)!)))]] }),
  'a data block of keys that share 4 MB': () => assembleTable({ data: [[last, longBlock(100_000, none, megabytes)]] }),
  'an index of keys that share 4 MB': () => assembleTable({ data: [[a, smallBlock]], index: longBlock(100_000, toSmallBlock, megabytes) }),
  'a metaindex of names that share 4 MB': () =>
    assembleTable({ data: [[a, smallBlock]], metaindex: longBlock(100_000, toSmallBlock, megabytes) }),
  'a metaindex of 400,000 names': () => assembleTable({ data: [[a, smallBlock]], metaindex: longBlock(400_000, toSmallBlock) }),
  'an index that leads to one large block 100,000 times': () => {
    const block = longBlock(100_000);
    return assembleTable({ data: [[a, block]], index: longBlock(100_000, encodeBlockHandle({ offset: 0, size: block.length })) });
  },
  'an index that leads to itself 100,000 times': () => {
    // The metaindex, which precedes the index, has 13 bytes.
    const length = longBlock(100_000, encodeBlockHandle({ offset: 13, size: 1_000_000 })).length;
    return assembleTable({ index: longBlock(100_000, encodeBlockHandle({ offset: 13, size: length })) });
  },
  'a metaindex that leads to one large block 100,000 times': () => {
    const contents = new Uint8Array(4e6);
    const handle = encodeBlockHandle({ offset: smallBlock.length + 5, size: contents.length });
    return assembleTable({ data: [[a, smallBlock]], filter: { name: 'x', contents }, metaindex: longBlock(100_000, handle) });
  },
  'an index of 100,000 restarts in disorder': () =>
    assembleTable({
      data: [[a, smallBlock]],
      index: longBlock(100_000, toSmallBlock, none, (starts) => starts.map((_, i) => (i % 2 === 0 ? 0 : starts.at(-i)!))),
    }),
  'a filter block of a million offsets': () => {
    const contents = new Uint8Array(4_000_005);
    contents[4_000_004] = 11;
    return assembleTable({ data: [[a, smallBlock]], filter: { name: 'leveldb.BuiltinBloomFilter2', contents } });
  },
};

const options = { maxBlockBytes: 2 ** 25 };

const actions: Record<string, (source: MemorySource) => unknown> = {
  open: (source) => SyncTable.open(source, options).blockCount,
  get: (source) => SyncTable.open(source, options).getMany([none, a, last, Uint8Array.of(0, 0, 0xff), new Uint8Array(2000)]),
  'the first entries': (source) => [...SyncTable.open(source, options).keys({ limit: 100 })].length,
  'the last entries': (source) => [...SyncTable.open(source, options).keys({ limit: 100, reverse: true })].length,
  verify: (source) => verifyTable(source, options),
  'layout of blocks': async (source) => {
    for await (const _ of tableLayout(source, { ...options, detail: 'blocks' }));
  },
  salvage: (source) => salvageTable(source, () => undefined, options),
};

const first = Number(process.argv[2]);
let number = 0;
for (const [file, make] of Object.entries(files)) {
  let source: MemorySource | undefined;
  for (const [action, run] of Object.entries(actions)) {
    if (number++ < first) continue;
    source ??= new MemorySource(make());
    process.stdout.write(`${JSON.stringify({ number: number - 1, file, action })}\n`);
    const before = process.cpuUsage();
    let error: string | undefined;
    try {
      await run(source);
    } catch (thrown) {
      const isCoded = thrown instanceof CorruptionError || thrown instanceof UnsupportedError;
      if (!isCoded) error = String(thrown);
    }
    const { user, system } = process.cpuUsage(before);
    process.stdout.write(`${JSON.stringify({ number: number - 1, milliseconds: Math.round((user + system) / 1000), error })}\n`);
  }
}
process.stdout.write(`${JSON.stringify({ peak: peakMemory(), actions: number })}\n`);
