import { folderFiles, goldenDatabases, type Random, realDatabases, seeded } from '@bloom/fixtures';
import { DatabaseReader, type Folder, MemoryFolder } from '@bloom/leveldb';
import { storedEntries } from '@bloom/leveldb/inspect';
import { idbComparator } from '@bloom/leveldb/idb-comparator';
import { allCodecs } from '@bloom/codecs';
import { CorruptionError } from '@bloom/bytes';
import { expect, test } from 'vitest';
import { weatherDatabase } from '../../samples/weather-database.js';
import type { TraceStep } from '../../src/database/database-facts.js';
import { InspectedDatabase } from '../../src/database/inspected-database.js';

const KEYS_OF_EACH = 150;
const work = { signal: new AbortController().signal, progress: () => undefined };
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
/** Traces contain at most this many bytes of a value. */
const TRACED_BYTES = 64 * 1024;
const described = (byteLength: number, start: Uint8Array): string => `${byteLength} bytes, ${hex(start)}`;

const goldens = goldenDatabases().filter(({ open, comparator }) => open === 'OK' && comparator === undefined);
const reals = realDatabases().filter(({ open }) => open === 'OK');
const databases: (readonly [string, () => Folder])[] = [
  ['the sample', () => sampleFolder()],
  ['the sample whose newest table is damaged', () => sampleFolder('000012.ldb')],
  ...[...goldens, ...reals].map(({ name, path }) => [name, () => new MemoryFolder(Object.fromEntries(folderFiles(path)))] as const),
];

/** The sample, optionally with a damaged first block in one table. Deeper levels have older versions of its keys. */
function sampleFolder(damaged?: string): Folder {
  const files = weatherDatabase().map(({ name, bytes }) => [name, bytes.slice()] as const);
  for (const [name, bytes] of files) if (name === damaged) bytes[40]! ^= 0x20;
  return new MemoryFolder(Object.fromEntries(files));
}

/** Every user key in any file of the folder, including deleted ones. */
async function storedKeys(folder: Folder): Promise<Uint8Array[]> {
  const keys = new Map<string, Uint8Array>();
  for await (const { key } of storedEntries(folder, { codecs: allCodecs, damage: 'skip' })) keys.set(hex(key), key.slice());
  return [...keys.values()];
}

/** A key similar to a stored one: longer, shorter, or with a different byte. */
function neighbour(random: Random, key: Uint8Array): Uint8Array {
  const kind = random.below(3);
  if (kind === 0 || key.length === 0) return Uint8Array.of(...key, random.below(256));
  if (kind === 1) return key.slice(0, -1);
  const other = key.slice();
  other[random.below(other.length)]! ^= 1 + random.below(255);
  return other;
}

/** Fails unless the keys that a step shows lead to the key, by its order. Keys that are shown in part cannot be compared. */
function mustBeOnTheWay(step: TraceStep, key: Uint8Array, compare: (a: Uint8Array, b: Uint8Array) => number): void {
  if (step.kind !== 'table') return;
  const isWhole = (shown: { bytes: Uint8Array; byteLength: number }): boolean => shown.bytes.length === shown.byteLength;
  for (const { key: other, order } of [...step.index.compared, ...(step.block?.compared ?? [])]) {
    if (!isWhole(other)) continue;
    if (order === 'before') expect(compare(other.bytes, key)).toBeLessThanOrEqual(0);
    else expect(compare(other.bytes, key)).toBeGreaterThanOrEqual(0);
  }
  const last = step.block?.walked.at(-1);
  if (last === undefined || !isWhole(last)) return;
  if (step.outcome === 'found' || step.outcome === 'deleted') expect(compare(last.bytes, key)).toBe(0);
  for (const other of step.block!.walked.slice(0, -1)) if (isWhole(other)) expect(compare(other.bytes, key)).toBeLessThanOrEqual(0);
}

const outcomes = new Set<string>();

test.each(databases)('a traced lookup in %s has the same result as get', async (name, folderOf) => {
  const random = seeded(12);
  const folder = folderOf();
  const inspected = await InspectedDatabase.open(folder, name, work, false);
  const reader = await DatabaseReader.open(folder, { codecs: allCodecs, comparators: [idbComparator], damage: 'skip' });
  const stored = random.shuffle(await storedKeys(folder));
  const keys = stored.slice(0, KEYS_OF_EACH).flatMap((key) => [key, neighbour(random, key)]);
  for (const key of keys) {
    const trace = await inspected.trace(key);
    outcomes.add(trace.outcome);
    const got = await reader.get(key).catch((error: unknown) => {
      if (error instanceof CorruptionError) return error;
      throw error;
    });
    const said = got instanceof CorruptionError ? 'unknown' : got === undefined ? 'nothing' : described(got.length, got.subarray(0, TRACED_BYTES));
    const traced = trace.outcome === 'unknown' ? 'unknown' : trace.outcome === 'found' ? described(trace.value!.byteLength, trace.value!.bytes) : 'nothing';
    expect(`${hex(key)}: ${traced}`).toBe(`${hex(key)}: ${said}`);
    for (const step of trace.steps) mustBeOnTheWay(step, key, (a, b) => reader.compare(a, b));
    if (trace.outcome !== 'deleted' && trace.outcome !== 'absent') continue;
    const newest = (await reader.versions(key))[0];
    expect(trace.outcome).toBe(newest === undefined ? 'absent' : 'deleted');
  }
  await reader.close();
  await inspected.close();
});

test('the traced keys include found, deleted and absent keys, and keys hidden by damage', () => {
  expect([...outcomes].sort()).toEqual(['absent', 'deleted', 'found', 'unknown']);
});
