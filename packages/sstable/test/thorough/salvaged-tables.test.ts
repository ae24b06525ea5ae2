import process from 'node:process';
import { type Random, seeded } from '@bloom/bytes/internal';
import { entriesSha256, formatKv, goldenTables, type KeyValue, realTables } from '@bloom/fixtures';
import { MemorySource } from '@bloom/sstable';
import { salvageTable } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { decodeFooter, FOOTER_LENGTH } from '../../src/format/footer.js';
import { buildTable } from '../build-table.js';
import { utf8 } from '../entries.js';
import { storedDataBlocks } from '../stored-data-blocks.js';
import { zlibCodecs } from '../zlib-codecs.js';

// BLOOM_SALVAGE_RUNS is how often each table is damaged.
const runs = Number(process.env.BLOOM_SALVAGE_RUNS ?? 12);
const seed = Number(process.env.BLOOM_SALVAGE_SEED ?? 1);

/** An id that distinguishes entries: their bytes, or a hash of long ones. */
function entryId(key: Uint8Array, value: Uint8Array): string {
  const entry: KeyValue = [key, value];
  return key.length + value.length < 1000 ? Buffer.from(formatKv([entry])).toString('latin1') : entriesSha256([entry]);
}

/** A damaged file, and the new offsets of bytes after a gap or an insertion. */
interface Damaged {
  readonly kinds: readonly string[];
  readonly bytes: Uint8Array;
  readonly shift: number;
}

/** Damages the end of a table, where index and footer are, and then up to three places anywhere. */
function damaged(random: Random, good: Uint8Array): Damaged {
  const footerOffset = good.length - FOOTER_LENGTH;
  const { metaindex, index } = decodeFooter(good.subarray(footerOffset), { structure: 'footer', offset: footerOffset });
  const kinds: string[] = [];
  let bytes = good.slice();
  let shift = 0;
  const destroy = (kind: string, start: number, end: number): void => {
    kinds.push(kind);
    const how = random.below(3);
    for (let i = start; i < Math.min(end, bytes.length); i++) {
      bytes[i] = how === 0 ? 0 : how === 1 ? random.below(256) : bytes[i]! ^ (1 + random.below(255));
    }
  };
  switch (random.below(6)) {
    case 0:
      destroy('index', index.offset, index.offset + 1 + random.below(index.size + 5));
      break;
    case 1:
      destroy('footer', footerOffset + random.below(FOOTER_LENGTH), good.length);
      break;
    case 2:
      destroy('index and footer', index.offset + random.below(index.size), good.length);
      break;
    case 3:
      destroy('metaindex and index', metaindex.offset, Math.max(metaindex.offset + 1, index.offset + random.below(index.size)));
      break;
    case 4:
      kinds.push('end cut off');
      bytes = bytes.slice(0, random.below(good.length));
      break;
    default:
      kinds.push('end left as it is');
  }
  for (let i = random.below(4); i > 0 && bytes.length > 0; i--) {
    const start = random.below(bytes.length);
    switch (random.below(4)) {
      case 0:
        destroy('byte', start, start + 1);
        break;
      case 1:
        destroy('sector', start - (start % 512), start - (start % 512) + 512);
        break;
      case 2:
        destroy('20 kB', start, start + random.below(20_000));
        break;
      default: {
        if (shift !== 0) break;
        const length = 1 + random.below(Math.min(3000, bytes.length - start));
        const isRemoved = random.below(2) === 0;
        kinds.push(isRemoved ? 'bytes removed' : 'bytes put in');
        shift = isRemoved ? -length : length;
        const rest = isRemoved ? [bytes.subarray(start + length)] : [random.bytes(length), bytes.subarray(start)];
        bytes = new Uint8Array(Buffer.concat([bytes.subarray(0, start), ...rest]));
      }
    }
  }
  return { kinds, bytes, shift };
}

/** RocksDB's and Pebble's type of a range deletion. Range deletions are in a block that only the metaindex distinguishes from data blocks. */
const RANGE_DELETION = 0x0f;

const tables = [
  ...[...goldenTables(), ...goldenTables({ comparator: 'trailing-space' })].map(({ name, bytes }) => ({ name, bytes: bytes() })),
  ...realTables().map(({ file, bytes }) => ({ name: file, bytes: bytes() })),
];

describe(`if a table is damaged anywhere, exactly the entries of intact blocks are saved (seed ${seed})`, () => {
  test.each(tables)('$name', { timeout: 3600_000 }, async ({ name, bytes: good }) => {
    const blocks = storedDataBlocks(new MemorySource(good), { codecs: zlibCodecs }).map(({ start, end, entries }) => ({
      start,
      end,
      ids: entries.map(([key, value]) => entryId(key, value)),
    }));
    const written = new Set(blocks.flatMap(({ ids }) => ids));
    const random = seeded(seed * 7919 + good.length);
    const wrong: string[] = [];
    const times = good.length > 50_000 ? Math.ceil(runs / 6) : runs;
    for (let run = 0; run < times; run++) {
      const { kinds, bytes, shift } = damaged(random, good);
      const saved = new Set<string>();
      let strange = 0;
      let given = 0;
      const options = { codecs: zlibCodecs, comparator: null };
      const report = await salvageTable(
        new MemorySource(bytes),
        (key, value) => {
          given++;
          const id = entryId(key, value);
          saved.add(id);
          const isRangeDeletion = name.includes('pebble') && key[key.length - 8] === RANGE_DELETION;
          if (!written.has(id) && !isRangeDeletion) strange++;
        },
        options,
      );
      const isWhole = (start: number, end: number, by: number): boolean =>
        start + by >= 0 && end + by <= bytes.length && Buffer.compare(good.subarray(start, end), bytes.subarray(start + by, end + by)) === 0;
      const whole = blocks.filter(({ start, end }) => isWhole(start, end, 0) || isWhole(start, end, shift));
      const missing = whole.flatMap(({ ids }) => ids).filter((id) => !saved.has(id)).length;
      if (missing > 0 || strange > 0) wrong.push(`${run}, ${kinds.join(', ')}: ${missing} are missing, ${strange} were never written`);
      if (report.entries !== given) wrong.push(`${run}: ${report.entries} reported, ${given} given`);
      if (whole.length < blocks.length && report.lost.length === 0 && report.findings.length === 0) wrong.push(`${run}: the loss is not told`);
    }
    expect(wrong).toEqual([]);
  });
});

test('without an index, a block of 9 MiB is found after a damaged one', async () => {
  const written = [100, 9 * 2 ** 20, 100].map((length, i): KeyValue => [utf8(`key ${i}`), seeded(i).bytes(length)]);
  const good = buildTable(written, { blockSize: 50, compression: 'none' });
  const blocks = storedDataBlocks(new MemorySource(good));
  const bytes = good.slice(0, blocks.at(-1)!.end);
  bytes[(blocks[0]!.start + blocks[0]!.end) >> 1]! ^= 0x20;
  const saved: string[] = [];
  await salvageTable(new MemorySource(bytes), (key, value) => saved.push(entryId(key, value)));
  expect(saved).toEqual(written.slice(1).map(([key, value]) => entryId(key, value)));
});
