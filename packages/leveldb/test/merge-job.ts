// Compactions and memtables of random entries and options, made into tables by the merge kernel and entry by entry.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { maskedCrc32c } from '@bloom/crc32c';
import { seeded } from '@bloom/fixtures';
import { type FilterPolicy, FittedBloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Codec, MemorySink, TableBuilder, type TableBuilderOptions } from '@bloom/sstable';
import { decodeInternalKey, encodeInternalKey } from '@bloom/sstable/database';
import { BlockSearch, compareInternalBytes } from '@bloom/sstable/internal';
import { expect } from 'vitest';
import { mergeByEntries } from '../src/compact/run-compaction.js';
import type { CompactionContext } from '../src/compact/compaction-context.js';
import { flushInKernel } from '../src/compact/flush-in-kernel.js';
import { flushByEntries } from '../src/compact/flushed-table.js';
import { mergeInKernel } from '../src/compact/merge-in-kernel.js';
import { DamagePolicy } from '../src/folder/damage.js';
import { runAsync, runSync } from '../src/folder/folder-reading.js';
import type { CompactedTables, CompactionPlan } from '../src/folder/table-thread.js';
import { WritableMemoryFolder } from '../src/folder/writable-memory-folder.js';
import { keyOrderOf } from '../src/format/database-key.js';
import { tableFileName } from '../src/format/file-name.js';
import type { FileMetadata } from '../src/format/version-edit.js';
import { Memtable } from '../src/memtable/memtable.js';
import { TableCache, ViewTables } from '../src/table/table-cache.js';
import { type DatabaseOptions, settingsOf } from '../src/write/database-options.js';
import { provideFittedPolicy } from '../src/write/load-fitted-policy.js';
import { CopyingFolder } from './copying-folder.js';

// The settings of jobs are made without opening a database, which would load it.
provideFittedPolicy(FittedBloomFilterPolicy);

export type Random = ReturnType<typeof seeded>;
export type Stored = readonly [key: Uint8Array, value: Uint8Array];

export const deflateCodec: Codec = {
  type: 4,
  name: 'deflate',
  compress: (contents) => new Uint8Array(deflateRawSync(contents)),
  decompress: (compressed, maxBytes) => new Uint8Array(inflateRawSync(compressed, { maxOutputLength: maxBytes })),
};

const invertingCodec: Codec = {
  type: 77,
  name: 'inverting',
  // Shorter by a quarter, as otherwise it would not be used.
  compress: (contents) => Uint8Array.from(contents.filter((_, i) => i % 4 !== 3)),
  decompress: () => {
    throw new Error('only written');
  },
};

/** Filters are the lengths of their keys. */
const lengthsPolicy: FilterPolicy = {
  name: 'test.Lengths',
  createFilter: (keys, dst) => {
    const filter = dst.extend(keys.length);
    for (let i = 0; i < keys.length; i++) filter[i] = keys.at(i).length;
  },
  keyMayMatch: () => true,
};

/** An alphabet of few bytes, so that keys share much, and of the greatest and least ones. */
const ALPHABET = [0, 0, 0x61, 0x61, 0x61, 0x62, 0xff];

/** The longest user key that the kernels take, which have room for 64 KiB. */
const LONGEST_KEY = 2 ** 16 - 8;

/** Longer than what a source of a kernel has room for at first, or as long as any key that a kernel takes. Most share all but their last bytes. */
function longKey(random: Random, longest: number): Uint8Array {
  const length = random.pick([2 ** 13 - random.below(20), 2 ** 13 + random.below(20), 8000 + random.below(12_000), longest - random.below(3)]);
  return Uint8Array.from({ length }, (_, i) => (i < length - 3 ? 0x61 : random.pick(ALPHABET)));
}

function randomKey(random: Random, longest: number): Uint8Array {
  if (longest > 0 && random.below(100) === 0) return longKey(random, longest);
  const shape = random.below(10);
  if (shape === 0) return random.bytes(random.below(4));
  if (shape === 1) return Uint8Array.from({ length: 200 + random.below(200) }, (_, i) => (i < 190 ? 0x61 : random.pick(ALPHABET)));
  if (shape < 6) return new TextEncoder().encode(String(random.below(3000)).padStart(12, '0'));
  return Uint8Array.from({ length: random.below(20) }, () => random.pick(ALPHABET));
}

