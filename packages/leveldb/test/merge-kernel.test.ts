// The kernel merges as the path that goes entry by entry: the same tables, byte for byte. Damaged inputs give the same error, or the kernel
// leaves them to the other path. `thorough/merge-kernel.test.ts` compares more of them.
import { maskedCrc32c } from '@bloom/crc32c';
import { seeded } from '@bloom/fixtures';
import { bytewiseComparator } from '@bloom/sstable';
import { encodeInternalKey } from '@bloom/sstable/database';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { mergeByEntries, writeCompactedTables } from '../src/compact/run-compaction.js';
import { kernelWork } from '../src/compact/load-kernel-work.js';
import { mergeInKernel } from '../src/compact/merge-in-kernel.js';
import { keyOrderOf } from '../src/format/database-key.js';
import { tableFileName } from '../src/format/file-name.js';
import type { FileMetadata } from '../src/format/version-edit.js';
import { type DatabaseOptions, settingsOf } from '../src/write/database-options.js';
import { becomesTheSameTable, compareDamagedMerges, compareMerges, type Job, outcome, randomJob, Tables } from './merge-job.js';
import { reverseComparator } from './reverse-comparator.js';

test('random inputs and options give the same tables', async () => {
  // Each rule was needed.
  expect(Math.min(...Object.values(await compareMerges(3)))).toBeGreaterThan(0);
});

test('damaged inputs give the same error or the same tables, or are left to the other path', async () => {
  expect(Math.min(...Object.values(await compareDamagedMerges(5)))).toBeGreaterThan(0);
});

test('memtables of random entries and options become the same tables', async () => {
  for (let seed = 0; seed < 3; seed++) await becomesTheSameTable(seed);
});

test('kernels work on at least 16 KiB, in bytewise order', async () => {
  expect(await kernelWork(keyOrderOf(bytewiseComparator), 2 ** 14)).toHaveProperty('mergeInKernel', mergeInKernel);
  expect(await kernelWork(keyOrderOf(bytewiseComparator), 2 ** 14 - 1)).toBeUndefined();
  expect(await kernelWork(keyOrderOf(reverseComparator), 2 ** 14)).toBeUndefined();
});

/** Two tables with the same keys, with one value that is long. */
function jobWithValueOf(byteLength: number): Job {
  const random = seeded(1);
  const options: DatabaseOptions = { compression: 'none' };
  const tables = new Tables(settingsOf(options).building);
  const table = (sequence: bigint): FileMetadata =>
    tables.write(Array.from({ length: 100 }, (_, i) => [encodeInternalKey({ userKey: Uint8Array.of(i), sequence, type: 1 }), random.bytes(i === 50 ? byteLength : 1000)] as const));
  return { plan: { level: 0, inputs: [[table(2n), table(1n)], []], below: [], grandparents: [] }, files: tables.files, options, maxFileSize: 2 ** 21, oldestSequence: 0n, isAsync: false };
}

test('values of up to a megabyte are merged in the kernel, longer ones in the other path', async () => {
  for (const byteLength of [100_000, 500_000, 1_040_000]) {
    const job = jobWithValueOf(byteLength);
    const made = await outcome(mergeInKernel, job);
    expect(made).toHaveProperty('made.entriesRead', 200);
    expect(made).toEqual(await outcome(mergeByEntries, job));
  }
  for (const byteLength of [1_100_000, 3_000_000]) {
    const job = jobWithValueOf(byteLength);
    expect(await outcome(mergeInKernel, job)).toBeUndefined();
    expect(await outcome(writeCompactedTables, job)).toHaveProperty('made.entriesRead', 200);
  }
});

test('keys that share nearly all of their bytes, so that a block has fewer bytes than they have', async () => {
  const options: DatabaseOptions = { blockRestartInterval: 1000, blockSize: 100_000 };
  const tables = new Tables(settingsOf(options).building);
  const table = (first: number): FileMetadata => tables.write(Array.from({ length: 30 }, (_, i) => [encodeInternalKey({ userKey: new Uint8Array(60_000).fill(first + i * 2, 59_999), sequence: 1n, type: 1 }), Uint8Array.of(i)] as const));
  const job: Job = { plan: { level: 0, inputs: [[table(0), table(1)], []], below: [], grandparents: [] }, files: tables.files, options, maxFileSize: 2 ** 20, oldestSequence: 0n, isAsync: false };
  expect(await outcome(mergeInKernel, job)).toHaveProperty('made.tables.0.entries', 60);
  expect(await outcome(mergeInKernel, job)).toEqual(await outcome(mergeByEntries, job));
});

test.each([
  { what: 'a key too short for a database', keys: [Uint8Array.of(1, 2, 3), encodeInternalKey({ userKey: Uint8Array.of(9), sequence: 1n, type: 1 })] },
  { what: 'an unknown type', keys: [encodeInternalKey({ userKey: Uint8Array.of(9), sequence: 1n, type: 2 })] },
])('$what is left to the other path, which keeps it', async ({ keys }) => {
  const options: DatabaseOptions = { filterPolicy: null };
  const tables = new Tables({ ...settingsOf(options).building });
  const files = [tables.write(keys.map((key) => [key, key] as const))];
  const job: Job = { plan: { level: 0, inputs: [files, []], below: [], grandparents: [] }, files: tables.files, options, maxFileSize: 2 ** 20, oldestSequence: 0n, isAsync: false };
  expect(await outcome(mergeInKernel, job)).toBeUndefined();
  expect(await outcome(writeCompactedTables, job)).toHaveProperty('made.entriesRead', keys.length);
});

