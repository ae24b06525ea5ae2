import { type Random, seeded } from '@bloom/fixtures';
import {
  CorruptionError,
  Database,
  type DatabaseOptions,
  DatabaseReader,
  type LookupExplanation,
  type LookupStep,
  MemoryFolder,
  type ReaderOptions,
  type StoredVersion,
  SyncDatabaseReader,
  UnsupportedError,
  WritableMemoryFolder,
} from '@bloom/leveldb';
import { describe, expect, test } from 'vitest';
import { caught, rejection } from '@bloom/fixtures/caught';
import { reverseComparator } from './reverse-comparator.js';
import { small, someDatabase } from './some-database.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const bytes = (value: Uint8Array | undefined): string | undefined => value && Buffer.from(value).toString('hex');
const isDamage = (error: unknown): error is CorruptionError | UnsupportedError => error instanceof CorruptionError || error instanceof UnsupportedError;

/** What `get` gives, in the words of an outcome. */
function gotten(get: () => Uint8Array | undefined): unknown {
  try {
    return bytes(get()) ?? 'nothing';
  } catch (error) {
    if (!isDamage(error)) throw error;
    return `${error.code} ${error.problem}`;
  }
}

/** What an explanation says that `get` gives. */
function explained({ outcome }: LookupExplanation): unknown {
  if (outcome.kind === 'failed') return `${outcome.error.code} ${outcome.error.problem}`;
  return outcome.kind === 'value' ? bytes(outcome.value) : 'nothing';
}

/** The key as one that is stored, that is near one, or that is anywhere. */
function someKey(random: Random): Uint8Array {
  const key = `key${random.below(150)}`;
  const kind = random.below(4);
  return utf8(kind === 0 ? `${key}${random.below(10)}` : kind === 1 ? String.fromCharCode(97 + random.below(26)) : key);
}

/** Fails if a step says that a source does not have a version which it has. */
function mustBeTrue(step: LookupStep, versions: readonly StoredVersion[], sequence: bigint): void {
  const isVisible = (version: StoredVersion): boolean => version.sequence <= sequence;
  if (!step.asked) {
    if (step.reason === 'not-reached') return;
    const here = versions.filter((version) => (step.source === 'level' ? version.level === step.level : version.file === step.file));
    expect(here.filter(isVisible)).toEqual([]);
    return;
  }
  const here = versions.filter(({ file }) => file === step.file);
  if (step.source === 'table' && step.search.filter?.answer === 'no') {
    // Newer versions may be in a block before the one that the index led to.
    expect(here.filter(isVisible)).toEqual([]);
    expect(step).toMatchObject({ found: { kind: 'nothing' }, search: { searched: undefined } });
  }
  const newest = here.find(isVisible);
  switch (step.found.kind) {
    case 'value':
    case 'deletion':
      expect(newest).toMatchObject({ kind: step.found.kind, sequence: BigInt(step.found.sequence) });
      break;
    case 'newer':
      expect(newest).toBeUndefined();
      expect(BigInt(step.found.sequence)).toBeGreaterThan(sequence);
      expect(here.map((version) => String(version.sequence))).toContain(step.found.sequence);
      break;
    case 'nothing':
      expect(newest).toBeUndefined();
      break;
    case 'failed':
      throw new Error('no lookup fails in a sound database');
  }
}

/** Fails unless each source of the database is in the steps, in the order in which a lookup asks them. */
function mustBeComplete({ steps }: LookupExplanation, { levels, logs }: ReturnType<SyncDatabaseReader['describe']>): void {
  const memtables = steps.filter(({ source }) => source === 'memtable').map((step) => 'file' in step && step.file);
  expect(memtables).toEqual(logs.map(({ name }) => name).reverse());
  const inLevel0 = levels[0]!.map(({ number, name }) => ({ number, name })).sort((a, b) => Number(b.number - a.number));
  expect(steps.filter((step) => step.source === 'table' && step.level === 0).map((step) => 'file' in step && step.file)).toEqual(inLevel0.map(({ name }) => name));
  const deeper = steps.filter((step) => step.source !== 'memtable' && step.level > 0).map((step) => [step.source !== 'memtable' && step.level, step.source === 'level' ? step.tables : 'otherTables' in step && step.otherTables + 1]);
  expect(deeper).toEqual(levels.flatMap((tables, level) => (level === 0 || tables.length === 0 ? [] : [[level, tables.length]])));
  const order = steps.map((step) => (step.source === 'memtable' ? -1 : step.level));
  expect(order).toEqual([...order].sort((a, b) => a - b));
  const firstUnreached = steps.findIndex((step) => !step.asked && step.reason === 'not-reached');
  if (firstUnreached >= 0) expect(steps.slice(firstUnreached).every((step) => !step.asked && step.reason === 'not-reached')).toBe(true);
}