function randomValue(random: Random): Uint8Array {
  const shape = random.below(30);
  if (shape === 0) return random.pick([random.bytes(random.below(6000)), new Uint8Array(random.below(6000))]);
  if (shape < 10) return new Uint8Array(random.below(300)).fill(random.below(256));
  return random.bytes(random.below(60));
}

/** Random entries with keys of their own, among them versions of the same user keys. */
export function randomEntries(random: Random, count: number, versions: number, longestKey = LONGEST_KEY): Stored[] {
  const entries: Stored[] = [];
  while (entries.length < count) {
    const userKey = randomKey(random, longestKey);
    for (let i = random.below(versions); i >= 0; i--) {
      const key = encodeInternalKey({ userKey, sequence: BigInt(entries.length * 7 + random.below(7)), type: random.below(3) === 0 ? 0 : 1 });
      entries.push([key, randomValue(random)]);
    }
  }
  return entries;
}

function compareInternalKeys(a: Uint8Array, b: Uint8Array): number {
  return compareInternalBytes(a, 0, a.length, b, 0, b.length);
}

function sorted(entries: readonly Stored[]): Stored[] {
  const all = [...entries].sort(([a], [b]) => compareInternalKeys(a, b));
  return all.filter(([key], i) => i === 0 || compareInternalKeys(all[i - 1]![0], key) !== 0);
}

/** Tables, by number, and their bytes. */
export class Tables {
  readonly files = new Map<string, Uint8Array>();
  #number = 0n;
  readonly #options: TableBuilderOptions;

  constructor(options: TableBuilderOptions) {
    this.#options = options;
  }

  /** Writes sorted entries to one table. */
  write(entries: readonly Stored[]): FileMetadata {
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, this.#options);
    for (const [key, value] of entries) builder.add(key, value);
    builder.finish();
    const bytes = sink.toBytes();
    const number = ++this.#number;
    this.files.set(tableFileName(number), bytes);
    return { number, size: bytes.length, smallest: entries[0]![0], largest: entries.at(-1)![0] };
  }

  /** Writes sorted entries to several tables. */
  level(random: Random, entries: readonly Stored[], most: number): FileMetadata[] {
    const files: FileMetadata[] = [];
    for (let start = 0; start < entries.length; ) {
      const end = Math.min(entries.length, start + 1 + random.below(Math.ceil((entries.length * 2) / most)));
      files.push(this.write(entries.slice(start, end)));
      start = end;
    }
    return files;
  }
}

/** A compaction to be made: its inputs, and how. */
export interface Job {
  readonly plan: CompactionPlan;
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly options: DatabaseOptions;
  readonly maxFileSize: number;
  readonly oldestSequence: bigint;
  readonly isAsync: boolean;
}

const anyBlockSize = (random: Random): number => random.pick([2 ** 10, 2 ** 12, 2 ** 10 + random.below(63 * 2 ** 10)]);
const anyInterval = (random: Random): number => random.pick([1, 16, 1 + random.below(64)]);

