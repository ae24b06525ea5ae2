// Loads and compacts a database with Database and with LevelDB, by the same operations. BLOOM_LARGE_ENTRIES is the number of
// entries: 10,000,000 in tooling/long-tests.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Database, WriteBatch } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { ClassicLevel } from 'classic-level';
import { afterAll, expect, test } from 'vitest';

const ENTRIES = Number(process.env.BLOOM_LARGE_ENTRIES ?? 30_000);
const BATCH = 1000;
/** A number that does not divide the number of entries, so that the order of its multiples looks random. */
const PRIME = 7_919;
const MIB = 2 ** 20;
/**
 * The memory that the options allow: two memtables of 4 MiB with their nodes, which double as they grow, 8 MiB of blocks, and
 * for each entry some bytes of filter and index of open tables. The rest is the engine.
 */
const MEMORY_BOUND = 100 * MIB + 4 * ENTRIES;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const folder = mkdtempSync(join(tmpdir(), 'bloom-large-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function keyOf(i: number): Uint8Array {
  return Buffer.from(String((i * PRIME) % ENTRIES).padStart(16, '0'));
}

function valueOf(i: number): Uint8Array {
  const value = new Uint8Array(100);
  for (let j = 0; j < value.length; j++) value[j] = Math.imul(i + 1, 0x9e3779b1 + 2 * j) >>> 24;
  return value;
}

function sizeOf(path: string): number {
  return readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
}

/** Calls `write` with the entries of each batch, and sometimes `look`. */
async function load(write: (entries: [Uint8Array, Uint8Array][]) => Promise<void>, look: () => void): Promise<void> {
  for (let i = 0; i < ENTRIES; i += BATCH) {
    await write(Array.from({ length: Math.min(BATCH, ENTRIES - i) }, (_, j) => [keyOf(i + j), valueOf(i + j)]));
    if ((i / BATCH) % 10 === 0) look();
  }
}

test(
  `${ENTRIES} entries: memory stays bounded, levels stay within their limits, and the folder is as large as LevelDB’s`,
  async () => {
    let peak = 0;
    const look = (): void => {
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      peak = Math.max(peak, heapUsed + external);
    };
    const ours = join(folder, 'ours');
    const database = await Database.open(new WritableNodeFolder(ours), { compression: 'none', lock: 'none' });
    look();
    const before = peak;
    const start = performance.now();
    await load((entries) => {
      const batch = new WriteBatch();
      for (const [key, value] of entries) batch.put(key, value);
      return database.write(batch);
    }, look);
    const loaded = performance.now();
    await database.idle();
    const levels = database.describe().levels.map((files) => ({ tables: files.length, byteLength: files.reduce((sum, file) => sum + file.byteLength, 0) }));
    const beforeCompacting = performance.now();
    await database.compactRange();
    const compacted = performance.now();
    look();
    let count = 0;
    for await (const key of database.keys()) if (key.length === 16) count++;
    await database.close();

    const theirs = join(folder, 'theirs');
    const level = new ClassicLevel<Uint8Array, Uint8Array>(theirs, { keyEncoding: 'view', valueEncoding: 'view', compression: false });
    await level.open();
    await load((entries) => level.batch(entries.map(([key, value]) => ({ type: 'put', key, value }))), () => undefined);
    await level.compactRange(keyOf(0), Buffer.from('9'.repeat(16)));
    await level.close();
    const ratio = sizeOf(ours) / sizeOf(theirs);
    const seconds = (from: number, to: number): string => `${((to - from) / 1000).toFixed(1)} s`;
    process.stdout.write(
      `${ENTRIES} entries: loaded in ${seconds(start, loaded)}, compacted in ${seconds(beforeCompacting, compacted)}; ` +
        `peak ${((peak - before) / MIB).toFixed(0)} MiB; levels ${JSON.stringify(levels)}; folder / LevelDB's ${ratio.toFixed(4)}\n`,
    );

    expect(count).toBe(ENTRIES);
    expect(peak - before).toBeLessThan(MEMORY_BOUND);
    expect(levels[0]!.tables).toBeLessThan(4);
    for (const [i, { byteLength }] of levels.entries()) if (i > 0) expect(byteLength).toBeLessThan(10 * MIB * 10 ** (i - 1));
    expect(ratio).toBeGreaterThan(0.98);
    expect(ratio).toBeLessThan(1.02);
  },
  4 * 3_600_000,
);