const kinds: readonly (readonly [string, DatabaseOptions, ReaderOptions])[] = [
  ['in bytewise order', small, {}],
  ['without a cache', small, { cache: null }],
  ['whose filters cannot be asked', small, { filterPolicies: [] }],
  ['without filters', { ...small, filterPolicy: null }, {}],
  ['in another order', { ...small, comparator: reverseComparator, filterPolicy: null }, { comparators: [reverseComparator] }],
];

describe.each(kinds)('of random databases %s', (_, writing, reading) => {
  test.each([1, 2])('explain gives what get gives, and what it says of each source is true (seed %i)', async (seed) => {
    const folder = new MemoryFolder((await someDatabase(seed, writing)).files);
    const random = seeded(seed);
    const sync = SyncDatabaseReader.open(folder, reading);
    const async_ = await DatabaseReader.open(folder, reading);
    const seen = new Set<string>();
    for (let i = 0; i < 150; i++) {
      const key = someKey(random);
      const sequence = random.below(2) === 0 ? sync.lastSequence : BigInt(random.below(Number(sync.lastSequence) + 1));
      const before = sync.stats;
      const explanation = sync.explain(key, { sequence });
      const after = sync.stats;
      expect(explained(explanation)).toBe(gotten(() => sync.get(key, { sequence })));
      expect(explanation.sequence).toBe(String(sequence));
      expect(bytes(explanation.key)).toBe(bytes(key));
      const versions = sync.versions(key);
      for (const step of explanation.steps) {
        mustBeTrue(step, versions, sequence);
        seen.add(step.asked ? step.found.kind : step.reason);
        if (step.source === 'table' && step.asked && step.search.filter !== undefined) seen.add(`filter: ${step.search.filter.answer}`);
      }
      mustBeComplete(explanation, sync.describe());
      const blocks = explanation.steps.flatMap((step) => (step.source === 'table' && step.asked ? (step.search.searched ?? []) : []));
      expect(blocks.filter(({ isCached }) => isCached).length).toBe(after.cacheHits - before.cacheHits);
      expect(blocks.filter(({ isCached }) => !isCached).length).toBe(after.blockReads - before.blockReads);
      const again = await async_.explain(key, { sequence });
      expect(JSON.stringify(withoutCache(again))).toBe(JSON.stringify(withoutCache(explanation)));
    }
    for (const kind of ['value', 'deletion', 'nothing', 'newer', 'out-of-range', 'not-reached']) expect(seen).toContain(kind);
    const answers = [...seen].filter((kind) => kind.startsWith('filter')).sort();
    expect(answers).toEqual(reading.filterPolicies || writing.filterPolicy === null ? ['filter: not-asked'] : ['filter: maybe', 'filter: no']);
    sync.close();
    await async_.close();
  });
});

/** The explanation without what depends on earlier lookups. */
function withoutCache(explanation: LookupExplanation): unknown {
  return JSON.parse(JSON.stringify(explanation, (name, value: unknown) => (name === 'isCached' ? undefined : value)));
}

test('explain of a database with damaged blocks fails where get fails, and with the same error', async () => {
  const { files } = await someDatabase(3);
  const random = seeded(3);
  let failures = 0;
  for (let i = 0; i < 20; i++) {
    const damaged = new Map([...files].map(([name, contents]) => [name, contents.slice()]));
    const tables = [...damaged].filter(([name]) => name.endsWith('.ldb'));
    const [, table] = tables[random.below(tables.length)]!;
    table[random.below(table.length)]! ^= 1 << random.below(8);
    let reader: SyncDatabaseReader;
    try {
      reader = SyncDatabaseReader.open(new MemoryFolder(damaged), { damage: 'skip' });
    } catch (error) {
      expect(isDamage(error)).toBe(true);
      continue;
    }
    for (let k = 0; k < 150; k++) {
      const key = utf8(`key${k}`);
      const explanation = reader.explain(key);
      expect(explained(explanation)).toBe(gotten(() => reader.get(key)));
      if (explanation.outcome.kind !== 'failed') continue;
      failures++;
      expect([...explanation.steps].reverse().find(({ asked }) => asked)).toMatchObject({ found: explanation.outcome });
    }
    reader.close();
  }
  expect(failures).toBeGreaterThan(0);
});

/** A database with a table in level 0, and a key in its memtable. */
async function twoSources(): Promise<Database> {
  const database = await Database.open(new WritableMemoryFolder(), { ...small, cache: null });
  for (let i = 10; i < 99; i++) await database.put(utf8(`key${i}`), utf8(`value ${i}`));
  await database.delete(utf8('key20'));
  await database.flush();
  await database.put(utf8('key11'), utf8('newer'));
  return database;
}