/** @param longestKey 0 for no keys longer than 400 bytes. */
export function randomJob(random: Random, own: DatabaseOptions = {}, longestKey = LONGEST_KEY): Job {
  const options: DatabaseOptions = {
    blockSize: anyBlockSize(random),
    blockRestartInterval: random.pick([anyInterval(random), 1000]),
    compression: random.pick(['none', 'snappy', 'snappy', deflateCodec, invertingCodec]),
    filterRange: random.pick([undefined, 256, 2048, 2 ** 20]),
    ...random.pick<DatabaseOptions>([{}, { filterPolicy: null }, { fitFilters: true }, { filterPolicy: new FittedBloomFilterPolicy(7) }, { filterPolicy: lengthsPolicy }]),
    ...own,
  };
  const { building } = settingsOf({ ...options, compression: options.compression === invertingCodec ? 'snappy' : options.compression });
  const tables = new Tables({ ...building, blockSize: anyBlockSize(random), blockRestartInterval: anyInterval(random) });
  const entries = sorted(randomEntries(random, 50 + random.below(1500), random.pick([1, 4]), longestKey));
  const level = random.below(3);
  const count = level === 0 ? 2 + random.below(6) : 2;
  const sources = Array.from({ length: count }, (): Stored[] => []);
  for (const entry of entries) random.pick(sources).push(entry);
  const oldestSequence = BigInt(random.pick([0, 1000, 5000, 2 ** 40]));
  // Copies of an entry, with other values so that it shows which one is kept. The kernel leaves those that are not dropped to the other path.
  if (oldestSequence === 2n ** 40n) for (const source of sources.slice(0, 2)) source.splice(0, Infinity, ...sorted([...source, ...entries.filter(() => random.below(30) === 0).map(([key]) => [key, random.bytes(9)] as const)]));
  const [lower = [], ...upper] = sources.filter((source) => source.length > 0);
  const inputs: [FileMetadata[], FileMetadata[]] =
    level === 0 ? [upper.map((some) => tables.write(some)), tables.level(random, lower, 3)] : [upper.flatMap((some) => tables.level(random, some, 4)), tables.level(random, lower, 6)];
  // What lies below is only known by its bounds.
  const below = (): FileMetadata[] =>
    random.below(3) === 0 ? [] : Array.from({ length: 4 }, (_, i) => entries.slice(i * 20, i * 20 + 1 + random.below(19))).filter((some) => some.length > 0).map((some) => tables.write(some));
  const grandparents = random.below(4) === 0 ? [] : tables.level(random, entries.filter(() => random.below(3) === 0), 12);
  return {
    plan: { level, inputs, below: [below(), below()], grandparents: grandparents.map((file) => ({ ...file, size: file.size * random.pick([1, 20, 100]) })) },
    files: tables.files,
    options,
    maxFileSize: random.pick([3000, 20_000, 2 ** 20]),
    oldestSequence,
    isAsync: random.below(2) === 0,
  };
}

/** The tables that were made, and their bytes, or the error. */
export async function outcome(merge: (plan: CompactionPlan, context: CompactionContext) => Promise<CompactedTables | undefined>, { plan, files, options, maxFileSize, oldestSequence, isAsync }: Job): Promise<unknown> {
  const folder = new WritableMemoryFolder(files);
  // As a thread reads files, several blocks at a time as they are stored.
  const disk = new CopyingFolder(files);
  const settings = settingsOf(options);
  const cache = new TableCache(100, {}, settings.opening, null);
  let number = 1000n;
  const onTable: bigint[] = [];
  const context: CompactionContext = {
    tables: new ViewTables(cache, [], []),
    damage: new DamagePolicy(true),
    folder,
    read: (reading) => (isAsync ? runAsync(folder, reading) : runSync(disk, reading)),
    readsAtOnce: !isAsync,
    order: keyOrderOf(bytewiseComparator),
    building: settings.building,
    maxFileSize,
    oldestSequence,
    newFileNumber: () => ++number,
    onTable: (table) => void onTable.push(table.file.number),
    interlude: () => undefined,
  };
  try {
    const made: CompactedTables | undefined = await merge(plan, context);
    if (made === undefined) {
      expect(onTable).toEqual([]);
      return undefined;
    }
    expect(onTable).toEqual(made.tables.map(({ file }) => file.number));
    return { made, bytes: made.tables.map(({ file }) => folder.files().get(tableFileName(file.number))) };
  } catch (error) {
    return error;
  } finally {
    await cache.close();
  }
}

