// Peak memory of building and reading large tables, each in a process of its own.
//
//   memory build|read PATH ENTRIES     prints a line of JSON
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { peakMemory } from '@bloom/fixtures/peak-memory';
import { BloomFilterPolicy } from '@bloom/policy';
import { BlockCache, SyncTable } from '@bloom/sstable';
import { SyncFileSource, writeTable } from '@bloom/sstable/node';
import { BITS_PER_KEY, KEY_LENGTH, lookupKeys, separate, Values, writeKey } from './workload.js';

const CACHE_BYTES = 8 * 2 ** 20;
/** The memory allowed beyond an empty process, the index and the filter. */
const FIXED_BYTES = 96 * 2 ** 20;

/** The memory of a process that built or read a table. */
export interface MemoryFigure {
  readonly what: 'build' | 'read';
  readonly entries: number;
  readonly fileBytes: number;
  /** Bytes of the index and of the filter block. */
  readonly indexBytes: number;
  readonly filterBytes: number;
  /** Peak resident memory above that of an empty process. */
  readonly peakBytes: number;
  /** The bound on `peakBytes`. */
  readonly boundBytes: number;
  readonly seconds: number;
}

interface Outcome {
  readonly fileBytes: number;
  readonly indexBytes: number;
  readonly filterBytes: number;
}

/** Builds and reads tables of these sizes. */
export function measureMemory(packageFolder: string, folder: string, sizes: readonly number[]): MemoryFigure[] {
  const figures: MemoryFigure[] = [];
  const run = (...args: string[]): { peakBytes: number; outcome?: Outcome } =>
    JSON.parse(execFileSync(process.execPath, [join(packageFolder, 'dist/memory.js'), ...args], { encoding: 'utf8' })) as {
      peakBytes: number;
      outcome?: Outcome;
    };
  const empty = run('nothing').peakBytes;
  for (const entries of sizes) {
    const path = join(folder, `memory-${entries}.ldb`);
    let outcome: Outcome | undefined;
    for (const what of ['build', 'read'] as const) {
      const start = Date.now();
      const result = run(what, path, String(entries));
      outcome ??= result.outcome!;
      const { indexBytes, filterBytes } = outcome;
      figures.push({
        what,
        entries,
        ...outcome,
        peakBytes: result.peakBytes - empty,
        boundBytes: indexBytes + filterBytes + FIXED_BYTES,
        seconds: (Date.now() - start) / 1000,
      });
    }
    rmSync(path);
  }
  return figures;
}

async function build(path: string, entries: number): Promise<Outcome> {
  const values = new Values();
  const key = new Uint8Array(KEY_LENGTH);
  function* all(): Generator<[Uint8Array, Uint8Array]> {
    for (let i = 0; i < entries; i++) {
      writeKey(i, entries, true, key, 0);
      yield [key, values.at(i)];
    }
  }
  const info = await writeTable(path, all(), { filterPolicy: new BloomFilterPolicy(BITS_PER_KEY), compression: 'none' });
  return { fileBytes: info.byteLength, indexBytes: info.indexBytes, filterBytes: info.filterBytes };
}

/** Scans all entries once and looks up random present and absent keys. */
function read(path: string, entries: number): void {
  const source = SyncFileSource.open(path);
  const table = SyncTable.open(source, { cache: new BlockCache(CACHE_BYTES) });
  let count = 0;
  const cursor = table.cursor();
  for (let more = cursor.seekToFirst(); more; more = cursor.next()) count++;
  for (const isPresent of [true, false]) {
    for (const key of separate(lookupKeys(entries, isPresent))) if ((table.get(key) !== undefined) !== isPresent) count = -1;
  }
  if (count !== entries) throw new Error(`${entries} entries were written, ${count} read`);
  source.close();
}

const [what, path = '', entries] = process.argv.slice(2);
if (what === 'nothing' || what === 'build' || what === 'read') {
  let outcome: Outcome | undefined;
  if (what === 'build') outcome = await build(path, Number(entries));
  if (what === 'read') read(path, Number(entries));
  console.log(JSON.stringify({ peakBytes: peakMemory(), outcome }));
}