test.each([
  { what: 'user keys', keys: [2, 1].map((i) => encodeInternalKey({ userKey: Uint8Array.of(i), sequence: 1n, type: 1 })) },
  { what: 'a longer user key before its start', keys: [[1, 1], [1]].map((bytes) => encodeInternalKey({ userKey: Uint8Array.from(bytes), sequence: 1n, type: 1 })) },
  { what: 'versions', keys: [1n, 2n].map((sequence) => encodeInternalKey({ userKey: Uint8Array.of(1), sequence, type: 1 })) },
  { what: 'copies', keys: [1n, 1n].map((sequence) => encodeInternalKey({ userKey: Uint8Array.of(1), sequence, type: 1 })) },
])('an input whose $what are out of order gives the error of the other path', async ({ keys }) => {
  const options: DatabaseOptions = { filterPolicy: null };
  const anyOrder = { name: 'any', compare: () => -1, findShortestSeparator: (start: Uint8Array) => start, findShortSuccessor: (key: Uint8Array) => key };
  const tables = new Tables({ ...settingsOf(options).building, comparator: anyOrder });
  const files = [tables.write(keys.map((key) => [key, key] as const))];
  const job: Job = { plan: { level: 0, inputs: [files, []], below: [], grandparents: [] }, files: tables.files, options, maxFileSize: 2 ** 20, oldestSequence: 0n, isAsync: false };
  expect(await outcome(mergeInKernel, job)).toBeUndefined();
  expect(await outcome(writeCompactedTables, job)).toMatchObject({ name: 'RangeError', message: expect.stringContaining('key must be after the previous key') as string });
});

test('a length of more than 32 bits is cut to its low 32, as in LevelDB', async () => {
  const options: DatabaseOptions = { filterPolicy: null, compression: 'none' };
  const tables = new Tables(settingsOf(options).building);
  const file = tables.write([[encodeInternalKey({ userKey: Uint8Array.of(7), sequence: 1n, type: 1 }), new Uint8Array(5)]]);
  const job: Job = { plan: { level: 0, inputs: [[file], []], below: [], grandparents: [] }, files: tables.files, options, maxFileSize: 2 ** 20, oldestSequence: 0n, isAsync: false };
  const bytes = tables.files.get(tableFileName(file.number))!;
  // The lengths 0, 9, 5 become 0, 9, 2^32 + 1. As long as before, the block has three entry bytes, the key, a byte of value, a restart and their number.
  bytes.copyWithin(7, 3, 12);
  bytes.set([0x81, 0x80, 0x80, 0x80, 0x10], 2);
  new DataView(bytes.buffer).setUint32(26, maskedCrc32c(bytes.subarray(0, 26)), true);
  const made = await outcome(mergeInKernel, job);
  expect(made).toHaveProperty('made.tables.0.entries', 1);
  expect(made).toEqual(await outcome(mergeByEntries, job));
});

test('more inputs than the kernel takes are left to the other path', async () => {
  const options: DatabaseOptions = {};
  const tables = new Tables(settingsOf(options).building);
  const files = Array.from({ length: 65 }, (_, i) => tables.write([[encodeInternalKey({ userKey: Uint8Array.of(i), sequence: 1n, type: 1 }), Uint8Array.of(i)]]));
  const job: Job = { plan: { level: 0, inputs: [files, []], below: [], grandparents: [] }, files: tables.files, options, maxFileSize: 2 ** 20, oldestSequence: 0n, isAsync: false };
  expect(await outcome(mergeInKernel, job)).toBeUndefined();
  const fewer: Job = { ...job, plan: { ...job.plan, inputs: [files.slice(1), []] } };
  expect(await outcome(mergeInKernel, fewer)).toEqual(await outcome(mergeByEntries, fewer));
});

test('a merge that fails leaves the kernel ready for the next', async () => {
  const job = randomJob(seeded(3), { compression: 'none' });
  const name = tableFileName(job.plan.inputs.flat().at(-1)!.number);
  const files = new Map([...job.files, [name, job.files.get(name)!.map((byte, i) => (i === 20 ? ~byte : byte))]]);
  expect(await outcome(mergeInKernel, { ...job, files })).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM', structure: 'data block', offset: 0, file: name });
  expect(await outcome(mergeInKernel, job)).toEqual(await outcome(mergeByEntries, job));
});

test('merges and flushes at the same time do not disturb each other', async () => {
  const jobs = Array.from({ length: 3 }, (_, i) => ({ ...randomJob(seeded(70 + i)), isAsync: true }));
  const alone: unknown[] = [];
  for (const job of jobs) alone.push(await outcome(mergeInKernel, job));
  expect(await Promise.all(jobs.map((job) => outcome(mergeInKernel, job)))).toEqual(alone);
});

describe('without WebAssembly', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  test('there is no kernel, and the other path does the work', async () => {
    vi.stubGlobal('WebAssembly', undefined);
    vi.resetModules();
    const { MergeKernel } = await import('../src/compact/merge-kernel.js');
    expect(MergeKernel.take()).toBeUndefined();
    expect(MergeKernel.take()).toBeUndefined();
    const { Database, WritableMemoryFolder: Folder } = await import('@bloom/leveldb');
    const database = await Database.open(new Folder());
    for (let i = 0; i < 400; i++) await database.put(`key ${i % 300}`, new Uint8Array(1000).fill(i));
    await database.compactRange();
    expect((await database.get('key 50'))!.length).toBe(1000);
    expect((await database.get('key 50'))![0]).toBe(350 % 256);
    await database.close();
  });
});