/** Has a data block of a table damaged, usually with a checksum of the damaged bytes. */
function withDamage(random: Random, { plan, files, ...job }: Job, damage: (bytes: Uint8Array, offset: number, size: number) => void, checksums: number): Job {
  const file = random.pick(plan.inputs.flat());
  const name = tableFileName(file.number);
  const bytes = files.get(name)!.slice();
  const { index } = runSync(new WritableMemoryFolder(files), new TableCache(100, {}, settingsOf({ codecs: [deflateCodec] }).opening, null).open(file)).table;
  const i = random.below(index.length);
  const [offset, size] = [index.offsetOf(i), index.sizeOf(i)];
  damage(bytes, offset, size);
  if (random.below(8) < checksums) new DataView(bytes.buffer).setUint32(offset + size + 1, maskedCrc32c(bytes.subarray(offset, offset + size + 1)), true);
  return { plan, files: new Map([...files, [name, bytes]]), ...job };
}

/** Damages bytes of a data block. The checksum is that of the damaged bytes, in seven of eight cases. */
export function damaged(random: Random, job: Job): Job {
  const damage = (bytes: Uint8Array, offset: number, size: number): void => {
    for (let changes = 1 + random.below(2); changes > 0; changes--) {
      // Mostly lengths and restarts, and what is close to them.
      const at = random.pick([random.below(size), random.below(Math.min(size, 16)), size - 1 - random.below(Math.min(size, 12))]);
      bytes[offset + at] = random.pick([random.below(256), 0, 0xff, 0x80, bytes[offset + at]! ^ 1]);
    }
  };
  return withDamage(random, job, damage, 7);
}

/** Damages a length or the key of an entry in the second half of a data block. The checksum is that of the damaged bytes. */
export function damagedEntry(random: Random, job: Job): Job {
  const damage = (bytes: Uint8Array, offset: number, size: number): void => {
    const starts = entryStarts(bytes.subarray(offset, offset + size));
    // The three lengths, of which these have one byte each, come before the key.
    const start = offset + random.pick(starts.slice(starts.length >> 1));
    const damages = [
      () => (bytes[start] = random.pick([0x7f, bytes[start]! + 1])),
      () => (bytes[start + 2] = random.pick([0x7f, 0xff, bytes[start + 2]! + 1])),
      () => (bytes[start + 3] = random.pick([0, 0xff])),
    ];
    random.pick(damages)();
  };
  return withDamage(random, job, damage, 8);
}

/** Replaces the first byte of several keys of some blocks by the greatest or the least one. The checksums are those of the changed bytes. */
export function disorderedKeys(random: Random, job: Job): Job {
  const disorder = (bytes: Uint8Array, offset: number, size: number): void => {
    const contents = bytes.subarray(offset, offset + size);
    for (const start of entryStarts(contents)) {
      // Not in a trailer, where it may be the type.
      const [shared, unshared] = [contents[start]!, contents[start + 1]!];
      const isShort = shared < 0x80 && unshared < 0x80 && contents[start + 2]! < 0x80;
      if (isShort && unshared > 8 && random.below(4) === 0) contents[start + 3] = random.pick([0, 0xff]);
    }
  };
  return [1, 2, 3, 4].reduce((disordered) => withDamage(random, disordered, disorder, 8), job);
}

/** Replaces restarts of some blocks by the start of another entry, an offset within one, or one that is too large. The checksums are those of the changed bytes. */
export function damagedRestarts(random: Random, job: Job): Job {
  const damage = (bytes: Uint8Array, offset: number, size: number): void => {
    const view = new DataView(bytes.buffer, offset, size);
    const restarts = view.getUint32(size - 4, true);
    if (restarts === 1) return;
    const starts = entryStarts(bytes.subarray(offset, offset + size));
    for (let changes = 1 + random.below(2); changes > 0; changes--) {
      // Any but the first, mostly one of the last.
      const at = size - 4 - 4 * (1 + random.below(Math.min(restarts - 1, 4)));
      view.setUint32(at, random.pick([random.pick(starts), random.below(size), size, 2 ** 32 - 1 - random.below(2 ** 17)]), true);
    }
  };
  return [1, 2, 3, 4, 5, 6].reduce((some) => withDamage(random, some, damage, 8), job);
}

