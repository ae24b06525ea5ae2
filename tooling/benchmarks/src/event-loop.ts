// Measures how long timers wait while a database is read, with reads made at once and without:
// `npx pnpm@10 --filter @bloom/benchmarks event-loop [--write] [ENTRIES] [ROUNDS]`. The blocks are in the system's memory (warm), on the
// disk (cold; python3 drops them from memory), or in a folder each of whose reads takes 20 ms (slow). On a busy machine,
// other work takes the processor for longer than any read: `chrt -f 1` prevents that.
import { spawnSync } from 'node:child_process';
import fs, { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Database, DatabaseReader, WriteBatch } from '@bloom/leveldb';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { BlockCache } from '@bloom/sstable';
import { spread } from './measure.js';
import { markdownTable } from './report.js';
import { writeStored } from './results.js';
import { SMALL_CACHE_BYTES } from './uncached-database.js';
import { Values, writeKey } from './workload.js';

const { values: options, positionals } = parseArgs({ options: { write: { type: 'boolean', default: false } }, allowPositionals: true });
const [entries = 3e6, rounds = 5] = positionals.map(Number);
const BATCH = 10_000;
const SLOW_MS = 20;
const KEY_LENGTH = 16;

/** The number of keys that one round looks up in about a second. */
const lookups = { warm: 40_000, cold: 4000, slow: 100 };
type State = keyof typeof lookups;

type Caller = (database: DatabaseReader, keys: readonly Uint8Array[]) => Promise<void>;

function callers(count: number): Caller {
  return async (database, keys) => {
    const caller = async (first: number): Promise<void> => {
      for (let i = first; i < keys.length; i += count) await database.get(keys[i]!);
    };
    await Promise.all(Array.from({ length: count }, (_, i) => caller(i)));
  };
}

const calls: readonly [string, Caller][] = [
  ['get, one caller', callers(1)],
  ['get, 16 callers', callers(16)],
  [
    'getMany(100)',
    async (database, keys) => {
      for (let i = 0; i < keys.length; i += 100) await database.getMany(keys.slice(i, i + 100));
    },
  ],
  [
    'entries({ gte, limit: 10 })',
    async (database, keys) => {
      for (const gte of keys.slice(0, keys.length / 2)) for await (const [key] of database.entries({ gte, limit: 10 })) if (key.length !== KEY_LENGTH) throw new Error('a wrong key');
    },
  ],
];

const path = join(process.env.BLOOM_DATABASE ?? mkdtempSync(join(tmpdir(), 'bloom-event-loop-')), `${entries}`);
try {
  if (!existsSync(path)) await writeDatabase();
  const [header, ...rows] = await table();
  process.stdout.write(`${markdownTable(header!, rows)}\n`);
  if (options.write) writeStored(fileURLToPath(new URL('..', import.meta.url)), { 'event-loop': [header!, ...rows] });
} finally {
  if (process.env.BLOOM_DATABASE === undefined) rmSync(path, { recursive: true });
}

async function writeDatabase(): Promise<void> {
  const database = await Database.open(new WritableNodeFolder(path), { compression: 'none' });
  const values = new Values();
  for (let i = 0; i < entries; i += BATCH) {
    const batch = new WriteBatch();
    for (let j = i; j < Math.min(i + BATCH, entries); j++) batch.put(keyAt(j), values.at(j));
    await database.write(batch);
  }
  await database.flush();
  await database.close();
}

function keyAt(i: number): Uint8Array {
  const key = new Uint8Array(KEY_LENGTH);
  writeKey(i, entries, true, key, 0);
  return key;
}

/** The header, and the rows. */
async function table(): Promise<string[][]> {
  const rows: string[][] = [];
  for (const state of ['warm', 'cold', 'slow'] as const) {
    for (const [name, call] of calls) {
      const measured = { true: [] as Round[], false: [] as Round[] };
      for (let round = 0; round < rounds; round++) for (const readsAtOnce of [true, false]) measured[`${readsAtOnce}`].push(await measure(state, call, readsAtOnce));
      const row = [state, name];
      for (const of of [measured.true, measured.false]) {
        const median = (pick: (round: Round) => number): number => spread(of.map(pick)).median;
        row.push(median(({ us }) => us).toFixed(1), median(({ p99 }) => p99).toFixed(1), median(({ longest }) => longest).toFixed(1));
      }
      rows.push(row);
      process.stderr.write(`  ${row.join(' ')}\n`);
    }
  }
  const header = ['blocks', 'call'];
  for (const how of ['at once', 'by threads']) header.push(`${how}: µs a call`, 'timers wait, p99, ms', 'longest, ms');
  return [header, ...rows];
}

/** Microseconds for each key, and how long timers of a millisecond waited longer than that. */
interface Round {
  readonly us: number;
  readonly p99: number;
  readonly longest: number;
}

async function measure(state: State, call: Caller, readsAtOnce: boolean): Promise<Round> {
  const database = await DatabaseReader.open(new NodeFolder(path, { readsAtOnce }), { cache: new BlockCache(SMALL_CACHE_BYTES) });
  const keys = Array.from({ length: lookups[state] }, () => keyAt(Math.floor(Math.random() * entries)));
  // Opens the tables, and lets V8 compile the code.
  await call(database, keys.slice(0, 2000));
  if (state === 'cold') dropFromMemory();
  else for (const name of readdirSync(path)) readFileSync(join(path, name));
  const undo = state === 'slow' ? slowReads() : undefined;
  const waits: number[] = [];
  const timers = { over: false };
  const timing = (async () => {
    while (!timers.over) {
      const start = performance.now();
      await after(1);
      waits.push(performance.now() - start - 1);
    }
  })();
  const start = performance.now();
  await call(database, keys);
  const us = ((performance.now() - start) / keys.length) * 1000;
  timers.over = true;
  await timing;
  undo?.();
  await database.close();
  waits.sort((a, b) => a - b);
  return { us, p99: waits[Math.floor(waits.length * 0.99)]!, longest: waits.at(-1)! };
}

function dropFromMemory(): void {
  const drop = 'import os,sys\nfor p in sys.argv[1:]:\n f=os.open(p,os.O_RDONLY)\n os.fsync(f)\n os.posix_fadvise(f,0,0,os.POSIX_FADV_DONTNEED)';
  const { status } = spawnSync('python3', ['-c', drop, ...readdirSync(path).map((name) => join(path, name))], { stdio: 'inherit' });
  if (status !== 0) throw new Error('python3 is needed to drop files from memory');
}

/** Makes each read as slow as in a network folder. @returns a function that undoes it. */
function slowReads(): () => void {
  const { read, readSync } = fs;
  const waiting = new Int32Array(new SharedArrayBuffer(4));
  fs.readSync = ((...args: Parameters<typeof readSync>) => {
    Atomics.wait(waiting, 0, 0, SLOW_MS);
    return readSync(...args);
  }) as typeof readSync;
  fs.read = ((...args: Parameters<typeof read>) => void setTimeout(() => read(...args), SLOW_MS)) as unknown as typeof read;
  syncBuiltinESMExports();
  return () => {
    Object.assign(fs, { read, readSync });
    syncBuiltinESMExports();
  };
}
