// This project's part. It imports the built packages, as any program does.
import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { BloomLevel } from '@bloom/level';
import { BLOOM_SEED, hash, hashEach } from '@bloom/hash';
import { Database, DatabaseReader, SyncDatabaseReader, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { BackgroundThread, NodeFolder, SyncNodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { BloomFilterPolicy, buildFilter, type FilterSink, KeyBuffer } from '@bloom/policy';
import {
  BlockCache,
  type EntryBatch,
  MemorySource,
  snappyCodec,
  type SyncSource,
  SyncTable,
  Table,
  TableBuilder,
  type TableBuilderOptions,
  type TableSink,
} from '@bloom/sstable';
import { FileSource, SyncFileSource, writeTable } from '@bloom/sstable/node';
import { databasePath, type DatabaseState, EntriesChecksum } from '../database.js';
import { levelJobs } from '../level-jobs.js';
import { get, getMany, getSync, scanAsync } from '../lookups.js';
import { getByManyCallers, shortRanges, SMALL_CACHE_BYTES, type UncachedDatabase } from '../uncached-database.js';
import { serve, type Work } from '../work.js';
import {
  allKeys,
  BITS_PER_KEY,
  checksum,
  hashInputs,
  KEY_LENGTH,
  KeyWalk,
  LOOKUPS,
  lookupKeys,
  separate,
  valueBlocks,
  Values,
  wordBlocks,
} from '../workload.js';
import { type WrittenDatabase, writtenDatabaseJobs } from '../written-database.js';

const folder = process.argv[2]!;
/** The folder of the databases that contenders share. */
const sharedFolder = process.argv[3]!;
const policy = new BloomFilterPolicy(BITS_PER_KEY);
/** Large enough for any table of the benchmark. */
const CACHE_BYTES = 4 * 2 ** 30;

function hashOne(byteLength: number): Work {
  const inputs = hashInputs(byteLength);
  let sum = 0;
  return {
    units: inputs.length,
    run() {
      sum = 0;
      for (const input of inputs) sum ^= hash(input, BLOOM_SEED);
    },
    check: () => sum,
  };
}

function hashMany(byteLength: number): Work {
  const inputs = hashInputs(byteLength);
  const bytes = new Uint8Array(Buffer.concat(inputs));
  const offsets = Uint32Array.from({ length: inputs.length + 1 }, (_, i) => i * byteLength);
  const hashes = new Uint32Array(inputs.length);
  return {
    units: inputs.length,
    run: () => void hashEach(bytes, offsets, BLOOM_SEED, hashes),
    check: () => hashes.reduce((sum, h) => sum ^ h, 0),
  };
}

function keyList(n: number): KeyBuffer {
  const walk = new KeyWalk(allKeys(n));
  const keys = new KeyBuffer();
  for (let i = 0; i < n; i++) keys.push(walk.moveTo(i));
  return keys;
}

/** Reuses the same memory for each filter, as a cleared `std::string` does. */
class ReusedSink implements FilterSink {
  filter = new Uint8Array();

  extend(byteLength: number): Uint8Array {
    if (byteLength !== this.filter.length) this.filter = new Uint8Array(byteLength);
    else this.filter.fill(0);
    return this.filter;
  }
}

function filterOf(keys: KeyBuffer): Uint8Array {
  const sink = new ReusedSink();
  policy.createFilter(keys, sink);
  return sink.filter;
}

function makeFilter(n: number): Work {
  const keys = keyList(n);
  const sink = new ReusedSink();
  return {
    units: n,
    run: () => policy.createFilter(keys, sink),
    check: () => checksum(sink.filter),
  };
}

function makeFilterFromList(n: number): Work {
  const keys = separate(allKeys(n));
  let filter: Uint8Array = new Uint8Array();
  return {
    units: n,
    run() {
      filter = buildFilter(policy, keys);
    },
    check: () => checksum(filter),
  };
}

function probe(n: number, present: boolean): Work {
  const filter = filterOf(keyList(n));
  const walk = new KeyWalk(lookupKeys(n, present));
  let matches = 0;
  return {
    units: LOOKUPS,
    run() {
      let found = 0;
      for (let i = 0; i < LOOKUPS; i++) if (policy.keyMayMatch(walk.moveTo(i), filter)) found++;
      matches = found;
    },
    check: () => matches,
  };
}

function probeBatch(n: number, present: boolean): Work {
  const filter = filterOf(keyList(n));
  const bytes = lookupKeys(n, present);
  const keys = KeyBuffer.from(Array.from({ length: LOOKUPS }, (_, i) => bytes.subarray(i * KEY_LENGTH, (i + 1) * KEY_LENGTH)));
  const answers = new Uint8Array(LOOKUPS);
  return {
    units: LOOKUPS,
    run: () => void policy.keysMayMatch(keys, filter, answers),
    check: () => answers.reduce((sum, answer) => sum + answer, 0),
  };
}

class FileSink implements TableSink {
  readonly #fd: number;

  constructor(path: string) {
    this.#fd = openSync(path, 'w');
  }

  append(bytes: Uint8Array): void {
    for (let written = 0; written < bytes.length; ) written += writeSync(this.#fd, bytes, written);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

function buildTableFile(path: string, keys: Uint8Array, values: Values, compression: TableBuilderOptions['compression']): void {
  const sink = new FileSink(path);
  const builder = new TableBuilder(sink, { filterPolicy: policy, compression });
  const walk = new KeyWalk(keys);
  const n = keys.length / KEY_LENGTH;
  for (let i = 0; i < n; i++) builder.add(walk.moveTo(i), values.at(i));
  builder.finish();
  sink.close();
}

function compressBlocks(blocks: readonly Uint8Array[]): Work {
  const scratch = new Uint8Array(2 * blocks[0]!.length);
  return {
    units: blocks.length,
    run() {
      for (const block of blocks) snappyCodec.compress!(block, scratch);
    },
    check: () => blocks.length,
  };
}

function decompressBlocks(blocks: readonly Uint8Array[]): Work {
  const streams = blocks.map((block) => snappyCodec.compress!(block));
  const scratch = new Uint8Array(blocks[0]!.length);
  return {
    units: blocks.length,
    run() {
      for (const stream of streams) snappyCodec.decompress(stream, scratch.length, scratch);
    },
    check: () => checksum(scratch),
  };
}

function buildTable(n: number, compression: 'none' | 'snappy'): Work {
  const keys = allKeys(n);
  const values = new Values();
  const path = join(folder, 'built.ldb');
  return {
    units: n,
    run: () => buildTableFile(path, keys, values, compression),
    check: () => (compression === 'none' ? checksum(readFileSync(path)) : n),
  };
}

function writeWholeTable(n: number): Work {
  const keys = allKeys(n);
  const values = new Values();
  const path = join(folder, 'written.ldb');
  function* entries(): Generator<[Uint8Array, Uint8Array]> {
    const walk = new KeyWalk(keys);
    for (let i = 0; i < n; i++) yield [walk.moveTo(i), values.at(i)];
  }
  return {
    units: n,
    async run() {
      await writeTable(path, entries(), { filterPolicy: policy, compression: 'none' });
    },
    check: () => checksum(readFileSync(path)),
  };
}

/** Writes a table of `n` entries, which is then in the page cache. */
function tableFile(n: number, compression: 'none' | 'snappy' = 'none'): string {
  const path = join(folder, `${n}-${compression}.ldb`);
  if (!existsSync(path)) buildTableFile(path, allKeys(n), new Values(), compression);
  return path;
}

/** Reads the bytes in place, as C++ does. */
function scan(source: SyncSource, n: number): Work {
  const table = SyncTable.open(source, { cache: null });
  let sum = 0;
  return {
    units: n,
    run() {
      let s = 0;
      const cursor = table.cursor();
      for (let more = cursor.seekToFirst(); more; more = cursor.next()) {
        s += cursor.keyBytes[cursor.keyLength - 1]! + cursor.valueBytes[cursor.valueStart]!;
      }
      sum = s;
    },
    check: () => sum,
  };
}

function scanViews(n: number): Work {
  const table = SyncTable.open(new MemorySource(readFileSync(tableFile(n))), { cache: null });
  let sum = 0;
  return {
    units: n,
    run() {
      let s = 0;
      const cursor = table.cursor();
      for (let more = cursor.seekToFirst(); more; more = cursor.next()) {
        const { key, value } = cursor;
        s += key[key.length - 1]! + value[0]!;
      }
      sum = s;
    },
    check: () => sum,
  };
}

async function entries(n: number): Promise<Work> {
  const table = await Table.open(await FileSource.open(tableFile(n)), { cache: null });
  return scanAsync(n, () => table.entries());
}

async function batches(n: number): Promise<Work> {
  const table = await Table.open(await FileSource.open(tableFile(n)), { cache: null });
  let sum = 0;
  return {
    units: n,
    async run() {
      let s = 0;
      for await (const batch of table.batches()) s += lookAtAll(batch);
      sum = s;
    },
    check: () => sum,
  };
}

function batchesSync(n: number): Work {
  const table = SyncTable.open(SyncFileSource.open(tableFile(n)), { cache: null });
  let sum = 0;
  return {
    units: n,
    run() {
      let s = 0;
      for (const batch of table.batches()) s += lookAtAll(batch);
      sum = s;
    },
    check: () => sum,
  };
}

function lookAtAll(batch: EntryBatch): number {
  let s = 0;
  for (let i = 0; i < batch.length; i++) {
    const key = batch.key(i);
    s += key[key.length - 1]! + batch.value(i)[0]!;
  }
  return s;
}

function entriesSync(n: number): Work {
  const table = SyncTable.open(SyncFileSource.open(tableFile(n)), { cache: null });
  let sum = 0;
  return {
    units: n,
    run() {
      let s = 0;
      for (const [key, value] of table.entries()) s += key[key.length - 1]! + value[0]!;
      sum = s;
    },
    check: () => sum,
  };
}

function syncTable(n: number): SyncTable {
  return SyncTable.open(SyncFileSource.open(tableFile(n)), { cache: new BlockCache(CACHE_BYTES) });
}

async function table(n: number): Promise<Table> {
  return Table.open(await FileSource.open(tableFile(n)), { cache: new BlockCache(CACHE_BYTES) });
}

/** Seeks with one cursor, as the C++ job does with one iterator, and copies the value of a key that is found. */
function seekSync(n: number): Work {
  const table = SyncTable.open(SyncFileSource.open(tableFile(n)), { cache: new BlockCache(CACHE_BYTES) });
  const lookups = separate(lookupKeys(n, true));
  const cursor = table.cursor();
  let sum = 0;
  return {
    units: LOOKUPS,
    run() {
      let s = 0;
      for (let i = 0; i < lookups.length; i++) {
        const wanted = lookups[i]!;
        if (cursor.seek(wanted) && isEqual(cursor.key, wanted)) s += cursor.value.slice()[0]!;
      }
      sum = s;
    },
    check: () => sum,
  };
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function openSyncTable(n: number): Work {
  const path = tableFile(n);
  return {
    units: 1,
    run() {
      const source = SyncFileSource.open(path);
      SyncTable.open(source);
      source.close();
    },
    check: () => n,
  };
}

function openTable(n: number): Work {
  const path = tableFile(n);
  return {
    units: 1,
    async run() {
      const source = await FileSource.open(path);
      await Table.open(source);
      await source.close();
    },
    check: () => n,
  };
}

function openDatabase(n: number, cache: BlockCache | null = new BlockCache(CACHE_BYTES)): Promise<DatabaseReader> {
  return DatabaseReader.open(new NodeFolder(databasePath(sharedFolder, n, 'levels')), { cache });
}

function openDatabaseSync(n: number, state: DatabaseState, cacheBytes = CACHE_BYTES): SyncDatabaseReader {
  return SyncDatabaseReader.open(new SyncNodeFolder(databasePath(sharedFolder, n, state)), { cache: new BlockCache(cacheBytes) });
}

function openUncached(n: number): Promise<DatabaseReader> {
  return openDatabase(n, new BlockCache(SMALL_CACHE_BYTES));
}

async function uncached(n: number): Promise<UncachedDatabase> {
  const database = await openUncached(n);
  return { get: (key) => database.get(key), range: (gte, limit) => database.entries({ gte, limit }) };
}

async function databaseEntries(n: number, reverse: boolean): Promise<Work> {
  const database = await openDatabase(n, null);
  const all = new EntriesChecksum();
  for await (const [key, value] of database.entries({ reverse })) all.add(key, value);
  return scanAsync(n, () => database.entries({ reverse }), all.sum);
}

async function databaseNextMany(n: number): Promise<Work> {
  const database = await openDatabase(n, null);
  let sum = 0;
  return {
    units: n,
    async run() {
      let s = 0;
      using cursor = database.cursor();
      await cursor.seekToFirst();
      while (cursor.valid) for (const [key, value] of await cursor.nextMany(1000)) s += key[key.length - 1]! + value[0]!;
      sum = s;
    },
    check: () => sum,
  };
}

function openAndCloseDatabase(n: number): Work {
  let isFirst = true;
  return {
    units: 1,
    async run() {
      const database = await DatabaseReader.open(new NodeFolder(databasePath(sharedFolder, n, 'levels')));
      if (isFirst) mustHaveLevels(database);
      isFirst = false;
      await database.close();
    },
    check: () => n,
  };
}

/** Prints what is in the database, and fails unless it has tables with filters at several levels. */
function mustHaveLevels(database: DatabaseReader): void {
  const { levels, logs } = database.describe();
  const counts = levels.map((tables) => tables.length);
  process.stderr.write(`  tables by level: ${counts.join(' ')}; entries in logs: ${logs.reduce((sum, log) => sum + log.entries, 0)}\n`);
  if (counts.filter((count) => count > 0).length < 2) throw new Error(`the database has tables at too few levels: ${counts.join(' ')}`);
  if (database.filterStatus.state !== 'used') throw new Error(`its filters are ${database.filterStatus.state}`);
}

const SYNC = { sync: true } as const;

// As in LevelDB, all databases of the process share a thread, so that V8's warm-up for each of them is not measured.
const thread = new BackgroundThread();

async function openWritten(path: string): Promise<WrittenDatabase> {
  const database = await Database.open(new WritableNodeFolder(path, { thread }), { compression: 'none', cache: new BlockCache(CACHE_BYTES) });
  return {
    put: (key, value) => database.put(key, value),
    putSync: (key, value) => database.put(key, value, SYNC),
    get: (key) => database.get(key),
    getSync: (key) => database.getSync(key),
    batch: (keys, valueOf) => {
      const batch = new WriteBatch();
      for (let i = 0; i < keys.length; i++) batch.put(keys[i]!, valueOf(i));
      return database.write(batch);
    },
    entries: () => database.entries(),
    compact: (first, last) => database.compactRange(first, last),
    close: () => database.close(),
  };
}

await serve({
  ...writtenDatabaseJobs(folder, openWritten),
  ...levelJobs('level', folder, (path, options) => new BloomLevel(new WritableNodeFolder(path, { thread }), options), true),
  ...levelJobs('level-memory', folder, () => new BloomLevel(new WritableMemoryFolder(), { compression: false }), false),
  hash: hashOne,
  'hash-each': hashMany,
  'build-filter': makeFilter,
  'build-filter-from-list': makeFilterFromList,
  'probe-present': (n) => probe(n, true),
  'probe-absent': (n) => probe(n, false),
  'probe-batch-present': (n) => probeBatch(n, true),
  'probe-batch-absent': (n) => probeBatch(n, false),
  'compress-words': (n) => compressBlocks(wordBlocks(n)),
  'compress-values': (n) => compressBlocks(valueBlocks(n)),
  'decompress-words': (n) => decompressBlocks(wordBlocks(n)),
  'decompress-values': (n) => decompressBlocks(valueBlocks(n)),
  'build-table': (n) => buildTable(n, 'none'),
  'build-table-snappy': (n) => buildTable(n, 'snappy'),
  'write-table': writeWholeTable,
  scan: (n) => scan(new MemorySource(readFileSync(tableFile(n))), n),
  'scan-views': scanViews,
  'scan-snappy': (n) => scan(new MemorySource(readFileSync(tableFile(n, 'snappy'))), n),
  'scan-file': (n) => scan(SyncFileSource.open(tableFile(n)), n),
  entries,
  'entries-sync': entriesSync,
  batches,
  'batches-sync': batchesSync,
  'get-present-sync': (n) => getSync(syncTable(n), n, true),
  'seek-present-sync': seekSync,
  'get-present': async (n) => get(await table(n), n, true),
  'get-many': async (n) => getMany(await table(n), n),
  'get-absent-sync': (n) => getSync(syncTable(n), n, false),
  'get-absent': async (n) => get(await table(n), n, false),
  open: openTable,
  'open-sync': openSyncTable,
  'db-open': openAndCloseDatabase,
  'db-get-present': async (n) => get(await openDatabase(n), n, true),
  'db-get-absent': async (n) => get(await openDatabase(n), n, false),
  'db-get-present-sync': (n) => getSync(openDatabaseSync(n, 'levels'), n, true),
  'db-get-absent-sync': (n) => getSync(openDatabaseSync(n, 'levels'), n, false),
  'db-compacted-get-present-sync': (n) => getSync(openDatabaseSync(n, 'compacted'), n, true),
  'db-compacted-get-absent-sync': (n) => getSync(openDatabaseSync(n, 'compacted'), n, false),
  'db-get-many': async (n) => getMany(await openDatabase(n), n),
  'db-uncached-get': async (n) => get(await openUncached(n), n, true),
  'db-uncached-get-16': async (n) => getByManyCallers(await uncached(n), n),
  'db-uncached-get-many': async (n) => getMany(await openUncached(n), n),
  'db-uncached-range': async (n) => shortRanges(await uncached(n), n),
  'db-uncached-get-sync': (n) => getSync(openDatabaseSync(n, 'levels', SMALL_CACHE_BYTES), n, true),
  'db-entries': (n) => databaseEntries(n, false),
  'db-next-many': databaseNextMany,
  'db-entries-reverse': (n) => databaseEntries(n, true),
});