/** Where the entries start whose keys have bytes of their own: those before the first damage. */
function entryStarts(contents: Uint8Array): number[] {
  const block = new BlockSearch(compareInternalBytes, 'data block');
  const starts: number[] = [];
  try {
    block.reset(contents, 0);
    for (let more = block.seekToFirst(); more; more = block.next()) if (block.keyLength > block.shared) starts.push(block.entryStart);
  } catch (error) {
    expect(error).toMatchObject({ code: 'BLOOM_BAD_BLOCK' });
  }
  return starts;
}

/** A memtable of random entries, some of them copies, as the replay of a log with a record twice has them. */
function randomMemtable(random: Random, entries: readonly Stored[]): Memtable {
  const memtable = new Memtable(compareInternalBytes);
  for (const [key, value] of entries) {
    const { userKey, sequence, type } = decodeInternalKey(key)!;
    const bytes = new Uint8Array([...userKey, ...value]);
    for (let i = random.below(20) === 0 ? 2 : 1; i > 0; i--) memtable.add(sequence, type, bytes, 0, userKey.length, userKey.length, bytes.length);
  }
  return memtable;
}

export async function becomesTheSameTable(seed: number): Promise<void> {
  const random = seeded(seed);
  const { options } = randomJob(random);
  const { building } = settingsOf(options);
  const { arrays } = randomMemtable(random, random.shuffle(randomEntries(random, 1 + random.below(2000), 3)));
  const byEntries = new WritableMemoryFolder();
  const byKernel = new WritableMemoryFolder();
  const written = await flushInKernel(arrays, byKernel, 5n, building);
  expect(written).toBeDefined();
  expect(written).toEqual(await flushByEntries(arrays, keyOrderOf(bytewiseComparator), byEntries, 5n, building));
  expect(byKernel.files()).toEqual(byEntries.files());
}

interface Outcome {
  readonly made: CompactedTables;
}

/** Compares the merges of random inputs and options. @returns how often each rule was needed. */
export async function compareMerges(seeds: number): Promise<Record<string, number>> {
  const seen = { shadowed: 0, deletions: 0, keptDeletions: 0, cuts: 0, tables: 0, async: 0 };
  for (let seed = 0; seed < seeds; seed++) {
    const job = randomJob(seeded(seed));
    const byKernel = await outcome(mergeInKernel, job);
    expect(byKernel, `seed ${seed}`).toHaveProperty('made.tables');
    expect(byKernel, `seed ${seed}`).toEqual(await outcome(mergeByEntries, job));
    const { made } = byKernel as Outcome;
    const uncut = (await outcome(mergeInKernel, { ...job, plan: { ...job.plan, grandparents: [] } })) as Outcome;
    const bottom = (await outcome(mergeInKernel, { ...job, plan: { ...job.plan, below: [] } })) as Outcome;
    seen.shadowed += made.shadowedDropped;
    seen.deletions += made.deletionsDropped;
    seen.keptDeletions += bottom.made.deletionsDropped - made.deletionsDropped;
    seen.cuts += made.tables.length - uncut.made.tables.length;
    seen.tables += made.tables.length;
    seen.async += Number(job.isAsync);
  }
  return seen;
}

/** Compares the merges of damaged inputs. @returns how often they end how. */
export async function compareDamagedMerges(seeds: number): Promise<Record<string, number>> {
  const kinds = { same: 0, left: 0, failed: 0 };
  for (let seed = 0; seed < seeds; seed++) {
    const random = seeded(1_000_000 + seed);
    const job = damaged(random, randomJob(random, { compression: random.pick(['none', 'none', 'snappy', deflateCodec]) }));
    const byKernel = await outcome(mergeInKernel, job);
    if (byKernel === undefined) {
      kinds.left++;
      continue;
    }
    const byEntries = await outcome(mergeByEntries, job);
    expect(byKernel, `seed ${seed}`).toEqual(byEntries);
    if (byKernel instanceof Error) {
      expect(byKernel).toMatchObject({ name: (byEntries as Error).name, message: (byEntries as Error).message });
      kinds.failed++;
    } else {
      kinds.same++;
    }
  }
  return kinds;
}