describe('explain of a database that is written', () => {
  test('says that the memtable decided, and what was not reached', async () => {
    const database = await twoSources();
    const { steps, outcome } = await database.explain(utf8('key11'));
    expect(outcome).toEqual({ kind: 'value', value: utf8('newer'), sequence: '91', file: steps[0]?.source === 'memtable' && steps[0].file });
    expect(steps).toMatchObject([
      { source: 'memtable', asked: true, isImmutable: false, entries: 1, found: { kind: 'value', sequence: '91', byteLength: 5 } },
      { source: 'level', level: 2, tables: 1, asked: false, reason: 'not-reached' },
    ]);
    await database.close();
  });

  test('says of a table which block the index led to, what the filter said, and what was walked', async () => {
    const database = await twoSources();
    const { steps, outcome } = await database.explain(utf8('key12'));
    expect(outcome).toMatchObject({ kind: 'value', sequence: '3' });
    expect(steps[1]).toEqual({
      source: 'table',
      asked: true,
      level: 2,
      number: '5',
      file: '000005.ldb',
      smallest: utf8('key10'),
      largest: utf8('key98'),
      otherTables: 0,
      wasOpen: true,
      search: {
        blockCount: 2,
        block: { number: 0, offset: 0, size: expect.any(Number) as number },
        filter: { answer: 'maybe', policyName: 'leveldb.BuiltinBloomFilter2', number: 0, byteLength: expect.any(Number) as number, from: 0, to: 2048 },
        searched: { isCached: false, byteLength: expect.any(Number) as number, restart: 0, walkStart: 0, walkEnd: expect.any(Number) as number },
      },
      found: { kind: 'value', sequence: '3', byteLength: 8 },
    });
    await database.close();
  });

  test('sees at a snapshot what get sees, and says that a memtable has only newer versions', async () => {
    const database = await twoSources();
    const snapshot = database.snapshot();
    await database.put(utf8('key20'), utf8('again'));
    const { sequence } = snapshot;
    const explanation = await database.explain(utf8('key20'), { sequence });
    expect(explanation.sequence).toBe(String(sequence));
    expect(explanation.steps).toMatchObject([{ source: 'memtable', found: { kind: 'newer', sequence: String(sequence + 1n) } }, { source: 'table', found: { kind: 'deletion', sequence: '90' } }]);
    expect(explanation.outcome).toEqual({ kind: 'deletion', sequence: '90', file: '000005.ldb' });
    expect((await database.explain(utf8('key20'))).outcome.kind).toBe('value');
    snapshot.release();
    await database.close();
  });

  test('says at a snapshot that the last key of a level has only newer versions there', async () => {
    const database = await Database.open(new WritableMemoryFolder());
    await database.put('a', '0');
    const snapshot = database.snapshot();
    for (const key of ['m', 'z']) await database.put(key, '1');
    await database.flush();
    const stepOf = async (key: string): Promise<LookupStep> => (await database.explain(key, snapshot)).steps[1]!;
    expect(await stepOf('m')).toMatchObject({ source: 'table', level: 2, found: { kind: 'newer', sequence: '2' } });
    expect(await stepOf('z')).toEqual({ source: 'level', level: 2, tables: 1, asked: false, reason: 'newer' });
    expect(await stepOf('zz')).toMatchObject({ source: 'level', reason: 'out-of-range' });
    snapshot.release();
    await database.close();
  });

  test('says whether a table was opened for the lookup', async () => {
    const reader = SyncDatabaseReader.open(new MemoryFolder((await someDatabase(1)).files), { openTables: 'when-needed' });
    const opened = (): boolean[] => reader.explain(utf8('key140')).steps.flatMap((step) => (step.source === 'table' && step.asked ? [step.wasOpen] : []));
    expect(new Set(opened())).toEqual(new Set([false]));
    expect(new Set(opened())).toEqual(new Set([true]));
    reader.close();
  });

  test('is refused with what get is refused with', async () => {
    const database = await twoSources();
    const reason = new Error('enough');
    expect(await rejection(database.explain(utf8('key12'), { signal: AbortSignal.abort(reason) }))).toBe(reason);
    await expect(database.explain(12 as never)).rejects.toThrow('key must be a Uint8Array');
    await expect(database.explain(utf8('key12'), { sequenze: 1n } as never)).rejects.toThrow(TypeError);
    await expect(database.explain(utf8('key12'), { sequence: -1n })).rejects.toThrow(RangeError);
    await database.close();
    await expect(database.explain(utf8('key12'))).rejects.toThrow('the database is closed');
    const reader = SyncDatabaseReader.open(new MemoryFolder((await someDatabase(1)).files));
    reader.close();
    expect(caught(() => reader.explain(utf8('key12')))).toBeInstanceOf(TypeError);
  });
});
